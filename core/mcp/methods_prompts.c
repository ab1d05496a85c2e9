/* SPDX-License-Identifier: GPL-3.0-or-later */
/* methods_prompts.c: see methods_prompts.h. */
#include "mcp/methods_prompts.h"

#include "base/limits.h"
#include "mcp/handshake.h"
#include "mcp/prompts.h"
#include "tools/sets.h"

/* --- prompts/list ------------------------------------------------------- */

void methods_prompts_list(const struct request *r)
{
    struct rpc_reply reply;

    if (!request_is_first_page(r))
        return;
    prompts_list(request_begin(r, &reply), r->mcp->config.tools.sets,
                 r->version >= MCP_2025_06_18);
    request_end_cacheable(r, &reply);
}

/* --- prompts/get -------------------------------------------------------- */

/* The string VALUE, a member of the params. False when memory runs out, which
   is answered. */
static bool read_string(const struct request *r, struct json value,
                        struct str *out)
{
    if (json_string(r->arena, value, out) == ST_OK)
        return true;
    request_fail_memory(r);
    return false;
}

/* The prompt that the member "name" of WHERE names. NULL: there is none, which
   is answered. */
static const struct prompts_entry *find_prompt(const struct request *r,
                                               struct json where)
{
    struct str name;

    if (!read_string(r, json_get(where, "name"), &name))
        return NULL;
    const struct prompts_entry *prompt =
        prompts_find(r->mcp->config.tools.sets, name);
    struct str shown = request_quote(name);
    if (!prompt)
        request_fail(r, RPC_INVALID_PARAMS,
                     "there is no prompt %.*s; prompts/list shows those that "
                     "exist",
                     STR_ARG(shown));
    return prompt;
}

/* Answers that PROMPT has no argument NAME. */
static void unknown_argument(const struct request *r,
                             const struct prompts_entry *prompt,
                             struct str name)
{
    struct str shown = request_quote(name);
    struct buf names = BUF_EMPTY;

    for (int i = 0; prompt->arguments[i].name; i++)
        buf_printf(&names, "%s%s", i > 0 ? ", " : "",
                   prompt->arguments[i].name);
    struct str known = buf_view(&names);
    request_fail(r, RPC_INVALID_PARAMS,
                 "the prompt %s has no argument %.*s; it has: %.*s",
                 prompt->name, STR_ARG(shown), STR_ARG(known));
    buf_release(&names);
}

/* Reads the argument that WALK is at. False when it is wrong, which is
   answered. */
static bool read_argument(const struct request *r,
                          const struct prompts_entry *prompt,
                          const struct json_walk *walk, struct str *values)
{
    struct str name;

    if (!read_string(r, walk->name, &name))
        return false;
    int index = prompts_argument_index(prompt, name);
    if (index < 0) {
        unknown_argument(r, prompt, name);
        return false;
    }
    if (json_type(walk->value) != JSON_STRING) {
        request_fail(r, RPC_INVALID_PARAMS, "the argument %s must be a string",
                     prompt->arguments[index].name);
        return false;
    }
    if (!read_string(r, walk->value, &values[index]))
        return false;
    if (values[index].n <= LIMIT_PROMPT_ARGUMENT)
        return true;
    request_fail(
        r, RPC_INVALID_PARAMS, "the argument %s has %zu bytes, more than %u",
        prompt->arguments[index].name, values[index].n, LIMIT_PROMPT_ARGUMENT);
    return false;
}

/* Reads the arguments for PROMPT into VALUES, which are empty. An empty string
   is what some clients send for what the user left out. False when they are
   wrong, which is answered. */
static bool read_arguments(const struct request *r,
                           const struct prompts_entry *prompt,
                           struct str values[PROMPTS_ARGUMENTS])
{
    struct json_walk walk;

    json_walk_init(&walk, json_get(r->params, "arguments"));
    while (json_walk_next(&walk))
        if (!read_argument(r, prompt, &walk, values))
            return false;
    for (int i = 0; prompt->arguments[i].name; i++)
        if (prompt->arguments[i].required && values[i].n == 0) {
            request_fail(r, RPC_INVALID_PARAMS,
                         "the prompt %s needs the argument %s", prompt->name,
                         prompt->arguments[i].name);
            return false;
        }
    return true;
}

static void write_prompt(const struct request *r,
                         const struct prompts_entry *prompt, struct str text)
{
    struct rpc_reply reply;
    struct jsonw *w = request_begin(r, &reply);

    jsonw_member(w, "description", str_from(prompt->description));
    jsonw_name(w, "messages");
    jsonw_array(w);
    jsonw_object(w);
    jsonw_member(w, "role", STR("user"));
    jsonw_name(w, "content");
    jsonw_object(w);
    jsonw_member(w, "type", STR("text"));
    jsonw_member(w, "text", text);
    jsonw_end_object(w);
    jsonw_end_object(w);
    jsonw_end_array(w);
    request_end(r, &reply);
}

void methods_prompts_get(const struct request *r)
{
    struct str values[PROMPTS_ARGUMENTS] = {{0}};
    struct buf text = BUF_EMPTY;

    if (!request_needs(r, "name", JSON_STRING, "a string"))
        return;
    if (!json_is_absent(json_get(r->params, "arguments")) &&
        !request_needs(r, "arguments", JSON_OBJECT, "an object"))
        return;
    const struct prompts_entry *prompt = find_prompt(r, r->params);
    if (!prompt || !read_arguments(r, prompt, values))
        return;
    prompts_write(&text, prompt, values);
    if (buf_failed(&text))
        request_fail_memory(r);
    else
        write_prompt(r, prompt, buf_view(&text));
    buf_release(&text);
}

/* --- completion/complete ------------------------------------------------ */

