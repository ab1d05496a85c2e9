/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit.c: see audit.h. */
#include "gate/audit.h"

#include "base/digest.h"

/* Storage that is kept for the next line. */
#define KEPT 4096

void audit_init(struct audit *audit, const struct log *log,
                const struct audit_sink *sink)
{
    *audit = (struct audit){.log = log, .sink = *sink};
}

void audit_release(struct audit *audit)
{
    buf_release(&audit->line);
}

const char *audit_outcome(const struct gate_event *event)
{
    if (event->phase == GATE_AFTER)
        return "ok";
    return event->call->approved ? "error" : "refused";
}

/* NULL: null. */
static void write_text(struct jsonw *w, const char *name, const char *text)
{
    jsonw_name(w, name);
    if (text)
        jsonw_string(w, str_from(text));
    else
        jsonw_null(w);
}

/* Nothing when TEXT is empty. */
static void write_buf(struct jsonw *w, const char *name, const struct buf *text)
{
    if (text->n > 0)
        jsonw_member(w, name, buf_view(text));
}

/* Size and SHA-256 of TEXT. */
static void write_digest(struct jsonw *w, const char *size_name,
                         const char *hash_name, struct str text)
{
    unsigned char digest[DIGEST_SIZE];

    digest_of(text, digest);
    jsonw_member_int(w, size_name, (int64_t)text.n);
    jsonw_name(w, hash_name);
    jsonw_digest(w, digest);
}

static void write_change(struct jsonw *w, const struct tool_change *change)
{
    write_buf(w, "path", &change->path);
    write_buf(w, "patch", &change->patch);
    write_buf(w, "beforeSha256", &change->before);
    write_buf(w, "afterSha256", &change->after);
}

/* The files of a call that is about several. */
static void write_files(struct jsonw *w, const struct tool_call *call)
{
    if (call->part_count == 0)
        return;
    jsonw_name(w, "files");
    jsonw_array(w);
    for (size_t i = 0; i < call->part_count; i++) {
        jsonw_object(w);
        write_change(w, &call->parts[i].change);
        jsonw_member_bool(w, "changed", call->parts[i].change.made);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
}

void audit_write(struct jsonw *w, const struct gate_event *event)
{
    const struct tool_call *call = event->call;
    bool decided = call->decision != NULL;
    int64_t decided_ms = decided ? call->decided_ms : event->now_ms;

    jsonw_name(w, "client");
    if (call->client.n > 0)
        jsonw_raw(w, call->client);
    else
        jsonw_null(w);
    write_text(w, "session", call->session[0] != '\0' ? call->session : NULL);
    write_text(w, "tool", call->tool->name);
    write_text(w, "level", tool_level_name(call->tool->level));
    if (call->tool->look_up)
        jsonw_member_bool(w, "lookup", true);
    write_text(w, "decision", call->decision);
    write_text(w, "by", call->decided_by);
    write_buf(w, "rule", &call->rule);
    write_buf(w, "reason", &call->reason);
    write_text(w, "outcome", audit_outcome(event));
    jsonw_member_int(w, "decisionMs", decided_ms - call->started_ms);
    jsonw_member_int(w, "runMs", event->now_ms - decided_ms);
    write_buf(w, "preview", &call->preview);
    write_digest(w, "argumentBytes", "argumentSha256", event->arguments);
    write_digest(w, "answerBytes", "answerSha256", event->text);
    write_change(w, &call->change);
    write_files(w, call);
}

void audit_event(void *context, const struct gate_event *event)
{
    struct audit *audit = context;
    struct jsonw w;

    if (event->phase == GATE_BEFORE)
        return;
    jsonw_init(&w, &audit->line);
    jsonw_object(&w);
    audit_write(&w, event);
    jsonw_end_object(&w);
    if (buf_failed(&audit->line)) {
        log_line(audit->log, LOG_ERROR, "audit: no memory for a line about %s",
                 event->call->tool->name);
    } else {
        struct str line = buf_view(&audit->line);
        audit->sink.append(audit->sink.context,
                           event->now_ms - event->call->started_ms,
                           str_make(line.p + 1, line.n - 1),
                           event->call->tool->level == TOOL_DANGEROUS);
    }
    buf_trim(&audit->line, KEPT);
    buf_reset(&audit->line);
}
