/* SPDX-License-Identifier: GPL-3.0-or-later */
/* state.h: what the files of the supervisor share: its state, and what each of
   them does for the others. No host includes it. */
#ifndef SUPERVISOR_STATE_H
#define SUPERVISOR_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"
#include "supervisor/answer.h"
#include "supervisor/front.h"
#include "supervisor/session.h"
#include "supervisor/supervisor.h"
#include "supervisor/zygote.h"

/* A time by which calls have to end, if one was set. */
struct ending {
    bool wanted;
    int64_t at;
};

struct front {
    struct front *next;
    struct supervisor *supervisor;
    struct buf in; /* an incomplete frame */
    struct buf out;
    bool owner;
    bool greeted;         /* it has said HELLO */
    bool bereft;          /* and knew another supervisor: is to be told */
    struct ending ending; /* of its calls; never of an owner's */
    size_t calls;         /* that wait for an answer, */
    size_t bytes;         /* and the bytes of their fields */
};

struct supervisor {
    struct supervisor_config config;
    struct zygote zygote;
    struct sandbox_places places;       /* that images may write to */
    struct sandbox_state sandbox_state; /* what the zygote has told */
    struct channel *channels;           /* one per session, owned */
    struct kept kept;
    struct front *fronts; /* owned */
    int64_t name;         /* random; tells it from those before it */
    uint64_t serials;     /* live images and checkpoints begun so far */
    uint64_t call_ids;    /* calls so far */
    size_t calls;         /* those of all fronts, and their bytes; what is no */
    size_t bytes;         /* longer waited for is not counted */
    struct ending ending; /* of everything */
};

/* supervisor.c */

/* The session called NAME, new if there is none. NULL: says why not in TEXT,
   which stays empty when memory ran out. */
struct channel *supervisor_session(struct supervisor *s, struct str name,
                                   struct buf *text);

/* front.c: who is answered. */

/* Answers call ID of FRONT. */
void front_reply(struct front *front, uint64_t id, unsigned flags,
                 struct str text);

/* Output of that call, while it runs. */
void front_tell(struct front *front, uint64_t id, struct str text);

/* CALL is answered: it counts no more. */
void front_note_end(struct call *call);

/* Ends the calls of fronts whose time is up, and when that is; -1: no front
   has set a time. */
void front_tend(struct supervisor *s, int64_t now);
int64_t front_deadline(const struct supervisor *s);

/* Whether CALL has to end soon because its front, or everything, does. */
bool front_is_ending(const struct supervisor *s, const struct call *call);

void front_release_all(struct supervisor *s);

/* reply.c: answers. Each takes its call out of the channel if it is there,
   answers it and frees it. When its front is gone, what is for the next answer
   is left to that. */

/* With what the call printed, what the channel has to say besides, and BODY. */
void reply_composed(struct supervisor *s, struct channel *channel,
                    struct call *call, bool error, struct str body);

/* With TEXT alone. */
void reply_text(struct call *call, bool error, struct str text);

/* A call of CHANNEL that was not sent: why it was not begun. */
void reply_not_run(struct channel *channel, struct call *call, const char *why);

/* TEXT stands before the next answer of every front that uses the session, but
   of KNOWS (NULL: nobody does). */
void reply_note(struct channel *channel, const struct front *knows,
                struct str text);

#define REPLY_NO_MEMORY                                                        \
    "[ERROR] STORAGE-CONDITION\nThe server has not enough memory for this "    \
    "call."

/* life.c: the life of the image of a session. */

/* Sends waiting calls, opening an image when there is none. */
void life_serve(struct supervisor *s, struct channel *channel, int64_t now);

/* Makes an image for a session that has none. */
void life_open(struct supervisor *s, struct channel *channel);

/* Reads from the image and answers what is finished. */
void life_read(struct supervisor *s, struct channel *channel, int64_t now);

/* Answers the calls that are finished. */
void life_answer(struct supervisor *s, struct channel *channel, int64_t now);

/* Wait(2) or the zygote has told that process PID ended. */
void life_note_exit(struct supervisor *s, pid_t pid, int wait_status,
                    int64_t now);

/* The image is gone, or has broken the protocol and must go. */
void life_lost(struct supervisor *s, struct channel *channel, int64_t now);

/* Ends the image without a word; the calls stay. */
void life_end(struct supervisor *s, struct channel *channel);

/* Does what is due: buries an image whose cause of death is known, or was
   waited for long enough. */
void life_tend(struct supervisor *s, struct channel *channel, int64_t now);

