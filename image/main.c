/* SPDX-License-Identifier: GPL-3.0-or-later */
/* main.c: ecl-mcp-image, the zygote. Boots Lisp once, then forks a live image
   for every OPEN message of its supervisor, reports how its children end, and
   ends everything below it when the supervisor is gone. Runs no user code and
   no thread. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "image/control.h"
#include "image/linux.h"
#include "image/live.h"
#include "image/names.h"
#include "image/sandbox_enter.h"

/* Children examined in one round of cleaning up. */
#define CHILDREN_MAX 1024

/* Rounds of 2 ms in which the last children must be gone. */
#define END_ROUNDS 1000

/* The live images, by process. */
struct images {
    pid_t *pids;
    size_t n;
    size_t cap;
};

static int wake_pipe[2];

/* Around all images. */
static struct sandbox sandbox;
static struct sandbox_places places;
static struct sandbox_prepared prepared;

static void wake(int signal)
{
    int saved = errno;

    (void)signal;
    (void)!write(wake_pipe[1], "", 1); // a full pipe wakes as well
    errno = saved;
}

static bool is_image(const struct images *images, pid_t pid)
{
    for (size_t i = 0; i < images->n; i++)
        if (images->pids[i] == pid)
            return true;
    return false;
}

static bool images_reserve(struct images *images)
{
    size_t cap = images->cap ? images->cap * 2 : 16;
    pid_t *pids;

    if (images->n < images->cap)
        return true;
    pids = realloc(images->pids, cap * sizeof *pids);
    if (!pids)
        return false;
    images->pids = pids;
    images->cap = cap;
    return true;
}

static void images_remove(struct images *images, pid_t pid)
{
    for (size_t i = 0; i < images->n; i++)
        if (images->pids[i] == pid)
            images->pids[i] = images->pids[--images->n];
}

/* Whether a live image that still runs has started the adopted process PID. */
static bool belongs_to_image(const struct images *images, pid_t pid)
{
    char number[16];

    for (size_t i = 0; i < images->n; i++) {
        (void)snprintf(number, sizeof number, "%d", (int)images->pids[i]);
        if (linux_has_environment(pid, NAME_ENVIRONMENT, number))
            return true;
    }
    return false;
}

/* Sends MESSAGE. If the supervisor is gone, reading its messages shows that. */
static void tell(const struct control_message *message)
{
    enum status status = control_send(CONTROL_FD, message, NULL);

    (void)status;
}

/* Counts process PID, a copy, among the images. It becomes a child of this
   process when its original ends. */
static void adopt_image(struct images *images, pid_t pid)
{
    if (!is_image(images, pid) && images_reserve(images))
        images->pids[images->n++] = pid;
}

/* In the new process: becomes a live image, or ends. */
static NO_RETURN void become_image(const struct control_message *message,
                                   const int fds[CONTROL_FDS])
{
    (void)close(wake_pipe[0]); // the zygote's own
    (void)close(wake_pipe[1]);
    (void)close(CONTROL_FD);
    if (sandbox_enter_image(&sandbox, &places, &prepared) != ST_OK) {
        (void)fprintf(stderr, "ecl-mcp-image: no sandbox: %s\n",
                      strerror(errno));
        _exit(1);
    }
    live_run(message, fds);
}

static void open_image(struct images *images,
                       const struct control_message *message,
                       const int fds[CONTROL_FDS])
{
    struct control_message reply = {.kind = CONTROL_OPENED,
                                    .serial = message->serial};
    pid_t pid = -1;

    errno = ENOMEM;
    if (images_reserve(images) &&
        sandbox_renew(&sandbox, &places, &prepared) == ST_OK)
        pid = fork();
    if (pid == 0)
        become_image(message, fds);
    reply.status = pid < 0 ? errno : 0;
    for (int i = 0; i < CONTROL_FDS; i++)
        (void)close(fds[i]); // the image has them
    if (pid > 0) {
        images->pids[images->n++] = pid;
        reply.pid = pid;
    }
    tell(&reply);
}

/* Receives one message and does what it asks for. */
static enum status take_message(struct images *images)
{
    struct control_message message;
    int fds[CONTROL_FDS];
    enum status status = control_receive(CONTROL_FD, &message, fds);

