/* SPDX-License-Identifier: GPL-3.0-or-later */
/* supervisor.c: see supervisor.h. Takes the zygote's messages and what poll(2)
   finds and hands them on; what is done about them is in the files of
   state.h. */
#include "supervisor/supervisor.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>

#include "base/limits.h"
#include "image/linux.h"
#include "image/names.h"
#include "supervisor/state.h"
#include "wire/wire.h"

/* Milliseconds for processes that were killed to be gone. */
#define ORPHANS_MS 1000

struct channel *supervisor_session(struct supervisor *s, struct str name,
                                   struct buf *text)
{
    struct channel *channel;
    char c_name[LIMIT_SESSION_NAME + 1];
    int n = 0;

    for (channel = s->channels; channel; channel = channel->next) {
        if (str_eq(name, str_from(channel->name)))
            return channel;
        n++;
    }
    if (name.n == 0 || name.n > LIMIT_SESSION_NAME ||
        memchr(name.p, 0, name.n)) {
        buf_str(text, STR("[ERROR] ECL-MCP:NO-SESSION\nThis is no name for a "
                          "session."));
        return NULL;
    }
    if (n >= LIMIT_SESSIONS) {
        buf_str(text, STR("[ERROR] ECL-MCP:NO-SESSION\nToo many sessions are "
                          "open; close one by reset-session with close true."));
        return NULL;
    }
    channel = malloc(sizeof *channel);
    if (!channel)
        return NULL;
    memcpy(c_name, name.p, name.n);
    c_name[name.n] = '\0';
    channel_init(channel, c_name);
    channel->next = s->channels;
    s->channels = channel;
    return channel;
}

/* Without a zygote nothing can be evaluated: every waiting call says why. */
static void refuse_waiting(struct supervisor *s)
{
    struct channel *channel;

    for (channel = s->channels; channel; channel = channel->next) {
        while (channel->socket < 0 && channel->first) {
            struct call *call = channel_take_first(channel);
            struct buf text = BUF_EMPTY;

            buf_printf(&text,
                       "[ERROR] ECL-MCP:IMAGE-UNAVAILABLE\n"
                       "The Lisp image cannot be started: %s (%s). "
                       "It is tried again with the next call after %d seconds.",
                       s->zygote.why, s->config.image_path,
                       LIMIT_ZYGOTE_RETRY_MS / 1000);
            reply_text(call, true, buf_view(&text));
            buf_release(&text);
        }
    }
}

/* Lets go of the images whose zygote died before it could say which processes
   they are. They have run nothing yet, and end with their connection. */
static void drop_unknown(struct supervisor *s)
{
    struct channel *channel;

    for (channel = s->channels; channel; channel = channel->next)
        if (channel->socket >= 0 && channel->pid <= 0 && !channel->dying &&
            (zygote_is_down(&s->zygote) ||
             channel->generation != s->zygote.generation))
            channel_disconnect(channel);
}

static void tend_zygote(struct supervisor *s, int64_t now)
{
    struct channel *channel;
    bool waiting = false;

    drop_unknown(s);
    for (channel = s->channels; channel; channel = channel->next)
        waiting = waiting || (channel->socket < 0 && channel->first);
    if (zygote_is_down(&s->zygote) && waiting && !s->ending.wanted)
        zygote_start(&s->zygote, now);
    if (zygote_is_down(&s->zygote) && waiting)
        refuse_waiting(s);
}

static struct channel *find_serial(struct supervisor *s, uint64_t serial)
{
    struct channel *channel = s->channels;

    while (channel && (channel->serial != serial || channel->socket < 0))
        channel = channel->next;
    return channel;
}

/* What the sandbox is made of is told once. */
static void note_sandbox(struct supervisor *s,
                         const struct control_message *message)
{
    struct buf text = BUF_EMPTY;
    size_t i;
    bool missing;

    if (s->sandbox_state.known)
        return;
    s->sandbox_state = message->sandbox;
    missing = sandbox_report(&s->config.sandbox, &s->sandbox_state, &text);
    log_line(&s->config.log, missing ? LOG_WARN : LOG_INFO, "%.*s",
             STR_ARG(buf_view(&text)));
    buf_release(&text);
    for (i = 0; i < SANDBOX_N; i++)
        if (s->places.refused[i])
            log_line(&s->config.log, LOG_WARN,
                     "sandbox: %s is not writable for Lisp: %s",
                     s->places.writable[i], s->places.refused[i]);
}

