/* SPDX-License-Identifier: GPL-3.0-or-later */
/* editor.c: see editor.h. Whatever is not exactly a message of the protocol is
   ignored. */
#include "editor/editor.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "base/version.h"
#include "gate/audit.h"
#include "json/jsonw.h"
#include "json/rpc.h"

/* Bytes of storage that the idle output holds on to. */
#define IDLE_STORAGE (64u * 1024)

void editor_init(struct editor *editor, const struct log *log,
                 const struct editor_about *about)
{
    *editor = (struct editor){.log = log, .about = *about};
    linereader_init(&editor->reader, LIMIT_EDITOR_MESSAGE);
}

void editor_release(struct editor *editor)
{
    linereader_release(&editor->reader);
    buf_release(&editor->output);
}

/* --- To the editor ------------------------------------------------------ */

/* Ends a message. False: memory ran out, and nothing of it is in the output. */
static bool finish(struct editor *editor, struct rpc_reply *message)
{
    if (rpc_end_notification(message) == ST_OK)
        return true;
    log_line(editor->log, LOG_WARN, "editor: message not sent: out of memory");
    return false;
}

static void send_hello(struct editor *editor)
{
    const struct editor_about *about = &editor->about;
    struct rpc_reply note;
    struct jsonw *w = &note.json;

    rpc_begin_notification(&note, &editor->output, "hello");
    jsonw_object(w);
    jsonw_member_int(w, "protocol", EDITOR_PROTOCOL);
    jsonw_member(w, "version", STR(ECL_MCP_VERSION));
    jsonw_member_int(w, "pid", about->pid);
    jsonw_name(w, "workspace");
    if (about->workspace)
        jsonw_string(w, str_from(about->workspace));
    else
        jsonw_null(w);
    jsonw_member_bool(w, "attached", about->attached);
    jsonw_end_object(w);
    (void)finish(editor, &note); // the editor can do without
}

void editor_open(struct editor *editor)
{
    editor->connected = true;
    send_hello(editor);
    log_line(editor->log, LOG_INFO, "editor: connected");
}

void editor_close(struct editor *editor)
{
    if (!editor->connected)
        return;
    editor->connected = false;
    buf_trim(&editor->output, IDLE_STORAGE);
    buf_reset(&editor->output);
    linereader_release(&editor->reader);
    linereader_init(&editor->reader, LIMIT_EDITOR_MESSAGE);
    log_line(editor->log, LOG_INFO, "editor: gone");
}

/* Bytes of the id of a request, with its NUL. */
#define ID_SIZE 24

/* Begins a request with the next number; false when the editor does not read.
 */
static bool begin_request(struct editor *editor, struct rpc_reply *request,
                          const char *method)
{
    char id[ID_SIZE];

    if (!editor->connected || editor->output.n >= LIMIT_EDITOR_BACKLOG / 2)
        return false;
    int n = snprintf(id, sizeof id, "%" PRIu64, ++editor->last_id);
    rpc_begin_request(request, &editor->output, str_make(id, (size_t)n),
                      method);
    jsonw_object(&request->json);
    return true;
}

static uint64_t end_request(struct editor *editor, struct rpc_reply *request)
{
    jsonw_end_object(&request->json);
    return finish(editor, request) ? editor->last_id : 0;
}

static void write_client(struct jsonw *w, const struct tool_call *call)
{
    jsonw_name(w, "client");
    if (call->client.n > 0)
        jsonw_raw(w, call->client);
    else
        jsonw_null(w);
}

/* A message is one line, but a human may have written the arguments on several.
   In valid JSON line ends stand between tokens only. */
static void write_arguments(struct jsonw *w, struct str arguments)
{
    jsonw_name(w, "arguments");
    size_t start = w->out->n;
    jsonw_raw(w, arguments);
    for (size_t i = start; i < w->out->n; i++)
        if (w->out->p[i] == '\n' || w->out->p[i] == '\r')
            w->out->p[i] = ' ';
}