/* stop.c: time limits and the stages of a stop. */
void stop_call(struct supervisor *s, struct channel *channel, struct call *call,
               enum stop_why why, int64_t now);

/* The same for every call of FRONT, or of all (NULL). */
void stop_calls(struct supervisor *s, const struct front *front,
                enum stop_why why, int64_t now);
void stop_tend(struct supervisor *s, struct channel *channel, int64_t now);
int64_t stop_deadline(const struct channel *channel);

/* watch.c: the number of processes that a session has started. */
void watch_tend(struct supervisor *s, struct channel *channel, int64_t now);
int64_t watch_deadline(const struct channel *channel);

/* Ends the programs that have been started since CALL began: it is stopped, and
   nobody waits for them any more. */
void watch_end_programs(const struct channel *channel, const struct call *call);

/* restore.c: checkpoints taken and woken. */

/* What is said with every way back. */
#define RESTORE_LIMITS                                                         \
    "\nThreads, open files and sockets, and what was written to disk are not " \
    "restored."

/* CALL has been answered by the image: unless it only reads, it is an
   evaluation that can be undone, and a checkpoint is due when the image is
   idle. */
void restore_note_call(struct channel *channel, const struct call *call,
                       int64_t now);

/* Asks for a checkpoint with NAME (empty: none). */
void restore_keep(struct supervisor *s, struct channel *channel,
                  struct str name, int64_t now);

/* Does what is due, and when that will be; -1: nothing. */
void restore_tend(struct supervisor *s, struct channel *channel, int64_t now);
int64_t restore_deadline(const struct channel *channel);

/* The image has answered KEEP. NULL: without success. */
struct checkpoint *restore_take_kept(struct supervisor *s,
                                     struct channel *channel, int64_t now);

/* Wakes CHECKPOINT, which was taken out; waits LIMIT_WAKE_MS at most. */
bool restore_wake(struct supervisor *s, struct channel *channel,
                  const struct checkpoint *checkpoint);

/* CHECKPOINT, which is awake, is the image of CHANNEL from now on. The caller
   frees it. */
void restore_become(struct supervisor *s, struct channel *channel,
                    struct checkpoint *checkpoint, int64_t now);

/* Puts the best checkpoint that can be woken in the place of the image that
   is lost, or lets the session begin anew. Appends to TEXT, in sentences, what
   that means for the session. */
void restore_after_death(struct supervisor *s, struct channel *channel,
                         struct buf *text, int64_t now);

/* The session begins anew: nothing of before can be restored. */
void restore_forget(struct channel *channel);

/* progress.c: output of the running call, told while it runs. */
void progress_tend(struct channel *channel, int64_t now);
int64_t progress_deadline(const struct channel *channel);

/* refusal.c: what is said when the sandbox has refused something. */

/* Appends a line that explains the sandbox when what CALL printed to its
   standard error, or BODY of its answer when that is an ERROR, shows that the
   system has refused something. */
void refusal_explain(const struct supervisor *s, const struct call *call,
                     bool error, struct str body, struct buf *out);

/* operation.c: the operations that the supervisor does itself. */

/* Whether OPERATION is one of them. */
bool operation_is_ours(struct str operation);

/* The session that opens when the zygote is ready. */
#define STATE_MAIN "main"

/* Whether OPERATION waits for nothing, not even for the session's calls. */
bool operation_is_immediate(struct str operation);

/* Does such an OPERATION, whose arguments are at BODY: appends its answer to
   TEXT. False when SESSION, or what was asked for in it, is not there. */
bool operation_show(const struct supervisor *s, struct str session,
                    struct str operation, struct str body, struct buf *text);

/* The session NAME unless it is closed, or NULL. */
const struct channel *operation_find(const struct supervisor *s,
                                     struct str name);

/* Appends a sentence: the session NAME is not there. */
void operation_miss(struct str name, struct buf *text);

/* Whether CALL, one of them, has to wait until there is an image. */
bool operation_needs_image(const struct call *call);

/* Does the first call of CHANNEL, which is one of them and before which
   nothing is unfinished; it is answered at once or when KEPT has come. */
void operation_run(struct supervisor *s, struct channel *channel, int64_t now);

/* CALL of CHANNEL has been answered by the image: tells those who share the
   session when its definitions are gone. */
void operation_note_answer(struct channel *channel, const struct call *call);

/* KEPT has come: CHECKPOINT, or NULL. Answers the call that waits for it, if
   any. */
void operation_take_kept(struct supervisor *s, struct channel *channel,
                         const struct checkpoint *checkpoint);

#endif
