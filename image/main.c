/* SPDX-License-Identifier: GPL-3.0-or-later */
/* main.c: ecl-mcp-image, the zygote. Boots Lisp once, then forks a keeper for
   every OPEN message of its supervisor, which forks the live image; ends
   everything below it when the supervisor is gone. Runs no user code, and no
   thread once Lisp is booted. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/control.h"
#include "image/homes.h"
#include "image/keeper.h"
#include "image/linux.h"
#include "image/live.h"
#include "image/sandbox_enter.h"

/* Children examined in one round of cleaning up. */
#define CHILDREN_MAX 1024

/* The keepers, by process. */
struct keepers {
    pid_t *pids;
    size_t n;
    size_t cap;
};

static int wake_pipe[2];

/* Around all images. */
static struct sandbox sandbox;
static struct sandbox_places places;
static struct sandbox_prepared prepared;

/* A keeper that waits for its session, with its image; pid 0: there is none.
   The socket is this process's end of a pair by which it gets its OPEN message.
 */
static struct {
    pid_t pid;
    int socket;
} spare = {0, -1};

/* Sessions from which on one is kept ready: most servers have only one. */
#define SPARE_FROM 2

static void wake(int signal)
{
    int saved = errno;

    (void)signal;
    (void)!write(wake_pipe[1], "", 1); // a full pipe wakes as well
    errno = saved;
}

static bool is_keeper(const struct keepers *keepers, pid_t pid)
{
    for (size_t i = 0; i < keepers->n; i++)
        if (keepers->pids[i] == pid)
            return true;
    return false;
}

static bool keepers_reserve(struct keepers *keepers)
{
    size_t cap = keepers->cap ? keepers->cap * 2 : 16;
    pid_t *pids;

    if (keepers->n < keepers->cap)
        return true;
    pids = realloc(keepers->pids, cap * sizeof *pids);
    if (!pids)
        return false;
    keepers->pids = pids;
    keepers->cap = cap;
    return true;
}

static void keepers_remove(struct keepers *keepers, pid_t pid)
{
    for (size_t i = 0; i < keepers->n; i++)
        if (keepers->pids[i] == pid)
            keepers->pids[i] = keepers->pids[--keepers->n];
}

static void forget_spare(void)
{
    if (spare.socket >= 0)
        (void)close(spare.socket); // it ends by this, or has its message
    spare.pid = 0;
    spare.socket = -1;
}

/* Sends MESSAGE. If the supervisor is gone, reading its messages shows that. */
static void tell(const struct control_message *message)
{
    enum status status = control_send(CONTROL_FD, message, NULL);

    (void)status;
}

/* In a spare keeper, its end of the pair; else -1. */
static int awaiting = -1;

/* In a new process that becomes a live image. */
static bool confine(void)
{
    if (awaiting >= 0)
        (void)close(awaiting); // the keeper's own
    return sandbox_enter_image(&sandbox, &places, &prepared) == ST_OK;
}

/* How keepers begin. */
static struct keeper_manner manner = {
    .confine = confine, .warm = live_warm, .image = live_run};

/* Forks a keeper. CURRENT: the rules were just looked at. In it, 0; -1 with
   errno: there is none. */
static pid_t fork_keeper(struct keepers *keepers, bool current)
{
    bool looked = current || !prepared.landlock.fresh; // else of the boot
    pid_t pid = -1;

    errno = ENOMEM;
    if (keepers_reserve(keepers) &&
        (current || sandbox_renew(&sandbox, &places, &prepared) == ST_OK))
        pid = fork();
    if (pid == 0) {
        (void)close(wake_pipe[0]); // the zygote's own
        (void)close(wake_pipe[1]);
        (void)close(CONTROL_FD);
        sandbox_trust_rules(&prepared, looked); // just now
    }
    if (pid > 0)
        keepers->pids[keepers->n++] = pid;
    return pid;
}

/* In a spare keeper: waits for its session, or the end of the zygote. */
static NO_RETURN void await_session(int socket)
{
    struct control_message message;
    int fds[CONTROL_FDS];

    (void)signal(SIGCHLD, SIG_DFL); // the handler's pipe is closed
    awaiting = socket;
    keeper_prepare(manner);
    sandbox_trust_rules(&prepared, false); // if it must fork an image later
    if (control_await(socket, &message, fds) != ST_OK)
        _exit(0);
    (void)close(socket); // nothing more comes
    awaiting = -1;
    keeper_run(&message, fds, manner);
}

