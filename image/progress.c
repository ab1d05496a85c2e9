/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress.c: tells the front what the running call prints, while it runs:
   whole lines, now and then (see state.h). */
#include <string.h>

#include "limits.h"
#include "state.h"

/* Milliseconds between two frames. */
#define PAUSE_MS 250

/* Lines of pipe I that were not told yet. */
static struct str fresh(const struct call *call, int i)
{
    struct str head = buf_view(&call->captures[i].head);
    size_t end = head.n;

    while (end > call->told[i] && head.p[end - 1] != '\n')
        end--;
    return str_make(head.p + call->told[i], end - call->told[i]);
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

    if (!call || now < call->told_at + PAUSE_MS)
        return;
    for (i = 0; i < CHANNEL_PIPES; i++) {
        struct str lines = fresh(call, i);

        call->told[i] += lines.n;
        if (lines.n > LIMIT_PROGRESS) {
            lines.p += lines.n - LIMIT_PROGRESS; // the newest
            lines.n = LIMIT_PROGRESS;
        }
        buf_str(&text, lines);
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

    if (!call || (fresh(call, CHANNEL_STDOUT).n == 0 &&
                  fresh(call, CHANNEL_STDERR).n == 0))
        return -1;
    return call->told_at + PAUSE_MS;
}
