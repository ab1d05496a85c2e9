/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keeping.c: see keeping.h. */
#include "supervisor/keeping.h"

#include <string.h>

#include "supervisor/closing.h"

void keeping_init(struct keeping *keeping)
{
    memset(keeping, 0, sizeof *keeping);
    keeping->copy.socket = -1;
    frozen_errors_init(&keeping->frozen);
}

void keeping_release(struct keeping *keeping)
{
    keeping_disconnect(keeping);
    checkpoint_free(keeping->waking.checkpoint);
    keeping->waking.checkpoint = NULL;
    checkpoints_release(&keeping->checkpoints);
}

void keeping_disconnect(struct keeping *keeping)
{
    if (keeping->copy.socket >= 0)
        closing_socket(keeping->copy.socket); // by this the copy ends
    keeping->copy.socket = -1;
    keeping->copy.arrived = false;
    keeping->number = 0;
    keeping->held = false;
    keeping->preparing.failed |= keeping->preparing.asked;
    keeping->preparing.asked = false;
    keeping->preparing.done = false; // the next image may know nothing of it
    keeping->preparing.renews = false;
    keeping->preparing.at = 0;
    keeping->call = 0; // a copy that is made later is not the one it waits for
    frozen_errors_drop_outcome(&keeping->frozen);
}

void keeping_forget(struct keeping *keeping)
{
    checkpoints_release(&keeping->checkpoints);
    frozen_errors_forget(&keeping->frozen);
    memset(&keeping->history, 0, sizeof keeping->history);
    keeping->changed = false;
    keeping->preparing.loaded = false;
    keeping->rest_until = 0;
}