/* Forks a keeper for the next session, unless there are too few. CURRENT: the
   rules were just looked at. */
static void keep_spare(struct keepers *keepers, bool current)
{
    static bool warm;
    int pair[2];

    if (spare.pid > 0 || keepers->n < SPARE_FROM ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return;
    if (!warm)
        live_warm(); // what the first call of each image would find out
    warm = true;
    spare.socket = pair[0];
    spare.pid = fork_keeper(keepers, current);
    if (spare.pid == 0) {
        (void)close(pair[0]); // the zygote's end
        await_session(pair[1]);
    }
    (void)close(pair[1]); // the spare one has it
    if (spare.pid < 0)
        forget_spare(); // the next session forks its own
}

static void open_keeper(struct keepers *keepers,
                        const struct control_message *message,
                        const int fds[CONTROL_FDS])
{
    struct control_message failed = {.kind = CONTROL_OPENED,
                                     .serial = message->serial};
    static bool settled;
    // its image has the rules of the moment when it was forked
    bool current = spare.pid > 0 && sandbox_is_current(&prepared);
    bool ready = current && control_send(spare.socket, message, fds) == ST_OK;
    pid_t pid = spare.pid;

    forget_spare();
    if (!ready)
        pid = fork_keeper(keepers, false);
    if (pid == 0)
        keeper_run(message, fds, manner);
    failed.status = errno;
    for (int i = 0; i < CONTROL_FDS; i++)
        (void)close(fds[i]); // the keeper has them
    if (pid < 0)
        tell(&failed);
    if (!settled)
        linux_let_code_go(); // that of the start
    settled = true;
    keep_spare(keepers, current);
}

/* Receives one message and does what it asks for. */
static enum status take_message(struct keepers *keepers)
{
    const struct control_message covered = {.kind = CONTROL_COVERED};
    struct control_message message;
    int fds[CONTROL_FDS];
    enum status status = control_receive(CONTROL_FD, &message, fds);

    if (status != ST_OK)
        return status;
    if (message.kind == CONTROL_OPEN && fds[CONTROL_KEEPER] >= 0) {
        open_keeper(keepers, &message, fds);
    } else if (message.kind == CONTROL_COVER) {
        sandbox_cover(&sandbox, &prepared);
        tell(&covered);
    }
    return ST_OK;
}

/* Reaps keepers, and kills what has become a child of this process because its
   keeper was killed. */
static void reap(struct keepers *keepers)
{
    pid_t pids[CHILDREN_MAX];
    size_t n;
    pid_t pid;

    while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
        keepers_remove(keepers, pid);
        if (pid == spare.pid)
            forget_spare();
    }
    n = linux_children(pids, CHILDREN_MAX);
    for (size_t i = 0; i < n; i++)
        if (!is_keeper(keepers, pids[i]))
            (void)kill(pids[i], SIGKILL); // it may just have ended
}

/* Serves the supervisor until it is gone. */
static void serve(struct keepers *keepers)
{
    struct pollfd fds[3] = {{CONTROL_FD, POLLIN, 0},
                            {wake_pipe[0], POLLIN, 0},
                            {sandbox_events(&prepared), POLLIN, 0}};
    char drain[64];

    for (;;) {
        enum status status;

        if (poll(fds, 3, -1) < 0 && errno != EINTR)
            return;
        if (fds[1].revents) {
            while (read(wake_pipe[0], drain, sizeof drain) > 0)
                continue;
            reap(keepers);
        }
        if (fds[2].revents)
            sandbox_tend(&sandbox, &prepared);
        if (!fds[0].revents)
            continue;
        status = take_message(keepers);
        if (status != ST_OK && status != ST_MISSING)
            return;
    }
}

static bool prepare_signals(void)
{
    struct sigaction action = {.sa_handler = wake, .sa_flags = SA_RESTART};

    if (pipe2(wake_pipe, O_CLOEXEC | O_NONBLOCK) < 0)
        return false;
    (void)sigfillset(&action.sa_mask);
    // the supervisor alone ends the zygote, by closing the control socket
    (void)signal(SIGINT, SIG_IGN);
    (void)signal(SIGTERM, SIG_IGN);
    (void)signal(SIGHUP, SIG_IGN);
    (void)signal(SIGPIPE, SIG_IGN);
    return sigaction(SIGCHLD, &action, NULL) == 0;
}

/* Where the supervisor has made the temporary folder; "": nowhere. */
static char temporary[SANDBOX_PATH];

/* TMPDIR as this process has got it; NULL: it is not set. */
static const char *usual;

