/* SPDX-License-Identifier: GPL-3.0-or-later */
/* image_life.c: see image_life.h. */
#include "supervisor/image_life.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/linux.h"
#include "supervisor/adopted.h"
#include "supervisor/adopting.h"
#include "supervisor/closing.h"
#include "supervisor/ending.h"
#include "supervisor/operation.h"
#include "supervisor/preparing.h"
#include "supervisor/process_limit.h"
#include "supervisor/reply.h"
#include "supervisor/restore.h"
#include "supervisor/state.h"
#include "supervisor/stop.h"

/* Milliseconds to wait until the keeper says why an image ended. */
#define CAUSE_MS 1000

/* Milliseconds until an image is to be buried again while too much is to be
   closed. */
#define FULL_MS 250

/* Makes the pair of descriptor I of a live image, in the order of enum
   control_fd: a pipe for output, else a socket. */
static bool make_pair(int i, int *ours, int *theirs)
{
    int type = i == CONTROL_KEEPER ? SOCK_SEQPACKET : SOCK_STREAM;
    int pair[2];
    int made = i == CONTROL_STDOUT || i == CONTROL_STDERR
                   ? pipe2(pair, O_CLOEXEC)
                   : socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, pair);

    if (made < 0)
        return false;
    *ours = pair[0];
    *theirs = pair[1];
    return fcntl(pair[0], F_SETFL, O_NONBLOCK) == 0;
}

/* Makes the sockets and the pipes of a live image and its keeper. */
static bool make_fds(int ours[CONTROL_FDS], int theirs[CONTROL_FDS])
{
    for (int i = 0; i < CONTROL_FDS; i++)
        ours[i] = theirs[i] = -1;
    for (int i = 0; i < CONTROL_FDS; i++)
        if (!make_pair(i, &ours[i], &theirs[i]))
            return false;
    return true;
}

static void close_fds(const int fds[CONTROL_FDS])
{
    for (int i = 0; i < CONTROL_FDS; i++)
        if (fds[i] >= 0)
            (void)close(fds[i]); // not needed here
}

void image_life_open(struct supervisor *s, struct session *session)
{
    struct control_message message = {.kind = CONTROL_OPEN,
                                      .heap = s->config.heap};
    int ours[CONTROL_FDS];
    int theirs[CONTROL_FDS];
    bool ok = make_fds(ours, theirs) &&
              linux_random(session->image.output.key,
                           sizeof session->image.output.key);

    message.serial = ++s->serials;
    memcpy(message.key, session->image.output.key, sizeof message.key);
    ok = ok && control_send(s->zygote.control, &message, theirs) == ST_OK;
    close_fds(theirs);
    if (!ok) {
        log_line(&s->config.log, LOG_ERROR, "image: session %s: %s",
                 session->name, strerror(errno));
        close_fds(ours);
        return; // tried again with the next call or zygote
    }
    session->image.serial = message.serial;
    session->uncovered = s->zygote.uncovered;
    session_connect(session, ours);
    keeping_forget(&session->keeping);
    session->keeping.frozen.changed = false; // its keeper is new: it has none
}

bool image_life_must_wait(const struct session *session)
{
    return session->replaced && session->calls.sent == 0 && closing_is_full();
}

void image_life_lost(struct session *session, int64_t now)
{
    struct image_process *image = &session->image;

    if (image->dying || image->socket < 0)
        return;
    image->dying = true;
    session->replaced = true;
    image->death.bury_at =
        image->death.exited || image->keeper < 0 ? now : now + CAUSE_MS;
    image_process_kill(image);
}

/* Whether the supervisor can do the first call now. */
static bool is_turn_of_ours(const struct session *session)
{
    const struct call *call = session->calls.first;

    return call && call->ours && !session->keeping.number &&
           !restore_is_waking(session) &&
           (session->image.socket >= 0 || !call->operation->needs_image);
}

/* Does the first call, which is the supervisor's own. */
static void run_ours(struct supervisor *s, struct session *session, int64_t now)
{
    session->calls.first->operation->run(s, session, now);
}

/* Whether SESSION may be sent calls. Not when files have come that other
   programs rely on, and will never be covered for it, until that was said: then
   the user decides. */
static bool may_send(const struct supervisor *s, struct session *session)
{
    if (zygote_is_covering(&s->zygote) || image_life_must_wait(session))
        return false;
    session->replaced = false;
    if (session->uncovered == s->zygote.uncovered)
        return true;
    if (!session->calls.first || session->calls.sent > 0)
        return false;
    session->uncovered = s->zygote.uncovered;
    while (session->calls.first && !session->calls.first->ours)
        reply_not_run(session, session->calls.first,
                      "the new files named in the last answer could not be "
                      "protected in time, so code in this session can change "
                      "them. Tell the user. To continue all the same, make the "
                      "call again; in another session they are protected");
    return true;
}

