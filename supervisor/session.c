/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session.c: see session.h. */
#include "supervisor/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "image/linux.h"

/* Bytes read at once. */
#define CHUNK (64u * 1024)

/* Bytes that may wait for the image's socket before no further call is sent
   ahead. */
#define AHEAD_BYTES (256u * 1024)

struct call *call_new(uint64_t id, int64_t timeout_ms, struct str operation,
                      struct str arguments)
{
    struct call *call = calloc(1, sizeof *call);

    if (!call)
        return NULL;
    call->id = id;
    call->timeout_ms = timeout_ms;
    call->started_at = -1;
    wire_put_int(&call->fields, timeout_ms);
    wire_put_string(&call->fields, operation);
    buf_str(&call->fields, arguments);
    if (buf_failed(&call->fields)) {
        call_free(call);
        return NULL;
    }
    return call;
}

struct str call_arguments(const struct call *call)
{
    struct str body = buf_view(&call->fields);
    struct str operation;
    int64_t timeout_ms;

    if (wire_take_int(&body, &timeout_ms) != ST_OK ||
        wire_take_string(&body, &operation) != ST_OK)
        body.n = 0; // not as call_new has made it
    return body;
}

struct str call_operation(const struct call *call)
{
    struct str body = buf_view(&call->fields);
    struct str operation = {NULL, 0};
    int64_t timeout_ms;

    if (wire_take_int(&body, &timeout_ms) != ST_OK ||
        wire_take_string(&body, &operation) != ST_OK)
        operation.n = 0; // not as call_new has made it
    return operation;
}

void call_free(struct call *call)
{
    int i;

    if (!call)
        return;
    buf_release(&call->fields);
    buf_release(&call->text);
    for (i = 0; i < CHANNEL_PIPES; i++)
        capture_release(&call->captures[i]);
    free(call);
}

void channel_init(struct channel *channel, const char *name)
{
    memset(channel, 0, sizeof *channel);
    (void)snprintf(channel->name, sizeof channel->name, "%s", name);
    channel->socket = -1;
    channel->kept_socket = -1;
    channel->watch_at = -1;
    channel->poll_at = SIZE_MAX;
    channel->pipes[CHANNEL_STDOUT] = -1;
    channel->pipes[CHANNEL_STDERR] = -1;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); // nothing is buffered in it
    *fd = -1;
}

struct told *channel_told(struct channel *channel, const struct front *front)
{
    struct told *told = channel->told;

    while (told && told->front != front)
        told = told->next;
    if (told)
        return told;
    told = calloc(1, sizeof *told);
    if (!told)
        return NULL;
    told->front = front;
    told->notice = channel->notices; // what was before does not concern it
    told->next = channel->told;
    channel->told = told;
    return told;
}

void channel_forget(struct channel *channel, const struct front *front)
{
    struct told **link = &channel->told;
    struct told *told;

    while (*link && (*link)->front != front)
        link = &(*link)->next;
    told = *link;
    if (!told)
        return;
    *link = told->next;
    free(told);
}

void channel_release(struct channel *channel)
{
    struct call *call;

    channel_disconnect(channel);
    close_fd(&channel->pipes[CHANNEL_STDOUT]);
    close_fd(&channel->pipes[CHANNEL_STDERR]);
    checkpoints_release(&channel->checkpoints);
    while ((call = channel_take_first(channel)))
        call_free(call);
    while (channel->told)
        channel_forget(channel, channel->told->front);
    capture_release(&channel->earlier);
    buf_release(&channel->in);
    buf_release(&channel->out);
    buf_release(&channel->notice);
}

void channel_connect(struct channel *channel, int socket,
                     const int pipes[CHANNEL_PIPES])
{
    int i;

    channel->socket = socket;
    for (i = 0; pipes && i < CHANNEL_PIPES; i++) {
        close_fd(&channel->pipes[i]);
        channel->pipes[i] = pipes[i];
    }
    channel->pid = 0;
    channel->dying = false;
    channel->unread = false;
    channel->exited = false;
    channel->killed = false;
    channel->crowded = false;
    channel->garbled = false;
    channel->watch_at = -1;
    channel->stop_stage = 0;
}

