/* SPDX-License-Identifier: GPL-3.0-or-later */
/* loop.c: see loop.h. */
#include "server/loop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/deadline.h"
#include "base/limits.h"
#include "host/disk.h"
#include "host/host.h"
#include "supervisor/watch.h"

/* Bytes read from the client at once. */
#define CHUNK (64u * 1024)

/* Bytes that pass between core and supervisor before others get their turn. */
#define TURN_BYTES (1024u * 1024)

/* Milliseconds after the grace period in which the client can read its last
   answers. */
#define LAST_WRITE_MS 3000

/* Milliseconds before the end at which images in another process that do not
   answer are given up, so that the calls that wait for them get an answer. */
#define LAST_WORD_MS 1500

/* Microseconds of turns for which the clock of the processor's time, a system
   call, is not read. */
#define UNREAD_US 500

/* Milliseconds that the images and the log of calls wait for the first answer,
   so that they do not delay it. A client that says nothing for longer gets them
   ready. */
#define BEGIN_MS 2

enum { FD_IN, FD_OUT, FD_WAKE, FD_EMACS, FD_FIRST, WATCHED = FD_EMACS };

struct loop {
    struct core *core; /* NULL: frames only */
    struct link *link;
    struct emacs *emacs; /* NULL: no Emacs can connect */
    struct host *host;
    struct pollfd *fds;
    size_t fds_cap;
    struct watch watches[WATCHED]; /* of the first FDS; see wait_for_work */
    char *chunk;
    size_t written;   /* bytes of the output buffer that were written */
    bool ended;       /* no more input is read */
    bool lost;        /* nobody reads the output */
    int64_t begin_by; /* what can wait is done then; 0: it has been */
    int64_t end_by;   /* the loop ends then in any case; 0: not yet known */
    int out_flags;    /* of standard output, to restore; -1: unchanged */
    int64_t woken;    /* when the turn began, in microseconds */
    int64_t used;     /* of the processor's time, when that was last read */
    int64_t unread;   /* microseconds of the turns since */
};

static int wake_pipe[2] = {-1, -1};
static volatile sig_atomic_t end_signals;
static volatile sig_atomic_t child_signals;

static void on_signal(int signal)
{
    int saved = errno;

    if (signal == SIGCHLD)
        child_signals = 1;
    else
        end_signals = end_signals + 1;
    (void)!write(wake_pipe[1], "", 1); // a full pipe wakes the loop, too
    errno = saved;
}

static bool open_standard_descriptors(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        (void)close(fd); // the spare one
    return fd >= 0;
}

bool loop_prepare(void)
{
    static const int ends[] = {SIGTERM, SIGINT, SIGHUP, SIGCHLD};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    bool ok = open_standard_descriptors() &&
              pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) == 0;

    (void)sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
        ok = ok && sigaction(ends[i], &action, NULL) == 0;
    action.sa_handler = SIG_IGN;
    ok = ok && sigaction(SIGPIPE, &action, NULL) == 0 &&
         sigaction(SIGXFSZ, &action, NULL) == 0; // write(2) reports both
    if (!ok)
        perror("ecl-mcp");
    else
        disk_use_threads(wake_pipe[1]);
    return ok;
}

static struct buf *output(struct loop *loop)
{
    return loop->core ? core_output(loop->core) : link_output(loop->link);
}

/* Reads no more input; the last answers go out. */
static void end(struct loop *loop, int64_t grace, int64_t now)
{
    loop->ended = true;
    if (loop->core)
        core_finish(loop->core, grace, now);
    else
        grace = 0; // a front in another process gives the grace itself
    if (loop->end_by == 0 || now + grace + LAST_WRITE_MS < loop->end_by)
        loop->end_by = now + grace + LAST_WRITE_MS;
}