void image_life_serve(struct supervisor *s, struct session *session,
                      int64_t now)
{
    if (session->image.dying)
        return;
    while (is_turn_of_ours(session))
        run_ours(s, session, now);
    if (session->image.socket < 0 && session->calls.first &&
        zygote_is_ready(&s->zygote) && !closing_is_full()) {
        image_life_open(s, session);
        if (is_turn_of_ours(session))
            run_ours(s, session, now);
    }
    restore_send_held(session, now);
    // no code may run in a process that we could not kill
    if (session->image.pid > 0 && !session->image.unsettled &&
        may_send(s, session)) {
        restore_keep_first(s, session, now);
        if (session_send(session) != ST_OK)
            image_life_lost(session, now);
    }
    // the clock of the first call starts here
    if (stop_tend(session, ending_concerns(s, session->calls.first), now))
        image_life_lost(session, now);
}

/* A call that was stopped at its time limit has not succeeded, whatever it
   returned. */
static void fail_forced(struct call *call)
{
    struct buf text = BUF_EMPTY;

    if (call->why == STOP_INPUT)
        buf_printf(&text,
                   "[ERROR] ECL-MCP:EVALUATION-INTERRUPTED\nThe evaluation was "
                   "stopped: nobody typed the line that it reads within %d s. "
                   "It returned:\n%.*s",
                   LIMIT_INPUT_MS / 1000, STR_ARG(buf_view(&call->text)));
    else
        buf_printf(
            &text,
            "[ERROR] ECL-MCP:TIME-LIMIT-EXCEEDED\nThe evaluation was "
            "stopped at its time limit of %g s, by ending the programs that it "
            "had started. The argument timeout changes the limit "
            "for one call, configure-limits for all calls. It "
            "returned:\n%.*s",
            (double)call->timeout_ms / 1000, STR_ARG(buf_view(&call->text)));
    buf_release(&call->text);
    call->text = text;
    call->error = true;
}

void image_life_answer(struct supervisor *s, struct session *session,
                       int64_t now)
{
    struct call *call;

    while (!adopting_begin(s, session, now) &&
           (call = session_take_finished(session))) {
        if (stop_was_forced(session, call))
            fail_forced(call);
        session->image.stop.stage = 0;
        if (call->stopping)
            process_limit_end_programs(session, call);
        restore_note_call(session, call, now);
        if (call->operation->note_answer && !call->error)
            call->operation->note_answer(session, call);
        reply_composed(s, session, call, call->error, buf_view(&call->text));
    }
}

/* Appends to TEXT what has happened to the image: the rest of a sentence. */
static void describe_cause(const struct session *session, struct buf *text)
{
    const struct image_death *death = &session->image.death;
    int status = death->wait_status;
    const struct call *call = session->calls.first;

    if (death->crowded)
        buf_printf(text, "had more than %d processes running and was ended",
                   LIMIT_PROCESSES);
    else if (death->unkept)
        buf_str(text, STR("lost the process that watches over it (its keeper) "
                          "and was ended"));
    else if (death->garbled)
        buf_str(text, STR("sent an invalid answer and was ended"));
    else if (death->verbose)
        buf_printf(text,
                   "sent an answer of more than %u bytes, the limit, and was "
                   "ended",
                   LIMIT_OUTPUT_KEPT);
    else if (death->silent && session->keeping.preparing.asked)
        buf_printf(text,
                   "did not load ahead what calls will need within %d s and "
                   "was killed",
                   LIMIT_TIMEOUT_MS / 1000);
    else if (death->silent)
        buf_printf(text,
                   "did not make the copy for which a call waited within %d s "
                   "and was killed",
                   LIMIT_TIMEOUT_MS / 1000);
    else if (death->killed && call && call->why == STOP_TIME)
        buf_printf(text,
                   "did not stop when its time limit of %g s was reached "
                   "(configure-limits sets it) and was killed",
                   (double)call->timeout_ms / 1000);
    else if (death->killed && call && call->why == STOP_INPUT)
        buf_printf(text,
                   "did not stop when nobody had typed the line that it reads "
                   "within %d s and was killed",
                   LIMIT_INPUT_MS / 1000);
    else if (death->killed && call && call->why == STOP_BY_USER)
        buf_str(text, STR("did not stop when the user stopped the evaluation "
                          "and was killed"));
    else if (death->killed && call && call->why == STOP_FREED)
        buf_str(text, STR("did not stop when its session was freed and was "
                          "killed"));
    else if (death->killed)
        buf_str(text, STR("did not stop when asked to and was killed"));
    else if (!death->exited)
        buf_str(text, STR("closed its connection"));
    else if (WIFSIGNALED(status))
        buf_printf(text, "was killed by signal %d (SIG%s)", WTERMSIG(status),
                   sigabbrev_np(WTERMSIG(status))
                       ? sigabbrev_np(WTERMSIG(status))
                       : "?");
    else
        buf_printf(text, "ended with exit status %d", WEXITSTATUS(status));
}

