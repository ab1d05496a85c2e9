/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frozen.c: see frozen.h. */
#include "image/frozen.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/descriptors.h"
#include "image/linux.h"
#include "image/names.h"

/* Bytes read from a link at once. */
#define CHUNK (64u * 1024)

/* Seconds within which a copy must take what it is asked. */
#define ASK_SECONDS 5

/* What is sent to a frozen error: one byte. WORK brings two descriptors along:
   the link, and the socket itself, which the copy keeps. */
enum { WORK = 'w', END = 'e', DESCRIPTORS = 2 };

/* The head of a request or an answer on a link. */
struct link_head {
    uint64_t text;  /* bytes */
    uint64_t aside; /* bytes */
    uint64_t number;
    int32_t frozen;  /* pid; > 0: its socket comes along, first, */
    int32_t outcome; /* pid; > 0: and the socket of this one */
    int32_t failed;
    int32_t ended; /* not 0: instead of an answer, how the copy has ended: by
                      this signal, or with the status -1 - this */
};

/* --- Descriptors -------------------------------------------------------- */

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); // nothing is buffered in it
    *fd = -1;
}

/* Sends SIZE bytes of DATA with the N descriptors FDS, in one message. */
static bool send_with(int socket, void *data, size_t size, const int *fds,
                      size_t n)
{
    return descriptors_send(socket, data, size, fds, n) == (ssize_t)size;
}

/* Room for what code can let the kernel add to messages (SO_PASSCRED and so
   on): without it the descriptors, which come last, would be cut off. */
#define UNASKED_BYTES 1024

/* Adds the descriptors of CMSG to FDS, which has *N of at most DESCRIPTORS, and
   closes those for which there is no room. */
static void take_fds(const struct cmsghdr *cmsg, int fds[DESCRIPTORS],
                     size_t *n)
{
    size_t came = cmsg->cmsg_level == SOL_SOCKET &&
                          cmsg->cmsg_type == SCM_RIGHTS &&
                          cmsg->cmsg_len >= CMSG_LEN(0)
                      ? (cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int)
                      : 0;

    for (size_t i = 0; i < came; i++) {
        int fd;

        memcpy(&fd, CMSG_DATA(cmsg) + i * sizeof fd, sizeof fd);
        if (*n < DESCRIPTORS)
            fds[(*n)++] = fd;
        else
            (void)close(fd); // none was asked for
    }
}

/* Receives into ROOM, and adds descriptors that come along to FDS, which has *N
   of at most DESCRIPTORS. */
static ssize_t receive_with(int socket, void *room, size_t size, int flags,
                            int fds[DESCRIPTORS], size_t *n)
{
    union {
        char bytes[CMSG_SPACE(DESCRIPTORS * sizeof(int)) + UNASKED_BYTES];
        struct cmsghdr align;
    } extra;
    struct iovec part = {room, size};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = extra.bytes,
                            .msg_controllen = sizeof extra.bytes};
    struct cmsghdr *cmsg;
    ssize_t got;

    do
        got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC | flags);
    while (got < 0 && errno == EINTR);
    for (cmsg = got > 0 ? CMSG_FIRSTHDR(&header) : NULL; cmsg;
         cmsg = CMSG_NXTHDR(&header, cmsg))
        take_fds(cmsg, fds, n);
    return got;
}

