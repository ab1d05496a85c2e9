/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fixtures.c: the tools and resources that the official conformance suite of
   MCP needs in a server, with the names (here with hyphens), texts and forms
   that it prescribes. Linked with the server into ecl-mcp-conformance. */
#include "server/extras.h"
#include "wire/image.h"
#include "wire/wire.h"

/* A picture of one point, and a sound of one sample. */
#define PNG                                                                    \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ" \
    "/pLvAAAAAElFTkSuQmCC"
#define WAV "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQEAAACAAA=="

#define IMAGE_BLOCK "{'type':'image','data':'" PNG "','mimeType':'image/png'}"

/* JSON is written with ' instead of the quotes. */
static struct str quoted(struct arena *arena, const char *text)
{
    size_t n = strlen(text);
    char *copy = arena_array(arena, n, 1);

    for (size_t i = 0; copy && i < n; i++)
        copy[i] = (char)(text[i] == '\'' ? '"' : text[i]);
    return str_make(copy, copy ? n : 0);
}

/* --- Tools without a question ------------------------------------------- */

static enum status say(struct tool_answer *answer, struct str text)
{
    answer->state = TOOL_ANSWERED;
    answer->text = text;
    return text.n > 0 ? ST_OK : ST_NOMEM;
}

static enum status show(const struct tool_request *request,
                        struct tool_answer *answer, const char *content)
{
    answer->state = TOOL_ANSWERED;
    answer->content = quoted(request->arena, content);
    return answer->content.n > 0 ? ST_OK : ST_NOMEM;
}

static enum status simple_text(const struct tool_request *request,
                               struct tool_answer *answer)
{
    (void)request;
    return say(answer, STR("This is a simple text response for testing."));
}

static enum status image_content(const struct tool_request *request,
                                 struct tool_answer *answer)
{
    return show(request, answer, "[" IMAGE_BLOCK "]");
}

static enum status audio_content(const struct tool_request *request,
                                 struct tool_answer *answer)
{
    return show(request, answer,
                "[{'type':'audio','data':'" WAV "','mimeType':'audio/wav'}]");
}

static enum status embedded_resource(const struct tool_request *request,
                                     struct tool_answer *answer)
{
    return show(request, answer,
                "[{'type':'resource','resource':{"
                "'uri':'test://embedded-resource','mimeType':'text/plain',"
                "'text':'This is an embedded resource content.'}}]");
}

static enum status multiple_content_types(const struct tool_request *request,
                                          struct tool_answer *answer)
{
    return show(
        request, answer,
        "[{'type':'text','text':'Multiple content types test:'}," IMAGE_BLOCK
        ",{'type':'resource','resource':{"
        "'uri':'test://mixed-content-resource',"
        "'mimeType':'application/json',"
        "'text':'{\\'test\\':\\'data\\',\\'value\\':123}'}}]");
}

static enum status error_handling(const struct tool_request *request,
                                  struct tool_answer *answer)
{
    (void)request;
    answer->state = TOOL_FAILED;
    answer->text = STR("This tool intentionally returns an error for testing");
    return ST_OK;
}

/* The output of an evaluation is its progress. */
static enum status tool_with_progress(const struct tool_request *request,
                                      struct tool_answer *answer)
{
    (void)answer;
    tool_begin(request, "evaluate");
    wire_put_string(&request->image->out, STR("code"));
    wire_put_string(&request->image->out,
                    STR("(dolist (part '(0 50 100) :done)"
                        "  (format t \"~d of 100~%\" part) (finish-output)"
                        "  (sleep 0.3))"));
    return image_send(request->image, &request->call->image);
}

/* The server never asks for a text of the client's model, so it treats every
   client as one that has no model. */
static enum status missing_capability(const struct tool_request *request,
                                      struct tool_answer *answer)
{
    (void)request;
    answer->state = TOOL_FAILED;
    answer->requires = "sampling";
    answer->text = STR("this tool needs the client's model");
    return ST_OK;
}

/* --- Tools with a question ---------------------------------------------- */

static enum status ask(const struct tool_request *request,
                       struct tool_answer *answer, const char *name,
                       struct str message, const char *form)
{
    struct tool_question *question = &request->call->question;
    struct str schema = quoted(request->arena, form);

    answer->state = TOOL_ASKS;
    question->name = name;
    buf_str(&question->message, message);
    buf_str(&question->form, schema);
    return schema.n > 0 ? ST_OK : ST_NOMEM;
}