void channel_disconnect(struct channel *channel)
{
    struct call *call;

    close_fd(&channel->socket);
    close_fd(&channel->kept_socket);
    channel->kept = false;
    channel->keeping = 0;
    channel->carried[CHANNEL_STDOUT] = 0;
    channel->carried[CHANNEL_STDERR] = 0;
    buf_reset(&channel->in);
    buf_reset(&channel->out);
    channel->written = 0;
    channel->sent = 0;
    channel->pid = 0;
    for (call = channel->first; call; call = call->next) {
        call->sent = false;
        call->started_at = -1;
        call->marked[CHANNEL_STDOUT] = false;
        call->marked[CHANNEL_STDERR] = false;
    }
}

void channel_add(struct channel *channel, struct call *call)
{
    if (channel->last)
        channel->last->next = call;
    else
        channel->first = call;
    channel->last = call;
    channel->calls++;
    channel->call_bytes += call->fields.n;
}

static enum status write_out(struct channel *channel)
{
    while (channel->written < channel->out.n) {
        ssize_t n = send(channel->socket, channel->out.p + channel->written,
                         channel->out.n - channel->written,
                         MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return ST_OK;
        if (n < 0) {
            channel->unread = true;
            return ST_IO;
        }
        channel->written += (size_t)n;
    }
    buf_trim(&channel->out, CHUNK);
    buf_reset(&channel->out);
    channel->written = 0;
    return ST_OK;
}

enum status channel_send(struct channel *channel)
{
    struct call *call = channel->first;
    size_t skip;

    if (channel->socket < 0)
        return ST_OK;
    for (skip = channel->sent; skip > 0; skip--)
        call = call->next;
    while (call && !call->ours && channel->sent < LIMIT_AHEAD &&
           channel->out.n < AHEAD_BYTES) {
        size_t start = wire_begin(&channel->out, WIRE_CALL,
                                  channel->sent > 0 ? WIRE_AHEAD : 0, call->id);

        buf_str(&channel->out, buf_view(&call->fields));
        if (buf_failed(&channel->out)) {
            buf_truncate(&channel->out, start);
            return ST_NOMEM;
        }
        wire_end(&channel->out, start);
        call->sent = true;
        channel->sent++;
        call = call->next;
    }
    return write_out(channel);
}

void channel_send_keep(struct channel *channel, uint64_t number)
{
    wire_end(&channel->out, wire_begin(&channel->out, WIRE_KEEP, 0, number));
    (void)write_out(channel); // a lost image is noticed when it is read
}

void channel_send_stop(struct channel *channel, uint64_t id)
{
    if (channel->socket < 0)
        return;
    wire_end(&channel->out, wire_begin(&channel->out, WIRE_STOP, 0, id));
    (void)write_out(channel); // a lost image is noticed when it is read
}

/* The call whose output comes out of pipe I now: the first one sent whose mark
   has not been seen there. NULL between two calls. */
static struct call *writer(struct channel *channel, int i)
{
    struct call *call = channel->first;

