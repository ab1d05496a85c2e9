/* SPDX-License-Identifier: GPL-3.0-or-later */
/* approval_form.c: words the question and reads the form. A reply that is not
   clearly a decision counts as none. */
#include "gate/approval_form.h"

#include "base/limits.h"
#include "base/utf8.h"

/* --- The question -------------------------------------------------------- */

/* Puts a text of several lines below its name, each line indented. Not with
   printf, which would stop at a NUL and hide the rest. */
static void put_lines(struct buf *out, struct str text)
{
    while (text.n > 0) {
        const char *end = memchr(text.p, '\n', text.n);
        size_t n = end ? (size_t)(end - text.p) : text.n;
        buf_str(out, STR("\n    "));
        buf_append(out, text.p, n);
        n += end != NULL;
        text = str_make(text.p + n, text.n - n);
    }
}

static enum status put_argument(struct buf *out, struct arena *arena,
                                const struct schema_field *field,
                                struct json value)
{
    struct str text = json_raw(value);

    // an escape of six bytes stands for one: that much is refused anyway
    if (json_type(value) == JSON_STRING && text.n <= 7u * LIMIT_QUESTION &&
        json_string(arena, value, &text) != ST_OK)
        return ST_NOMEM;
    buf_printf(out, "\n%s:", field->name);
    if (text.n > LIMIT_QUESTION)
        text.n = LIMIT_QUESTION + 1;
    if (text.n > 0 && memchr(text.p, '\n', text.n)) {
        put_lines(out, text);
    } else {
        buf_byte(out, ' ');
        buf_str(out, text);
    }
    return ST_OK;
}

/* The arguments that count: VALUES has one for each of the FIELDS, absent when
   it was not given; of a repeated name the last one. */
static enum status sort_arguments(struct arena *arena,
                                  const struct schema_field *fields,
                                  struct json arguments, struct json **values)
{
    size_t n = schema_count(fields);
    struct json_walk walk;
    struct str name;

    *values = arena_array(arena, n + 1, sizeof **values);
    if (!*values)
        return ST_NOMEM;
    json_walk_init(&walk, arguments);
    while (json_walk_next(&walk)) {
        if (json_string(arena, walk.name, &name) != ST_OK)
            return ST_NOMEM;
        size_t i = schema_find(fields, name);
        if (i < n)
            (*values)[i] = walk.value;
    }
    return ST_OK;
}

enum status approval_form_describe(struct buf *out, struct arena *arena,
                                   const struct tool *tool,
                                   struct json arguments)
{
    const struct schema_field *fields = tool->fields;
    struct json *values;

    if (sort_arguments(arena, fields, arguments, &values) != ST_OK)
        return ST_NOMEM;
    buf_printf(out, "The agent asks to run %s (%s).", tool->name, tool->title);
    if (json_count(arguments) > 0)
        buf_byte(out, '\n');
    for (size_t i = 0; i < schema_count(fields); i++)
        if (!json_is_absent(values[i]) &&
            put_argument(out, arena, &fields[i], values[i]) != ST_OK)
            return ST_NOMEM;
    return buf_failed(out) ? ST_NOMEM : ST_OK;
}

static bool is_kept(char c)
{
    return c == '\n' || c == '\t';
}

enum status approval_form_make_visible(struct buf *text)
{
    struct buf shown = BUF_EMPTY;
    size_t start = 0;

    // the rest of what is too long to be asked does not matter
    for (size_t i = 0; i <= text->n && shown.n <= LIMIT_QUESTION; i++) {
        if (i < text->n && !is_kept(text->p[i]))
            continue;
        utf8_append_visible(&shown, str_make(text->p + start, i - start));
        if (i < text->n)
            buf_byte(&shown, text->p[i]);
        start = i + 1;
    }
    if (buf_failed(&shown)) {
        buf_release(&shown);
        return ST_NOMEM;
    }
    buf_release(text);
    *text = shown;
    return ST_OK;
}

/* --- The form ------------------------------------------------------------ */

static void begin_field(struct jsonw *w, const char *name, const char *type,
                        const char *title)
{
    jsonw_name(w, name);
    jsonw_object(w);
    jsonw_member(w, "type", str_from(type));
    jsonw_member(w, "title", str_from(title));
}

static void write_decision(struct jsonw *w)
{
    begin_field(w, "decision", "string", "Decision");
    jsonw_name(w, "enum");
    jsonw_array(w);
    jsonw_string(w, STR("approve"));
    jsonw_string(w, STR("deny"));
    jsonw_end_array(w);
    jsonw_end_object(w);
}

static void write_text(struct jsonw *w, const char *name, const char *title,
                       struct str description)
{
    begin_field(w, name, "string", title);
    jsonw_member(w, "description", description);
    jsonw_end_object(w);
}

static void write_remember(struct jsonw *w)
{
    begin_field(w, "remember", "boolean", "Do not ask again");
    jsonw_member(
        w, "description",
        STR("Approve all further calls of this tool until the server ends."));
    jsonw_member_bool(w, "default", false);
    jsonw_end_object(w);
}

static void write_arguments(struct jsonw *w, const struct tool_call *call,
                            bool prefill)
{
    begin_field(w, "arguments", "string", "Arguments (JSON)");
    jsonw_member(
        w, "description",
        STR("Edit to run with other arguments; leave empty to run as asked."));
    if (prefill && call->arguments.n <= LIMIT_PREFILL)
        jsonw_member(w, "default", buf_view(&call->arguments));
    jsonw_end_object(w);
}