static void take_control(struct supervisor *s,
                         const struct control_message *message, int64_t now)
{
    struct channel *channel;
    struct buf text = BUF_EMPTY;

    switch ((enum control_kind)message->kind) {
    case CONTROL_READY:
        note_sandbox(s, message);
        log_line(&s->config.log, LOG_DEBUG, "image: zygote %d is ready",
                 (int)s->zygote.pid);
        if (!s->channels)
            (void)supervisor_session(
                s, STR(STATE_MAIN),
                &text); // without memory the first call says so
        for (channel = s->channels; channel; channel = channel->next)
            if (channel->socket < 0)
                life_open(s, channel);
        break;
    case CONTROL_OPENED:
        channel = find_serial(s, message->serial);
        if (!channel)
            break;
        channel->pid = message->pid;
        if (message->pid <= 0) {
            log_line(&s->config.log, LOG_ERROR, "image: session %s: %s",
                     channel->name, strerror(message->status));
            life_lost(s, channel, now);
        }
        break;
    case CONTROL_EXITED:
        life_note_exit(s, message->pid, message->status, now);
        break;
    case CONTROL_OPEN:
    case CONTROL_ADOPT:
        break; // goes the other way
    }
}

static void read_zygote(struct supervisor *s, int64_t now)
{
    struct control_message message;
    struct channel *channel;

    while (zygote_receive(&s->zygote, &message, now) == ST_OK) {
        take_control(s, &message, now);
        for (channel = s->channels; channel; channel = channel->next)
            life_serve(s, channel, now);
    }
}

size_t supervisor_fd_count(const struct supervisor *supervisor)
{
    const struct channel *channel;
    size_t n = 1;

    for (channel = supervisor->channels; channel; channel = channel->next)
        n += CONTROL_FDS;
    return n;
}

size_t supervisor_fds(struct supervisor *supervisor, struct pollfd *fds,
                      size_t max)
{
    struct channel *channel;
    size_t n = 0;

    if (max > 0)
        fds[n++] = (struct pollfd){supervisor->zygote.control, POLLIN, 0};
    for (channel = supervisor->channels; channel; channel = channel->next) {
        short wanted = POLLIN;

        channel->poll_at = SIZE_MAX;
        if (n + CONTROL_FDS > max)
            continue;
        channel->poll_at = n;
        if (channel->written < channel->out.n)
            wanted |= POLLOUT;
        fds[n++] =
            (struct pollfd){channel->dying ? -1 : channel->socket, wanted, 0};
        fds[n++] = (struct pollfd){channel->pipes[CHANNEL_STDOUT], POLLIN, 0};
        fds[n++] = (struct pollfd){channel->pipes[CHANNEL_STDERR], POLLIN, 0};
    }
    return n;
}

/* What poll(2) found for one channel. The socket is read first: an answer that
   is there makes the drain exact. */
static void run_channel(struct supervisor *s, struct channel *channel,
                        const struct pollfd *fds, int64_t now)
{
    int i;

    if (fds[0].revents & POLLIN)
        life_read(s, channel, now);
    else if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
        life_lost(s, channel, now);
    for (i = 0; i < CHANNEL_PIPES; i++)
        if (fds[1 + i].revents)
            channel_read_pipe(channel, i, &s->config.log);
    life_answer(s, channel, now);
    life_serve(s, channel, now);
}

/* Forgets sessions that were closed and have nothing to do any more. */
static void sweep(struct supervisor *s)
{
    struct channel **link = &s->channels;

    while (*link) {
        struct channel *channel = *link;

        if (channel->closed && !channel->first && channel->socket < 0) {
            *link = channel->next;
            channel_release(channel);
            free(channel);
        } else {
            link = &channel->next;
        }
    }
}

