/* SPDX-License-Identifier: GPL-3.0-or-later */
/* supervisor.c: see supervisor.h. The zygote's own process is in zygote.c,
   what belongs to one session's socket and pipes in channel.c. */
#include "supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "answer.h"
#include "channel.h"
#include "limits.h"
#include "linux.h"
#include "wire.h"
#include "zygote.h"

/* Milliseconds to wait for the zygote's word on why an image ended. */
#define CAUSE_MS 1000

/* Milliseconds between the stages of a stop while everything is ending. */
#define LAST_STAGE_MS 200

/* The answer when the server itself has none for a better one. */
#define NO_MEMORY                                                              \
    "[ERROR] STORAGE-CONDITION\nThe server has not enough memory for this "    \
    "call."

/* Why a call is not begun at the end. */
#define ENDING "the server is ending"

enum stop_stage { STOP_NONE, STOP_ASKED, STOP_FORCED, STOP_KILLED };

struct supervisor {
    struct supervisor_config config;
    struct zygote zygote;
    struct channel *channels; /* one per session, owned */
    struct kept kept;
    struct buf in;
    struct buf out;
    uint64_t serials; /* live images opened so far */
    bool finishing;
    int64_t finish_at;
};

static void log_here(struct supervisor *s, enum log_level level,
                     const char *text, const struct channel *channel)
{
    log_line(&s->config.log, level, "image: session %s: %s", channel->name,
             text);
}

/* Answers CALL with TEXT and frees it. */
static void reply(struct supervisor *s, struct call *call, bool error,
                  struct str text)
{
    size_t start =
        wire_begin(&s->out, WIRE_REPLY, error ? WIRE_ERROR : 0, call->id);

    wire_put_string(&s->out, text);
    wire_end(&s->out, start);
    call_free(call);
}

/* Answers CALL with what it printed and BODY, and with what the channel has to
   say besides. */
static void reply_composed(struct supervisor *s, struct channel *channel,
                           struct call *call, bool error, struct str body)
{
    struct buf text = BUF_EMPTY;
    struct answer answer = {NULL, &channel->earlier,
                            &call->captures[CHANNEL_STDOUT],
                            &call->captures[CHANNEL_STDERR], body};

    if (channel->notice.n > 0) {
        buf_byte(&channel->notice, '\0');
        answer.notice = channel->notice.p;
    }
    if (answer_compose(&answer, call->max_chars, &s->kept, &text))
        reply(s, call, error, buf_view(&text));
    else
        reply(s, call, true, STR(NO_MEMORY));
    buf_release(&text);
    buf_reset(&channel->notice);
    capture_release(&channel->earlier);
}

static void answer_finished(struct supervisor *s, struct channel *channel)
{
    struct call *call;

    while ((call = channel_take_finished(channel))) {
        channel->stop_stage = STOP_NONE;
        reply_composed(s, channel, call, call->error, buf_view(&call->text));
    }
}

/* Makes the socket pair and the pipes of a live image. ours[] and theirs[] are
   in the order of enum control_fd. */
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

static void close_fds(int fds[CONTROL_FDS])
{
    int i;

    for (i = 0; i < CONTROL_FDS; i++)
        if (fds[i] >= 0)
            (void)close(fds[i]); // unused or passed on
}

static void open_image(struct supervisor *s, struct channel *channel)
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
        log_here(s, LOG_ERROR, strerror(errno), channel);
        close_fds(ours);
        return; // tried again with the next call or zygote
    }
    channel->serial = message.serial;
    channel->generation = s->zygote.generation;
    channel_connect(channel, ours[CONTROL_SOCKET], ours + CONTROL_STDOUT);
}

static void image_lost(struct supervisor *s, struct channel *channel,
                       int64_t now);

/* Sends waiting calls, opening an image when there is none. */
static void serve(struct supervisor *s, struct channel *channel, int64_t now)
{
    if (channel->dying)
        return;
    if (channel->socket < 0 && channel->first && zygote_is_ready(&s->zygote))
        open_image(s, channel);
    if (channel_send(channel) != ST_OK)
        image_lost(s, channel, now);
}

/* The image is gone, or has broken the protocol and must go. Its cause of
   death comes from the zygote, or from wait(2) when its zygote is gone. */
static void image_lost(struct supervisor *s, struct channel *channel,
                       int64_t now)
{
    if (channel->dying)
        return;
    channel->dying = true;
    channel->death_at = channel->exited ? now : now + CAUSE_MS;
    if (channel->pid > 0 && !channel->exited)
        (void)kill(channel->pid, SIGKILL); // it may be gone already
    supervisor_reap(s, now);
}

