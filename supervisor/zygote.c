/* SPDX-License-Identifier: GPL-3.0-or-later */
/* zygote.c: see zygote.h. What the process itself does is in main.c. */
#include "supervisor/zygote.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/family.h"
#include "image/homes.h"
#include "image/linux.h"

/* Milliseconds that the process has to end all images. */
#define END_MS 3000

void zygote_init(struct zygote *zygote, const char *path, const char *workspace,
                 const struct sandbox *sandbox, const struct log *log)
{
    memset(zygote, 0, sizeof *zygote);
    zygote->path = path;
    zygote->workspace = workspace;
    zygote->sandbox = *sandbox;
    zygote->log = log;
    zygote->control = -1;
    watch_init(&zygote->watch, -1, NULL);
}

bool zygote_is_ready(const struct zygote *zygote)
{
    return zygote->ready;
}

void zygote_cover(struct zygote *zygote)
{
    const struct control_message cover = {.kind = CONTROL_COVER};

    if (zygote->control < 0 ||
        control_send(zygote->control, &cover, NULL) != ST_OK)
        return; // it is lost: its control socket shows that
    zygote->covering++;
    zygote->covered_by = 0;
}

bool zygote_is_covering(const struct zygote *zygote)
{
    return zygote->covering > 0;
}

bool zygote_is_down(const struct zygote *zygote)
{
    return zygote->control < 0;
}

bool zygote_is_gone(const struct zygote *zygote)
{
    struct pollfd fd = {zygote->control, POLLIN, 0};

    return zygote->control < 0 ||
           (poll(&fd, 1, 0) == 1 && (fd.revents & (POLLHUP | POLLERR)));
}

static void note_failure(struct zygote *zygote, const char *why, int64_t now)
{
    (void)snprintf(zygote->why, sizeof zygote->why, "%s", why);
    zygote->failures++;
    if (zygote->failures >= LIMIT_ZYGOTE_TRIES)
        zygote->retry_at = now + LIMIT_ZYGOTE_RETRY_MS;
    log_line(zygote->log, LOG_ERROR, "image: %s: %s", zygote->path, why);
}

/* ECL's reader recurses without looking at its stack: makes the stack of the
   process much larger than ECL believes it to be (see live_boot). */
static void widen_stack(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_STACK, &limit) < 0 || limit.rlim_cur >= LIMIT_C_STACK)
        return;
    limit.rlim_cur =
        limit.rlim_max < LIMIT_C_STACK ? limit.rlim_max : LIMIT_C_STACK;
    (void)setrlimit(RLIMIT_STACK, &limit); // else the old one must do
}

/* The arguments of the process: take_arguments in image/main.c. */
#define ARGUMENTS (6 + LIMIT_SECRETS + LIMIT_PROTECTS)

static char **put(char **at, const char *const *list, size_t max)
{
    for (size_t i = 0; i < max && list && list[i]; i++)
        *at++ = (char *)(uintptr_t)list[i]; // execv's type
    return at;
}

static void set_arguments(const struct zygote *zygote, char **argv)
{
    const struct sandbox *sandbox = &zygote->sandbox;
    const char *const first[] = {
        zygote->path, sandbox_mode_name(sandbox->mode),
        sandbox->network ? "network" : "no-network",
        sandbox->unprotected ? "unprotected" : "protected", zygote->home};
    const char *const border[] = {""};

    argv = put(argv, first, sizeof first / sizeof first[0]);
    argv = put(argv, sandbox->secrets, LIMIT_SECRETS);
    argv = put(argv, border, 1);
    (void)put(argv, sandbox->protects, LIMIT_PROTECTS); // the last ones
}

/* In the child: only async-signal-safe calls. */
static NO_RETURN void exec_zygote(const struct zygote *zygote, int control)
{
    char *argv[ARGUMENTS + 1] = {NULL};
    sigset_t none;
    int null = open("/dev/null", O_RDWR);

    set_arguments(zygote, argv);
    (void)sigemptyset(&none);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
        dup2(null, STDOUT_FILENO) < 0)
        _exit(126);
    if (control == CONTROL_FD) {
        if (fcntl(control, F_SETFD, 0) < 0)
            _exit(126);
    } else if (dup2(control, CONTROL_FD) < 0) {
        _exit(126);
    }
    // the spare copy of null, and what the program that started us left open
    linux_close_from(CONTROL_FD + 1);
    if (zygote->workspace && chdir(zygote->workspace) < 0)
        _exit(CONTROL_NO_FOLDER);
    widen_stack();
    (void)signal(SIGPIPE, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &none, NULL); // cannot fail
    (void)execv(zygote->path, argv);
    _exit(127);
}

/* If the process is gone, its control socket shows that. */
static void send_temporary(const struct zygote *zygote)
{
    enum status status = ST_OK;

    if (zygote->control >= 0 && zygote->temporary)
        status = control_send_temporary(zygote->control, zygote->temporary);
    (void)status;
}

void zygote_start(struct zygote *zygote, int64_t now_ms)
{
    int pair[2];
    sigset_t all;
    sigset_t before;
    pid_t pid;

    if (zygote->control >= 0 || now_ms < zygote->retry_at)
        return;
    if (access(zygote->path, X_OK) < 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
        note_failure(zygote, strerror(errno), now_ms);
        return;
    }
    // the child must not ask, and the new program need not ask again
    zygote->home = zygote->sandbox.mode == SANDBOX_OFF ? "" : homes_of_user();
    (void)sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &before); // cannot fail
    pid = fork();
    if (pid == 0)
        exec_zygote(zygote, pair[1]);
    (void)sigprocmask(SIG_SETMASK, &before, NULL); // cannot fail
    (void)close(pair[1]);                          // the child has it
    if (pid < 0 || fcntl(pair[0], F_SETFL, O_NONBLOCK) < 0) {
        note_failure(zygote, strerror(errno), now_ms);
        (void)close(pair[0]); // a child, if there is one, ends by this
        return;
    }
    zygote->pid = pid;
    zygote->control = pair[0];
    zygote->ready = false;
    zygote->covering = 0;
    zygote->ready_by = now_ms + LIMIT_ZYGOTE_BOOT_MS;
    send_temporary(zygote);
}

