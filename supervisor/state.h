/* SPDX-License-Identifier: GPL-3.0-or-later */
/* state.h: the state of a supervisor, for its own files: the sessions, the
   fronts, the zygote and the store of long outputs. Hosts do not include it. */
#ifndef SUPERVISOR_STATE_H
#define SUPERVISOR_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "image/sandbox.h"
#include "supervisor/config.h"
#include "supervisor/outputs.h"
#include "supervisor/protected.h"
#include "supervisor/session.h"
#include "supervisor/temporary.h"
#include "supervisor/zygote.h"

/* The session that opens when the zygote is ready. */
#define STATE_MAIN "main"

/* A time by which calls have to end, if one was set (ending.h). */
struct ending {
    bool wanted;
    int64_t at;
};

struct front {
    struct front *next;
    struct supervisor *supervisor;
    struct buf in; /* an incomplete frame */
    struct buf out;
    struct reading *reading; /* what it reads of an output; owned, or NULL */
    size_t spent;            /* work (strand.h) for it in this turn */
    bool more;               /* frames wait for the next turn */
    bool wrong;              /* what it has sent is no frame */
    bool owner;
    bool greeted;         /* it has said HELLO */
    bool lost_images;     /* those it used before ended with an earlier
                             supervisor; it has not been told yet */
    struct ending ending; /* of its calls; never of an owner's */
    size_t calls;         /* that wait for an answer */
    size_t bytes;         /* of their fields */
};

/* Chains of sessions by their names. */
#define STATE_NAMES 256

struct supervisor {
    struct supervisor_config config;
    struct zygote zygote;
    struct temporary temporary;         /* the folder for their TMPDIR */
    struct sandbox_places places;       /* that images may write to */
    struct protected protected;         /* files that come meanwhile */
    struct sandbox_state sandbox_state; /* as the zygote has reported it */
    struct session *sessions;           /* owned */
    size_t sessions_n;                  /* how many */
    struct session *named[STATE_NAMES]; /* the same, by the hash of the name */
    struct session *awake;              /* those with work, the rest sleeps */
    int epoll;                          /* watches the descriptors of all */
    bool unwatched;                     /* not all: some must be looked at */
    int64_t ran_at;       /* when supervisor_run was last called */
    struct front *fronts; /* owned */
    size_t spent;         /* work for all of them in this turn */
    struct outputs outputs;
    bool begun;    /* the zygote was started; see begin.h */
    bool alone;    /* every child of this process is one of ours (adopted.h) */
    bool adopting; /* there may be some to kill */
    int64_t name;  /* random; tells it from earlier supervisors */
    uint64_t serials;     /* live images and checkpoints begun so far */
    uint64_t call_ids;    /* calls so far */
    size_t calls;         /* of all fronts, that wait for an answer; those of
                             fronts that are gone do not count */
    size_t bytes;         /* of their fields */
    struct ending ending; /* of everything */
};

/* The session NAME unless it is closed, or NULL. */
struct session *state_find_session(const struct supervisor *s, struct str name);

/* The session NAME, a new one if need be. NULL: TEXT says why, or is empty
   when memory ran out. */
struct session *state_use_session(struct supervisor *s, struct str name,
                                  struct buf *text);

/* Takes SESSION out of the lists of all and of names. The caller frees it. */
void state_forget_session(struct supervisor *s, const struct session *session);

/* SESSION may have work from now on: supervisor_run looks at it until it has
   none. What reaches it through its descriptors wakes it anyway. */
void state_wake(struct supervisor *s, struct session *session);
void state_wake_all(struct supervisor *s);

#endif
