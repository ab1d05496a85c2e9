/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refusal.c: see state.h. Who reads that something is not permitted is told
   what is. */
#include "supervisor/state.h"

void refusal_explain(const struct supervisor *s, const struct call *call,
                     bool error, struct str body, struct buf *out)
{
    struct buf errors = BUF_EMPTY;

    if (s->config.sandbox.mode == SANDBOX_OFF)
        return;
    (void)capture_text(&call->captures[CHANNEL_STDERR], &errors);
    if ((error && sandbox_shows_refusal(body)) ||
        sandbox_shows_refusal(buf_view(&errors))) {
        buf_str(out, body);
        buf_str(out, body.n > 0 ? STR("\n\n[sandbox]\n") : STR("[sandbox]\n"));
        sandbox_explain(&s->config.sandbox, &s->places, out);
        if (buf_failed(out))
            buf_reset(out); // the answer goes out without it
    }
    buf_release(&errors);
}
