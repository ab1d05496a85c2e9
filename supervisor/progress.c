/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress.c: see progress.h. */
#include "supervisor/progress.h"

#include "base/limits.h"
#include "supervisor/front.h"

/* Milliseconds between two frames. */
#define PAUSE_MS 250

/* Milliseconds without output after which an unfinished line is passed on. */
#define REST_MS 1000

/* Output of pipe I that the front has not got yet: whole lines, or with WHOLE
   all of it. */
static struct str fresh(const struct call *call, int i, bool whole)
{
    struct str head = buf_view(&call->captures[i].head);
    size_t start = call->progress.reported[i];
    size_t end = head.n;

    while (!whole && end > start && head.p[end - 1] != '\n')
        end--;
    return str_make(head.p + start, end - start);
}

/* Notes when CALL last printed. */
static void note_growth(struct call *call, int64_t now)
{
    for (int i = 0; i < CAPTURE_PIPES; i++) {
        size_t n = call->captures[i].head.n;

        if (n != call->progress.printed[i])
            call->progress.printed_at = now;
        call->progress.printed[i] = n;
    }
}

/* The running call, if its front wants its output. */
static struct call *reporter(const struct session *session)
{
    struct call *call = session->calls.first;
    bool reports = call && call->progress.wanted && call->sent &&
                   !call->stopping && call->front;

    return reports ? call : NULL;
}

/* Appends LINES to TEXT; only their end when they are too long. */
static void add_lines(struct str lines, struct buf *text)
{
    if (lines.n > LIMIT_PROGRESS) {
        lines.p += lines.n - LIMIT_PROGRESS;
        lines.n = LIMIT_PROGRESS;
    }
    buf_str(text, lines);
    if (lines.n > 0 && lines.p[lines.n - 1] != '\n')
        buf_byte(text, '\n');
}

/* Passes on what CALL has printed: whole lines, or with WHOLE all of it. */
static void report(struct call *call, bool whole, int64_t now)
{
    struct call_progress *progress = &call->progress;
    struct buf text = BUF_EMPTY;

    for (int i = 0; i < CAPTURE_PIPES; i++) {
        struct str lines = fresh(call, i, whole);

        progress->reported[i] += lines.n;
        add_lines(lines, &text);
    }
    if (text.n > 0) {
        progress->reported_at = now;
        front_tell(call->front, call->front_id, str_make(text.p, text.n - 1));
    }
    buf_release(&text);
}

void progress_tend(struct session *session, int64_t now)
{
    struct call *call = reporter(session);

    if (!call)
        return;
    note_growth(call, now);
    if (now >= call->progress.reported_at + PAUSE_MS)
        report(call, now >= call->progress.printed_at + REST_MS, now);
}

void progress_flush(struct session *session, int64_t now)
{
    struct call *call = reporter(session);

    if (!call)
        return;
    note_growth(call, now);
    report(call, true, now);
}

int64_t progress_deadline(const struct session *session)
{
    const struct call *call = reporter(session);
    bool lines = false;
    bool more = false;
    int64_t pause;
    int64_t rest;

    for (int i = 0; call && i < CAPTURE_PIPES; i++) {
        lines = lines || fresh(call, i, false).n > 0;
        more = more || fresh(call, i, true).n > 0;
    }
    if (!more)
        return -1;
    pause = call->progress.reported_at + PAUSE_MS;
    rest = call->progress.printed_at + REST_MS;
    return lines || rest < pause ? pause : rest;
}