static void describe_cause(const struct channel *channel, struct buf *text)
{
    int status = channel->wait_status;

    if (channel->killed)
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

/* Says what happened to CALL, which ran when its image died. */
static void reply_died(struct supervisor *s, struct channel *channel,
                       struct call *call, struct str cause)
{
    struct buf body = BUF_EMPTY;

    buf_printf(&body,
               "[ERROR] ECL-MCP:IMAGE-DIED\nThe Lisp image %.*s during this "
               "evaluation.\n"
               "A fresh session takes its place: all definitions and data of "
               "session %s are lost; "
               "define again what is needed.",
               STR_ARG(cause), channel->name);
    reply_composed(s, channel, call, true, buf_view(&body));
    buf_release(&body);
}

/* The last act for a dead image: what it had answered goes out, the call it
   was running gets the cause, the calls behind it go to a fresh image. */
static void bury(struct supervisor *s, struct channel *channel, int64_t now)
{
    struct buf cause = BUF_EMPTY;
    struct call *call;

    channel_drain(channel);
    while (channel->first && channel->first->replied) {
        call = channel_take_first(channel);
        reply_composed(s, channel, call, call->error, buf_view(&call->text));
    }
    describe_cause(channel, &cause);
    log_line(&s->config.log, LOG_WARN, "image: session %s: process %d %.*s",
             channel->name, (int)channel->pid, STR_ARG(buf_view(&cause)));
    if (channel->first && channel->first->sent) {
        call = channel_take_first(channel);
        reply_died(s, channel, call, buf_view(&cause));
    } else {
        buf_reset(&channel->notice);
        buf_printf(
            &channel->notice,
            "[notice]\nThe Lisp image %.*s between two evaluations. A fresh "
            "session has "
            "taken its place: all definitions and data of session %s are lost.",
            STR_ARG(buf_view(&cause)), channel->name);
    }
    buf_release(&cause);
    channel_disconnect(channel);
    channel->dying = false;
    channel->stop_stage = STOP_NONE;
    serve(s, channel, now);
}

static void read_image(struct supervisor *s, struct channel *channel,
                       int64_t now)
{
    enum status status = channel_read(channel);

    answer_finished(s, channel);
    if (status == ST_INVALID)
        log_here(s, LOG_ERROR, "the image sent what is no answer", channel);
    if (status != ST_OK)
        image_lost(s, channel, now);
}

/* Interrupts the call that runs, if it is to stop. The signal carries the
   call's id, so that it never hits the call behind it. */
static void stop_running(struct supervisor *s, struct channel *channel,
                         int64_t now)
{
    const struct call *call = channel->first;
    union sigval id;
    int64_t pause = s->finishing ? LAST_STAGE_MS : LIMIT_INTERRUPT_MS;

    if (!call || !call->sent || !call->stopping || call->replied ||
        channel->dying || channel->pid <= 0)
        return;
    if (channel->stop_stage != STOP_NONE && now < channel->stop_at)
        return;
    channel->stop_stage++;
    channel->stop_at = now + pause;
    if (channel->stop_stage >= STOP_KILLED) {
        channel->killed = true;
        image_lost(s, channel, now);
        return;
    }
    id.sival_int = (int)(call->id & 0x7fffffff);
    (void)sigqueue(channel->pid, SIGINT,
                   id); // a lost image is noticed when read
}

static void reply_not_run(struct supervisor *s, struct channel *channel,
                          struct call *call, const char *why)
{
    struct buf text = BUF_EMPTY;

    channel_withdraw(channel, call);
    buf_printf(&text,
               "[ERROR] ECL-MCP:NOT-EVALUATED\nThe call was not begun: %s.",
               why);
    reply(s, call, true, buf_view(&text));
    buf_release(&text);
}

static void stop_call(struct supervisor *s, struct channel *channel,
                      struct call *call, const char *why, int64_t now)
{
    if (!call->sent) {
        reply_not_run(s, channel, call, why);
        return;
    }
    call->stopping = true;
    channel_send_stop(channel, call->id);
    stop_running(s, channel, now);
}

static void stop_everything(struct supervisor *s, int64_t now)
{
    struct channel *channel;

    for (channel = s->channels; channel; channel = channel->next) {
        struct call *call = channel->first;

        while (call) {
            struct call *next = call->next;

            if (!call->stopping)
                stop_call(s, channel, call, ENDING, now);
            call = next;
        }
    }
}

static struct channel *channel_get(struct supervisor *s, struct str name)
{
    struct channel *channel;
    char c_name[LIMIT_SESSION_NAME + 1];

    for (channel = s->channels; channel; channel = channel->next)
        if (str_eq(name, str_from(channel->name)))
            return channel;
    if (name.n == 0 || name.n > LIMIT_SESSION_NAME || memchr(name.p, 0, name.n))
        return NULL;
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

/* A call that cannot even be queued. */
static void refuse(struct supervisor *s, uint64_t id, const char *text)
{
    size_t start = wire_begin(&s->out, WIRE_REPLY, WIRE_ERROR, id);

    wire_put_string(&s->out, str_from(text));
    wire_end(&s->out, start);
}

static enum status take_call(struct supervisor *s, uint64_t id, struct str body,
                             int64_t now)
{
    struct str name;
    struct str operation;
    int64_t max_chars;
    int64_t timeout_ms;
    struct channel *channel;
    struct call *call;

    if (wire_take_string(&body, &name) != ST_OK ||
        wire_take_string(&body, &operation) != ST_OK ||
        wire_take_int(&body, &max_chars) != ST_OK ||
        wire_take_int(&body, &timeout_ms) != ST_OK)
        return ST_INVALID;
    channel = channel_get(s, name);
    call = channel ? call_new(id, operation, body) : NULL;
    if (!call) {
        refuse(s, id, NO_MEMORY);
        return ST_OK;
    }
    call->max_chars = max_chars > 0 ? (size_t)max_chars : LIMIT_OUTPUT;
    call->timeout_ms = timeout_ms;
    channel_add(channel, call);
    if (s->finishing && now >= s->finish_at)
        stop_call(s, channel, call, ENDING, now);
    else
        serve(s, channel, now);
    return ST_OK;
}

static void take_stop(struct supervisor *s, uint64_t id, int64_t now)
{
    struct channel *channel;

    for (channel = s->channels; channel; channel = channel->next) {
        struct call *call = channel_find(channel, id);

        if (call) {
            stop_call(s, channel, call, "it was cancelled", now);
            serve(s, channel, now);
            return;
        }
    }
}

static enum status take_read(struct supervisor *s, uint64_t id, struct str body)
{
    int64_t output;
    int64_t offset;
    int64_t limit;
    struct buf text = BUF_EMPTY;
    size_t start;
    bool found;

    if (wire_take_int(&body, &output) != ST_OK ||
        wire_take_int(&body, &offset) != ST_OK ||
        wire_take_int(&body, &limit) != ST_OK || offset < 0 || limit < 0)
        return ST_INVALID;
    found = kept_read(&s->kept, (uint64_t)output, (uint64_t)offset,
                      (uint64_t)limit, &text);
    (void)found; // a look-up that misses is no error: the text says so
    start = wire_begin(&s->out, WIRE_REPLY, 0, id);
    wire_put_string(&s->out, buf_view(&text));
    wire_end(&s->out, start);
    buf_release(&text);
    return ST_OK;
}

static enum status take_finish(struct supervisor *s, struct str body,
                               int64_t now)
{
    int64_t grace;

    if (wire_take_int(&body, &grace) != ST_OK || grace < 0)
        return ST_INVALID;
    if (!s->finishing || now + grace < s->finish_at)
        s->finish_at = now + grace;
    s->finishing = true;
    return ST_OK;
}

static enum status take_frame(struct supervisor *s, struct wire_head head,
                              struct str body, int64_t now)
{
    switch (head.kind) {
    case WIRE_CALL:
        return take_call(s, head.id, body, now);
    case WIRE_STOP:
        take_stop(s, head.id, now);
        return ST_OK;
    case WIRE_READ:
        return take_read(s, head.id, body);
    case WIRE_FINISH:
        return take_finish(s, body, now);
    default:
        return ST_INVALID;
    }
}

enum status supervisor_feed(struct supervisor *supervisor, const void *p,
                            size_t n, int64_t now_ms)
{
    enum status status = ST_OK;
    size_t used = 0;

    buf_append(&supervisor->in, p, n);
    if (buf_failed(&supervisor->in))
        return ST_NOMEM;
    while (status == ST_OK) {
        struct wire_head head;
        struct str body;
        struct str rest =
            str_make(supervisor->in.p + used, supervisor->in.n - used);

        status = wire_frame(rest, &head, &body);
        if (status != ST_OK)
            break;
        used += WIRE_HEAD + head.size;
        status = take_frame(supervisor, head, body, now_ms);
    }
    buf_consume(&supervisor->in, used);
    return status == ST_MISSING ? ST_OK : status;
}

struct buf *supervisor_output(struct supervisor *supervisor)
{
    return &supervisor->out;
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
            reply(s, call, true, buf_view(&text));
            buf_release(&text);
        }
    }
}

