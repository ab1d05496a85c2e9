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

void session_init(struct session *session, const char *name)
{
    memset(session, 0, sizeof *session);
    (void)snprintf(session->name, sizeof session->name, "%s", name);
    session->socket = -1;
    session->kept_socket = -1;
    session->watch_at = -1;
    session->poll_at = SIZE_MAX;
    session->pipes[CAPTURE_STDOUT] = -1;
    session->pipes[CAPTURE_STDERR] = -1;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); // nothing is buffered in it
    *fd = -1;
}

struct told *session_told(struct session *session, const struct front *front)
{
    struct told *told = session->told;

    while (told && told->front != front)
        told = told->next;
    if (told)
        return told;
    told = calloc(1, sizeof *told);
    if (!told)
        return NULL;
    told->front = front;
    told->notice = session->notices; // what was before does not concern it
    told->next = session->told;
    session->told = told;
    return told;
}

void session_forget(struct session *session, const struct front *front)
{
    struct told **link = &session->told;
    struct told *told;

    while (*link && (*link)->front != front)
        link = &(*link)->next;
    told = *link;
    if (!told)
        return;
    *link = told->next;
    free(told);
}

void session_release(struct session *session)
{
    struct call *call;

    session_disconnect(session);
    close_fd(&session->pipes[CAPTURE_STDOUT]);
    close_fd(&session->pipes[CAPTURE_STDERR]);
    checkpoints_release(&session->checkpoints);
    while ((call = session_take_first(session)))
        call_free(call);
    while (session->told)
        session_forget(session, session->told->front);
    capture_release(&session->earlier);
    buf_release(&session->in);
    buf_release(&session->out);
    buf_release(&session->notice);
}

void session_connect(struct session *session, int socket,
                     const int pipes[CAPTURE_PIPES])
{
    int i;

    session->socket = socket;
    for (i = 0; pipes && i < CAPTURE_PIPES; i++) {
        close_fd(&session->pipes[i]);
        session->pipes[i] = pipes[i];
    }
    session->pid = 0;
    session->dying = false;
    session->unread = false;
    session->exited = false;
    session->killed = false;
    session->crowded = false;
    session->garbled = false;
    session->watch_at = -1;
    session->stop_stage = 0;
}

void session_disconnect(struct session *session)
{
    struct call *call;

    close_fd(&session->socket);
    close_fd(&session->kept_socket);
    session->kept = false;
    session->keeping = 0;
    session->carried[CAPTURE_STDOUT] = 0;
    session->carried[CAPTURE_STDERR] = 0;
    buf_reset(&session->in);
    buf_reset(&session->out);
    session->written = 0;
    session->sent = 0;
    session->pid = 0;
    for (call = session->first; call; call = call->next) {
        call_unsend(call);
    }
}

void session_add(struct session *session, struct call *call)
{
    if (session->last)
        session->last->next = call;
    else
        session->first = call;
    session->last = call;
    session->calls++;
    session->call_bytes += call->fields.n;
}

static enum status write_out(struct session *session)
{
    while (session->written < session->out.n) {
        ssize_t n = send(session->socket, session->out.p + session->written,
                         session->out.n - session->written,
                         MSG_NOSIGNAL | MSG_DONTWAIT);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return ST_OK;
        if (n < 0) {
            session->unread = true;
            return ST_IO;
        }
        session->written += (size_t)n;
    }
    buf_trim(&session->out, CHUNK);
    buf_reset(&session->out);
    session->written = 0;
    return ST_OK;
}

enum status session_send(struct session *session)
{
    struct call *call = session->first;
    size_t skip;

    if (session->socket < 0)
        return ST_OK;
    for (skip = session->sent; skip > 0; skip--)
        call = call->next;
    while (call && !call->ours && session->sent < LIMIT_AHEAD &&
           session->out.n < AHEAD_BYTES) {
        size_t start = wire_begin(&session->out, WIRE_CALL,
                                  session->sent > 0 ? WIRE_AHEAD : 0, call->id);

        buf_str(&session->out, buf_view(&call->fields));
        if (buf_failed(&session->out)) {
            buf_truncate(&session->out, start);
            return ST_NOMEM;
        }
        wire_end(&session->out, start);
        call->sent = true;
        session->sent++;
        call = call->next;
    }
    return write_out(session);
}

void session_send_keep(struct session *session, uint64_t number)
{
    wire_end(&session->out, wire_begin(&session->out, WIRE_KEEP, 0, number));
    (void)write_out(session); // a lost image is noticed when it is read
}