/* Whether the reply accepts question NAME; CONTENT is what the user said. */
static bool is_accepted(const struct tool_request *request, const char *name,
                        struct json *content)
{
    const struct tool_reply *reply = &request->reply;

    *content = json_get(reply->value, "content");
    return str_eq(reply->name, str_from(name)) &&
           json_is_string(json_get(reply->value, "action"), "accept") &&
           json_type(*content) == JSON_OBJECT;
}

/* Takes the text that the user gave as FIELD of the question NAME; false when
   there is none. */
static bool read_reply(const struct tool_request *request, const char *name,
                       const char *field, struct str *text)
{
    struct json content;

    return is_accepted(request, name, &content) &&
           json_string(request->arena, json_get(content, field), text) == ST_OK;
}

/* Answers with WORDS and the reply. */
static enum status repeat(const struct tool_request *request,
                          struct tool_answer *answer, const char *words)
{
    struct json value = request->reply.value;
    struct str content = json_raw(json_get(value, "content"));
    struct str action;

    if (json_string(request->arena, json_get(value, "action"), &action) !=
        ST_OK)
        action = STR("none");
    return say(answer,
               arena_printf(request->arena, "%s: action=%.*s, content=%.*s",
                            words, STR_ARG(action),
                            STR_ARG(content.n > 0 ? content : STR("{}"))));
}

static enum status elicitation(const struct tool_request *request,
                               struct tool_answer *answer)
{
    if (request->reply.name.n > 0)
        return repeat(request, answer, "User response");
    return ask(request, answer, "response", request->values[0].string,
               "{'type':'object','properties':{"
               "'username':{'type':'string','description':'Name of the user'},"
               "'email':{'type':'string','description':'Address of the user'}},"
               "'required':['username','email']}");
}

static enum status elicitation_defaults(const struct tool_request *request,
                                        struct tool_answer *answer)
{
    if (request->reply.name.n > 0)
        return repeat(request, answer, "Elicitation completed");
    return ask(request, answer, "defaults", STR("Look through the defaults"),
               "{'type':'object','properties':{"
               "'name':{'type':'string','default':'John Doe'},"
               "'age':{'type':'integer','default':30},"
               "'score':{'type':'number','default':95.5},"
               "'status':{'type':'string','default':'active',"
               "'enum':['active','inactive','pending']},"
               "'verified':{'type':'boolean','default':true}}}");
}

#define TITLES(kind)                                                           \
    "[{'const':'value1','title':'First " kind "'},"                            \
    "{'const':'value2','title':'Second " kind "'},"                            \
    "{'const':'value3','title':'Third " kind "'}]"

static enum status elicitation_enums(const struct tool_request *request,
                                     struct tool_answer *answer)
{
    if (request->reply.name.n > 0)
        return repeat(request, answer, "Elicitation completed");
    return ask(
        request, answer, "enums", STR("Choose"),
        "{'type':'object','properties':{"
        "'untitledSingle':{'type':'string',"
        "'enum':['option1','option2','option3']},"
        "'titledSingle':{'type':'string','oneOf':" TITLES(
            "Option") "},"
                      "'legacyEnum':{'type':'string','enum':['opt1','opt2','"
                      "opt3'],"
                      "'enumNames':['Option One','Option Two','Option Three']},"
                      "'untitledMulti':{'type':'array','items':{'type':'string'"
                      ","
                      "'enum':['option1','option2','option3']}},"
                      "'titledMulti':{'type':'array','items':{'anyOf':" TITLES(
                          "Choice") "}}}}");
}

#define FORM_FOR(field, type)                                                  \
    "{'type':'object','properties':{'" field "':{'type':'" type "'}},"         \
    "'required':['" field "']}"

/* Asks until there is a name. */
static enum status greet(const struct tool_request *request,
                         struct tool_answer *answer)
{
    struct str name;

    if (!read_reply(request, "user_name", "name", &name))
        return ask(request, answer, "user_name", STR("What is your name?"),
                   FORM_FOR("name", "string"));
    return say(answer,
               arena_printf(request->arena, "Hello, %.*s!", STR_ARG(name)));
}

/* The state sent with the question comes back with the reply, or not at all. */
static enum status keep_state(const struct tool_request *request,
                              struct tool_answer *answer)
{
    struct json content;

