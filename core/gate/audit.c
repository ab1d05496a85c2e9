/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit.c: see audit.h. */
#include "gate/audit.h"

#include <string.h>

#include "base/digest.h"

/* Storage that is kept for the next line. */
#define KEPT 4096

/* Bytes of arguments and answers that wait to be hashed; a call with more is
   written down at once. */
#define LATER (64u * 1024)

/* A line without its digests, in audit->later. Behind it are the members of the
   line, the arguments and the answer. */
struct unfinished {
    int64_t started_ms;
    size_t members;
    size_t arguments;
    size_t answer;
};

void audit_init(struct audit *audit, const struct log *log,
                const struct audit_sink *sink)
{
    *audit = (struct audit){.log = log, .sink = *sink};
}

void audit_release(struct audit *audit)
{
    buf_release(&audit->line);
    buf_release(&audit->later);
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

/* The members before the digests. */
static void write_facts(struct jsonw *w, const struct gate_event *event)
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
}

static void write_digests(struct jsonw *w, struct str arguments,
                          struct str answer)
{
    write_digest(w, "argumentBytes", "argumentSha256", arguments);
    write_digest(w, "answerBytes", "answerSha256", answer);
}

void audit_write(struct jsonw *w, const struct gate_event *event)
{
    write_facts(w, event);
    write_digests(w, event->arguments, event->text);
    write_change(w, &event->call->change);
    write_files(w, event->call);
}

/* Appends the line that was made, of a call that began AGE_MS ago. */
static void append(struct audit *audit, int64_t age_ms, bool lasting)
{
    struct str line = buf_view(&audit->line);
    uint64_t number = 0;

    if (buf_failed(&audit->line))
        log_line(audit->log, LOG_ERROR, "audit: no memory for a line");
    else
        number = audit->sink.append(audit->sink.context, age_ms,
                                    str_make(line.p + 1, line.n - 1), lasting);
    if (lasting)
        audit->lasting = number;
    buf_trim(&audit->line, KEPT);
    buf_reset(&audit->line);
}

/* Makes and appends the line of which AT is the start in audit->later; returns
   where the next one starts. */
static size_t append_later(struct audit *audit, size_t at, int64_t now_ms)
{
    struct unfinished head;
    const char *p = audit->later.p + at;
    struct jsonw w;

    memcpy(&head, p, sizeof head);
    p += sizeof head;
    buf_append(&audit->line, p, head.members);
    p += head.members;
    jsonw_init(&w, &audit->line);
    w.comma = true; // it goes on behind the other members
    write_digests(&w, str_make(p, head.arguments),
                  str_make(p + head.arguments, head.answer));
    jsonw_end_object(&w);
    append(audit, now_ms - head.started_ms, false);
    return at + sizeof head + head.members + head.arguments + head.answer;
}

uint64_t audit_unsettled(const struct audit *audit)
{
    return audit_is_settled(audit, audit->lasting) ? 0 : audit->lasting;
}

bool audit_is_settled(const struct audit *audit, uint64_t line)
{
    return line == 0 || audit->sink.settled(audit->sink.context, line);
}

bool audit_is_behind(const struct audit *audit)
{
    return audit->later.n > 0;
}

void audit_catch_up(struct audit *audit, int64_t now_ms)
{
    size_t at = 0;

    while (at < audit->later.n)
        at = append_later(audit, at, now_ms);
    buf_trim(&audit->later, KEPT);
    buf_reset(&audit->later);
}

/* Keeps what the line of EVENT needs, whose start was made. False: there is no
   memory for that. */
static bool keep(struct audit *audit, const struct gate_event *event)
{
    struct str members = buf_view(&audit->line);
    struct unfinished head = {event->call->started_ms, members.n,
                              event->arguments.n, event->text.n};
    size_t before = audit->later.n;

    buf_append(&audit->later, &head, sizeof head);
    buf_str(&audit->later, members);
    buf_str(&audit->later, event->arguments);
    buf_str(&audit->later, event->text);
    if (buf_failed(&audit->later)) {
        buf_truncate(&audit->later, before);
        return false;
    }
    buf_reset(&audit->line);
    return true;
}

/* Whether the line of EVENT may be finished when the answer is out: one that is
   about a change, or about the right to make one, may not. */
static bool can_wait(const struct gate_event *event)
{
    const struct tool_call *call = event->call;

    return call->tool->level != TOOL_DANGEROUS && call->part_count == 0 &&
           call->change.path.n == 0 && call->change.patch.n == 0 &&
           event->arguments.n + event->text.n <= LATER;
}

void audit_event(void *context, const struct gate_event *event)
{
    struct audit *audit = context;
    struct jsonw w;

    audit_catch_up(audit, event->now_ms); // lines stay in order
    if (event->phase == GATE_BEFORE)
        return;
    jsonw_init(&w, &audit->line);
    jsonw_object(&w);
    write_facts(&w, event);
    if (can_wait(event) && !buf_failed(&audit->line) && keep(audit, event))
        return;
    write_digests(&w, event->arguments, event->text);
    write_change(&w, &event->call->change);
    write_files(&w, event->call);
    jsonw_end_object(&w);
    append(audit, event->now_ms - event->call->started_ms,
           event->call->tool->level == TOOL_DANGEROUS);
}
