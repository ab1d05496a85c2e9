/* SPDX-License-Identifier: GPL-3.0-or-later */
/* life.c: opens the image of a session, serves its calls, notices its death
   and sees to what is left (see state.h). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/linux.h"
#include "supervisor/state.h"

/* Milliseconds to wait for the zygote's word on why an image ended. */
#define CAUSE_MS 1000

/* Makes the socket pair and the pipes of a live image. OURS and THEIRS are in
   the order of enum control_fd. */
static bool make_fds(int ours[CONTROL_FDS], int theirs[CONTROL_FDS])
{
    int pair[2];
    int i;

    for (i = 0; i < CONTROL_FDS; i++)
        ours[i] = theirs[i] = -1;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return false;
    ours[CONTROL_SOCKET] = pair[0];
    theirs[CONTROL_SOCKET] = pair[1];
    for (i = CONTROL_STDOUT; i <= CONTROL_STDERR; i++) {
        if (pipe2(pair, O_CLOEXEC) < 0)
            return false;
        ours[i] = pair[0];
        theirs[i] = pair[1];
    }
    for (i = 0; i < CONTROL_FDS; i++)
        if (fcntl(ours[i], F_SETFL, O_NONBLOCK) < 0)
            return false;
    return true;
}

static void close_fds(const int fds[CONTROL_FDS])
{
    int i;

    for (i = 0; i < CONTROL_FDS; i++)
        if (fds[i] >= 0)
            (void)close(fds[i]); // unused or passed on
}

void life_open(struct supervisor *s, struct session *session)
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
    session->image.generation = s->zygote.generation;
    session_connect(session, ours[CONTROL_SOCKET], ours + CONTROL_STDOUT);
    keeping_forget(&session->keeping);
}

/* Whether the supervisor can do the first call now. */
static bool is_turn_of_ours(const struct session *session)
{
    const struct call *call = session->calls.first;

    return call && call->ours && !session->keeping.number &&
           (session->image.socket >= 0 || !operation_needs_image(call));
}

void life_serve(struct supervisor *s, struct session *session, int64_t now)
{
    if (session->image.dying)
        return;
    while (is_turn_of_ours(session))
        operation_run(s, session, now);
    if (session->image.socket < 0 && session->calls.first &&
        zygote_is_ready(&s->zygote)) {
        life_open(s, session);
        if (is_turn_of_ours(session))
            operation_run(s, session, now);
    }
    // nothing is run in a process that could not be killed
    if (session->image.pid > 0 && session_send(session) != ST_OK)
        life_lost(s, session, now);
    stop_tend(s, session, now); // the clock of the first call starts here
}

void life_answer(struct supervisor *s, struct session *session, int64_t now)
{
    struct call *call;

    while ((call = session_take_finished(session))) {
        session->image.stop.stage = 0;
        if (call->stopping)
            watch_end_programs(session, call);
        restore_note_call(session, call, now);
        operation_note_answer(session, call);
        reply_composed(s, session, call, call->error, buf_view(&call->text));
    }
}

/* What the image is lost to is told by the zygote, or by wait(2) when its
   zygote is gone. */
void life_lost(struct supervisor *s, struct session *session, int64_t now)
{
    if (session->image.dying || session->image.socket < 0)
        return;
    session->image.dying = true;
    session->image.death.bury_at =
        session->image.death.exited ? now : now + CAUSE_MS;
    image_process_kill(&session->image);
    supervisor_reap(s, now);
}

