/* SPDX-License-Identifier: GPL-3.0-or-later */
/* connection.c: see connection.h. */
#include "image/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "image/descriptors.h"
#include "image/linux.h"

/* Bytes read from the socket at once. */
#define CHUNK (64u * 1024)

void connection_give_up(const char *what)
{
    static const char text[] = "ecl-mcp-image: ";

    // the last words, whether they are heard or not
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    (void)!write(STDERR_FILENO, what, strlen(what));
    (void)!write(STDERR_FILENO, "\n", 1);
    _exit(1);
}

static void write_all(int fd, const char *p, size_t n, const char *what)
{
    while (n > 0) {
        ssize_t done = write(fd, p, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            connection_give_up(what);
        p += done;
        n -= (size_t)done;
    }
}

/* --- Descriptors -------------------------------------------------------- */

static int make_private(int fd)
{
    int copy = fcntl(fd, F_DUPFD_CLOEXEC, CONNECTION_PRIVATE_FD);

    (void)close(fd); // the private copy stays
    return copy;
}

void connection_take(struct connection *connection,
                     const struct control_message *open_message,
                     const int fds[CONTROL_FDS])
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int *pipes = connection->pipes;

    memset(connection, 0, sizeof *connection);
    connection->aside = -1;
    memcpy(connection->key, open_message->key, sizeof connection->key);
    connection->socket = make_private(fds[CONTROL_SOCKET]);
    pipes[CONNECTION_STDOUT] = make_private(fds[CONTROL_STDOUT]);
    pipes[CONNECTION_STDERR] = make_private(fds[CONTROL_STDERR]);
    if (connection->socket < 0 || pipes[CONNECTION_STDOUT] < 0 ||
        pipes[CONNECTION_STDERR] < 0)
        connection_give_up("no descriptors");
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
        dup2(pipes[CONNECTION_STDOUT], STDOUT_FILENO) < 0 ||
        dup2(pipes[CONNECTION_STDERR], STDERR_FILENO) < 0)
        connection_give_up("no standard descriptors");
    (void)close(null); // standard input has it
    for (int i = 0; i < CONNECTION_PIPES; i++)
        (void)fstat(pipes[i],
                    &connection->identity[i]); // cannot fail on an open one
}

void connection_replace(struct connection *connection, int socket)
{
    (void)close(connection->socket); // the original's
    connection->socket = make_private(socket);
    if (connection->socket < 0)
        _exit(1);
    buf_reset(&connection->in);
    connection->used = 0;
}

bool connection_hide_pair(int pair[2])
{
    for (int i = 0; i < 2; i++)
        pair[i] = make_private(pair[i]);
    if (pair[0] >= 0 && pair[1] >= 0)
        return true;
    for (int i = 0; i < 2; i++) {
        if (pair[i] >= 0)
            (void)close(pair[i]); // was not used
        pair[i] = -1;
    }
    return false;
}

void connection_repair(const struct connection *connection)
{
    for (int i = 0; i < CONNECTION_PIPES; i++) {
        const struct stat *pipe = &connection->identity[i];
        struct stat now;
        int fd = i == CONNECTION_STDOUT ? STDOUT_FILENO : STDERR_FILENO;

        if (fstat(fd, &now) < 0 || now.st_ino != pipe->st_ino ||
            now.st_dev != pipe->st_dev)
            (void)dup2(connection->pipes[i],
                       fd); // else its output is lost, not the call
    }
}

/* --- From the supervisor ------------------------------------------------ */

/* Milliseconds until what comes aside is late. */
static int patience(const struct connection *connection)
{
    int64_t left = connection->aside_until - linux_now_ms();

    return left < 0 ? 0 : left < INT_MAX ? (int)left : INT_MAX;
}

/* Waits until there is something to read from the socket, and meanwhile does
   what else there is to do. */