/* Whether the image died before it had answered a KEEP or a PREPARE. Calls are
   sent after these, and it does one thing after the other. */
static bool died_before_calls(const struct session *session)
{
    const struct keeping *keeping = &session->keeping;

    return keeping->number && !keeping->held &&
           linux_waiting(session->image.socket) == 0;
}

/* Whether the first call was running when the image died. A call that cannot
   have begun goes to the next image; so does a lone one that the image had not
   even read, once: the death came first. What was unread may also have come
   after the call: its stop, or a line for which it had asked. */
static bool has_begun(struct session *session)
{
    struct call *call = session->calls.first;

    if (!call || !call->sent)
        return false;
    if (call->heard)
        return true;
    if (!died_before_calls(session) &&
        (!session->image.death.unread || session->calls.sent > 1 ||
         call->retried || call->stopping))
        return true;
    call->retried = true;
    return false;
}

/* When the image died: the end of a sentence for fronts whose call was not
   RUNNING. */
static struct str when(const struct call *running)
{
    if (!running)
        return STR(" between two evaluations.\n");
    return running->front
               ? STR(" during an evaluation by someone who shares it.\n")
               : STR(" during an evaluation by someone who had left.\n");
}

/* Tells all fronts the CAUSE of the death and the LOSS, and answers the call
   that was RUNNING, if any. */
static void tell(struct supervisor *s, struct session *session,
                 struct call *running, struct str cause, struct str loss)
{
    const struct front *front = running ? running->front : NULL;
    struct buf text = BUF_EMPTY;

    buf_str(&text, cause);
    buf_str(&text, when(running));
    buf_str(&text, loss);
    notices_add(&session->notices, front, buf_view(&text));
    buf_reset(&text);
    buf_printf(&text,
               "[ERROR] ECL-MCP:IMAGE-DIED\n%.*s during this evaluation.\n"
               "%.*s",
               STR_ARG(cause), STR_ARG(loss));
    if (front)
        reply_composed(s, session, running, true, buf_view(&text));
    else
        call_free(running);
    buf_release(&text);
}

/* The last act for a dead image: CHECKPOINT, which is awake, or, NULL, a fresh
   image replaces it. The call that it was running is answered with the cause,
   and the later calls go to the new image. */
static void replace(struct supervisor *s, struct session *session,
                    struct checkpoint *checkpoint, int64_t now)
{
    struct buf cause = BUF_EMPTY;
    struct buf loss = BUF_EMPTY;
    struct call *freeing = stop_freeing(session);
    struct call *running = NULL;

    buf_str(&cause, STR("The Lisp image "));
    describe_cause(session, &cause);
    restore_describe_loss(session, checkpoint, &loss);
    if (freeing && session->calls.first->why == STOP_FREED)
        freeing->freed_by_death = true;
    if (has_begun(session))
        running = session_take_first(session);
    session_disconnect(session);
    stop_unbegun(session);
    if (checkpoint) {
        restore_become(s, session, checkpoint, now);
    } else {
        keeping_forget(&session->keeping);
        image_process_end_family(&session->image);
    }
    tell(s, session, running, buf_view(&cause), buf_view(&loss));
    buf_release(&cause);
    buf_release(&loss);
    image_life_serve(s, session, now);
}

/* Wakes the best copy that is left, if any. */
static void wake_or_replace(struct supervisor *s, struct session *session,
                            int64_t now)
{
    if (!restore_begin_best(s, session, now))
        replace(s, session, NULL, now);
}

/* Sends the answers that the dead image has given. */
static void answer_last(struct supervisor *s, struct session *session,
                        int64_t now)
{
    struct call *call;

    session_drain_dead(session);
    while (session->calls.first && session->calls.first->replied) {
        call = session_take_first(session);
        restore_note_call(session, call, now);
        reply_composed(s, session, call, call->error, buf_view(&call->text));
    }
}

struct call *image_life_take_running(struct supervisor *s,
                                     struct session *session, int64_t now)
{
    answer_last(s, session, now);
    return has_begun(session) ? session_take_first(session) : NULL;
}

/* The image is dead: its answers go out. It stays dying until a copy is awake,
   or none is left. */
static void bury(struct supervisor *s, struct session *session, int64_t now)
{
    struct buf cause = BUF_EMPTY;

    answer_last(s, session, now);
    describe_cause(session, &cause);
    log_line(&s->config.log, LOG_WARN,
             "image: session %s: process %d: The Lisp image %.*s",
             session->name, (int)session->image.pid, STR_ARG(buf_view(&cause)));
    buf_release(&cause);
    wake_or_replace(s, session, now);
}