    while (call && call->sent && call->marked[i])
        call = call->next;
    return call && call->sent ? call : NULL;
}

static void add_output(struct channel *channel, int i, struct str bytes)
{
    struct call *call = writer(channel, i);

    capture_add(call ? &call->captures[i] : &channel->earlier, bytes);
}

/* Whether a mark can come through pipe I: some call was sent behind the one
   that writes there. */
static bool awaits_mark(struct channel *channel, int i)
{
    const struct call *call = writer(channel, i);

    return call && call->next && call->next->sent;
}

/* The mark of the call that writes into pipe I has come. */
static void end_output(struct channel *channel, int i)
{
    struct call *call = writer(channel, i);

    if (call)
        call->marked[i] = true;
}

/* Bytes at the end of BYTES that may be the start of a mark. */
static size_t mark_start(const struct channel *channel, struct str bytes)
{
    size_t n = bytes.n < WIRE_MARK_KEY ? bytes.n : WIRE_MARK_KEY - 1;

    while (n > 0 && memcmp(bytes.p + bytes.n - n, channel->key, n) != 0)
        n--;
    return n;
}

/* Gives BYTES to the calls they belong to; returns how many were used up. The
   rest may be an incomplete mark. */
static size_t split_output(struct channel *channel, int i, struct str bytes)
{
    size_t used = 0;

    while (used < bytes.n && awaits_mark(channel, i)) {
        struct str rest = str_make(bytes.p + used, bytes.n - used);
        const char *found = memmem(rest.p, rest.n, channel->key, WIRE_MARK_KEY);
        size_t before = found ? (size_t)(found - rest.p)
                              : rest.n - mark_start(channel, rest);

        add_output(channel, i, str_make(rest.p, before));
        used += before;
        if (!found || rest.n - before < WIRE_MARK)
            return used;
        used += WIRE_MARK;
        end_output(channel, i);
    }
    add_output(channel, i, str_make(bytes.p + used, bytes.n - used));
    return bytes.n;
}

/* Reads at most MAX bytes of pipe I; the number read, 0 when there is nothing
   more to read. */
static size_t read_pipe(struct channel *channel, int i, size_t max)
{
    char chunk[WIRE_MARK + CHUNK];
    size_t held = channel->carried[i];
    size_t used;
    ssize_t n;

    if (channel->pipes[i] < 0)
        return 0;
    memcpy(chunk, channel->carry[i], held);
    do
        n = read(channel->pipes[i], chunk + held, max < CHUNK ? max : CHUNK);
    while (n < 0 && errno == EINTR);
    if (n <= 0) {
        if (n == 0 || errno != EAGAIN)
            close_fd(&channel->pipes[i]);
        return 0;
    }
    used = split_output(channel, i, str_make(chunk, held + (size_t)n));
    channel->carried[i] = held + (size_t)n - used;
    memcpy(channel->carry[i], chunk + used, channel->carried[i]);
    return (size_t)n;
}

void channel_read_pipe(struct channel *channel, int i, const struct log *log)
{
    bool between = !writer(channel, i);
    size_t before = channel->earlier.head.n;

    if (read_pipe(channel, i, CHUNK) == 0 || !between ||
        channel->logged >= LIMIT_LOG_LINE)
        return;
    log_line(log, LOG_INFO,
             "image: output between evaluations of session %s: %.*s",
             channel->name,
             STR_ARG(str_make(channel->earlier.head.p + before,
                              channel->earlier.head.n - before)));
    channel->logged += channel->earlier.head.n - before;
}

void channel_drain(struct channel *channel)
{
    int i;

    for (i = 0; i < CHANNEL_PIPES; i++) {
        int waiting = 0;
        size_t left;
        size_t n = 1;

        if (channel->pipes[i] < 0 ||
            ioctl(channel->pipes[i], FIONREAD, &waiting) < 0)
            continue;
        for (left = (size_t)waiting; left > 0 && n > 0; left -= n)
            n = read_pipe(channel, i, left);
        // no mark is awaited any more: what looked like one is output
        if (!awaits_mark(channel, i)) {
            add_output(channel, i,
                       str_make(channel->carry[i], channel->carried[i]));
            channel->carried[i] = 0;
        }
    }
}

void channel_drain_dead(struct channel *channel)
{
    int i;

    channel_drain(channel);
    for (i = 0; i < CHANNEL_PIPES; i++) {
        add_output(channel, i,
                   str_make(channel->carry[i], channel->carried[i]));
        channel->carried[i] = 0;
    }
    // whoever has the image's end still, a copy, reads nothing there
    if (channel->socket >= 0 && linux_has_unread(channel->socket))
        channel->unread = true;
}

/* The answer to the first call without one: no other is expected. */
static enum status take_reply(struct channel *channel, uint64_t id, bool error,
                              struct str body)
{
    struct call *call = channel->first;
    struct str text;

    while (call && call->sent && call->replied)
        call = call->next;
    if (!call || !call->sent || call->id != id ||
        wire_take_string(&body, &text) != ST_OK)
        return ST_INVALID;
    buf_str(&call->text, text);
    if (buf_failed(&call->text))
        return ST_NOMEM;
    call->error = error;
    call->replied = true;
    return ST_OK;
}

/* The answer to the KEEP that was sent last. Its descriptor came before. */
static enum status take_kept(struct channel *channel, uint64_t number,
                             struct str body)
{
    int64_t pid;

