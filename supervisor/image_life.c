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

void life_open(struct supervisor *s, struct channel *channel)
{
    struct control_message message = {.kind = CONTROL_OPEN,
                                      .heap = s->config.heap};
    int ours[CONTROL_FDS];
    int theirs[CONTROL_FDS];
    bool ok = make_fds(ours, theirs) &&
              linux_random(channel->key, sizeof channel->key);

    message.serial = ++s->serials;
    memcpy(message.key, channel->key, sizeof message.key);
    ok = ok && control_send(s->zygote.control, &message, theirs) == ST_OK;
    close_fds(theirs);
    if (!ok) {
        log_line(&s->config.log, LOG_ERROR, "image: session %s: %s",
                 channel->name, strerror(errno));
        close_fds(ours);
        return; // tried again with the next call or zygote
    }
    channel->serial = message.serial;
    channel->generation = s->zygote.generation;
    channel_connect(channel, ours[CONTROL_SOCKET], ours + CONTROL_STDOUT);
    restore_forget(channel);
}

/* Whether the supervisor can do the first call now. */
static bool is_turn_of_ours(const struct channel *channel)
{
    const struct call *call = channel->first;

    return call && call->ours && !channel->keeping &&
           (channel->socket >= 0 || !operation_needs_image(call));
}

void life_serve(struct supervisor *s, struct channel *channel, int64_t now)
{
    if (channel->dying)
        return;
    while (is_turn_of_ours(channel))
        operation_run(s, channel, now);
    if (channel->socket < 0 && channel->first && zygote_is_ready(&s->zygote)) {
        life_open(s, channel);
        if (is_turn_of_ours(channel))
            operation_run(s, channel, now);
    }
    // nothing is run in a process that could not be killed
    if (channel->pid > 0 && channel_send(channel) != ST_OK)
        life_lost(s, channel, now);
    stop_tend(s, channel, now); // the clock of the first call starts here
}

void life_answer(struct supervisor *s, struct channel *channel, int64_t now)
{
    struct call *call;

    while ((call = channel_take_finished(channel))) {
        channel->stop_stage = 0;
        if (call->stopping)
            watch_end_programs(channel, call);
        restore_note_call(channel, call, now);
        operation_note_answer(channel, call);
        reply_composed(s, channel, call, call->error, buf_view(&call->text));
    }
}

/* What the image is lost to is told by the zygote, or by wait(2) when its
   zygote is gone. */
void life_lost(struct supervisor *s, struct channel *channel, int64_t now)
{
    if (channel->dying || channel->socket < 0)
        return;
    channel->dying = true;
    channel->death_at = channel->exited ? now : now + CAUSE_MS;
    if (channel->pid > 0 && !channel->exited)
        (void)kill(channel->pid, SIGKILL); // it may be gone already
    supervisor_reap(s, now);
}

/* Ends what the image of CHANNEL has started, when it ends; its zygote does
   that, unless that is gone. */
static void end_programs(const struct supervisor *s,
                         const struct channel *channel)
{
    if (channel->generation != s->zygote.generation)
        (void)linux_family(channel->pid, -1, SIGKILL);
}

void life_end(struct supervisor *s, struct channel *channel)
{
    if (channel->pid > 0 && !channel->exited) {
        (void)kill(channel->pid, SIGKILL); // it may be gone already
        end_programs(s, channel);
    }
    channel_disconnect(channel);
    channel->dying = false;
    channel->stop_stage = 0;
}

static void describe_cause(const struct channel *channel, struct buf *text)
{
    int status = channel->wait_status;
    const struct call *call = channel->first;

    if (channel->crowded)
        buf_printf(text, "had more than %d processes running and was ended",
                   LIMIT_PROCESSES);
    else if (channel->garbled)
        buf_str(text, STR("sent what is no answer and was ended"));
    else if (channel->killed && call && call->why == STOP_TIME)
        buf_printf(text,
                   "did not stop when its time limit of %g s was reached "
                   "(configure-limits sets it) and was killed",
                   (double)call->timeout_ms / 1000);
    else if (channel->killed && call && call->why == STOP_BY_USER)
        buf_str(text, STR("did not stop when the user stopped the evaluation "
                          "and was killed"));
    else if (channel->killed)
        buf_str(text, STR("did not stop when asked to and was killed"));
    else if (!channel->exited)
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
static bool has_begun(struct channel *channel)
{
    struct call *call = channel->first;

    if (!call || !call->sent)
        return false;
    if (!channel->unread || channel->sent > 1 || call->retried)
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
static void tell(struct supervisor *s, struct channel *channel,
                 struct call *running, struct str cause, struct str loss)
{
    const struct front *front = running ? running->front : NULL;
    struct buf text = BUF_EMPTY;

    buf_str(&text, cause);
    buf_str(&text, when(running));
    buf_str(&text, loss);
    reply_note(channel, front, buf_view(&text));
    buf_reset(&text);
    buf_printf(&text,
               "[ERROR] ECL-MCP:IMAGE-DIED\n%.*s during this evaluation.\n"
               "%.*s",
               STR_ARG(cause), STR_ARG(loss));
    if (front)
        reply_composed(s, channel, running, true, buf_view(&text));
    else
        call_free(running);
    buf_release(&text);
}

/* The last act for a dead image: what it had answered goes out, the call that
   it was running gets the cause, the calls behind it go to the image that takes
   its place. */
static void bury(struct supervisor *s, struct channel *channel, int64_t now)
{
    struct buf cause = BUF_EMPTY;
    struct buf loss = BUF_EMPTY;
    struct call *running = NULL;
    struct call *call;

    channel_drain_dead(channel);
    while (channel->first && channel->first->replied) {
        call = channel_take_first(channel);
        restore_note_call(channel, call, now);
        reply_composed(s, channel, call, call->error, buf_view(&call->text));
    }
    buf_str(&cause, STR("The Lisp image "));
    describe_cause(channel, &cause);
    log_line(&s->config.log, LOG_WARN, "image: session %s: process %d: %.*s",
             channel->name, (int)channel->pid, STR_ARG(buf_view(&cause)));
    if (has_begun(channel))
        running = channel_take_first(channel);
    channel_disconnect(channel);
    channel->dying = false;
    channel->stop_stage = 0;
    restore_after_death(s, channel, &loss, now);
    tell(s, channel, running, buf_view(&cause), buf_view(&loss));
    buf_release(&cause);
    buf_release(&loss);
    life_serve(s, channel, now);
}

void life_tend(struct supervisor *s, struct channel *channel, int64_t now)
{
    if (channel->dying && now >= channel->death_at)
        bury(s, channel, now);
}

void life_read(struct supervisor *s, struct channel *channel, int64_t now)
{
    enum status status = channel_read(channel);

    if (channel->kept)
        operation_take_kept(s, channel, restore_take_kept(s, channel, now));
    life_answer(s, channel, now);
    if (status == ST_INVALID)
        channel->garbled = true; // what happens to it then is our doing
    if (status != ST_OK)
        life_lost(s, channel, now);
}

void life_note_exit(struct supervisor *s, pid_t pid, int wait_status,
                    int64_t now)
{
    struct channel *channel = s->channels;

    while (channel && channel->pid != pid)
        channel = channel->next;
    if (!channel)
        return; // a program that an image had started, a copy, one buried
    channel->exited = true;
    channel->wait_status = wait_status;
    end_programs(s, channel);
    if (channel->dying) {
        channel->death_at = now;
        return;
    }
    life_read(s, channel, now); // the last answers may still be in the socket
    life_lost(s, channel, now);
    if (channel->dying)
        channel->death_at = now;
}