static void wait_for_frame(struct connection *connection)
{
    while (connection->aside >= 0) {
        struct pollfd fds[] = {{connection->socket, POLLIN, 0},
                               {connection->aside, POLLIN, 0}};
        int n = poll(fds, 2, patience(connection));

        if (n < 0 && errno != EINTR)
            return; // code has taken the descriptors away that this needs
        if (fds[0].revents)
            return;
        if (n == 0 || fds[1].revents)
            connection->take_aside(connection);
    }
}

/* Reads from the socket; with WAIT at least one byte. When it has ended, this
   image ends. */
static void fill(struct connection *connection, bool wait)
{
    for (;;) {
        char *room = buf_reserve(&connection->in, CHUNK);
        ssize_t n;

        if (!room)
            connection_give_up("no memory for a call");
        if (wait)
            wait_for_frame(connection);
        n = recv(connection->socket, room, CHUNK, wait ? 0 : MSG_DONTWAIT);
        if (n > 0) {
            connection->in.n += (size_t)n;
            return;
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && !wait && errno == EAGAIN)
            return;
        _exit(0);
    }
}

static struct str unread(const struct connection *connection)
{
    return str_make(connection->in.p + connection->used,
                    connection->in.n - connection->used);
}

/* Notes every STOP frame that has come, wherever it stands: the calls before it
   in the buffer have not begun. */
static void note_stops(struct connection *connection)
{
    struct str rest = unread(connection);
    struct wire_head head;
    struct str body;

    connection->withdrawn_n = 0;
    while (wire_frame(rest, &head, &body) == ST_OK) {
        if (head.kind == WIRE_STOP && connection->withdrawn_n < LIMIT_AHEAD)
            connection->withdrawn[connection->withdrawn_n++] = head.id;
        rest.p += WIRE_HEAD + head.size;
        rest.n -= WIRE_HEAD + head.size;
    }
}

void connection_next(struct connection *connection, struct wire_head *head,
                     struct str *body)
{
    enum status status = wire_frame(unread(connection), head, body);

    // a STOP may stand behind what is here; behind what comes only now, nothing
    if (status != ST_MISSING)
        fill(connection, false);
    while ((status = wire_frame(unread(connection), head, body)) ==
           ST_MISSING) {
        buf_consume(&connection->in, connection->used);
        connection->used = 0;
        if (connection->in.n == 0)
            buf_trim(&connection->in, CHUNK);
        fill(connection, true);
    }
    if (status != ST_OK)
        connection_give_up("an invalid frame");
    note_stops(connection);
    connection->used += WIRE_HEAD + head->size;
}

bool connection_take_input(struct connection *connection, uint64_t id,
                           struct str *line)
{
    struct str rest;
    struct wire_head head;
    struct str body;

    fill(connection, false);
    rest = unread(connection);
    while (wire_frame(rest, &head, &body) == ST_OK) {
        if (head.kind == WIRE_INPUT && head.id == id && body.n > 0) {
            // the frame stays where it is, for no call
            memset(connection->in.p + (rest.p - connection->in.p) +
                       WIRE_ID_OFFSET,
                   0, sizeof head.id);
            return wire_take_string(&body, line) == ST_OK;
        }
        rest.p += WIRE_HEAD + head.size;
        rest.n -= WIRE_HEAD + head.size;
    }
    return false;
}

/* Whether something has come, or nothing will any longer. Not by poll(2), which
   fails when code has lowered the limit of descriptors. */
static bool has_come(const struct connection *connection, int flags)
{
    char byte;

    return recv(connection->socket, &byte, 1, MSG_PEEK | flags) >= 0 ||
           (errno != EAGAIN && errno != EINTR);
}

bool connection_has_more(const struct connection *connection)
{
    return connection->used < connection->in.n ||
           has_come(connection, MSG_DONTWAIT);
}

void connection_await(const struct connection *connection)
{
    (void)has_come(connection, 0); // what has come is looked at, whatever it is
}