/* ECL does not boot if TMPDIR has a star in it, and needs none for that. */
static void put_temporary_aside(void)
{
    usual = getenv("TMPDIR");
    (void)unsetenv("TMPDIR"); // the text stays where it is
}

/* Folders that are not absolute count as none, as everywhere in the server:
   ASDF loads nothing with them. */
static void put_relative_homes_aside(void)
{
    static const char *const names[] = {"HOME", "XDG_CACHE_HOME"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *folder = getenv(names[i]);

        if (folder && folder[0] != '/')
            (void)unsetenv(names[i]); // its name is right
    }
}

static void await_temporary(struct sandbox_places *found)
{
    if (sandbox.mode != SANDBOX_WORKSPACE)
        return;
    if (control_await_temporary(CONTROL_FD, temporary) != ST_OK)
        _exit(1); // the supervisor is gone
    sandbox_set_temporary(&sandbox, temporary, found);
}

/* The environment of the images is that of this process. */
static void announce_temporary(void)
{
    const char *path = sandbox.mode == SANDBOX_WORKSPACE ? temporary : usual;

    if (path && path[0] != '\0')
        (void)setenv("TMPDIR", path, 1); // fails only without memory
}

/* Takes the arguments that the supervisor gives: the mode, the network, whether
   files of the workspace are protected, the home that the system has for the
   user, the patterns of further secrets, an empty one, and those of further
   protected files. */
static bool take_arguments(int argc, char **argv)
{
    int i = 5;

    if (argc < 6 ||
        sandbox_mode_find(str_from(argv[1]), &sandbox.mode) != ST_OK)
        return false;
    sandbox.network = strcmp(argv[2], "network") == 0;
    sandbox.unprotected = strcmp(argv[3], "unprotected") == 0;
    homes_set_user(argv[4]);
    sandbox.secrets = (const char *const *)(argv + i); // ends with a NULL
    while (i < argc - 1 && argv[i][0] != '\0')
        i++;
    argv[i++] = NULL;
    sandbox.protects = (const char *const *)(argv + i);
    return true;
}

/* Whether ECL can name the current directory. To it, ** stands for folders of
   any depth; beside other characters, it aborts the start. */
static bool has_name(void)
{
    char path[HOMES_PATH];

    if (!getcwd(path, sizeof path))
        return true; // not for its characters
    for (const char *at = path; (at = strstr(at, "**")); at += 2)
        if (at[-1] != '/' || (at[2] != '/' && at[2] != '\0'))
            return false;
    return true;
}

int main(int argc, char **argv)
{
    struct control_message ready = {.kind = CONTROL_READY,
                                    .version = WIRE_VERSION};
    struct keepers keepers = {NULL, 0, 0};

    if (fcntl(CONTROL_FD, F_GETFL) < 0 || !take_arguments(argc, argv)) {
        (void)fputs("ecl-mcp-image is started by ecl-mcp, not by hand\n",
                    stderr);
        return 2;
    }
    if (!has_name())
        return CONTROL_NO_NAME;
    (void)fcntl(CONTROL_FD, F_SETFD, FD_CLOEXEC); // fails only without it
    linux_leave_terminal();
    linux_adopt_orphans();
    put_temporary_aside();
    put_relative_homes_aside();
    sandbox_find_places(&sandbox, NULL,
                        sandbox.mode == SANDBOX_WORKSPACE ? NULL
                        : usual                           ? usual
                                                          : "",
                        &places);
    // what forks comes as long as this process is small
    sandbox_begin(&sandbox, &prepared);
    manner.confined = sandbox.mode != SANDBOX_OFF;
    manner.counted = manner.confined && keeper_can_count();
    sandbox_prepare(&sandbox, &places, &prepared, await_temporary);
    live_boot(argv[0]); // meanwhile
    if (!prepare_signals()) {
        perror("ecl-mcp-image");
        return 1;
    }
    linux_go_ahead(); // and so do keepers: a fork bomb must not starve them
    ready.sandbox = sandbox_enter_zygote(&sandbox, &places, &prepared);
    if (!ready.sandbox.known) {
        (void)fputs("ecl-mcp-image: the workspace is gone from the mounts of "
                    "the sandbox\n",
                    stderr);
        return 1;
    }
    announce_temporary();
    live_prepare();
    if (control_send(CONTROL_FD, &ready, NULL) == ST_OK)
        serve(&keepers);
    keeper_end_family();
    free(keepers.pids);
    return 0;
}