static void tend_zygote(struct supervisor *s, int64_t now)
{
    struct channel *channel;
    bool waiting = false;

    for (channel = s->channels; channel; channel = channel->next)
        waiting = waiting || (channel->socket < 0 && channel->first);
    if (zygote_is_down(&s->zygote) && waiting && !s->finishing)
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

static struct channel *find_pid(struct supervisor *s, pid_t pid)
{
    struct channel *channel = s->channels;

    while (channel && channel->pid != pid)
        channel = channel->next;
    return channel;
}

static void note_exit(struct supervisor *s, pid_t pid, int wait_status,
                      int64_t now)
{
    struct channel *channel = find_pid(s, pid);

    if (!channel)
        return; // a program that an image had started, or an image buried
                // before
    channel->exited = true;
    channel->wait_status = wait_status;
    if (channel->dying) {
        channel->death_at = now;
        return;
    }
    read_image(s, channel, now); // the last answers may still be in the socket
    image_lost(s, channel, now);
}

static void take_control(struct supervisor *s,
                         const struct control_message *message, int64_t now)
{
    struct channel *channel;

    switch ((enum control_kind)message->kind) {
    case CONTROL_READY:
        log_line(&s->config.log, LOG_DEBUG, "image: zygote %d is ready",
                 (int)s->zygote.pid);
        if (!s->channels)
            (void)channel_get(
                s, STR("main")); // without memory the first call says so
        for (channel = s->channels; channel; channel = channel->next)
            if (channel->socket < 0)
                open_image(s, channel);
        break;
    case CONTROL_OPENED:
        channel = find_serial(s, message->serial);
        if (!channel)
            break;
        channel->pid = message->pid;
        if (message->pid <= 0) {
            log_here(s, LOG_ERROR, strerror(message->status), channel);
            image_lost(s, channel, now);
        }
        break;
    case CONTROL_EXITED:
        note_exit(s, message->pid, message->status, now);
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
            serve(s, channel, now);
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
        read_image(s, channel, now);
    else if (fds[0].revents & (POLLHUP | POLLERR | POLLNVAL))
        image_lost(s, channel, now);
    for (i = 0; i < CHANNEL_PIPES; i++)
        if (fds[1 + i].revents)
            channel_read_pipe(channel, i, &s->config.log);
    answer_finished(s, channel);
    serve(s, channel, now);
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
    if (s->finishing && now_ms >= s->finish_at)
        stop_everything(s, now_ms);
    for (channel = s->channels; channel; channel = channel->next) {
        channel->poll_at = SIZE_MAX; // descriptors may have changed
        stop_running(s, channel, now_ms);
        if (channel->dying && now_ms >= channel->death_at)
            bury(s, channel, now_ms);
    }
}

static void earlier(int64_t *deadline, int64_t time)
{
    if (*deadline < 0 || time < *deadline)
        *deadline = time;
}

int64_t supervisor_deadline(const struct supervisor *supervisor)
{
    const struct channel *channel;
    int64_t deadline = zygote_deadline(&supervisor->zygote);

    if (supervisor->finishing)
        for (channel = supervisor->channels; channel; channel = channel->next)
            if (channel->first && !channel->first->stopping)
                earlier(&deadline, supervisor->finish_at);
    for (channel = supervisor->channels; channel; channel = channel->next) {
        if (channel->dying)
            earlier(&deadline, channel->death_at);
        else if (channel->stop_stage != STOP_NONE)
            earlier(&deadline, channel->stop_at);
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
            note_exit(supervisor, pid, wait_status, now_ms);
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
    linux_adopt_orphans();
    zygote_init(&s->zygote, s->config.image_path, s->config.workspace,
                &s->config.log);
    zygote_start(&s->zygote, now_ms);
    return s;
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
            (void)kill(channel->pid, SIGKILL); // its zygote cannot any more
        channel_release(channel);
        free(channel);
    }
    zygote_release(&supervisor->zygote);
    kept_release(&supervisor->kept);
    buf_release(&supervisor->in);
    buf_release(&supervisor->out);
    free(supervisor);
}