    if (number != channel->keeping || channel->kept || number == 0 ||
        wire_take_int(&body, &pid) != ST_OK)
        return ST_INVALID;
    channel->kept = true;
    channel->kept_pid = (pid_t)pid;
    return ST_OK;
}

static enum status take_frame(struct channel *channel, struct wire_head head,
                              struct str body)
{
    if (head.kind == WIRE_REPLY)
        return take_reply(channel, head.id, (head.flags & WIRE_ERROR) != 0,
                          body);
    if (head.kind == WIRE_KEPT)
        return take_kept(channel, head.id, body);
    return ST_INVALID;
}

static enum status take_frames(struct channel *channel)
{
    size_t used = 0;
    enum status status = ST_OK;

    while (status == ST_OK) {
        struct wire_head head;
        struct str body;

        status = wire_frame(
            str_make(channel->in.p + used, channel->in.n - used), &head, &body);
        if (status != ST_OK)
            break;
        used += WIRE_HEAD + head.size;
        status = take_frame(channel, head, body);
    }
    buf_consume(&channel->in, used);
    if (status == ST_MISSING)
        return ST_OK;
    return status == ST_NOMEM ? ST_NOMEM : ST_INVALID;
}

/* recv(2) that takes a descriptor along, one at most: room for two would fill
   up with what an image sends. Whoever shares the socket of a copy can make it
   wait; this does not. */
static ssize_t receive(struct channel *channel, void *room)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } extra;
    struct iovec part = {room, CHUNK};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = extra.bytes,
                            .msg_controllen = CMSG_LEN(sizeof(int))};
    ssize_t n =
        recvmsg(channel->socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    const struct cmsghdr *cmsg = n > 0 ? CMSG_FIRSTHDR(&header) : NULL;

    if (cmsg && cmsg->cmsg_level == SOL_SOCKET &&
        cmsg->cmsg_type == SCM_RIGHTS) {
        close_fd(&channel->kept_socket);
        memcpy(&channel->kept_socket, CMSG_DATA(cmsg), sizeof(int));
    }
    return n;
}

enum status channel_read(struct channel *channel)
{
    for (;;) {
        char *room = buf_reserve(&channel->in, CHUNK);
        ssize_t n;
        enum status status;

        if (!room)
            return ST_NOMEM;
        n = receive(channel, room);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == ECONNRESET)
            channel->unread = true;
        if (n < 0)
            return errno == EAGAIN ? ST_OK : ST_IO;
        if (n == 0)
            return ST_IO;
        channel->in.n += (size_t)n;
        status = take_frames(channel);
        if (status != ST_OK)
            return status;
        if ((size_t)n < CHUNK)
            return ST_OK;
    }
}

struct call *channel_take_first(struct channel *channel)
{
    struct call *call = channel->first;

    if (!call)
        return NULL;
    channel->first = call->next;
    if (!channel->first)
        channel->last = NULL;
    channel->calls--;
    channel->call_bytes -= call->fields.n;
    if (call->sent)
        channel->sent--;
    call->next = NULL;
    channel->logged = 0;
    return call;
}

struct call *channel_take_finished(struct channel *channel)
{
    const struct call *call = channel->first;
    int i;

    if (!call || !call->replied)
        return NULL;
    if (call->next && call->next->sent) {
        for (i = 0; i < CHANNEL_PIPES; i++)
            if (!call->marked[i] && channel->pipes[i] >= 0)
                return NULL;
    } else {
        channel_drain(channel);
    }
    return channel_take_first(channel);
}

void channel_withdraw(struct channel *channel, struct call *call)
{
    struct call *before = channel->first;

    if (before == call) {
        (void)channel_take_first(channel); // the caller has it
        return;
    }
    while (before->next != call)
        before = before->next;
    before->next = call->next;
    if (channel->last == call)
        channel->last = before;
    channel->calls--;
    channel->call_bytes -= call->fields.n;
    call->next = NULL;
}

struct call *channel_find(struct channel *channel, const struct front *front,
                          uint64_t id)
{
    struct call *call = channel->first;

    while (call && (call->front != front || call->front_id != id))
        call = call->next;
    return call;
}
