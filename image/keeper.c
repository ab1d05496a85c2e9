/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keeper.c: see keeper.h. Knows nothing of Lisp. */
#include "image/keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/family.h"
#include "image/linux.h"
#include "image/names.h"

/* Milliseconds between two counts. */
#define COUNT_MS 100

/* Milliseconds within which killed processes must be gone; one that the kernel
   holds for longer ends when it lets go. */
#define END_MS 5000

/* So often they are looked for before that counts: where the machine is busy,
   one look at a large family may take as long. */
#define END_ROUNDS 16

/* Milliseconds after which that has failed: sooner than the supervisor loses
   its patience (LIMIT_ZYGOTE_BOOT_MS), with the last look. */
#define END_MOST_MS 12000

/* Milliseconds that a new image waits for its session before it does for nobody
   what the first call would: where sessions are opened one behind the other,
   that would hold up the next one. */
#define WARM_AFTER_MS 5

/* Walks through the family that must find nobody, one after the other, with a
   pause between them: one may miss those who have just changed parents. */
#define QUIET 2

static struct keeper {
    int control;
    pid_t image;      /* whose end is reported */
    pid_t group;      /* of the image, also when that has ended */
    int64_t count_at; /* -1: not before it is asked for */
    bool crowded;     /* all are stopped until SPARE comes */
    bool beaten;      /* it cannot end its family */
    int32_t copies[CONTROL_SPARED_MAX];
    size_t n;
} keeper;

/* Before it has a session. */
static struct {
    bool begun;  /* it is a keeper */
    pid_t image; /* which waits for the session; 0: none */
    int socket;  /* by which that gets it */
} ready = {.socket = -1};

/* SIGCHLD only ends a wait. */
static void wake(int signal)
{
    (void)signal;
}

/* Sends MESSAGE. If the supervisor is gone, reading its messages shows that. */
static void tell(const struct control_message *message)
{
    enum status status = control_send(keeper.control, message, NULL);

    (void)status;
}

static void reap(void)
{
    struct control_message message = {.kind = CONTROL_EXITED};
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (pid != keeper.image)
            continue;
        keeper.image = 0;
        message.pid = pid;
        message.status = status;
        tell(&message);
    }
}

/* Kills the family but SPARED ones, until none is left, or only those that were
   killed and the kernel holds. False: new ones come faster. */
static bool end_family(const struct family_spared *spared)
{
    const struct timespec pause = {0, 1000 * 1000};
    const int64_t start = linux_now_ms();
    uint64_t before = 0;
    bool same = false; // as in the round before

    for (int round = 0, quiet = 0; quiet < QUIET; round++) {
        int64_t took = linux_now_ms() - start;
        uint64_t who;

        if (took >= END_MOST_MS ||
            (took >= END_MS && round >= END_ROUNDS && same))
            return same;
        quiet = family_kill(getpid(), spared, &who) == 0 ? quiet + 1 : 0;
        same = who == before;
        before = who;
        reap();
        (void)nanosleep(&pause, NULL); // a signal only shortens it
        reap();
    }
    return true;
}

void keeper_end_family(void)
{
    struct family_spared none = {.group = keeper.group};

    keeper.image = 0; // nobody is told
    while (!end_family(&none))
        continue; // there is nobody who would do it instead
}

/* The image and the sleeping copies stay, as MESSAGE says; everything else
   belongs to an image that is gone. */
static void spare(const struct control_message *message)
{
    struct control_message done = {.kind = CONTROL_SPARED, .pid = message->pid};
    int32_t pids[CONTROL_SPARED_MAX + 1];
    struct family_spared spared = {.pids = pids,
                                   .n = keeper.n + 1,
                                   .image = message->pid,
                                   .group = keeper.group};

    memcpy(pids, keeper.copies, sizeof keeper.copies);
    pids[keeper.n] = message->pid;
    keeper.image = message->pid;
    keeper.beaten = !end_family(&spared);
    if (keeper.beaten)
        return;
    keeper.group = message->pid;
    // they may have been stopped with their groups
    family_continue(getpid(), &spared);
    keeper.crowded = false;
    keeper.count_at = -1;
    tell(&done);
}