/* Passes some frames of the supervisor to the core; returns how many bytes. */
static size_t pass_frames(struct loop *loop, int64_t now)
{
    struct buf *in = link_output(loop->link);
    size_t n = in->n < CHUNK ? in->n : CHUNK;

    if (n == 0 || !core_wants_frames(loop->core))
        return 0;
    core_image_feed(loop->core, in->p, n, now);
    buf_consume(in, n);
    if (in->n == 0)
        buf_trim(in, CHUNK);
    return n;
}

/* The same the other way. */
static size_t pass_calls(struct loop *loop, int64_t now)
{
    struct buf *out = core_image_output(loop->core);
    size_t n = out->n < CHUNK ? out->n : CHUNK;

    if (n == 0)
        return 0;
    // out of memory: no answer is possible from here on
    if (link_feed(loop->link, out->p, n, now) != ST_OK)
        loop->lost = true;
    buf_consume(out, n);
    if (out->n == 0)
        buf_trim(out, CHUNK);
    return n;
}

/* Passes frames between core and supervisor until neither has any, or others
   have waited long enough. */
static void exchange(struct loop *loop, int64_t now)
{
    size_t left = TURN_BYTES;
    size_t moved;

    if (!loop->core)
        return;
    do {
        moved = pass_frames(loop, now);
        struct str why = core_image_fault(loop->core);
        if (why.n > 0)
            link_drop(loop->link, why, now);
        if (link_take_loss(loop->link, &why))
            core_image_lost(loop->core, why, now);
        moved += pass_calls(loop, now);
        left -= moved < left ? moved : left;
    } while (moved > 0 && left > 0);
}

static void read_client(struct loop *loop, int64_t now)
{
    ssize_t n = read(STDIN_FILENO, loop->chunk, CHUNK);

    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n <= 0) {
        end(loop, LIMIT_GRACE_EOF_MS, now);
        return;
    }
    emacs_want(loop->emacs, now);
    if (loop->core)
        core_feed(loop->core, loop->chunk, (size_t)n, now);
    else if (link_feed(loop->link, loop->chunk, (size_t)n, now) != ST_OK)
        end(loop, 0, now); // what follows cannot be understood
}

/* Writes what there is for the client; true: something went out. */
static bool write_client(struct loop *loop)
{
    struct buf *out = output(loop);
    size_t before = out->n;

    while (loop->written < out->n && !loop->lost) {
        ssize_t n = write(STDOUT_FILENO, out->p + loop->written,
                          out->n - loop->written);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return true;
        if (n < 0)
            loop->lost = true;
        else
            loop->written += (size_t)n;
    }
    buf_trim(out, CHUNK);
    buf_reset(out);
    loop->written = 0;
    return before > 0;
}

/* Does what can wait when the first answer is out, or it is late. */
static void begin(struct loop *loop, bool answered, int64_t now)
{
    if (loop->begin_by == 0 || (!answered && now < loop->begin_by))
        return;
    loop->begin_by = 0;
    link_begin(loop->link, now);
    host_begin_audit(loop->host); // while Lisp boots
}

static void take_signals(struct loop *loop, int64_t now)
{
    char drain[64];

    while (read(wake_pipe[0], drain, sizeof drain) > 0)
        continue;
    if (child_signals) {
        child_signals = 0;
        link_reap(loop->link, now);
    }
    if (end_signals)
        end(loop, end_signals > 1 ? 0 : LIMIT_GRACE_SIGNAL_MS, now);
}

/* Whether more of what the client says can be used. */
static bool wants_input(const struct loop *loop)
{
    if (loop->ended)
        return false;
    if (loop->core)
        return core_wants_input(loop->core);
    return !link_is_busy(loop->link) &&
           link_output(loop->link)->n < LIMIT_OUTPUT_BACKLOG;
}

/* Gathers the descriptors to poll and returns their number. Without memory the
   room of before must do. */