    if (status != ST_OK)
        return status;
    if (message.kind == CONTROL_OPEN && fds[CONTROL_STDERR] >= 0)
        open_image(images, &message, fds);
    else if (message.kind == CONTROL_ADOPT)
        adopt_image(images, message.pid);
    else if (message.kind == CONTROL_COVER)
        sandbox_cover(&sandbox, &prepared);
    return ST_OK;
}

/* Whether nobody needs the adopted process PID: it is not an image, a sleeping
   copy of one, or a program of one. A copy that has just been woken was
   announced by a message, which must be read first. */
static bool is_orphan(struct images *images, pid_t pid)
{
    if (is_image(images, pid) || linux_has_name(pid, NAME_SLEEPER))
        return false;
    while (take_message(images) == ST_OK)
        continue;
    return !is_image(images, pid) && !belongs_to_image(images, pid);
}

/* Kills the programs of images that have ended; they have become children of
   this process. */
static void end_orphans(struct images *images)
{
    pid_t pids[CHILDREN_MAX];
    size_t n = linux_children(pids, CHILDREN_MAX);

    for (size_t i = 0; i < n; i++)
        if (is_orphan(images, pids[i]))
            (void)kill(pids[i], SIGKILL); // it may just have ended
}

static void reap(struct images *images)
{
    struct control_message message = {.kind = CONTROL_EXITED};
    int status;
    pid_t pid;

    while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
        if (!is_image(images, pid))
            continue;
        images_remove(images, pid);
        (void)kill(-pid, SIGKILL); // the rest of its process group
        message.pid = pid;
        message.status = status;
        tell(&message);
    }
    end_orphans(images);
}

/* Kills every descendant: the children of a killed child become children of
   this process, until none is left. */
static void end_everything(void)
{
    const struct timespec pause = {0, 2 * 1000 * 1000};
    pid_t pids[CHILDREN_MAX];

    for (int round = 0; round < END_ROUNDS; round++) {
        size_t n = linux_children(pids, CHILDREN_MAX);
        size_t i;

        for (i = 0; i < n; i++)
            (void)kill(pids[i], SIGKILL); // it may just have ended
        while (waitpid(-1, NULL, WNOHANG) > 0)
            continue;
        if (n == 0)
            return;
        (void)nanosleep(&pause, NULL); // a signal only shortens it
    }
}

/* Serves the supervisor until it is gone. */
static void serve(struct images *images)
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
            reap(images);
        }
        if (fds[2].revents)
            sandbox_tend(&sandbox, &prepared);
        if (!fds[0].revents)
            continue;
        status = take_message(images);
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

/* Takes the arguments that the supervisor gives: the mode, the network, whether
   files of the workspace are protected, the patterns of further secrets, an
   empty one, and those of further protected files. */
static bool take_arguments(int argc, char **argv)
{
    int i = 4;

    if (argc < 5 ||
        sandbox_mode_find(str_from(argv[1]), &sandbox.mode) != ST_OK)
        return false;
    sandbox.network = strcmp(argv[2], "network") == 0;
    sandbox.unprotected = strcmp(argv[3], "unprotected") == 0;
    sandbox.secrets = (const char *const *)(argv + i); // ends with a NULL
    while (i < argc - 1 && argv[i][0] != '\0')
        i++;
    argv[i++] = NULL;
    sandbox.protects = (const char *const *)(argv + i);
    return true;
}

int main(int argc, char **argv)
{
    struct control_message ready = {.kind = CONTROL_READY,
                                    .version = WIRE_VERSION};
    struct images images = {NULL, 0, 0};

    if (fcntl(CONTROL_FD, F_GETFL) < 0 || !take_arguments(argc, argv)) {
        (void)fputs("ecl-mcp-image is started by ecl-mcp, not by hand\n",
                    stderr);
        return 2;
    }
    (void)fcntl(CONTROL_FD, F_SETFD, FD_CLOEXEC); // fails only without it
    linux_adopt_orphans();
    live_boot(argv[0]);
    if (!prepare_signals()) {
        perror("ecl-mcp-image");
        return 1;
    }
    sandbox_find_places(&sandbox, NULL, getenv("TMPDIR"), &places);
    ready.sandbox = sandbox_enter_zygote(&sandbox, &places, &prepared);
    if (ready.sandbox.known && control_send(CONTROL_FD, &ready, NULL) == ST_OK)
        serve(&images);
    end_everything();
    free(images.pids);
    return 0;
}