static void take_copies(const struct control_message *message)
{
    keeper.n = message->spared_n < CONTROL_SPARED_MAX ? message->spared_n
                                                      : CONTROL_SPARED_MAX;
    memcpy(keeper.copies, message->spared, sizeof keeper.copies);
}

/* Counts the processes of the session. When there are too many, stops them and
   says so; the supervisor then ends the image and says who stays. */
static void count(int64_t now)
{
    struct control_message message = {.kind = CONTROL_CROWDED,
                                      .pid = keeper.image};
    struct family_spared copies = {
        .pids = keeper.copies, .n = keeper.n, .group = keeper.group};
    size_t n;

    if (!family_is_crowded(getpid(), &copies, LIMIT_PROCESSES, &n)) {
        keeper.count_at = n > 1 ? now + COUNT_MS : -1;
        return;
    }
    keeper.crowded = true;
    keeper.count_at = -1;
    // most are in the group of the image: all at once
    if (keeper.image > 0)
        (void)kill(-keeper.image, SIGSTOP);
    tell(&message);
    family_stop(getpid(), &copies);
}

/* Receives one message and does what it asks for. */
static enum status take_message(void)
{
    struct control_message message;
    int fds[CONTROL_FDS];
    enum status status = control_receive(keeper.control, &message, fds);

    if (status != ST_OK)
        return status;
    switch ((enum control_kind)message.kind) {
    case CONTROL_COUNT:
        if (keeper.count_at < 0 && !keeper.crowded)
            keeper.count_at = linux_now_ms();
        break;
    case CONTROL_COPIES:
        take_copies(&message);
        break;
    case CONTROL_SPARE:
        take_copies(&message);
        spare(&message);
        break;
    case CONTROL_READY:
    case CONTROL_OPEN:
    case CONTROL_OPENED:
    case CONTROL_EXITED:
    case CONTROL_CROWDED:
    case CONTROL_SPARED:
    case CONTROL_COVER:
    case CONTROL_COVERED:
        break; // goes another way
    }
    return ST_OK;
}

/* Serves the supervisor until it closes the socket. */
static void serve(void)
{
    struct pollfd fd = {keeper.control, POLLIN, 0};
    enum status status = ST_MISSING;
    sigset_t waiting;

    (void)sigfillset(&waiting);
    (void)sigdelset(&waiting, SIGCHLD);
    for (;;) {
        struct timespec wait = {0, 0};
        int64_t now;

        // a copy may have become the image before it ended
        while (!keeper.beaten && (status = take_message()) == ST_OK)
            continue;
        if (keeper.beaten || status != ST_MISSING)
            return;
        reap();
        now = linux_now_ms();
        if (keeper.count_at >= 0 && now >= keeper.count_at)
            count(now);
        if (keeper.count_at > now) {
            wait.tv_sec = (keeper.count_at - now) / 1000;
            wait.tv_nsec = (keeper.count_at - now) % 1000 * 1000000;
        }
        // SIGCHLD comes here or not at all; an error ends in the next round
        (void)ppoll(&fd, 1, keeper.count_at >= 0 ? &wait : NULL, &waiting);
    }
}

/* In the new process: it is to be the first image, which is ended before its
   keeper when the machine runs out of memory. */
static void begin_image(struct keeper_manner manner)
{
    struct rlimit limit;
    sigset_t none;

    (void)signal(SIGCHLD, SIG_DFL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL); // cannot fail
    linux_set_name(NAME_LIVE);
    linux_offer_memory();
    if (!linux_go_behind())
        _exit(1); // it must never be served before its keeper
    if (manner.counted && getrlimit(RLIMIT_NPROC, &limit) == 0 &&
        limit.rlim_max > LIMIT_TASKS) {
        limit.rlim_cur = limit.rlim_max = LIMIT_TASKS;
        (void)setrlimit(RLIMIT_NPROC, &limit); // lowering is always allowed
    }
    if (manner.confine())
        return;
    (void)fprintf(stderr, "ecl-mcp-image: no sandbox: %s\n", strerror(errno));
    _exit(1);
}