/* Writes which argument of TOOL is of KIND, if there is one. */
static void write_argument_name(struct jsonw *w, const char *member,
                                const struct tool *tool, enum schema_kind kind)
{
    const struct schema_field *field = schema_first(tool->fields, kind);

    if (field)
        jsonw_member(w, member, str_from(field->name));
}

/* The files of a call that is about several. */
static void write_files(struct jsonw *w, const struct tool_call *call)
{
    if (call->part_count == 0)
        return;
    jsonw_name(w, "files");
    jsonw_array(w);
    for (size_t i = 0; i < call->part_count; i++)
        jsonw_string(w, buf_view(&call->parts[i].change.path));
    jsonw_end_array(w);
}

uint64_t editor_approve(struct editor *editor, const struct tool_call *call,
                        int64_t seconds)
{
    const struct tool_question *question = &call->question;
    struct rpc_reply request;
    struct jsonw *w = &request.json;

    if (!begin_request(editor, &request, "approve"))
        return 0;
    jsonw_member(w, "tool", str_from(call->tool->name));
    jsonw_member(w, "level", str_from(tool_level_name(call->tool->level)));
    jsonw_member(w, "session", str_from(call->session));
    write_client(w, call);
    write_arguments(w, buf_view(&call->arguments));
    write_argument_name(w, "code", call->tool, SCHEMA_CODE);
    write_argument_name(w, "path", call->tool, SCHEMA_PATH);
    write_files(w, call);
    if (call->tool->loads_code)
        jsonw_member_bool(w, "loads", true);
    jsonw_member(w, "message", buf_view(&question->message));
    jsonw_member_bool(w, "remember", question->remember);
    jsonw_member_int(w, "seconds", seconds);
    if (question->review.n > 0) {
        jsonw_name(w, "review");
        jsonw_raw(w, buf_view(&question->review));
    }
    return end_request(editor, &request);
}

uint64_t editor_read_buffer(struct editor *editor, struct str path)
{
    struct rpc_reply request;

    if (!begin_request(editor, &request, "text"))
        return 0;
    jsonw_member(&request.json, "path", path);
    return end_request(editor, &request);
}

uint64_t editor_read_unsaved(struct editor *editor, struct str folder,
                             const struct tool *tool)
{
    struct rpc_reply request;
    struct jsonw *w = &request.json;

    if (!begin_request(editor, &request, "unsaved"))
        return 0;
    jsonw_member(w, "folder", folder);
    jsonw_name(w, "ends");
    jsonw_array(w);
    for (size_t i = 0; tool->unsaved[i]; i++)
        jsonw_string(w, str_from(tool->unsaved[i]));
    jsonw_end_array(w);
    return end_request(editor, &request);
}

uint64_t editor_call(struct editor *editor, const struct tool_call *call)
{
    struct rpc_reply request;

    if (!begin_request(editor, &request, "call"))
        return 0;
    jsonw_member(&request.json, "tool", str_from(call->tool->name));
    write_arguments(&request.json, buf_view(&call->arguments));
    write_client(&request.json, call);
    return end_request(editor, &request);
}

void editor_withdraw(struct editor *editor, uint64_t id, struct str reason)
{
    struct rpc_reply note;

    if (!editor->connected)
        return;
    rpc_begin_notification(&note, &editor->output, "withdraw");
    jsonw_object(&note.json);
    jsonw_member_int(&note.json, "id", (int64_t)id);
    jsonw_member(&note.json, "reason", reason);
    jsonw_end_object(&note.json);
    (void)finish(editor, &note); // its answer is ignored anyway
}

void editor_waits(struct editor *editor, uint64_t id, int64_t seconds)
{
    struct rpc_reply note;

    if (!editor->connected || editor->output.n >= LIMIT_EDITOR_BACKLOG / 4)
        return;
    rpc_begin_notification(&note, &editor->output, "waits");
    jsonw_object(&note.json);
    jsonw_member_int(&note.json, "id", (int64_t)id);
    jsonw_member_int(&note.json, "seconds", seconds);
    jsonw_end_object(&note.json);
    (void)finish(editor, &note); // the editor then shows too little time
}