void session_send_stop(struct session *session, uint64_t id)
{
    if (session->socket < 0)
        return;
    wire_end(&session->out, wire_begin(&session->out, WIRE_STOP, 0, id));
    (void)write_out(session); // a lost image is noticed when it is read
}

/* The call whose output comes out of pipe I now: the first one sent whose mark
   has not been seen there. NULL between two calls. */
static struct call *writer(struct session *session, int i)
{
    struct call *call = session->first;

    while (call && call->sent && call->marked[i])
        call = call->next;
    return call && call->sent ? call : NULL;
}

static void add_output(struct session *session, int i, struct str bytes)
{
    struct call *call = writer(session, i);

    capture_add(call ? &call->captures[i] : &session->earlier, bytes);
}

/* Whether a mark can come through pipe I: some call was sent behind the one
   that writes there. */
static bool awaits_mark(struct session *session, int i)
{
    const struct call *call = writer(session, i);

    return call && call->next && call->next->sent;
}

/* The mark of the call that writes into pipe I has come. */
static void end_output(struct session *session, int i)
{
    struct call *call = writer(session, i);

    if (call)
        call->marked[i] = true;
}

/* Bytes at the end of BYTES that may be the start of a mark. */
static size_t mark_start(const struct session *session, struct str bytes)
{
    size_t n = bytes.n < WIRE_MARK_KEY ? bytes.n : WIRE_MARK_KEY - 1;

    while (n > 0 && memcmp(bytes.p + bytes.n - n, session->key, n) != 0)
        n--;
    return n;
}

/* Gives BYTES to the calls they belong to; returns how many were used up. The
   rest may be an incomplete mark. */
static size_t split_output(struct session *session, int i, struct str bytes)
{
    size_t used = 0;

    while (used < bytes.n && awaits_mark(session, i)) {
        struct str rest = str_make(bytes.p + used, bytes.n - used);
        const char *found = memmem(rest.p, rest.n, session->key, WIRE_MARK_KEY);
        size_t before = found ? (size_t)(found - rest.p)
                              : rest.n - mark_start(session, rest);

        add_output(session, i, str_make(rest.p, before));
        used += before;
        if (!found || rest.n - before < WIRE_MARK)
            return used;
        used += WIRE_MARK;
        end_output(session, i);
    }
    add_output(session, i, str_make(bytes.p + used, bytes.n - used));
    return bytes.n;
}

/* Reads at most MAX bytes of pipe I; the number read, 0 when there is nothing
   more to read. */
static size_t read_pipe(struct session *session, int i, size_t max)
{
    char chunk[WIRE_MARK + CHUNK];
    size_t held = session->carried[i];
    size_t used;
    ssize_t n;

    if (session->pipes[i] < 0)
        return 0;
    memcpy(chunk, session->carry[i], held);
    do
        n = read(session->pipes[i], chunk + held, max < CHUNK ? max : CHUNK);
    while (n < 0 && errno == EINTR);
    if (n <= 0) {
        if (n == 0 || errno != EAGAIN)
            close_fd(&session->pipes[i]);
        return 0;
    }
    used = split_output(session, i, str_make(chunk, held + (size_t)n));
    session->carried[i] = held + (size_t)n - used;
    memcpy(session->carry[i], chunk + used, session->carried[i]);
    return (size_t)n;
}

void session_read_pipe(struct session *session, int i, const struct log *log)
{
    bool between = !writer(session, i);
    size_t before = session->earlier.head.n;

    if (read_pipe(session, i, CHUNK) == 0 || !between ||
        session->logged >= LIMIT_LOG_LINE)
        return;
    log_line(log, LOG_INFO,
             "image: output between evaluations of session %s: %.*s",
             session->name,
             STR_ARG(str_make(session->earlier.head.p + before,
                              session->earlier.head.n - before)));
    session->logged += session->earlier.head.n - before;
}

void session_drain(struct session *session)
{
    int i;

    for (i = 0; i < CAPTURE_PIPES; i++) {
        int waiting = 0;
        size_t left;
        size_t n = 1;

        if (session->pipes[i] < 0 ||
            ioctl(session->pipes[i], FIONREAD, &waiting) < 0)
            continue;
        for (left = (size_t)waiting; left > 0 && n > 0; left -= n)
            n = read_pipe(session, i, left);
        // no mark is awaited any more: what looked like one is output
        if (!awaits_mark(session, i)) {
            add_output(session, i,
                       str_make(session->carry[i], session->carried[i]));
            session->carried[i] = 0;
        }
    }
}

