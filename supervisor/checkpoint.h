/* SPDX-License-Identifier: GPL-3.0-or-later */
/* checkpoint.h: what a session can go back to: sleeping copies of its image,
   newest first, and the evaluations that it has answered. It only keeps the
   books; restore.c takes and wakes the copies. */
#ifndef SUPERVISOR_CHECKPOINT_H
#define SUPERVISOR_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/str.h"

/* Bytes of the first line of an evaluation that are remembered. */
#define EVALUATION_LINE 60

struct checkpoint {
    struct checkpoint *next; /* the one taken before it */
    int socket;              /* wakes the copy; owned */
    pid_t pid;
    int64_t start;       /* of the process, see linux_find; 0: not known */
    uint64_t evaluation; /* number of the last one that it contains */
    int64_t taken;       /* seconds since 1970 */
    bool apart; /* it contains evaluations that were undone since: it belongs
                   to an abandoned past, and is found by its name only */
    char name[LIMIT_SESSION_NAME + 1]; /* empty: taken by itself */
};

struct checkpoints {
    struct checkpoint *newest;
};

/* The last LIMIT_HISTORY evaluations of a session. */
struct history {
    uint64_t last;  /* number of the newest; 0 when there was none */
    uint64_t first; /* oldest whose line is known */
    char lines[LIMIT_HISTORY][EVALUATION_LINE + 1];
};

/* Drops all checkpoints: the copies end. */
void checkpoints_release(struct checkpoints *checkpoints);

/* Adds the newest one, which owns SOCKET from now on. Drops an older one of the
   same name, the oldest when there are more than LIMIT_CHECKPOINTS of its kind
   (named, unnamed), and one from the middle of a long series of evaluations,
   more than LIMIT_HISTORY from the next on each side. NULL when memory runs
   out: SOCKET is closed then. */
struct checkpoint *checkpoints_add(struct checkpoints *checkpoints, int socket,
                                   pid_t pid, uint64_t evaluation,
                                   struct str name);

/* The same without a name, in place of the newest one that has none if that is
   of the same EVALUATION: no other one is dropped then. */
struct checkpoint *checkpoints_renew(struct checkpoints *checkpoints,
                                     int socket, pid_t pid,
                                     uint64_t evaluation);

/* The newest one with NAME, and the one with the most evaluations that contains
   none after EVALUATION, the newest of equals; NULL when there is none. */
struct checkpoint *checkpoints_named(const struct checkpoints *checkpoints,
                                     struct str name);
struct checkpoint *checkpoints_before(const struct checkpoints *checkpoints,
                                      uint64_t evaluation);

/* Takes CHECKPOINT out; the caller owns it and frees it with checkpoint_free,
   which closes its socket unless that is -1. */
void checkpoints_take(struct checkpoints *checkpoints,
                      struct checkpoint *checkpoint);
void checkpoint_free(struct checkpoint *checkpoint);

/* RESTORED, which was taken out, is the present now: of the past that was
   abandoned, unnamed checkpoints are dropped; named ones stay, apart. */
void checkpoints_restored(struct checkpoints *checkpoints,
                          const struct checkpoint *restored);

/* Appends to OUT what stands for CODE in a list: the beginning of its first
   line. */
void history_line(struct str code, struct buf *out);

/* Notes an evaluation of CODE as the next one. */
void history_add(struct history *history, struct str code);

/* EVALUATION is the last one again. APART: it belongs to another past than the
   lines do, which are forgotten. */
void history_restored(struct history *history, uint64_t evaluation, bool apart);

/* Appends "evaluation 7: (defun f …", or the number alone when its line has
   been forgotten. */
void history_describe(const struct history *history, uint64_t evaluation,
                      struct buf *out);

/* Appends a line for each evaluation from FIRST to LAST; if there are many, for
   the first ones only, and how many more there are. */
void history_list(const struct history *history, uint64_t first, uint64_t last,
                  struct buf *out);

#endif