static bool send_all(int socket, struct str data)
{
    while (data.n > 0) {
        ssize_t n = send(socket, data.p, data.n, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        data.p += n;
        data.n -= (size_t)n;
    }
    return true;
}

/* --- The frozen copy ---------------------------------------------------- */

/* The copy that works for one who asks. */
struct worker {
    pid_t pid; /* 0: there is none */
    int link;  /* our end of its link, by which we see that nobody waits */
};

/* What the process had before it was frozen, for the copies that work. */
struct before {
    sigset_t signals;
    struct sigaction child;
};

/* SIGCHLD only ends a wait. */
static void wake(int signal)
{
    (void)signal;
}

/* The end of WORKER, which is killed if it has not ended: whoever waits for its
   answer sees that. */
static void end_worker(struct worker *worker)
{
    if (worker->pid > 0) {
        (void)kill(worker->pid, SIGKILL); // it may have ended
        while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    worker->pid = 0;
    if (worker->link >= 0)
        (void)shutdown(worker->link, SHUT_RDWR); // others may have it, too
    close_fd(&worker->link);
}

/* WORKER has ended with STATUS, as waitpid tells. Whoever waits for its answer
   learns that, unless the answer was complete. */
static void tell_end(const struct worker *worker, int status)
{
    struct link_head head = {.ended = WIFSIGNALED(status)
                                          ? WTERMSIG(status)
                                          : -1 - WEXITSTATUS(status)};

    // it may no longer listen, and must not hold this up
    (void)send(worker->link, &head, sizeof head, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* In a new copy that is to work: becomes what the process was. */
static void become_worker(struct frozen *frozen, const struct before *before,
                          int link)
{
    (void)setpgid(0, 0);
    linux_signal_on_orphaned(SIGKILL);
    linux_set_name(NAME_LIVE);
    (void)sigaction(SIGCHLD, &before->child, NULL);
    (void)sigprocmask(SIG_SETMASK, &before->signals, NULL); // cannot fail
    frozen->link = link;
    frozen->last_frozen = (struct frozen_error){0, 0, -1};
}

/* Starts a copy that works over FDS. True in that copy. */
static bool start_worker(struct frozen *frozen, const struct before *before,
                         struct worker *worker, int fds[DESCRIPTORS],
                         struct frozen_error *error)
{
    pid_t self = getpid();

    worker->pid = fork();
    if (worker->pid == 0) {
        become_worker(frozen, before, fds[0]);
        if (getppid() != self)
            _exit(0); // it ended before we could know
        error->socket = fds[1];
        return true;
    }
    if (worker->pid < 0)
        worker->pid = 0;
    worker->link = fds[0];
    (void)close(fds[1]); // the copy has it
    if (worker->pid == 0)
        end_worker(worker);
    return false;
}

/* Takes one message from *SOCKET, after whose end nobody can ask. True in a
   copy that is to work. */
static bool take_message(struct frozen *frozen, const struct before *before,
                         struct worker *worker, int *socket,
                         struct frozen_error *error)
{
    int fds[DESCRIPTORS];
    size_t n = 0;
    char what = END;
    ssize_t got = receive_with(*socket, &what, 1, 0, fds, &n);

    end_worker(worker); // one at a time
    if (got != 1 || what != WORK || n != DESCRIPTORS) {
        while (n > 0)
            (void)close(fds[--n]); // nobody is to use them
        close_fd(socket);
        return false;
    }
    return start_worker(frozen, before, worker, fds, error);
}

/* In a copy that sleeps: returns true in copies that are to work for those who
   ask over *SOCKET. False: nobody can ask any longer, or, unless WAKE is -1,
   something has come there. */
static bool sleep_frozen(struct frozen *frozen, const struct before *before,
                         int *socket, int wake, struct frozen_error *error)
{
    struct worker worker = {0, -1};
    sigset_t waiting;

    (void)sigfillset(&waiting);
    (void)sigdelset(&waiting, SIGCHLD);
    if (wake >= 0) { // as other checkpoints
        (void)sigdelset(&waiting, SIGRTMAX);
        (void)sigdelset(&waiting, SIGCONT);
    }
    while (*socket >= 0) {
        struct pollfd fds[] = {
            {*socket, POLLIN, 0}, {worker.link, 0, 0}, {wake, POLLIN, 0}};
        int n = ppoll(fds, sizeof fds / sizeof *fds, NULL, &waiting);
        int status = 0;

        if (worker.pid > 0 && waitpid(worker.pid, &status, WNOHANG) != 0) {
            tell_end(&worker, status);
            worker.pid = 0;
            end_worker(&worker);
        } else if (n > 0 && fds[1].revents) {
            end_worker(&worker); // nobody waits for it
        }
        if (n > 0 && fds[2].revents)
            break;
        if (n > 0 && fds[0].revents &&
            take_message(frozen, before, &worker, socket, error)) {
            close_fd(socket); // the original's
            return true;
        }
    }
    end_worker(&worker);
    return false;
}

/* Makes FD, which code may close later, lead nowhere. */
static void empty(int fd)
{
    int null = fd < 0 ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);

    if (fd >= 0 && null >= 0)
        (void)dup2(null, fd); // else it stays
    close_fd(&null);
}

/* In the copy: becomes the frozen error. */
static void freeze(struct frozen *frozen, struct connection *connection,
                   int socket, struct frozen_error *error)
{
    struct sigaction action = {.sa_handler = wake};
    struct before before;
    sigset_t all;

    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before.signals); // cannot fail
    (void)sigaction(SIGCHLD, &action, &before.child);
    (void)setpgid(0, 0); // the end of the original must not reach this copy
    linux_signal_on_orphaned(0);
    linux_set_name(NAME_FROZEN);
    close_fd(&connection->socket); // the original's
    close_fd(&frozen->link);
    frozen_hang_up(frozen);
    if (!sleep_frozen(frozen, &before, &socket, -1, error))
        _exit(0);
}

bool frozen_await(struct frozen *frozen, struct connection *connection,
                  const sigset_t *signals)
{
    struct sigaction action = {.sa_handler = wake};
    struct before before = {.signals = *signals};
    struct frozen_error past = {0, 0, -1};
    bool works;

    (void)sigaction(SIGCHLD, &action, &before.child);
    works = sleep_frozen(frozen, &before, &connection->asker,
                         connection->socket, &past);
    if (works) {
        close_fd(&connection->socket); // the checkpoint's
        close_fd(&past.socket);
    } else {
        (void)sigaction(SIGCHLD, &before.child, NULL);
        close_fd(&connection->asker);
    }
    return works;
}

bool frozen_begin(struct frozen *frozen)
{
    void *page = mmap(NULL, sizeof *frozen->last, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    memset(frozen, 0, sizeof *frozen);
    frozen->link = -1;
    frozen->last_frozen.socket = -1;
    frozen->asked.fd = -1;
    frozen->last = page == MAP_FAILED ? NULL : page;
    return frozen->last;
}

/* Waits for the copies of this process that have ended, and notes COPY. When
   threads fail at the same moment, one of them does so. */
static void note_copy(struct frozen *frozen, pid_t copy)
{
    struct sleepers *copies = &frozen->copies;

    if (__atomic_test_and_set(&frozen->noting, __ATOMIC_ACQUIRE))
        return;
    if (frozen->copier != getpid())
        copies->n = 0; // another process's
    frozen->copier = getpid();
    sleepers_reap(copies);
    if (copies->n < SLEEPER_MAX)
        copies->pids[copies->n++] = copy;
    __atomic_clear(&frozen->noting, __ATOMIC_RELEASE);
}

enum frozen_side frozen_make(struct frozen *frozen,
                             struct connection *connection, int lock,
                             struct frozen_error *error)
{
    int pair[2];

    if (!frozen->last ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return FROZEN_FAILED;
    error->number = __atomic_add_fetch(frozen->last, 1, __ATOMIC_SEQ_CST);
    error->socket = pair[0];
    error->pid = fork();
    if (error->pid == 0) {
        (void)close(pair[0]); // the original's
        error->pid = getpid();
        empty(lock);
        freeze(frozen, connection, pair[1], error);
        return FROZEN_WORKS;
    }
    (void)close(pair[1]); // the copy has it
    if (error->pid < 0) {
        close_fd(&error->socket);
        return FROZEN_FAILED;
    }
    note_copy(frozen, error->pid);
    if (frozen->link >= 0)
        frozen->last_frozen = *error;
    return FROZEN_LEFT;
}

/* --- The copy that works ------------------------------------------------ */

/* Receives all N bytes of ROOM; false when the other end is closed first. */
static bool receive_all(int socket, void *room, size_t n)
{
    char *p = room;

    while (n > 0) {
        ssize_t got = recv(socket, p, n, 0);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        p += got;
        n -= (size_t)got;
    }
    return true;
}

enum status frozen_request(struct frozen *frozen, struct buf *text)
{
    struct link_head head;
    char *room;

    if (!receive_all(frozen->link, &head, sizeof head) ||
        head.text > LIMIT_FRAME)
        return ST_IO; // code has nothing that is longer
    room = buf_reserve(text, head.text + 1);
    if (!room || !receive_all(frozen->link, room, head.text))
        return ST_IO;
    text->n += head.text;
    return ST_OK;
}

void frozen_finish(struct frozen *frozen, struct connection *connection,
                   struct sleepers *sleepers,
                   const struct frozen_answer *answer, bool adopt)
{
    struct link_head head = {.text = answer->text.n,
                             .aside = answer->aside.n,
                             .failed = answer->failed};
    int fds[DESCRIPTORS];
    size_t n = 0;
    pid_t pid = 0;
    int socket = -1;

    if (adopt && !answer->failed &&
        sleeper_make(sleepers, connection, NULL, &pid, &socket)) {
        close_fd(&frozen->link); // the original's
        frozen->adopted = true;
        return;
    }
    if (frozen->last_frozen.socket >= 0) {
        head.number = frozen->last_frozen.number;
        head.frozen = frozen->last_frozen.pid;
        fds[n++] = frozen->last_frozen.socket;
    }
    if (pid > 0) {
        head.outcome = pid;
        fds[n++] = socket;
    }
    // when nobody listens any longer, that is the end, too
    _exit(send_with(frozen->link, &head, sizeof head, fds, n) &&
                  send_all(frozen->link, answer->text) &&
                  send_all(frozen->link, answer->aside)
              ? 0
              : 1);
}

/* --- Who asks ----------------------------------------------------------- */

enum status frozen_ask(struct frozen *frozen, int socket, struct str text)
{
    const struct timeval patience = {ASK_SECONDS, 0};
    struct link_head head = {.text = text.n};
    int pair[2];
    int theirs[DESCRIPTORS];
    bool sent;

    frozen_hang_up(frozen);
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return ST_IO;
    (void)setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &patience,
                     sizeof patience); // else it waits longer
    frozen->asked.fd = pair[0];
    theirs[0] = pair[1];
    theirs[1] = socket;
    sent = send_with(socket, &(char){WORK}, 1, theirs, DESCRIPTORS);
    (void)close(pair[1]); // the copy has it
    if (sent && send_with(pair[0], &head, sizeof head, NULL, 0) &&
        send_all(pair[0], text))
        return ST_OK;
    frozen_hang_up(frozen);
    return ST_IO;
}

/* Fills ANSWER from what has come. */
static enum status parse(struct frozen_link *asked,
                         struct frozen_answer *answer)
{
    struct link_head head;
    size_t used = 0;

    if (asked->in.n < sizeof head)
        return ST_MISSING;
    memcpy(&head, asked->in.p, sizeof head);
    answer->ended = head.ended;
    if (head.ended != 0 || head.text > LIMIT_OUTPUT_KEPT ||
        head.aside > LIMIT_OUTPUT_KEPT)
        return ST_IO;
    if (asked->in.n < sizeof head + head.text + head.aside)
        return ST_MISSING;
    *answer = (struct frozen_answer){
        .failed = head.failed != 0,
        .text = str_make(asked->in.p + sizeof head, head.text),
        .aside = str_make(asked->in.p + sizeof head + head.text, head.aside),
        .frozen = {head.number, head.frozen, -1},
        .socket = -1,
    };
    if (head.frozen > 0 && used < asked->fd_n)
        answer->frozen.socket = asked->fds[used++];
    if (head.outcome > 0 && used < asked->fd_n) {
        answer->outcome = head.outcome;
        answer->socket = asked->fds[used++];
    }
    asked->fd_n = 0; // the answer has them
    return ST_OK;
}

enum status frozen_take(struct frozen *frozen, struct frozen_answer *answer)
{
    struct frozen_link *asked = &frozen->asked;
    enum status status;

    answer->ended = 0;
    for (;;) {
        char *room = buf_reserve(&asked->in, CHUNK);
        ssize_t n;

        if (!room)
            return ST_IO;
        n = receive_with(asked->fd, room, CHUNK, MSG_DONTWAIT, asked->fds,
                         &asked->fd_n);
        if (n < 0 && errno == EAGAIN)
            return ST_MISSING;
        if (n <= 0)
            return ST_IO;
        asked->in.n += (size_t)n;
        status = parse(asked, answer);
        if (status != ST_MISSING)
            return status;
    }
}

void frozen_hang_up(struct frozen *frozen)
{
    struct frozen_link *asked = &frozen->asked;

    close_fd(&asked->fd);
    buf_release(&asked->in);
    while (asked->fd_n > 0)
        (void)close(asked->fds[--asked->fd_n]); // nobody wants them
}

void frozen_end(int socket)
{
    // it may be gone, or still busy with what was asked last
    (void)send(socket, &(char){END}, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)close(socket); // it has a queue of its own
}
