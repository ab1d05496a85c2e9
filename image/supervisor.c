/* SPDX-License-Identifier: GPL-3.0-or-later */
/* supervisor.c: see supervisor.h. Takes the frames and the zygote's messages
   and hands them on; what is done about them is in the files of state.h. */
#include "supervisor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "limits.h"
#include "linux.h"
#include "state.h"
#include "version.h"
#include "wire.h"

/* The session called NAME, new if there is none. NULL: *WHY says why not. */
static struct channel *channel_get(struct supervisor *s, struct str name,
                                   const char **why)
{
    struct channel *channel;
    char c_name[LIMIT_SESSION_NAME + 1];
    int n = 0;

    for (channel = s->channels; channel; channel = channel->next) {
        if (str_eq(name, str_from(channel->name)))
            return channel;
        n++;
    }
    *why = "[ERROR] ECL-MCP:NO-SESSION\nThis is no name for a session.";
    if (name.n == 0 || name.n > LIMIT_SESSION_NAME || memchr(name.p, 0, name.n))
        return NULL;
    *why = "[ERROR] ECL-MCP:NO-SESSION\nToo many sessions are open; close one "
           "by reset-session with close true.";
    if (n >= LIMIT_SESSIONS)
        return NULL;
    *why = REPLY_NO_MEMORY;
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

/* Answers what waits for nothing; the text tells of what is MISSING. */
static void reply_now(struct supervisor *s, uint64_t id, bool missing,
                      const struct buf *text)
{
    size_t start =
        wire_begin(&s->out, WIRE_REPLY, missing ? WIRE_MISSING : 0, id);

    wire_put_string(&s->out, buf_view(text));
    wire_end(&s->out, start);
}

/* Takes the limits that are for the image out of a call on its way there. */
static void note_limits(struct supervisor *s, const struct call *call)
{
    struct str body = call_arguments(call);
    struct str name;
    struct wire_field value;

    if (!str_eq(call_operation(call), STR("configure-limits")))
        return;
    while (wire_take_string(&body, &name) == ST_OK &&
           wire_field(&body, &value) == ST_OK)
        if (value.type == WIRE_INT && str_eq(name, STR("memory")) &&
            value.integer > 0)
            s->config.heap = (uint64_t)value.integer; // of later sessions
}

static void queue_call(struct supervisor *s, struct channel *channel,
                       struct call *call, int64_t now)
{
    note_limits(s, call);
    channel->closed = false;
    channel_add(channel, call);
    if (s->finishing && now >= s->finish_at)
        stop_call(s, channel, call, STOP_ENDING, now);
    else
        life_serve(s, channel, now);
}

/* Answers a call that waits for nothing, or whose session has to be there and
   is not; else false. The session main is always there: it opens by itself. */
static bool take_view(struct supervisor *s, struct wire_head head,
                      struct str session, struct str operation, struct str body)
{
    struct buf text = BUF_EMPTY;
    bool missing = false;

    if (operation_is_immediate(operation)) {
        missing = !operation_show(s, session, operation, body, &text);
    } else if ((head.flags & WIRE_VIEW) && !operation_find(s, session) &&
               !str_eq(session, STR(STATE_MAIN))) {
        operation_miss(session, &text);
        missing = true;
    } else {
        return false;
    }
    reply_now(s, head.id, missing, &text);
    buf_release(&text);
    return true;
}

static enum status take_call(struct supervisor *s, struct wire_head head,
                             struct str body, int64_t now)
{
    struct str name;
    struct str operation;
    int64_t max_chars;
    int64_t timeout_ms;
    struct channel *channel;
    struct call *call;
    const char *why = REPLY_NO_MEMORY;

    if (wire_take_string(&body, &name) != ST_OK ||
        wire_take_string(&body, &operation) != ST_OK ||
        wire_take_int(&body, &max_chars) != ST_OK ||
        wire_take_int(&body, &timeout_ms) != ST_OK)
        return ST_INVALID;
    if (take_view(s, head, name, operation, body))
        return ST_OK;
    channel = channel_get(s, name, &why);
    call = channel ? call_new(head.id, timeout_ms, operation, body) : NULL;
    if (!call) {
        reply_refused(s, head.id, why);
        return ST_OK;
    }
    call->max_chars = max_chars > 0 ? (size_t)max_chars : LIMIT_OUTPUT;
    call->ours = operation_is_ours(operation);
    call->view = (head.flags & WIRE_VIEW) != 0;
    call->progress = (head.flags & WIRE_PROGRESS) != 0;
    queue_call(s, channel, call, now);
    return ST_OK;
}

static void take_stop(struct supervisor *s, uint64_t id, int64_t now)
{
    struct channel *channel;

    for (channel = s->channels; channel; channel = channel->next) {
        struct call *call = channel_find(channel, id);

        if (call) {
            stop_call(s, channel, call, STOP_CANCELLED, now);
            life_serve(s, channel, now);
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
    bool found;

    if (wire_take_int(&body, &output) != ST_OK ||
        wire_take_int(&body, &offset) != ST_OK ||
        wire_take_int(&body, &limit) != ST_OK || offset < 0 || limit < 0)
        return ST_INVALID;
    found = kept_read(&s->kept, (uint64_t)output, (uint64_t)offset,
                      (uint64_t)limit, &text);
    (void)found; // a look-up that misses is no error: the text says so
    reply_now(s, id, false, &text);
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

/* A front says which version it speaks, and gets to know ours. */
static enum status take_hello(struct supervisor *s, struct str body)
{
    int64_t version;
    struct str program;
    size_t start;

    if (wire_take_int(&body, &version) != ST_OK ||
        wire_take_string(&body, &program) != ST_OK)
        return ST_INVALID;
    start = wire_begin(&s->out, WIRE_WELCOME, 0, 0);
    wire_put_int(&s->out, WIRE_VERSION);
    wire_put_string(&s->out, STR(ECL_MCP_VERSION));
    wire_put_string(&s->out, version == WIRE_VERSION
                                 ? STR("")
                                 : STR("it speaks another version"));
    wire_end(&s->out, start);
    return version == WIRE_VERSION ? ST_OK : ST_INVALID;
}

static enum status take_frame(struct supervisor *s, struct wire_head head,
                              struct str body, int64_t now)
{
    switch (head.kind) {
    case WIRE_CALL:
        return take_call(s, head, body, now);
    case WIRE_STOP:
        take_stop(s, head.id, now);
        return ST_OK;
    case WIRE_READ:
        return take_read(s, head.id, body);
    case WIRE_FINISH:
        return take_finish(s, body, now);
    case WIRE_HELLO:
        return take_hello(s, body);
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
            reply_text(s, call, true, buf_view(&text));
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
    const char *why;

    switch ((enum control_kind)message->kind) {
    case CONTROL_READY:
        note_sandbox(s, message);
        log_line(&s->config.log, LOG_DEBUG, "image: zygote %d is ready",
                 (int)s->zygote.pid);
        if (!s->channels)
            (void)channel_get(s, STR(STATE_MAIN),
                              &why); // without memory the first call says so
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
    if (s->finishing && now_ms >= s->finish_at)
        stop_everything(s, now_ms);
    for (channel = s->channels; channel; channel = channel->next) {
        channel->poll_at = SIZE_MAX; // descriptors may have changed
        stop_tend(s, channel, now_ms);
        watch_tend(s, channel, now_ms);
        life_tend(s, channel, now_ms);
        restore_tend(s, channel, now_ms);
        progress_tend(s, channel, now_ms);
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

    if (supervisor->finishing)
        for (channel = supervisor->channels; channel; channel = channel->next)
            if (channel->first && !channel->first->stopping)
                earlier(&deadline, supervisor->finish_at);
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
    linux_adopt_orphans();
    zygote_init(&s->zygote, s->config.image_path, s->config.workspace,
                &s->config.sandbox, &s->config.log);
    sandbox_find_places(&s->config.sandbox, s->config.workspace, &s->places);
    sandbox_hide_process(&s->config.sandbox);
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
            (void)linux_family(channel->pid, -1, SIGKILL); // its zygote cannot
        channel_release(channel);
        free(channel);
    }
    zygote_release(&supervisor->zygote);
    kept_release(&supervisor->kept);
    buf_release(&supervisor->in);
    buf_release(&supervisor->out);
    free(supervisor);
}