/* Goes on when the copy that SESSION waits for is awake, or will not be. */
static void tend_waking(struct supervisor *s, struct session *session,
                        int64_t now)
{
    uint64_t call = session->keeping.waking.call;
    bool late = s->ending.wanted && now >= s->ending.at;
    struct checkpoint *checkpoint;
    enum status status = restore_listen(s, session, now, &checkpoint);

    if (status == ST_MISSING)
        return;
    if (call != 0) {
        operation_take_woken(s, session, checkpoint, status == ST_OK, now);
        image_life_serve(s, session, now);
    } else if (status == ST_OK || late) { // late: no time for another copy
        replace(s, session, status == ST_OK ? checkpoint : NULL, now);
    } else {
        wake_or_replace(s, session, now);
    }
    checkpoint_free(checkpoint);
}

int64_t image_life_deadline(const struct session *session)
{
    if (restore_is_waking(session))
        return session->keeping.waking.until;
    return session->image.dying ? session->image.death.bury_at : -1;
}

void image_life_tend(struct supervisor *s, struct session *session, int64_t now)
{
    struct image_death *death = &session->image.death;

    if (restore_is_waking(session))
        tend_waking(s, session, now);
    else if (session->image.dying && now >= death->bury_at &&
             closing_is_full() && !session->closed && !s->ending.wanted)
        death->bury_at = now + FULL_MS; // what would wake could send more
    else if (session->image.dying && now >= death->bury_at)
        bury(s, session, now);
}

void image_life_read(struct supervisor *s, struct session *session, int64_t now)
{
    enum status status = session_read(session);

    if (session->keeping.frozen.changed)
        restore_take_frozen(s, session);
    if (session->keeping.copy.arrived && session->keeping.preparing.asked)
        preparing_take(s, session, now);
    else if (session->keeping.copy.arrived)
        operation_take_kept(s, session, restore_take_kept(s, session, now));
    image_life_answer(s, session, now);
    if (status == ST_INVALID)
        session->image.death.garbled = true; // what follows is our doing
    if (status == ST_LIMIT)
        session->image.death.verbose = true;
    if (status != ST_OK)
        image_life_lost(session, now);
}

/* The keeper has reported that process PID ended. */
static void note_exit(struct supervisor *s, struct session *session,
                      const struct control_message *message, int64_t now)
{
    struct image_process *image = &session->image;

    if (message->pid != image->pid)
        return; // one that was replaced
    image->death.exited = true;
    image->death.wait_status = message->status;
    if (!image->dying) {
        // the last answers may still be in the socket
        image_life_read(s, session, now);
        image_life_lost(session, now);
    }
    if (image->dying)
        image->death.bury_at = now;
}

void image_life_note_opened(struct supervisor *s, struct session *session,
                            const struct control_message *message, int64_t now)
{
    session->image.pid = message->pid;
    session->image.keeper_pid = message->keeper;
    if (message->pid > 0)
        return;
    log_line(&s->config.log, LOG_ERROR, "image: session %s: %s", session->name,
             strerror(message->status));
    image_life_lost(session, now);
}

/* The keeper has stopped all processes, since there are too many. */
static void note_crowded(struct session *session,
                         const struct control_message *message, int64_t now)
{
    if (session->image.dying || message->pid != session->image.pid)
        return; // they end with the image
    session->image.death.crowded = true;
    image_life_lost(session, now);
}

void image_life_lose_keeper(struct supervisor *s, struct session *session,
                            int64_t now)
{
    struct image_process *image = &session->image;

    checkpoints_release(&session->keeping.checkpoints);
    image_process_end_family(image);
    if (image->pid <= 0 && !image->dying && zygote_is_gone(&s->zygote)) {
        session_disconnect(session); // it has run nothing, and ends by this
        return;
    }
    image->death.unkept = true;
    image_life_lost(session, now);
    adopted_end(s);
}

void image_life_read_keeper(struct supervisor *s, struct session *session,
                            int64_t now)
{
    struct control_message message;
    int fds[CONTROL_FDS];
    enum status status = ST_MISSING;

    while (session->image.keeper >= 0 &&
           (status = control_receive(session->image.keeper, &message, fds)) ==
               ST_OK) {
        if (message.kind == CONTROL_OPENED)
            image_life_note_opened(s, session, &message, now);
        else if (message.kind == CONTROL_EXITED)
            note_exit(s, session, &message, now);
        else if (message.kind == CONTROL_CROWDED)
            note_crowded(session, &message, now);
        else if (message.kind == CONTROL_SPARED &&
                 message.pid == session->image.pid)
            session->image.unsettled = false;
    }
    if (session->image.keeper >= 0 && status != ST_MISSING)
        image_life_lose_keeper(s, session, now);
}