static size_t gather(struct loop *loop)
{
    size_t need = FD_FIRST + link_fd_count(loop->link);

    if (need > loop->fds_cap) {
        struct pollfd *fds = realloc(loop->fds, need * sizeof *fds);

        if (fds) {
            loop->fds = fds;
            loop->fds_cap = need;
        }
    }
    loop->fds[FD_IN] =
        (struct pollfd){wants_input(loop) ? STDIN_FILENO : -1, POLLIN, 0};
    loop->fds[FD_OUT] =
        (struct pollfd){STDOUT_FILENO, 0, 0}; // poll(2) always tells its loss
    if (output(loop)->n > 0)
        loop->fds[FD_OUT].events = POLLOUT;
    loop->fds[FD_WAKE] = (struct pollfd){wake_pipe[0], POLLIN, 0};
    loop->fds[FD_EMACS] = emacs_fd(loop->emacs);
    return FD_FIRST +
           link_fds(loop->link, loop->fds + FD_FIRST, loop->fds_cap - FD_FIRST);
}

/* Whether there is more to pass between core and supervisor. */
static bool is_passing(const struct loop *loop)
{
    return loop->core &&
           (core_image_output(loop->core)->n > 0 ||
            (link_output(loop->link)->n > 0 && core_wants_frames(loop->core)));
}

static int time_to_wait(const struct loop *loop, int64_t now)
{
    int64_t deadline = link_deadline(loop->link);

    if (loop->core)
        deadline = deadline_earlier(deadline, core_deadline(loop->core, now));
    deadline = deadline_earlier(deadline, emacs_deadline(loop->emacs));
    if (loop->begin_by > 0)
        deadline = deadline_earlier(deadline, loop->begin_by);
    if (loop->end_by > 0)
        deadline = deadline_earlier(deadline, loop->end_by);
    if (loop->end_by - LAST_WORD_MS > now)
        deadline = deadline_earlier(deadline, loop->end_by - LAST_WORD_MS);
    if (is_passing(loop))
        return 0;
    if (deadline < 0)
        return -1;
    if (deadline <= now)
        return 0;
    return deadline - now > 60000 ? 60000 : (int)(deadline - now);
}

static bool is_done(struct loop *loop, int64_t now)
{
    if (loop->lost)
        return true;
    if (!loop->ended)
        return false;
    return now >= loop->end_by ||
           (output(loop)->n == 0 && (!loop->core || core_is_idle(loop->core)));
}

/* Shortly before the end: images that have not answered by now will not. */
static void give_up_images(struct loop *loop, int64_t now)
{
    if (loop->end_by > 0 && now >= loop->end_by - LAST_WORD_MS && loop->core &&
        !core_is_idle(loop->core))
        link_drop(loop->link,
                  STR("[ERROR] ECL-MCP:CONNECTION-LOST\nThe Lisp images had "
                      "not answered when this server ended: whether the call "
                      "was done, in part or not at all, is unknown."),
                  now);
}