    if (is_accepted(request, "confirm", &content) &&
        str_eq(request->reply.carried, STR("kept")))
        return say(answer, STR("state-ok"));
    buf_str(&request->call->question.carried, STR("kept"));
    return ask(request, answer, "confirm", STR("Please confirm"),
               FORM_FOR("ok", "boolean"));
}

static enum status multi_round(const struct tool_request *request,
                               struct tool_answer *answer)
{
    struct str text;

    if (read_reply(request, "step2", "color", &text))
        return say(answer, arena_printf(request->arena, "%.*s likes %.*s",
                                        STR_ARG(request->reply.carried),
                                        STR_ARG(text)));
    if (!read_reply(request, "step1", "name", &text))
        return ask(request, answer, "step1", STR("Step 1: What is your name?"),
                   FORM_FOR("name", "string"));
    buf_str(&request->call->question.carried, text);
    return ask(request, answer, "step2",
               STR("Step 2: What is your favorite color?"),
               FORM_FOR("color", "string"));
}

/* --- Resources ---------------------------------------------------------- */

static enum status static_text(const struct tool_request *request,
                               struct tool_answer *answer)
{
    (void)request;
    return say(answer, STR("This is the content of the static text resource."));
}

static enum status static_binary(const struct tool_request *request,
                                 struct tool_answer *answer)
{
    return show(request, answer,
                "[{'uri':'test://static-binary','mimeType':'image/png',"
                "'blob':'" PNG "'}]");
}

static enum status template_data(const struct tool_request *request,
                                 struct tool_answer *answer)
{
    struct str id = request->values[0].string;
    struct str data =
        arena_printf(request->arena, "Data for ID: %.*s", STR_ARG(id));
    struct buf text = BUF_EMPTY;
    struct jsonw w;

    jsonw_init(&w, &text);
    jsonw_object(&w);
    jsonw_member(&w, "id", id);
    jsonw_member_bool(&w, "templateTest", true);
    jsonw_member(&w, "data", data);
    jsonw_end_object(&w);
    struct str copy =
        arena_printf(request->arena, "%.*s", STR_ARG(buf_view(&text)));
    buf_release(&text);
    return say(answer, copy);
}

/* --- The tables --------------------------------------------------------- */

static const struct schema_field message_fields[] = {
    {.name = "message",
     .kind = SCHEMA_STRING,
     .required = true,
     .help = "The text for the user."},
    {0},
};

static const struct schema_field id_fields[] = {
    {.name = "id", .kind = SCHEMA_STRING, .required = true, .help = "Any."},
    {0},
};

#define TOOL(words, table, function)                                           \
    &(const struct tool)                                                       \
    {                                                                          \
        .name = "test-" words, .title = (words),                               \
        .description = "Fixture of the conformance suite.", .fields = (table), \
        .level = TOOL_SAFE, .idempotent = true, .handler = (function)          \
    }

static const struct tool *const tools[] = {
    TOOL("simple-text", NULL, simple_text),
    TOOL("image-content", NULL, image_content),
    TOOL("audio-content", NULL, audio_content),
    TOOL("embedded-resource", NULL, embedded_resource),
    TOOL("multiple-content-types", NULL, multiple_content_types),
    TOOL("error-handling", NULL, error_handling),
    TOOL("tool-with-progress", NULL, tool_with_progress),
    TOOL("logging-tool", NULL, simple_text),
    TOOL("missing-capability", NULL, missing_capability),
    TOOL("elicitation", message_fields, elicitation),
    TOOL("elicitation-sep1034-defaults", NULL, elicitation_defaults),
    TOOL("elicitation-sep1330-enums", NULL, elicitation_enums),
    TOOL("streaming-elicitation", NULL, greet),
    TOOL("input-required-result-elicitation", NULL, greet),
    TOOL("input-required-result-request-state", NULL, keep_state),
    TOOL("input-required-result-tampered-state", NULL, keep_state),
    TOOL("input-required-result-multi-round", NULL, multi_round),
    NULL,
};

static const struct resource resources[] = {
    {"test://static-text", "static-text", "Text", "A text.", "text/plain",
     TOOL("static-text", NULL, static_text)},
    {"test://static-binary", "static-binary", "Picture", "A picture.",
     "image/png", TOOL("static-binary", NULL, static_binary)},
    {"test://template/{id}/data", "template", "Data", "The data of an id.",
     "application/json", TOOL("template-data", id_fields, template_data)},
    {0},
};

const struct extras extras = {tools, resources};