static void complete_sessions(const struct request *r, struct str typed)
{
    const struct sessions *sessions = r->mcp->config.resources.sessions;
    struct rpc_reply reply;
    size_t count = 0;
    struct jsonw *w = request_begin(r, &reply);

    jsonw_name(w, "completion");
    jsonw_object(w);
    jsonw_name(w, "values");
    jsonw_array(w);
    for (size_t i = 0; i < sessions->count; i++) {
        struct str name = str_from(sessions->entries[i].name);
        if (!str_starts(name, typed))
            continue;
        if (count++ < LIMIT_COMPLETIONS)
            jsonw_string(w, name);
    }
    jsonw_end_array(w);
    jsonw_member_int(w, "total", (int64_t)count);
    jsonw_member_bool(w, "hasMore", count > LIMIT_COMPLETIONS);
    jsonw_end_object(w);
    request_end(r, &reply);
}

/* The folder in which the path TYPED is completed. */
static struct str folder_to_list(struct str typed)
{
    struct str folder = str_folder(typed);

    return folder.n > 0 ? folder : STR(".");
}

/* Completes TYPED by a call of TOOL about FOLDER. */
static enum status complete_by(const struct request *r, const struct tool *tool,
                               struct str folder, struct str typed)
{
    struct buf text = BUF_EMPTY;
    struct jsonw w;
    struct json_error error;
    struct schema_notes notes;
    struct str copy;
    struct calls_request request = {
        .arena = r->arena,
        .to = r->to,
        .version = r->version,
        .texts = {.client = handshake_client(r), .completion = true},
        .tool = tool,
        .now_ms = r->now_ms};
    struct schema_value *values =
        arena_array(r->arena, schema_count(tool->fields), sizeof *values);

    jsonw_init(&w, &text);
    jsonw_object(&w);
    jsonw_member(&w, "path", folder);
    jsonw_member(&w, "typed", typed);
    jsonw_end_object(&w);
    enum status status = arena_take(r->arena, &text, &copy);
    if (status == ST_OK && !values)
        status = ST_NOMEM;
    if (status == ST_OK)
        status = json_parse(r->arena, copy, &request.arguments, &error);
    if (status == ST_OK)
        status = schema_check(r->arena, tool->fields, request.arguments, values,
                              &notes);
    request.values = values;
    return status == ST_OK ? calls_start(&r->mcp->calls, &request) : status;
}

/* Completes TYPED, which is for something of the kind COMPLETION. What no call
   can be about, such as a path with a NUL in it, has no completions. */
static void complete(const struct request *r,
                     enum prompts_completion completion, struct str typed)
{
    enum status status = ST_INVALID;

    if (typed.n > LIMIT_PROMPT_ARGUMENT)
        completion = PROMPTS_FREE;
    switch (completion) {
    case PROMPTS_FREE:
        break;
    case PROMPTS_SESSION:
        complete_sessions(r, typed);
        return;
    case PROMPTS_PATH:
        status = complete_by(r, &complete_paths, folder_to_list(typed), typed);
        break;
    case PROMPTS_SYSTEM:
        status = complete_by(r, &complete_systems, STR("."), typed);
        break;
    }
    if (status == ST_NOMEM)
        request_fail_memory(r);
    else if (status != ST_OK)
        request_check_sent(r,
                           result_of_completion(&r->to, r->version, STR("")));
}

/* The kind of the argument NAME of the prompt that REF names. False when there
   is none, which is answered. */
static bool prompt_completion(const struct request *r, struct json ref,
                              struct str name,
                              enum prompts_completion *completion)
{
    const struct prompts_entry *prompt = find_prompt(r, ref);
    if (!prompt)
        return false;
    int index = prompts_argument_index(prompt, name);
    if (index < 0)
        unknown_argument(r, prompt, name);
    else
        *completion = prompt->arguments[index].completion;
    return index >= 0;
}

/* In the addresses of resources only names of sessions can be completed. */
static bool resource_completion(const struct request *r, struct json ref,
                                struct str name,
                                enum prompts_completion *completion)
{
    struct str uri;

    if (!read_string(r, json_get(ref, "uri"), &uri))
        return false;
    *completion =
        resources_is_session(uri, name) ? PROMPTS_SESSION : PROMPTS_FREE;
    return true;
}

/* The string member NAME of the member FIELD of the params. False when it is
   none, which is answered. */
static bool read_member(const struct request *r, const char *field,
                        const char *name, struct str *out)
{
    struct json value = json_get(json_get(r->params, field), name);

    if (json_type(value) == JSON_STRING)
        return read_string(r, value, out);
    request_fail(r, RPC_INVALID_PARAMS, "field %s must have %s, a string",
                 field, name);
    return false;
}

void methods_prompts_complete(const struct request *r)
{
    struct json ref = json_get(r->params, "ref");
    struct str name;
    struct str typed;
    enum prompts_completion completion;
    bool known = false;

    if (!request_needs(r, "ref", JSON_OBJECT, "an object") ||
        !request_needs(r, "argument", JSON_OBJECT, "an object") ||
        !read_member(r, "argument", "name", &name) ||
        !read_member(r, "argument", "value", &typed))
        return;
    if (json_is_string(json_get(ref, "type"), "ref/prompt") &&
        json_type(json_get(ref, "name")) == JSON_STRING)
        known = prompt_completion(r, ref, name, &completion);
    else if (json_is_string(json_get(ref, "type"), "ref/resource") &&
             json_type(json_get(ref, "uri")) == JSON_STRING)
        known = resource_completion(r, ref, name, &completion);
    else
        request_fail(r, RPC_INVALID_PARAMS,
                     "field ref must be a ref/prompt with a name, or a "
                     "ref/resource with a uri");
    if (known)
        complete(r, completion, typed);
}