bool connection_is_lost(const struct connection *connection)
{
    int saved = errno;
    bool lost =
        send(connection->socket, "", 0, MSG_NOSIGNAL | MSG_DONTWAIT) < 0;

    lost = lost && errno != EAGAIN;
    errno = saved;
    return lost;
}

/* Whether call ID was stopped; if so, forgets that. */
static bool take_withdrawn(struct connection *connection, uint64_t id)
{
    uint64_t *withdrawn = connection->withdrawn;

    for (size_t i = 0; i < connection->withdrawn_n; i++) {
        if (withdrawn[i] != id)
            continue;
        withdrawn[i] = withdrawn[--connection->withdrawn_n];
        return true;
    }
    return false;
}

bool connection_begin(struct connection *connection, struct wire_head head)
{
    char mark[WIRE_MARK];

    if (head.flags & WIRE_AHEAD) {
        wire_mark(connection->key, connection->previous, mark);
        for (int i = 0; i < CONNECTION_PIPES; i++)
            write_all(connection->pipes[i], mark, sizeof mark, "output pipe");
    }
    connection->previous = head.id;
    return take_withdrawn(connection, head.id);
}

/* --- To the supervisor -------------------------------------------------- */

/* Sends the frame in the buffer, with the descriptor FD unless that is -1. The
   system counts descriptors on their way for all processes of a user, and code
   of any session can have as many there as it allows: then the frame goes
   without, as if no copy could be made. */
static void send_out(struct connection *connection, int fd)
{
    struct buf *out = &connection->out;
    ssize_t n;

    if (buf_failed(out))
        connection_give_up("no memory for an answer");
    n = descriptors_send(connection->socket, out->p, out->n, &fd, fd >= 0);
    if (n < 0 && errno == ETOOMANYREFS)
        n = 0;
    else if (n <= 0)
        connection_give_up("socket");
    write_all(connection->socket, out->p + n, out->n - (size_t)n, "socket");
    buf_trim(out, CHUNK);
}

void connection_send(struct connection *connection, enum wire_kind kind,
                     uint64_t id, int64_t number, int fd)
{
    size_t start = wire_begin(&connection->out, kind, 0, id);

    wire_put_int(&connection->out, number);
    wire_end(&connection->out, start);
    send_out(connection, fd);
}

void connection_send_frozen(struct connection *connection, uint64_t id,
                            pid_t pid, int64_t number, int64_t evaluation)
{
    size_t start = wire_begin(&connection->out, WIRE_FROZEN, 0, id);

    wire_put_int(&connection->out, pid);
    wire_put_int(&connection->out, number);
    wire_put_int(&connection->out, evaluation);
    wire_end(&connection->out, start);
    send_out(connection, -1);
}

void connection_send_native(struct connection *connection,
                            const int64_t counts[3])
{
    size_t start = wire_begin(&connection->out, WIRE_NATIVE, 0, 0);

    for (int i = 0; i < 3; i++)
        wire_put_int(&connection->out, counts[i]);
    wire_end(&connection->out, start);
    send_out(connection, -1);
}

void connection_send_outcome(struct connection *connection, uint64_t id,
                             pid_t pid, int64_t number, int fd)
{
    size_t start = wire_begin(&connection->out, WIRE_OUTCOME, 0, id);

    wire_put_int(&connection->out, pid);
    wire_put_int(&connection->out, number);
    wire_end(&connection->out, start);
    send_out(connection, fd);
}

void connection_reply(struct connection *connection, uint64_t id, bool error,
                      struct str text, struct str aside)
{
    size_t start =
        wire_begin(&connection->out, WIRE_REPLY, error ? WIRE_ERROR : 0, id);

    wire_put_string(&connection->out, text);
    if (aside.n > 0 &&
        text.n + WIRE_STRING_BYTES + aside.n <= LIMIT_OUTPUT_KEPT)
        wire_put_string(&connection->out, aside);
    wire_end(&connection->out, start);
    send_out(connection, -1);
}
