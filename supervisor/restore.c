/* SPDX-License-Identifier: GPL-3.0-or-later */
/* restore.c: takes checkpoints when an image is idle, and wakes them when it is
   lost or the user wants to go back (see state.h). */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/linux.h"
#include "image/names.h"
#include "supervisor/state.h"
#include "wire/wire.h"

/* After a copy, at least this many times what it took must pass before the
   next: bursts of calls are hardly slowed down. */
#define REST 20

/* Milliseconds that must pass in any case: what a copy shares with the image is
   copied page by page when it is written, which slows down the calls after it.
 */
#define REST_MS 100

/* Milliseconds after which a copy that failed is tried again. */
#define RETRY_MS 1000

/* Ancestors of a copy that are looked at: evaluated code that forks may put
   some between it and the image. */
#define GENERATIONS 16

/* The code of an evaluation, or the name of another operation. */
static struct str subject(const struct call *call)
{
    struct str body = call_arguments(call);
    struct str name;
    struct wire_field value;

    while (wire_take_string(&body, &name) == ST_OK &&
           wire_field(&body, &value) == ST_OK)
        if (value.type == WIRE_STRING && str_eq(name, STR("code")))
            return value.string;
    return call_operation(call);
}

void restore_note_call(struct channel *channel, const struct call *call,
                       int64_t now)
{
    if (call->reads)
        return;
    history_add(&channel->history, subject(call));
    channel->changed = true;
    channel->keep_at = now > channel->rest_until ? now : channel->rest_until;
}

static bool can_keep(const struct channel *channel)
{
    return channel->socket >= 0 && channel->pid > 0 && !channel->dying &&
           !channel->keeping && !channel->first;
}

void restore_keep(struct supervisor *s, struct channel *channel,
                  struct str name, int64_t now)
{
    channel->keeping = ++s->serials;
    channel->keep_sent = now;
    if (name.n > 0)
        memcpy(channel->keep_name, name.p, name.n);
    channel->keep_name[name.n] = '\0';
    channel_send_keep(channel, channel->keeping);
}

void restore_tend(struct supervisor *s, struct channel *channel, int64_t now)
{
    if (channel->changed && !s->ending.wanted && can_keep(channel) &&
        now >= channel->keep_at)
        restore_keep(s, channel, str_make("", 0), now);
}

int64_t restore_deadline(const struct channel *channel)
{
    return channel->changed && can_keep(channel) ? channel->keep_at : -1;
}

/* Whether process PID is already something else here. */
static bool is_known(const struct supervisor *s, pid_t pid)
{
    const struct channel *channel;
    const struct checkpoint *checkpoint;

    for (channel = s->channels; channel; channel = channel->next) {
        if (channel->pid == pid)
            return true;
        for (checkpoint = channel->checkpoints.newest; checkpoint;
             checkpoint = checkpoint->next)
            if (checkpoint->pid == pid)
                return true;
    }
    return false;
}

/* Whether process PID descends from the image of CHANNEL, or from what that has
   left to those who adopt, and through no other image or copy. */
static bool is_descendant(const struct supervisor *s,
                          const struct channel *channel, pid_t pid)
{
    int64_t start = 0;
    int generations;

    for (generations = 0; generations < GENERATIONS; generations++) {
        if (is_known(s, pid) || !linux_find(pid, &pid, &start))
            return false;
        if (pid == channel->pid || pid == s->zygote.pid || pid == getpid())
            return true;
    }
    return false;
}

/* Whether process PID, of which the image of CHANNEL says that it is a copy of
   it, can be one: it is going to be signalled, and evaluated code may say
   anything. Where the system does not tell, the word of the image counts. */
static bool is_copy(const struct supervisor *s, const struct channel *channel,
                    pid_t pid, int64_t *start)
{
    pid_t parent = 0;

    *start = 0;
    if (!linux_find(getpid(), &parent, start))
        return true;
    return pid > 1 && linux_find(pid, &parent, start) &&
           linux_has_name(pid, NAME_SLEEPER) && is_descendant(s, channel, pid);
}

/* Whether CHECKPOINT is still the process that it was. */
static bool is_there(const struct checkpoint *checkpoint)
{
    pid_t parent = 0;
    int64_t start = 0;

    return checkpoint->start == 0 ||
           (linux_find(checkpoint->pid, &parent, &start) &&
            start == checkpoint->start);
}

struct checkpoint *restore_take_kept(struct supervisor *s,
                                     struct channel *channel, int64_t now)
{
    struct checkpoint *checkpoint = NULL;
    int socket = channel->kept_socket;
    int64_t start = 0;
    int64_t took = now > channel->keep_sent ? now - channel->keep_sent : 1;

    channel->kept = false;
    channel->kept_socket = -1;
    channel->keeping = 0;
    channel->rest_until = now + (took * REST > REST_MS ? took * REST : REST_MS);
    if (socket >= 0 && is_copy(s, channel, channel->kept_pid, &start))
        checkpoint = checkpoints_add(&channel->checkpoints, socket,
                                     channel->kept_pid, channel->history.last,
                                     str_from(channel->keep_name));
    else if (socket >= 0)
        (void)close(socket); // it leads to nothing of ours
    if (checkpoint) {
        checkpoint->start = start;
        channel->changed = false;
    } else {
        log_line(&s->config.log, LOG_WARN,
                 "image: session %s: no checkpoint: the image cannot fork, or "
                 "process %d is no copy of it",
                 channel->name, (int)channel->kept_pid);
        channel->keep_at = now + RETRY_MS;
    }
    return checkpoint;
}

