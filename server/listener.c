/* SPDX-License-Identifier: GPL-3.0-or-later */
/* listener.c: see listener.h. */
#include "server/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/limits.h"
#include "server/address.h"
#include "supervisor/front.h"
#include "supervisor/intake.h"

/* Bytes read from one connection at a time. */
#define CHUNK (64u * 1024)

/* Milliseconds without accept(2) after it found no free descriptor. */
#define PAUSE_MS 1000

/* Connections that may wait for accept(2), and are accepted in one go. */
#define BACKLOG 128

struct peer {
    struct peer *next;
    int fd;
    pid_t pid;
    struct front *front; /* owned */
    bool ending;         /* refused: nothing more is read from it */
    bool over;           /* to be closed */
    int64_t hello_by;    /* it must have said what it is by then */
    size_t poll_at;      /* index of its pollfd, or SIZE_MAX */
};

struct listener {
    const char *path;
    const struct log *log;
    int fd;
    struct stat made; /* the socket as it was made; it may be replaced */
    struct peer *peers;
    size_t n;
    int64_t accept_at; /* no accept(2) before; or 0 */
    char chunk[CHUNK];
};

/* --- The socket ----------------------------------------------------------- */

/* Opens the folder of PATH, and makes it if it is missing. -1 with errno. */
static int open_folder(const char *path)
{
    char folder[ADDRESS_SIZE];

    (void)snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (!slash)
        return open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    slash[slash == folder] = '\0';
    for (slash = strchr(folder + 1, '/'); slash; slash = strchr(slash, '/')) {
        *slash = '\0';
        (void)mkdir(folder, 0700); // open(2) says what is wrong
        *slash++ = '/';
    }
    (void)mkdir(folder, 0700);
    return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Whether the folder FD belongs to this user and is closed to others. */
static bool is_private(int fd)
{
    struct stat info;

    return fstat(fd, &info) == 0 && info.st_uid == geteuid() &&
           (info.st_mode & (S_IRWXG | S_IRWXO)) == 0;
}

/* Removes the socket PATH when nobody listens there. False: appends to WHY what
   stands there instead. */
static bool remove_stale(const char *path, struct buf *why)
{
    struct stat info;

    if (lstat(path, &info) < 0) {
        if (errno == ENOENT)
            return true;
        buf_str(why, str_from(strerror(errno)));
        return false;
    }
    if (!S_ISSOCK(info.st_mode)) {
        buf_str(why, STR("it exists and is not a socket"));
        return false;
    }
    int fd = address_connect(path);
    if (fd >= 0 || errno == EAGAIN) {
        buf_str(why, STR("another ecl-mcp listens there"));
        if (fd >= 0)
            (void)close(fd); // nothing was said
        return false;
    }
    if (errno == ECONNREFUSED && unlink(path) == 0)
        return true;
    buf_str(why, str_from(strerror(errno)));
    return false;
}

/* Makes the socket under a temporary name and renames it to PATH when it
   listens: whoever finds it can connect. False: appends to WHY. */
static bool bind_to(struct listener *listener, struct buf *why)
{
    struct sockaddr_un address;
    const struct sockaddr *to = (const struct sockaddr *)&address;
    char *path = address.sun_path;
    bool ok = address_fill(listener->path, &address);

    if (ok)
        path[strlen(path) - 1] = '~';
    if (ok && !remove_stale(path, why))
        return false;
    mode_t mask = umask(S_IXUSR | S_IRWXG | S_IRWXO);
    ok = ok && bind(listener->fd, to, sizeof address) == 0;
    (void)umask(mask);
    ok = ok && listen(listener->fd, BACKLOG) == 0 &&
         rename(path, listener->path) == 0 &&
         lstat(listener->path, &listener->made) == 0;
    if (!ok)
        buf_str(why, str_from(strerror(errno)));
    return ok;
}

/* Whether the socket is still ours; inode numbers are reused. */
static bool is_there(const struct listener *listener)
{
    const struct stat *made = &listener->made;
    struct stat now;

    return lstat(listener->path, &now) == 0 && now.st_dev == made->st_dev &&
           now.st_ino == made->st_ino &&
           now.st_ctim.tv_sec == made->st_ctim.tv_sec &&
           now.st_ctim.tv_nsec == made->st_ctim.tv_nsec;
}

/* Locks FOLDER by a file in it that stays there. The folder itself could be
   locked by evaluated code, which can open it, but not read the file: the usual
   folder is secret. A descriptor; -1: appends to WHY. */
static int lock_folder(int folder, struct buf *why)
{
    struct stat info;
    int lock =
        openat(folder, "listen.lock",
               O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

    if (lock < 0) {
        buf_printf(why, "its folder: listen.lock: %s", strerror(errno));
        return -1;
    }
    if (fstat(lock, &info) < 0 || !S_ISREG(info.st_mode) ||
        info.st_uid != geteuid())
        buf_str(why, STR("its folder: listen.lock is not a file of yours"));
    else if (flock(lock, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return lock; // some file systems have no locks
    else
        buf_str(why, STR("another ecl-mcp is starting there"));
    (void)close(lock); // nothing was written
    return -1;
}

/* Makes the socket while the folder is locked: otherwise one of two programs
   that start at the same time would remove the socket of the other. */
static bool open_socket(struct listener *listener, struct buf *why)
{
    int folder = open_folder(listener->path);
    bool ok = false;
    int lock = -1;

    if (folder < 0) {
        buf_printf(why, "its folder: %s", strerror(errno));
        return false;
    }
    if (!is_private(folder))
        buf_str(why, STR("its folder must be yours and closed to others (chmod "
                         "700)"));
    else
        lock = lock_folder(folder, why);
    if (lock >= 0 && remove_stale(listener->path, why))
        ok = bind_to(listener, why);
    if (lock >= 0)
        (void)close(lock); // and unlocks the folder
    (void)close(folder);   // was only a name
    return ok;
}

struct listener *listener_new(const char *path, const struct log *log,
                              struct buf *why)
{
    struct listener *listener = calloc(1, sizeof *listener);

    if (!listener) {
        buf_str(why, STR("out of memory"));
        return NULL;
    }
    listener->path = path;
    listener->log = log;
    listener->fd =
        socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener->fd >= 0 && open_socket(listener, why))
        return listener;
    if (listener->fd < 0)
        buf_str(why, str_from(strerror(errno)));
    else
        (void)close(listener->fd); // nobody knows of it
    free(listener);
    return NULL;
}

static void free_peer(struct peer *peer)
{
    (void)close(peer->fd); // loses what it has not read
    free(peer);
}

void listener_free(struct listener *listener)
{
    if (!listener)
        return;
    if (is_there(listener))
        (void)unlink(listener->path); // a stale one would be replaced
    while (listener->peers) {
        struct peer *peer = listener->peers;

        listener->peers = peer->next;
        free_peer(peer); // the supervisor frees the fronts
    }
    (void)close(listener->fd);
    free(listener);
}

/* --- Connections ---------------------------------------------------------- */

/* Says WHY, if the socket takes it, and closes FD. */
static void turn_away(int fd, const char *why)
{
    struct buf out = BUF_EMPTY;

    front_put_refusal(&out, str_from(why));
    if (!buf_failed(&out))
        (void)send(fd, out.p, out.n, MSG_NOSIGNAL); // else it sees the end
    buf_release(&out);
    (void)close(fd);
}

static void welcome(struct listener *listener, struct supervisor *supervisor,
                    int fd, int64_t now)
{
    pid_t pid;

    if (!address_is_ours(fd, &pid)) {
        log_line(listener->log, LOG_WARN, "front: another user is refused");
        turn_away(fd, "it belongs to another user");
        return;
    }
    if (listener->n >= LIMIT_FRONTS) {
        log_line(listener->log, LOG_WARN,
                 "front: process %d is refused: %d are connected", (int)pid,
                 LIMIT_FRONTS);
        turn_away(fd, "too many programs are connected (LIMIT_FRONTS)");
        return;
    }
    struct peer *peer = calloc(1, sizeof *peer);
    if (peer)
        peer->front = front_open(supervisor, false);
    if (!peer || !peer->front) {
        turn_away(fd, "out of memory");
        free(peer);
        return;
    }
    peer->fd = fd;
    peer->pid = pid;
    peer->hello_by = now + LIMIT_HELLO_MS;
    peer->poll_at = SIZE_MAX;
    peer->next = listener->peers;
    listener->peers = peer;
    listener->n++;
    log_line(listener->log, LOG_INFO, "front: process %d is connected",
             (int)pid);
}

static void accept_all(struct listener *listener, struct supervisor *supervisor,
                       int64_t now)
{
    for (int i = 0; i < BACKLOG; i++) {
        int fd =
            accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

        if (fd >= 0) {
            welcome(listener, supervisor, fd, now);
            continue;
        }
        if (errno == EINTR || errno == ECONNABORTED)
            continue;
        if (errno != EAGAIN) {
            log_line(listener->log, LOG_WARN, "front: %s", strerror(errno));
            listener->accept_at = now + PAUSE_MS;
        }
        return;
    }
}

static void read_peer(struct listener *listener, struct peer *peer, int64_t now)
{
    ssize_t n = recv(peer->fd, listener->chunk, CHUNK, 0);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0)
        peer->over = true;
    else if (intake_feed(peer->front, listener->chunk, (size_t)n, now) != ST_OK)
        peer->ending = true;
}

/* Writes what the socket takes, then feeds what waited for room. */
static void write_peer(struct peer *peer, int64_t now)
{
    struct buf *out = front_output(peer->front);

    while (out->n > 0) {
        ssize_t n = send(peer->fd, out->p, out->n, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0) {
            peer->over = true;
            return;
        }
        buf_consume(out, (size_t)n);
    }
    buf_trim(out, CHUNK);
    if (!peer->ending && !peer->over &&
        intake_feed(peer->front, "", 0, now) != ST_OK)
        peer->ending = true;
}

/* Why PEER must go, or NULL. */
static const char *why_over(const struct peer *peer, int64_t now)
{
    const struct buf *out = front_output(peer->front);

    if (peer->over)
        return "it has closed the connection";
    if (buf_failed(out))
        return "out of memory";
    if (out->n > LIMIT_FRONT_BACKLOG)
        return "it does not read its answers (LIMIT_FRONT_BACKLOG)";
    if (peer->ending && out->n == 0)
        return "it has sent an invalid frame, or speaks another version";
    if (!front_is_greeted(peer->front) && now >= peer->hello_by)
        return "it has not said what it is (LIMIT_HELLO_MS)";
    return NULL;
}

void listener_read(struct listener *listener, struct supervisor *supervisor,
                   const struct pollfd *fds, size_t n, int64_t now_ms)
{
    if (!listener)
        return;
    for (struct peer *peer = listener->peers; peer; peer = peer->next) {
        short found = peer->poll_at < n ? fds[peer->poll_at].revents : 0;

        peer->poll_at = SIZE_MAX;
        if ((found & POLLIN) && !peer->ending)
            read_peer(listener, peer, now_ms);
        else if (found & (POLLHUP | POLLERR | POLLNVAL))
            peer->over = true;
    }
    if (now_ms >= listener->accept_at)
        listener->accept_at = 0;
    if (n > 0 && fds[0].revents)
        accept_all(listener, supervisor, now_ms);
}

void listener_write(struct listener *listener, int64_t now_ms)
{
    if (!listener)
        return;
    for (struct peer **link = &listener->peers; *link;) {
        struct peer *peer = *link;

        write_peer(peer, now_ms);
        const char *why = why_over(peer, now_ms);
        if (!why) {
            link = &peer->next;
            continue;
        }
        log_line(listener->log, peer->over ? LOG_INFO : LOG_WARN,
                 "front: process %d is disconnected: %s", (int)peer->pid, why);
        *link = peer->next;
        listener->n--;
        intake_close(peer->front, now_ms);
        free_peer(peer);
    }
}

size_t listener_fd_count(const struct listener *listener)
{
    return listener ? 1 + listener->n : 0;
}

static bool wants_input(const struct peer *peer)
{
    return !peer->ending && !front_is_busy(peer->front) &&
           front_output(peer->front)->n < LIMIT_OUTPUT_BACKLOG;
}

size_t listener_fds(struct listener *listener, struct pollfd *fds, size_t max)
{
    size_t n = 0;

    if (!listener || max == 0)
        return 0;
    fds[n++] =
        (struct pollfd){listener->accept_at > 0 ? -1 : listener->fd, POLLIN, 0};
    for (struct peer *peer = listener->peers; peer; peer = peer->next) {
        short wanted = wants_input(peer) ? POLLIN : 0;

        peer->poll_at = SIZE_MAX;
        if (n >= max)
            continue;
        if (front_output(peer->front)->n > 0)
            wanted |= POLLOUT;
        peer->poll_at = n;
        fds[n++] = (struct pollfd){peer->fd, wanted, 0};
    }
    return n;
}

int64_t listener_deadline(const struct listener *listener)
{
    const struct peer *peer = listener ? listener->peers : NULL;
    int64_t deadline = DEADLINE_NEVER;

    if (listener && listener->accept_at > 0)
        deadline = listener->accept_at;
    for (; peer; peer = peer->next)
        if (!front_is_greeted(peer->front))
            deadline = deadline_earlier(deadline, peer->hello_by);
    return deadline;
}
