/* SPDX-License-Identifier: GPL-3.0-or-later */
/* restore.h: takes checkpoints while an image is idle, and wakes them when it
   is lost or a user wants to go back. A checkpoint is a copy of the image that
   sleeps (docs/adr/0004). */
#ifndef SUPERVISOR_RESTORE_H
#define SUPERVISOR_RESTORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"
#include "supervisor/call.h"
#include "supervisor/checkpoint.h"
#include "supervisor/session.h"

struct supervisor;

/* What is said with every way back. */
#define RESTORE_LIMITS                                                         \
    "\nThreads, open files and sockets, and what was written to disk are not " \
    "restored."

/* CALL has been answered by the image: unless it only reads, it is an
   evaluation that can be undone, and a checkpoint is due when the image is
   idle. */
void restore_note_call(struct session *session, const struct call *call,
                       int64_t now);

/* Whether the image is idle and could be asked for a checkpoint. */
bool restore_can_keep(const struct session *session);

/* Asks the image for a checkpoint with NAME (empty: none), as soon as its
   keeper has ended what an earlier image has left. The answer, KEPT, comes with
   session_read. */
void restore_keep(struct supervisor *s, struct session *session,
                  struct str name, int64_t now);

/* A call is to be sent: asks for the first checkpoint before it, if there is
   none to which its death could lead back. */
void restore_keep_first(struct supervisor *s, struct session *session,
                        int64_t now);

/* Sends what restore_keep has held back, if it need not wait any longer. */
void restore_send_held(struct session *session, int64_t now);

/* Asks for the checkpoint that is due, if any. */
void restore_tend(struct supervisor *s, struct session *session, int64_t now);

/* When restore_tend must be called again; -1: no checkpoint is due. */
int64_t restore_deadline(const struct supervisor *s,
                         const struct session *session);

/* KEPT has come (keeping.copy.arrived): takes the copy into the books. The
   session owns the checkpoint. NULL: the image could not make a copy, or what
   it sent is not one. */
struct checkpoint *restore_take_kept(struct supervisor *s,
                                     struct session *session, int64_t now);

/* Frozen errors have changed (keeping.frozen.changed): drops those that are no
   copies of the image, and tells the keeper of the others. */
void restore_take_frozen(struct supervisor *s, struct session *session);

/* The outcome of a frozen error that the image has offered becomes the newest
   checkpoint, of EVALUATION. The session owns it. NULL: what was offered is no
   copy of the image. */
struct checkpoint *restore_take_outcome(struct supervisor *s,
                                        struct session *session,
                                        uint64_t evaluation);

/* Begins to wake CHECKPOINT, which it takes out of the books: SESSION is waking
   from now on, for LIMIT_WAKE_MS at most. CALL has asked for it; 0: the image
   has died. */
void restore_begin(struct supervisor *s, struct session *session,
                   struct checkpoint *checkpoint, uint64_t call, int64_t now);

/* The same with the best checkpoint that can replace a dead image. False: there
   is none. */
bool restore_begin_best(struct supervisor *s, struct session *session,
                        int64_t now);

/* Whether SESSION waits until a copy is awake. */
bool restore_is_waking(const struct session *session);

/* Listens, without waiting, to the copy that SESSION waits for. ST_MISSING: it
   sleeps and has time left. ST_OK: it is awake. ST_IO: it is gone, or was
   killed because it did not wake. After the last two the session is no longer
   waking, and the caller owns *CHECKPOINT. */
enum status MUST_CHECK restore_listen(struct supervisor *s,
                                      struct session *session, int64_t now,
                                      struct checkpoint **checkpoint);

/* CHECKPOINT, which is awake, is the image of SESSION from now on. The caller
   frees it. */
void restore_become(struct supervisor *s, struct session *session,
                    struct checkpoint *checkpoint, int64_t now);

/* Appends to TEXT, in sentences, what the death of its image means for SESSION:
   CHECKPOINT will replace it, or, NULL, a fresh image. */
void restore_describe_loss(const struct session *session,
                           const struct checkpoint *checkpoint,
                           struct buf *text);

#endif