void zygote_tell_temporary(struct zygote *zygote, const char *temporary)
{
    zygote->temporary = temporary;
    send_temporary(zygote);
}

void zygote_lose(struct zygote *zygote, const char *why, int64_t now)
{
    bool was_ready = zygote->ready;

    if (zygote->control < 0)
        return;
    // one that still runs would end all sessions when the socket is closed
    if (zygote->pid > 0)
        (void)kill(zygote->pid, SIGKILL); // it may be gone already
    watch_drop(&zygote->watch);
    (void)close(zygote->control); // nothing more comes
    zygote->control = -1;
    zygote->ready = false;
    zygote->covering = 0;
    if (was_ready) {
        log_line(zygote->log, LOG_WARN,
                 "image: the zygote is lost (%s); starting a new one", why);
        zygote_start(zygote, now);
        return;
    }
    note_failure(zygote, why, now);
    if (zygote->failures < LIMIT_ZYGOTE_TRIES)
        zygote_start(zygote, now);
}

void zygote_note_exit(struct zygote *zygote, int wait_status, int64_t now_ms)
{
    char why[128];

    if (WIFSIGNALED(wait_status))
        (void)snprintf(why, sizeof why, "killed by signal %d",
                       WTERMSIG(wait_status));
    else if (WEXITSTATUS(wait_status) == CONTROL_NO_FOLDER)
        (void)snprintf(why, sizeof why, "cannot change to the directory %s",
                       zygote->workspace);
    else if (WEXITSTATUS(wait_status) == CONTROL_NO_NAME)
        (void)snprintf(why, sizeof why,
                       "ECL cannot start where the name of a folder has ** and "
                       "more: rename it, or start elsewhere");
    else
        (void)snprintf(why, sizeof why, "exit status %d",
                       WEXITSTATUS(wait_status));
    zygote->pid = 0;
    zygote_lose(zygote, why, now_ms);
}

/* The control socket has ended: the process is ending, or must. A process that
   was ending keeps its status: the signal comes too late. */
static void note_closed(struct zygote *zygote, int64_t now)
{
    int wait_status;
    pid_t pid;

    (void)kill(zygote->pid, SIGKILL); // it may be gone already
    do
        pid = waitpid(zygote->pid, &wait_status, 0);
    while (pid < 0 && errno == EINTR);
    if (pid < 0 ||
        (WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGKILL)) {
        zygote->pid = 0;
        zygote_lose(zygote, "it closed its connection or was killed", now);
        return;
    }
    zygote_note_exit(zygote, wait_status, now);
}

enum status zygote_receive(struct zygote *zygote,
                           struct control_message *message, int64_t now_ms)
{
    int fds[CONTROL_FDS];
    enum status status;

    if (zygote->control < 0)
        return ST_MISSING;
    status = control_receive(zygote->control, message, fds);
    if (status == ST_MISSING)
        return ST_MISSING;
    if (status != ST_OK) {
        note_closed(zygote, now_ms);
        return ST_IO;
    }
    if (message->kind == CONTROL_READY && message->version != WIRE_VERSION) {
        zygote_lose(zygote, "its version is not that of this program", now_ms);
        return ST_IO;
    }
    if (message->kind == CONTROL_READY) {
        zygote->ready = true;
        zygote->failures = 0;
    }
    if (message->kind == CONTROL_COVERED && zygote->covering > 0)
        zygote->covering--;
    return ST_OK;
}

void zygote_tend(struct zygote *zygote, int64_t now_ms)
{
    if (zygote->control >= 0 && !zygote->ready && now_ms >= zygote->ready_by)
        zygote_lose(zygote, "it did not start in time", now_ms);
    if (!zygote->ready || zygote->covering == 0)
        return;
    if (zygote->covered_by == 0)
        zygote->covered_by = now_ms + LIMIT_ZYGOTE_COVER_MS;
    if (now_ms < zygote->covered_by)
        return;
    zygote->uncovered++;
    zygote_lose(zygote, "it did not cover new files in time", now_ms);
}

int64_t zygote_deadline(const struct zygote *zygote)
{
    if (zygote->control < 0)
        return -1;
    if (!zygote->ready)
        return zygote->ready_by;
    return zygote->covering > 0 ? zygote->covered_by : -1;
}

pid_t zygote_release(struct zygote *zygote)
{
    const struct timespec pause = {0, 2 * 1000 * 1000};
    pid_t left;

    watch_drop(&zygote->watch);
    if (zygote->control >= 0)
        (void)close(zygote->control); // by this it knows
    zygote->control = -1;
    if (zygote->pid > 0 && !zygote->ready)
        (void)kill(zygote->pid, SIGKILL); // it has no children yet
    for (int waited = 0; zygote->pid > 0 && waited < END_MS; waited += 2) {
        if (waitpid(zygote->pid, NULL, WNOHANG) != 0)
            zygote->pid = 0;
        else
            (void)nanosleep(&pause, NULL); // a signal only shortens it
    }
    left = zygote->pid;
    if (left > 0)
        family_end_head(left);
    zygote->pid = 0;
    return left;
}
