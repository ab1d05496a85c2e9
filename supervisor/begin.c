/* SPDX-License-Identifier: GPL-3.0-or-later */
/* begin.c: see begin.h. */
#include "supervisor/begin.h"

#include "image/linux.h"
#include "supervisor/adopted.h"

void begin(struct supervisor *s, int64_t now_ms)
{
    const struct sandbox *sandbox = &s->config.sandbox;

    if (s->begun)
        return;
    s->begun = true;
    adopted_begin(s);
    sandbox_hide_process(sandbox);
    zygote_start(&s->zygote, now_ms);
    // the rest is done while Lisp boots; the zygote waits for the folder
    if (sandbox->mode == SANDBOX_WORKSPACE) {
        temporary_open(&s->temporary, &s->config.log);
        zygote_tell_temporary(&s->zygote, s->temporary.path);
    }
    sandbox_find_places(sandbox, s->config.workspace, s->temporary.path,
                        &s->places);
    sandbox_make_cache(sandbox, &s->places);
    protected_open(
        &s->protected, sandbox,
        s->places.refused[SANDBOX_ROOT] ? "" : s->places.writable[SANDBOX_ROOT],
        &s->config.log);
    temporary_clean(&s->temporary, linux_now_ms());
}
