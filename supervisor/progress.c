/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress.c: tells the front what the running call prints, while it runs:
   whole lines, now and then, and a line that is not ended when nothing comes
   behind it, as a prompt or dots that count (see state.h). */
#include <string.h>

#include "base/limits.h"
#include "supervisor/state.h"

/* Milliseconds between two frames. */
#define PAUSE_MS 250

/* Milliseconds after which a line that is not ended is told. */
#define REST_MS 1000

/* Output of pipe I that was not told yet: lines, or with WHOLE all of it. */
static struct str fresh(const struct call *call, int i, bool whole)
{
    struct str head = buf_view(&call->captures[i].head);
    size_t end = head.n;

    while (!whole && end > call->told[i] && head.p[end - 1] != '\n')
        end--;
    return str_make(head.p + call->told[i], end - call->told[i]);
}

/* Notes when CALL has printed last. */
static void note_growth(struct call *call, int64_t now)
{
    int i;

    for (i = 0; i < CHANNEL_PIPES; i++) {
        if (call->captures[i].head.n != call->seen[i])
            call->grown_at = now;
        call->seen[i] = call->captures[i].head.n;
    }
}

static struct call *teller(const struct channel *channel)
{
    struct call *call = channel->first;

    return call && call->progress && call->sent && !call->stopping &&
                   call->front
               ? call
               : NULL;
}

void progress_tend(struct channel *channel, int64_t now)
{
    struct call *call = teller(channel);
    struct buf text = BUF_EMPTY;
    int i;

    if (!call)
        return;
    note_growth(call, now);
    if (now < call->told_at + PAUSE_MS)
        return;
    for (i = 0; i < CHANNEL_PIPES; i++) {
        struct str lines = fresh(call, i, now >= call->grown_at + REST_MS);

        call->told[i] += lines.n;
        if (lines.n > LIMIT_PROGRESS) {
            lines.p += lines.n - LIMIT_PROGRESS; // the newest
            lines.n = LIMIT_PROGRESS;
        }
        buf_str(&text, lines);
        if (lines.n > 0 && lines.p[lines.n - 1] != '\n')
            buf_str(&text, STR("\n"));
    }
    if (text.n > 0) {
        call->told_at = now;
        front_tell(call->front, call->front_id, str_make(text.p, text.n - 1));
    }
    buf_release(&text);
}

int64_t progress_deadline(const struct channel *channel)
{
    const struct call *call = teller(channel);
    bool lines = false;
    bool more = false;
    int i;

    for (i = 0; call && i < CHANNEL_PIPES; i++) {
        lines = lines || fresh(call, i, false).n > 0;
        more = more || fresh(call, i, true).n > 0;
    }
    if (!more)
        return -1;
    if (lines || call->grown_at + REST_MS < call->told_at + PAUSE_MS)
        return call->told_at + PAUSE_MS;
    return call->grown_at + REST_MS;
}