void supervisor_run(struct supervisor *supervisor, const struct pollfd *fds,
                    size_t n, int64_t now_ms)
{
    struct supervisor *s = supervisor;
    struct channel *channel;

    for (channel = s->channels; channel; channel = channel->next)
        if (channel->poll_at < n)
            run_channel(s, channel, fds + channel->poll_at, now_ms);
    if (n > 0 && fds[0].revents)
        read_zygote(s, now_ms);
    zygote_tend(&s->zygote, now_ms);
    tend_zygote(s, now_ms);
    front_tend(s, now_ms);
    for (channel = s->channels; channel; channel = channel->next) {
        channel->poll_at = SIZE_MAX; // descriptors may have changed
        stop_tend(s, channel, now_ms);
        watch_tend(s, channel, now_ms);
        life_tend(s, channel, now_ms);
        restore_tend(s, channel, now_ms);
        progress_tend(channel, now_ms);
    }
    sweep(s);
}

static void earlier(int64_t *deadline, int64_t time)
{
    if (time >= 0 && (*deadline < 0 || time < *deadline))
        *deadline = time;
}

int64_t supervisor_deadline(const struct supervisor *supervisor)
{
    const struct channel *channel;
    int64_t deadline = zygote_deadline(&supervisor->zygote);

    earlier(&deadline, front_deadline(supervisor));
    for (channel = supervisor->channels; channel; channel = channel->next) {
        if (channel->dying)
            earlier(&deadline, channel->death_at);
        earlier(&deadline, stop_deadline(channel));
        earlier(&deadline, watch_deadline(channel));
        earlier(&deadline, restore_deadline(channel));
        earlier(&deadline, progress_deadline(channel));
    }
    return deadline;
}

void supervisor_reap(struct supervisor *supervisor, int64_t now_ms)
{
    pid_t pid;
    int wait_status;

    while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0) {
        if (pid == supervisor->zygote.pid)
            zygote_note_exit(&supervisor->zygote, wait_status, now_ms);
        else
            life_note_exit(supervisor, pid, wait_status, now_ms);
    }
}

struct supervisor *supervisor_new(const struct supervisor_config *config,
                                  int64_t now_ms)
{
    struct supervisor *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->config = *config;
    if (s->config.heap == 0)
        s->config.heap = LIMIT_HEAP;
    if (!linux_random(&s->name, sizeof s->name) || s->name == 0)
        s->name = now_ms + 1;
    linux_adopt_orphans();
    zygote_init(&s->zygote, s->config.image_path, s->config.workspace,
                &s->config.sandbox, &s->config.log);
    sandbox_find_places(&s->config.sandbox, s->config.workspace, &s->places);
    sandbox_hide_process(&s->config.sandbox);
    zygote_start(&s->zygote, now_ms);
    return s;
}

/* Images of a zygote that is gone, and their copies, have become children of
   this process. They were killed, or end by themselves: waits for that. */
static void await_orphans(void)
{
    const struct timespec pause = {0, 2 * 1000 * 1000};
    pid_t pids[LIMIT_SESSIONS];
    bool left = true;
    int waited;

    for (waited = 0; left && waited < ORPHANS_MS; waited += 2) {
        size_t n = linux_children(pids, LIMIT_SESSIONS);
        size_t i;

        left = false;
        for (i = 0; i < n; i++) {
            if (!linux_has_name(pids[i], NAME_LIVE) &&
                !linux_has_name(pids[i], NAME_SLEEPER))
                continue; // a child that this program was started with
            (void)kill(pids[i], SIGKILL);
            if (waitpid(pids[i], NULL, WNOHANG) == 0)
                left = true;
        }
        if (left)
            (void)nanosleep(&pause, NULL); // a signal only shortens it
    }
}

void supervisor_free(struct supervisor *supervisor)
{
    struct channel *channel;

    if (!supervisor)
        return;
    while ((channel = supervisor->channels)) {
        supervisor->channels = channel->next;
        if (channel->generation != supervisor->zygote.generation &&
            channel->pid > 0)
            (void)linux_family(channel->pid, -1, SIGKILL); // its zygote cannot
        channel_release(channel);
        free(channel);
    }
    zygote_release(&supervisor->zygote);
    await_orphans();
    kept_release(&supervisor->kept);
    front_release_all(supervisor);
    free(supervisor);
}