static int64_t microseconds(clockid_t clock)
{
    struct timespec t;

    (void)clock_gettime(clock, &t); // exists everywhere
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* Waiting takes hardly any of the processor's time, so that is read once, and
   not at all in short turns: they may have used it all the time. So a long turn
   counts for at most UNREAD_US too much. */
static void note_turn(struct loop *loop)
{
    int64_t took = microseconds(CLOCK_MONOTONIC) - loop->woken;
    int64_t used = took;

    if (!loop->core)
        return;
    loop->unread += took;
    if (loop->unread > UNREAD_US) {
        int64_t all = microseconds(CLOCK_THREAD_CPUTIME_ID);

        if (all - loop->used < took)
            used = all - loop->used;
        loop->used = all;
        loop->unread = 0;
    }
    core_note_turn(loop->core, took, used);
}

/* Whether the link waits for all N descriptors to poll: it does for its own,
   and for ours if they are as nearly always. Else it must not tell of input
   that is not wanted. */
static bool is_all_watched(struct loop *loop, size_t n)
{
    int epoll = link_epoll(loop->link);
    bool all = epoll >= 0 && n > FD_FIRST && loop->fds[FD_IN].fd >= 0 &&
               loop->fds[FD_OUT].events == 0 && loop->fds[FD_EMACS].fd < 0;

    for (int i = 0; i < WATCHED; i++) {
        struct watch *watch = &loop->watches[i];
        const struct pollfd *fd = &loop->fds[i];

        if (watch->epoll < 0)
            watch_init(watch, epoll, NULL);
        watch_set(watch, fd->fd, (uint32_t)fd->events);
        watch->found = 0;
        all = all && !watch->failed; // poll(2) takes a file, too
    }
    return all;
}

/* What poll(2) does with the first N of FDS. Nearly always the system watches
   all of them already: then it is not told them anew, nor asked twice. Returns
   -1 if a signal came first. */
static int wait_for_work(struct loop *loop, size_t n, int timeout_ms)
{
    bool watched = is_all_watched(loop, n);
    int found;

    if (!watched)
        return poll(loop->fds, (nfds_t)n, timeout_ms);
    found = link_wait(loop->link, timeout_ms);
    for (size_t i = 0; i < n; i++)
        loop->fds[i].revents =
            i < WATCHED ? (short)loop->watches[i].found : (short)0;
    return found;
}

static void run(struct loop *loop)
{
    int64_t now = host_now();

    loop->woken = microseconds(CLOCK_MONOTONIC);
    loop->used = microseconds(CLOCK_THREAD_CPUTIME_ID);
    loop->begin_by = now + BEGIN_MS;
    for (int i = 0; i < WATCHED; i++)
        watch_init(&loop->watches[i], -1, NULL);
    begin(loop, !loop->core, now);
    while (!is_done(loop, now)) {
        // what wakes an image comes last: it finds this processor free
        note_turn(loop);
        size_t n = gather(loop);
        int found = wait_for_work(loop, n, time_to_wait(loop, now));

        loop->woken = microseconds(CLOCK_MONOTONIC);
        now = loop->woken / 1000;
        if (found < 0) {
            n = FD_FIRST; // interrupted: the wake pipe is readable
            loop->fds[FD_EMACS].revents = 0;
        }
        if (found < 0 || loop->fds[FD_WAKE].revents)
            take_signals(loop, now);
        if (found >= 0 &&
            (loop->fds[FD_OUT].revents & (POLLERR | POLLHUP | POLLNVAL)))
            loop->lost = true;
        if (found >= 0 && loop->fds[FD_IN].revents)
            read_client(loop, now);
        exchange(loop, now);
        link_run(loop->link, loop->fds + FD_FIRST, n - FD_FIRST, now);
        emacs_run(loop->emacs, &loop->fds[FD_EMACS], now);
        if (loop->core)
            core_tick(loop->core, now);
        give_up_images(loop, now);
        exchange(loop, now);
        begin(loop, write_client(loop), now);
        if (loop->core)
            core_catch_up(loop->core, now);
    }
    for (int i = 0; i < WATCHED; i++)
        watch_drop(&loop->watches[i]);
}

int loop_run(struct core *core, struct link *link, struct emacs *emacs,
             struct host *host)
{
    struct loop loop = {.core = core,
                        .link = link,
                        .emacs = emacs,
                        .host = host,
                        .out_flags = -1};
    int status = 0;

    loop.fds_cap = FD_FIRST + 16;
    loop.fds = malloc(loop.fds_cap * sizeof *loop.fds);
    loop.chunk = malloc(CHUNK);
    if (!loop.fds || !loop.chunk) {
        (void)fputs("ecl-mcp: out of memory\n", stderr);
        status = 1;
        goto out;
    }
    // a terminal is shared with the shell; a client's pipe is not
    if (!isatty(STDOUT_FILENO)) {
        loop.out_flags = fcntl(STDOUT_FILENO, F_GETFL);
        if (loop.out_flags >= 0)
            (void)fcntl(STDOUT_FILENO, F_SETFL, loop.out_flags | O_NONBLOCK);
    }
    run(&loop);
    if (loop.out_flags >= 0)
        (void)fcntl(STDOUT_FILENO, F_SETFL, loop.out_flags);
out:
    free(loop.fds);
    free(loop.chunk);
    return status;
}