void editor_event(void *context, const struct gate_event *event)
{
    struct editor *editor = context;
    struct rpc_reply note;

    if (!editor->connected || event->phase == GATE_BEFORE ||
        editor->output.n >= LIMIT_EDITOR_BACKLOG / 4)
        return;
    rpc_begin_notification(&note, &editor->output, "called");
    jsonw_object(&note.json);
    audit_write(&note.json, event);
    if (event->arguments.n > 0 && event->arguments.n <= LIMIT_EDITOR_ARGUMENTS)
        write_arguments(&note.json, event->arguments);
    jsonw_member(&note.json, "text",
                 utf8_head(event->text, LIMIT_EDITOR_ANSWER));
    jsonw_end_object(&note.json);
    (void)finish(editor, &note); // the log of calls on disk has it
}

/* --- From the editor ---------------------------------------------------- */

enum status editor_feed(struct editor *editor, const void *p, size_t n)
{
    return linereader_feed(&editor->reader, p, n);
}

bool editor_has_line(struct editor *editor)
{
    return linereader_has_line(&editor->reader);
}

/* Reads the number of a request of ours from its JSON text. */
static bool read_id(struct str text, uint64_t *id)
{
    uint64_t n = 0;

    if (text.n == 0 || text.n > 18)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        n = n * 10 + (uint64_t)(text.p[i] - '0');
    }
    *id = n;
    return n > 0;
}

/* Reads a notification of KIND about the request that PARAMS name. */
static bool read_notice(struct json params, enum editor_kind kind,
                        struct editor_message *out)
{
    *out = (struct editor_message){.kind = kind};
    return read_id(json_raw(json_get(params, "id")), &out->id);
}

/* Fills OUT; false when MESSAGE is not one of this protocol. */
static bool read_message(const struct rpc_message *message,
                         struct editor_message *out)
{
    struct json tools = json_get(message->params, "tools");

    if (message->kind == RPC_RESPONSE) {
        *out = (struct editor_message){.kind = EDITOR_RESULT,
                                       .value = message->result,
                                       .error = message->error};
        return read_id(message->id, &out->id);
    }
    if (message->kind != RPC_NOTIFICATION)
        return false;
    if (str_eq(message->method, STR("received")))
        return read_notice(message->params, EDITOR_RECEIVED, out);
    if (str_eq(message->method, STR("working")))
        return read_notice(message->params, EDITOR_WORKING, out);
    *out = (struct editor_message){.kind = EDITOR_TOOLS, .value = tools};
    return str_eq(message->method, STR("tools")) &&
           json_type(tools) == JSON_ARRAY;
}

static enum status read_line(struct editor *editor, struct arena *arena,
                             struct str line, struct editor_message *out)
{
    struct json value;
    struct json_error error;
    struct rpc_message message;
    enum status status = json_parse(arena, line, &value, &error);

    if (status == ST_OK)
        status = rpc_read(arena, value, &message);
    if (status == ST_NOMEM) {
        log_line(editor->log, LOG_WARN, "editor: line lost: out of memory");
        return ST_NOMEM;
    }
    if (status != ST_OK) {
        log_line(editor->log, LOG_WARN, "editor: not JSON: %s at byte %zu",
                 error.what, error.at);
        return ST_INVALID;
    }
    if (read_message(&message, out))
        return ST_OK;
    log_line(editor->log, LOG_INFO, "editor: unknown message ignored");
    return ST_INVALID;
}

enum status editor_next(struct editor *editor, struct arena *arena,
                        struct editor_message *out)
{
    struct str line;
    enum status status;

    while ((status = linereader_next(&editor->reader, &line)) != ST_MISSING) {
        if (status == ST_OK)
            status = read_line(editor, arena, line, out);
        else
            log_line(editor->log, LOG_WARN,
                     "editor: line ignored: longer than %u bytes",
                     LIMIT_EDITOR_MESSAGE);
        if (status == ST_OK || status == ST_NOMEM)
            return status;
    }
    return ST_MISSING;
}