static void describe_cause(const struct session *session, struct buf *text)
{
    int status = session->image.death.wait_status;
    const struct call *call = session->calls.first;

    if (session->image.death.crowded)
        buf_printf(text, "had more than %d processes running and was ended",
                   LIMIT_PROCESSES);
    else if (session->image.death.garbled)
        buf_str(text, STR("sent what is no answer and was ended"));
    else if (session->image.death.killed && call && call->why == STOP_TIME)
        buf_printf(text,
                   "did not stop when its time limit of %g s was reached "
                   "(configure-limits sets it) and was killed",
                   (double)call->timeout_ms / 1000);
    else if (session->image.death.killed && call && call->why == STOP_BY_USER)
        buf_str(text, STR("did not stop when the user stopped the evaluation "
                          "and was killed"));
    else if (session->image.death.killed)
        buf_str(text, STR("did not stop when asked to and was killed"));
    else if (!session->image.death.exited)
        buf_str(text, STR("closed its connection"));
    else if (WIFSIGNALED(status))
        buf_printf(text, "was killed by signal %d (SIG%s)", WTERMSIG(status),
                   sigabbrev_np(WTERMSIG(status))
                       ? sigabbrev_np(WTERMSIG(status))
                       : "?");
    else
        buf_printf(text, "ended with exit status %d", WEXITSTATUS(status));
}

/* Whether the first call was running when the image died. A lone call that was
   not even read goes to the next image, once: the image had died before it. */
static bool has_begun(struct session *session)
{
    struct call *call = session->calls.first;

    if (!call || !call->sent)
        return false;
    if (!session->image.death.unread || session->calls.sent > 1 ||
        call->retried)
        return true;
    call->retried = true;
    return false;
}

/* When it died, for those whose call was not RUNNING. */
static struct str when(const struct call *running)
{
    if (!running)
        return STR(" between two evaluations.\n");
    return running->front
               ? STR(" during an evaluation of somebody who shares it.\n")
               : STR(" during an evaluation of somebody who had gone.\n");
}

/* Tells them what CAUSE and LOSS are, and answers the call that was RUNNING, if
   any. */
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

/* The last act for a dead image: what it had answered goes out, the call that
   it was running gets the cause, the calls behind it go to the image that takes
   its place. */
static void bury(struct supervisor *s, struct session *session, int64_t now)
{
    struct buf cause = BUF_EMPTY;
    struct buf loss = BUF_EMPTY;
    struct call *running = NULL;
    struct call *call;

    session_drain_dead(session);
    while (session->calls.first && session->calls.first->replied) {
        call = session_take_first(session);
        restore_note_call(session, call, now);
        reply_composed(s, session, call, call->error, buf_view(&call->text));
    }
    buf_str(&cause, STR("The Lisp image "));
    describe_cause(session, &cause);
    log_line(&s->config.log, LOG_WARN, "image: session %s: process %d: %.*s",
             session->name, (int)session->image.pid, STR_ARG(buf_view(&cause)));
    if (has_begun(session))
        running = session_take_first(session);
    session_disconnect(session);
    restore_after_death(s, session, &loss, now);
    tell(s, session, running, buf_view(&cause), buf_view(&loss));
    buf_release(&cause);
    buf_release(&loss);
    life_serve(s, session, now);
}

void life_tend(struct supervisor *s, struct session *session, int64_t now)
{
    if (session->image.dying && now >= session->image.death.bury_at)
        bury(s, session, now);
}

void life_read(struct supervisor *s, struct session *session, int64_t now)
{
    enum status status = session_read(session);

    if (session->keeping.copy.arrived)
        operation_take_kept(s, session, restore_take_kept(s, session, now));
    life_answer(s, session, now);
    if (status == ST_INVALID)
        session->image.death.garbled =
            true; // what happens to it then is our doing
    if (status != ST_OK)
        life_lost(s, session, now);
}

void life_note_exit(struct supervisor *s, pid_t pid, int wait_status,
                    int64_t now)
{
    struct session *session = s->sessions;

    while (session && session->image.pid != pid)
        session = session->next;
    if (!session)
        return; // a program that an image had started, a copy, one buried
    session->image.death.exited = true;
    session->image.death.wait_status = wait_status;
    image_process_end_programs(&session->image, s->zygote.generation);
    if (session->image.dying) {
        session->image.death.bury_at = now;
        return;
    }
    life_read(s, session, now); // the last answers may still be in the socket
    life_lost(s, session, now);
    if (session->image.dying)
        session->image.death.bury_at = now;
}
