/* SPDX-License-Identifier: GPL-3.0-or-later */
/* editor.c: see editor.h. Strict about what it reads: an editor that says
   something else has said nothing. */
#include "editor.h"

#include "jsonw.h"
#include "limits.h"
#include "rpc.h"
#include "version.h"

/* Storage that the idle output keeps. */
#define KEPT (64u * 1024)

void editor_init(struct editor *editor, const struct log *log,
                 const struct editor_about *about)
{
    *editor = (struct editor){.log = log, .about = *about};
    frame_init(&editor->frame, LIMIT_EDITOR_MESSAGE);
}

void editor_release(struct editor *editor)
{
    frame_release(&editor->frame);
    buf_release(&editor->output);
}

/* --- What is said ------------------------------------------------------- */

/* Closes a message; whether it is in the output. */
static bool finish(struct editor *editor, struct rpc_reply *message)
{
    if (rpc_end_notification(message) == ST_OK)
        return true;
    log_line(editor->log, LOG_WARN, "editor: no memory for a message");
    return false;
}

static void greet(struct editor *editor)
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
    if (about->workspace != NULL)
        jsonw_string(w, str_from(about->workspace));
    else
        jsonw_null(w);
    jsonw_member_bool(w, "attached", about->attached);
    jsonw_end_object(w);
    (void)finish(editor, &note); // it manages without
}

void editor_open(struct editor *editor)
{
    editor->there = true;
    greet(editor);
    log_line(editor->log, LOG_INFO, "editor: connected");
}

void editor_close(struct editor *editor)
{
    if (!editor->there)
        return;
    editor->there = false;
    buf_trim(&editor->output, KEPT);
    buf_reset(&editor->output);
    frame_release(&editor->frame);
    frame_init(&editor->frame, LIMIT_EDITOR_MESSAGE);
    log_line(editor->log, LOG_INFO, "editor: gone");
}

/* --- What is heard ------------------------------------------------------ */

enum status editor_feed(struct editor *editor, const void *p, size_t n)
{
    return frame_feed(&editor->frame, p, n);
}

/* A number of ours as JSON has it. */
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

/* Whether MESSAGE is one of this protocol. */
static bool read_message(const struct rpc_message *message,
                         struct editor_message *out)
{
    struct json tools = json_get(message->params, "tools");

    if (message->kind == RPC_RESPONSE) {
        *out = (struct editor_message){.kind = EDITOR_RESULT,
                                       .value = message->result};
        return read_id(message->id, &out->id);
    }
    if (message->kind != RPC_NOTIFICATION)
        return false;
    if (str_eq(message->method, STR("received"))) {
        *out = (struct editor_message){.kind = EDITOR_RECEIVED};
        return read_id(json_raw(json_get(message->params, "id")), &out->id);
    }
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
        log_line(editor->log, LOG_WARN, "editor: no memory for a line");
        return ST_NOMEM;
    }
    if (status != ST_OK) {
        log_line(editor->log, LOG_WARN, "editor: a line is no JSON: %s at %zu",
                 error.what, error.at);
        return ST_INVALID;
    }
    if (read_message(&message, out))
        return ST_OK;
    log_line(editor->log, LOG_INFO, "editor: a message is not understood");
    return ST_INVALID;
}

enum status editor_next(struct editor *editor, struct arena *arena,
                        struct editor_message *out)
{
    struct str line;
    enum status status;

    while ((status = frame_next(&editor->frame, &line)) != ST_MISSING) {
        if (status == ST_OK)
            status = read_line(editor, arena, line, out);
        else
            log_line(editor->log, LOG_WARN, "editor: a line has over %u bytes",
                     LIMIT_EDITOR_MESSAGE);
        if (status == ST_OK || status == ST_NOMEM)
            return status;
    }
    return ST_MISSING;
}
