/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keeping.h: what a session can go back to, and when the next checkpoint is
   taken. It only keeps the books; restore.c asks the image for copies. */
#ifndef SUPERVISOR_KEEPING_H
#define SUPERVISOR_KEEPING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/limits.h"
#include "supervisor/checkpoint.h"
#include "supervisor/frozen_errors.h"
#include "wire/wire.h"

/* What a KEPT frame has brought. */
struct keeping_copy {
    bool arrived;
    pid_t pid;
    int socket; /* that wakes it; -1: none came */
};

/* What calls will need is loaded ahead (preparing.h). */
struct keeping_preparing {
    int64_t at;  /* when that is due; 0: no call has been answered yet */
    bool asked;  /* the number is that of a PREPARE, not of a KEEP */
    bool done;   /* this image has thought about it */
    bool failed; /* one has died meanwhile: never again in this session */
    bool loaded; /* something was loaded */
    bool renews; /* the next checkpoint replaces the newest one, if no
                    evaluation has come between */
};

/* The copy that is waking, if any: it was taken out of the checkpoints and is
   not the image yet. */
struct waking {
    struct checkpoint *checkpoint; /* owned; NULL: there is none */
    uint64_t call; /* that asked for it, the first one; 0: the image has died */
    int64_t until; /* it must be awake by then */
    char said[WIRE_HEAD + WIRE_NUMBER_BYTES]; /* WOKEN, as far as it has come */
    size_t n;                                 /* bytes of it */
};

struct keeping {
    struct checkpoints checkpoints;
    struct history history;
    bool changed;       /* since the newest checkpoint */
    int64_t due_at;     /* when the next one is due */
    int64_t rest_until; /* none is taken before, so that calls come first */

    /* the KEEP or PREPARE that has no KEPT yet */
    uint64_t number; /* 0: there is none */
    bool held;       /* it is sent when the image is settled */
    int64_t sent_at;
    char name[LIMIT_SESSION_NAME + 1];
    uint64_t call; /* the call that asked for it, or 0 */

    struct keeping_copy copy;
    struct keeping_preparing preparing;
    struct waking waking;
    struct frozen_errors frozen;
};

void keeping_init(struct keeping *keeping);
void keeping_release(struct keeping *keeping);

/* The image is gone: no KEPT comes any longer. Checkpoints stay. */
void keeping_disconnect(struct keeping *keeping);

/* The session begins anew: nothing from before can be restored. */
void keeping_forget(struct keeping *keeping);

#endif