void approval_form_write_schema(struct jsonw *w, const struct tool_call *call,
                                bool prefill)
{
    jsonw_object(w);
    jsonw_member(w, "type", STR("object"));
    jsonw_name(w, "properties");
    jsonw_object(w);
    write_decision(w);
    write_text(w, "reason", "Reason", STR("Shown to the agent."));
    if (call->question.hunks > 0)
        write_text(
            w, "hunks", "Hunks",
            STR("The hunks to apply, such as 1,3; leave empty to apply all."));
    else
        write_arguments(w, call, prefill);
    if (call->question.remember)
        write_remember(w);
    jsonw_end_object(w);
    jsonw_name(w, "required");
    jsonw_array(w);
    jsonw_string(w, STR("decision"));
    jsonw_end_array(w);
    jsonw_end_object(w);
}

/* --- The answer ---------------------------------------------------------- */

/* Takes a number from 1 to MAX off the start of S; 0 when there is none. */
static size_t take_number(struct str *s, size_t max)
{
    size_t n = 0;

    *s = str_trim(*s);
    while (s->n > 0 && s->p[0] >= '0' && s->p[0] <= '9' && n <= max) {
        n = n * 10 + (size_t)(s->p[0] - '0');
        *s = str_make(s->p + 1, s->n - 1);
    }
    *s = str_trim(*s);
    return n <= max ? n : 0;
}

static bool take_char(struct str *s, char c)
{
    if (s->n == 0 || s->p[0] != c)
        return false;
    *s = str_make(s->p + 1, s->n - 1);
    return true;
}

/* Reads "1,3-5" into CHOSEN, one for each of MAX hunks. */
static bool read_hunks(struct str text, size_t max, bool *chosen)
{
    do {
        size_t first = take_number(&text, max);
        size_t last = first;
        if (take_char(&text, '-'))
            last = take_number(&text, max);
        if (first == 0 || last < first)
            return false;
        for (size_t i = first; i <= last; i++)
            chosen[i - 1] = true;
    } while (take_char(&text, ','));
    return text.n == 0;
}

static enum status choose_hunks(struct arena *arena, struct str text,
                                size_t max, struct approval_decision *decision)
{
    text = str_trim(text);
    if (text.n == 0)
        return ST_OK;
    bool *chosen = arena_array(arena, max, sizeof *chosen);
    if (!chosen)
        return ST_NOMEM;
    if (read_hunks(text, max, chosen)) {
        decision->chosen = chosen;
        return ST_OK;
    }
    struct str shown = utf8_head(text, 100);
    decision->consent = APPROVAL_NO_DECISION;
    decision->reason =
        arena_printf(arena, "hunks \"%.*s\" are not numbers from 1 to %zu",
                     STR_ARG(shown), max);
    return decision->reason.n > 0 ? ST_OK : ST_NOMEM;
}

/* The text of a field; empty when it is absent or not a text. */
static enum status read_text(struct arena *arena, struct json content,
                             const char *name, struct str *out)
{
    enum status status = json_string(arena, json_get(content, name), out);

    if (status != ST_INVALID)
        return status;
    *out = STR("");
    return ST_OK;
}

/* Whether field NAME is there and no text: what the user wants is not known. */
static bool is_strange(struct json content, const char *name)
{
    enum json_type type = json_type(json_get(content, name));

    return type != JSON_ABSENT && type != JSON_NULL && type != JSON_STRING;
}

static enum status read_content(struct arena *arena, struct json content,
                                const struct tool_call *call,
                                struct approval *out)
{
    struct json decision = json_get(content, "decision");
    struct str hunks;
    size_t max = call->question.hunks;

    if (read_text(arena, content, "reason", &out->decision.reason) != ST_OK ||
        read_text(arena, content, "hunks", &hunks) != ST_OK ||
        read_text(arena, content, "arguments", &out->arguments) != ST_OK)
        return ST_NOMEM;
    out->decision.reason =
        utf8_head(str_trim(out->decision.reason), LIMIT_REASON);
    out->arguments = str_trim(out->arguments);
    if (str_eq(out->arguments, buf_view(&call->arguments)))
        out->arguments = STR("");
    if (json_is_string(decision, "deny")) {
        out->decision.consent = APPROVAL_DENIED;
        return ST_OK;
    }
    if (!json_is_string(decision, "approve")) {
        out->decision.reason = STR("the form has no decision");
        return ST_OK;
    }
    if (is_strange(content, "arguments") || is_strange(content, "hunks")) {
        out->decision.reason =
            STR("arguments or hunks of the form are not text");
        return ST_OK;
    }
    out->decision.consent = APPROVAL_APPROVED;
    out->remember = call->question.remember &&
                    json_type(json_get(content, "remember")) == JSON_TRUE;
    if (max == 0)
        return ST_OK;
    return choose_hunks(arena, hunks, max, &out->decision);
}

enum status approval_form_read(struct arena *arena, struct json reply,
                               const struct tool_call *call,
                               struct approval *out)
{
    struct json action = json_get(reply, "action");

    *out = (struct approval){.by = APPROVAL_BY_HUMAN};
    if (json_is_string(action, "accept"))
        return read_content(arena, json_get(reply, "content"), call, out);
    if (json_is_string(action, "decline"))
        out->decision.consent = APPROVAL_DENIED;
    else if (json_is_string(action, "cancel"))
        out->decision.reason = STR("the user dismissed the request");
    else
        out->decision.reason = STR("the client's answer is not valid");
    return ST_OK;
}