/* Becomes the image of OPEN. */
static NO_RETURN void become_image(const struct control_message *open,
                                   const int fds[CONTROL_FDS],
                                   keeper_image *image)
{
    (void)close(fds[CONTROL_KEEPER]);
    image(open, fds);
    _exit(1); // not reached
}

/* In an image: waits for its session, or the end of its keeper. */
static NO_RETURN void await_session(int socket, struct keeper_manner manner)
{
    struct pollfd fd = {socket, POLLIN, 0};
    struct control_message open;
    int fds[CONTROL_FDS];

    if (poll(&fd, 1, WARM_AFTER_MS) == 0)
        manner.warm();
    if (control_await(socket, &open, fds) != ST_OK)
        _exit(0);
    (void)close(socket); // nothing more comes
    become_image(&open, fds, manner.image);
}

/* Where the sandbox is off, code may send any: only SIGCHLD is heard. */
static bool prepare_signals(void)
{
    struct sigaction action = {.sa_handler = wake};
    sigset_t all;

    (void)sigfillset(&all);
    return sigaction(SIGCHLD, &action, NULL) == 0 &&
           sigprocmask(SIG_BLOCK, &all, NULL) == 0;
}

bool keeper_can_count(void)
{
    int status = -1;
    pid_t pid;

    // the system spares root, and before 5.14 counts all that the user has
    if (geteuid() == 0 || !linux_is_at_least(5, 14))
        return false;
    pid = fork();
    if (pid == 0)
        _exit(linux_enter_users() ? 0 : 1);
    while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return pid > 0 && status == 0;
}

/* Makes this process a keeper, once; false, with errno: it cannot be. */
static bool begin_keeper(struct keeper_manner manner)
{
    linux_adopt_orphans();
    ready.begun =
        ready.begun ||
        (prepare_signals() && (!manner.confined || linux_give_up_rights()) &&
         (!manner.counted || linux_enter_users()));
    return ready.begun;
}

void keeper_prepare(struct keeper_manner manner)
{
    int pair[2];
    pid_t pid;

    if (!begin_keeper(manner) ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return;
    pid = fork();
    if (pid == 0) {
        (void)close(pair[0]); // the keeper's end
        begin_image(manner);
        await_session(pair[1], manner);
    }
    (void)close(pair[1]); // the image has it
    ready.image = pid > 0 ? pid : 0;
    ready.socket = pair[0];
}

/* Gives the image that waits its session. -1: there is none. */
static pid_t hand_over(const struct control_message *open,
                       const int fds[CONTROL_FDS])
{
    pid_t pid = -1;

    if (ready.image > 0 && control_send(ready.socket, open, fds) == ST_OK)
        pid = ready.image;
    if (ready.socket >= 0)
        (void)close(ready.socket); // it has its message, or ends by this
    ready.image = 0;
    ready.socket = -1;
    return pid;
}

void keeper_run(const struct control_message *open, const int fds[CONTROL_FDS],
                struct keeper_manner manner)
{
    struct control_message opened = {
        .kind = CONTROL_OPENED, .serial = open->serial, .keeper = getpid()};
    pid_t pid = -1;

    keeper = (struct keeper){.control = fds[CONTROL_KEEPER], .count_at = -1};
    linux_set_name(NAME_KEEPER);
    if (fcntl(keeper.control, F_SETFL, O_NONBLOCK) == 0)
        pid = hand_over(open, fds);
    if (pid < 0 && begin_keeper(manner))
        pid = fork();
    if (pid == 0) {
        begin_image(manner);
        become_image(open, fds, manner.image);
    }
    opened.status = pid < 0 ? errno : 0;
    opened.pid = pid > 0 ? pid : 0;
    keeper.image = keeper.group = opened.pid;
    for (int i = 0; i < CONTROL_KEEPER; i++)
        (void)close(fds[i]); // the image has them
    tell(&opened);
    serve();
    (void)close(keeper.control); // nobody waits for what follows
    keeper_end_family();
    _exit(0);
}