static int64_t clock_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now); // cannot fail
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits until there is something to read; the end of other processes may
   interrupt it any number of times. */
static bool wait_readable(int socket, int64_t until)
{
    struct pollfd fd = {socket, POLLIN, 0};
    int ready;

    do {
        int64_t left = until - clock_ms();

        ready = poll(&fd, 1, left > 0 ? (int)left : 0);
    } while (ready < 0 && errno == EINTR);
    return ready > 0;
}

/* Waits for the word of a copy that it is awake. */
static bool is_awake(int socket)
{
    char bytes[WIRE_HEAD + 9];
    size_t n = 0;
    struct wire_head head;
    struct str body;
    int64_t until = clock_ms() + LIMIT_WAKE_MS;

    while (n < sizeof bytes) {
        ssize_t got;

        if (!wait_readable(socket, until))
            return false;
        got = recv(socket, bytes + n, sizeof bytes - n, MSG_DONTWAIT);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
            continue;
        if (got <= 0)
            return false;
        n += (size_t)got;
    }
    return wire_frame(str_make(bytes, n), &head, &body) == ST_OK &&
           head.kind == WIRE_WOKEN;
}

bool restore_wake(struct supervisor *s, struct channel *channel,
                  const struct checkpoint *checkpoint)
{
    struct control_message message = {.kind = CONTROL_ADOPT,
                                      .pid = checkpoint->pid};
    bool awake;

    if (!is_there(checkpoint)) {
        log_line(&s->config.log, LOG_WARN,
                 "image: session %s: checkpoint %d is gone", channel->name,
                 (int)checkpoint->pid);
        return false;
    }
    // only the zygote that has forked it, or its original, becomes its parent
    if (s->zygote.control >= 0 && channel->generation == s->zygote.generation &&
        control_send(s->zygote.control, &message, NULL) != ST_OK)
        log_line(&s->config.log, LOG_WARN, "image: zygote %d does not listen",
                 (int)s->zygote.pid);
    awake = send(checkpoint->socket, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1 &&
            is_awake(checkpoint->socket) &&
            fcntl(checkpoint->socket, F_SETFL, O_NONBLOCK) == 0;
    if (!awake) {
        log_line(&s->config.log, LOG_WARN,
                 "image: session %s: checkpoint %d does not wake",
                 channel->name, (int)checkpoint->pid);
        (void)kill(checkpoint->pid, SIGKILL); // it may be gone already
    }
    return awake;
}

void restore_become(struct supervisor *s, struct channel *channel,
                    struct checkpoint *checkpoint, int64_t now)
{
    channel_connect(channel, checkpoint->socket, NULL);
    channel->pid = checkpoint->pid;
    checkpoint->socket = -1; // the channel has it
    checkpoints_restored(&channel->checkpoints, checkpoint);
    history_restored(&channel->history, checkpoint->evaluation,
                     checkpoint->apart);
    // the copy was used up: another of the same state takes its place
    restore_keep(s, channel, str_from(checkpoint->name), now);
}

/* Appends what is gone when EVALUATION is the last one left. */
static void describe_loss(const struct channel *channel, uint64_t evaluation,
                          struct buf *text)
{
    uint64_t last = channel->history.last;

    buf_printf(text, "Session %s goes on from the checkpoint after ",
               channel->name);
    history_describe(&channel->history, evaluation, text);
    if (evaluation == last) {
        buf_str(text, STR("\nNo evaluation that was answered is lost."));
    } else {
        buf_str(text, STR("\nLost, though answered:"));
        history_list(&channel->history, evaluation + 1, last, text);
    }
    buf_str(text, STR(RESTORE_LIMITS));
}

void restore_after_death(struct supervisor *s, struct channel *channel,
                         struct buf *text, int64_t now)
{
    struct checkpoint *checkpoint;

    while ((checkpoint = checkpoints_before(&channel->checkpoints,
                                            channel->history.last))) {
        checkpoints_take(&channel->checkpoints, checkpoint);
        if (restore_wake(s, channel, checkpoint)) {
            describe_loss(channel, checkpoint->evaluation, text);
            restore_become(s, channel, checkpoint, now);
            checkpoint_free(checkpoint);
            return;
        }
        checkpoint_free(checkpoint);
    }
    if (channel->history.last > 0)
        buf_printf(text,
                   "A fresh session takes its place: all definitions and data "
                   "of session %s are lost; define again what is needed.",
                   channel->name);
    else
        buf_printf(text, "A fresh session %s takes its place.", channel->name);
    restore_forget(channel);
}

void restore_forget(struct channel *channel)
{
    checkpoints_release(&channel->checkpoints);
    memset(&channel->history, 0, sizeof channel->history);
    channel->changed = false;
    channel->rest_until = 0;
}