void session_drain_dead(struct session *session)
{
    int i;

    session_drain(session);
    for (i = 0; i < CAPTURE_PIPES; i++) {
        add_output(session, i,
                   str_make(session->carry[i], session->carried[i]));
        session->carried[i] = 0;
    }
    // whoever has the image's end still, a copy, reads nothing there
    if (session->socket >= 0 && linux_has_unread(session->socket))
        session->unread = true;
}

/* The answer to the first call without one: no other is expected. */
static enum status take_reply(struct session *session, uint64_t id, bool error,
                              struct str body)
{
    struct call *call = session->first;
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
static enum status take_kept(struct session *session, uint64_t number,
                             struct str body)
{
    int64_t pid;

    if (number != session->keeping || session->kept || number == 0 ||
        wire_take_int(&body, &pid) != ST_OK)
        return ST_INVALID;
    session->kept = true;
    session->kept_pid = (pid_t)pid;
    return ST_OK;
}

static enum status take_frame(struct session *session, struct wire_head head,
                              struct str body)
{
    if (head.kind == WIRE_REPLY)
        return take_reply(session, head.id, (head.flags & WIRE_ERROR) != 0,
                          body);
    if (head.kind == WIRE_KEPT)
        return take_kept(session, head.id, body);
    return ST_INVALID;
}

static enum status take_frames(struct session *session)
{
    size_t used = 0;
    enum status status = ST_OK;

    while (status == ST_OK) {
        struct wire_head head;
        struct str body;

        status = wire_frame(
            str_make(session->in.p + used, session->in.n - used), &head, &body);
        if (status != ST_OK)
            break;
        used += WIRE_HEAD + head.size;
        status = take_frame(session, head, body);
    }
    buf_consume(&session->in, used);
    if (status == ST_MISSING)
        return ST_OK;
    return status == ST_NOMEM ? ST_NOMEM : ST_INVALID;
}

/* recv(2) that takes a descriptor along, one at most: room for two would fill
   up with what an image sends. Whoever shares the socket of a copy can make it
   wait; this does not. */
static ssize_t receive(struct session *session, void *room)
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
        recvmsg(session->socket, &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    const struct cmsghdr *cmsg = n > 0 ? CMSG_FIRSTHDR(&header) : NULL;

    if (cmsg && cmsg->cmsg_level == SOL_SOCKET &&
        cmsg->cmsg_type == SCM_RIGHTS) {
        close_fd(&session->kept_socket);
        memcpy(&session->kept_socket, CMSG_DATA(cmsg), sizeof(int));
    }
    return n;
}

enum status session_read(struct session *session)
{
    for (;;) {
        char *room = buf_reserve(&session->in, CHUNK);
        ssize_t n;
        enum status status;

        if (!room)
            return ST_NOMEM;
        n = receive(session, room);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == ECONNRESET)
            session->unread = true;
        if (n < 0)
            return errno == EAGAIN ? ST_OK : ST_IO;
        if (n == 0)
            return ST_IO;
        session->in.n += (size_t)n;
        status = take_frames(session);
        if (status != ST_OK)
            return status;
        if ((size_t)n < CHUNK)
            return ST_OK;
    }
}

struct call *session_take_first(struct session *session)
{
    struct call *call = session->first;

    if (!call)
        return NULL;
    session->first = call->next;
    if (!session->first)
        session->last = NULL;
    session->calls--;
    session->call_bytes -= call->fields.n;
    if (call->sent)
        session->sent--;
    call->next = NULL;
    session->logged = 0;
    return call;
}

struct call *session_take_finished(struct session *session)
{
    const struct call *call = session->first;
    int i;

    if (!call || !call->replied)
        return NULL;
    if (call->next && call->next->sent) {
        for (i = 0; i < CAPTURE_PIPES; i++)
            if (!call->marked[i] && session->pipes[i] >= 0)
                return NULL;
    } else {
        session_drain(session);
    }
    return session_take_first(session);
}

void session_withdraw(struct session *session, struct call *call)
{
    struct call *before = session->first;

    if (before == call) {
        (void)session_take_first(session); // the caller has it
        return;
    }
    while (before->next != call)
        before = before->next;
    before->next = call->next;
    if (session->last == call)
        session->last = before;
    session->calls--;
    session->call_bytes -= call->fields.n;
    call->next = NULL;
}

struct call *session_find(struct session *session, const struct front *front,
                          uint64_t id)
{
    struct call *call = session->first;

    while (call && (call->front != front || call->front_id != id))
        call = call->next;
    return call;
}
