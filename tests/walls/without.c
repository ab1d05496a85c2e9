/* SPDX-License-Identifier: GPL-3.0-or-later */
/* without.c: starts a program on a system that lacks parts of this one:

       without FEATURE… -- PROGRAM ARGUMENT…

   userns: no namespaces of users may be made. landlock: there is none;
   landlock=N: it has version N. seccomp: there are no filters. children: /proc
   does not tell the children of a process. disk=N: the disk takes N
   milliseconds to write down what it has been given. What is hidden stays so
   for all that PROGRAM starts. A process of this program answers what depends
   on more than numbers until all of them are gone. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of landlock_create_ruleset(2): asks for the version. */
enum { QUESTION = 1, LANDLOCK_FIRST = 444, LANDLOCK_LAST = 446 };

static int landlock = -1; // the version; -1: the system's
static bool children;     // files of that name cannot be opened
static int delay; // milliseconds that fsync(2) takes; 0: as long as ever

static bool hide(scmp_filter_ctx filter, int call, int error)
{
    return seccomp_rule_add(filter, SCMP_ACT_ERRNO((unsigned)error), call, 0) ==
           0;
}

static bool hide_when(scmp_filter_ctx filter, int call, int error,
                      struct scmp_arg_cmp comparison)
{
    return seccomp_rule_add_array(filter, SCMP_ACT_ERRNO((unsigned)error), call,
                                  1, &comparison) == 0;
}

static bool hide_namespaces(scmp_filter_ctx filter)
{
    return hide_when(
               filter, SCMP_SYS(unshare), EPERM,
               SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER)) &&
           hide_when(
               filter, SCMP_SYS(clone), EPERM,
               SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_NEWUSER, CLONE_NEWUSER)) &&
           hide(filter, SCMP_SYS(clone3), ENOSYS);
}

static bool hide_filters(scmp_filter_ctx filter)
{
    return hide(filter, SCMP_SYS(seccomp), ENOSYS) &&
           hide_when(filter, SCMP_SYS(prctl), EINVAL,
                     SCMP_A0(SCMP_CMP_EQ, PR_SET_SECCOMP, 0));
}

static bool hide_landlock(scmp_filter_ctx filter, const char *version)
{
    struct scmp_arg_cmp question = SCMP_A2(SCMP_CMP_EQ, QUESTION, 0);

    if (version[0] == '=') {
        landlock = (int)strtol(version + 1, NULL, 10);
        return seccomp_rule_add_array(filter, SCMP_ACT_NOTIFY, LANDLOCK_FIRST,
                                      1, &question) == 0;
    }
    for (int call = LANDLOCK_FIRST; call <= LANDLOCK_LAST; call++)
        if (!hide(filter, call, ENOSYS))
            return false;
    return true;
}

static bool slow_down(scmp_filter_ctx filter, const char *milliseconds)
{
    delay = (int)strtol(milliseconds, NULL, 10);
    return delay > 0 &&
           seccomp_rule_add(filter, SCMP_ACT_NOTIFY, SCMP_SYS(fsync), 0) == 0 &&
           seccomp_rule_add(filter, SCMP_ACT_NOTIFY, SCMP_SYS(fdatasync), 0) ==
               0;
}

static bool add_feature(scmp_filter_ctx filter, const char *name)
{
    const char landlock_name[] = "landlock";
    const size_t length = sizeof landlock_name - 1;

    if (strcmp(name, "userns") == 0)
        return hide_namespaces(filter);
    if (strcmp(name, "seccomp") == 0)
        return hide_filters(filter);
    if (strncmp(name, "disk=", 5) == 0)
        return slow_down(filter, name + 5);
    if (strcmp(name, "children") == 0) {
        children = true;
        return seccomp_rule_add(filter, SCMP_ACT_NOTIFY, SCMP_SYS(openat), 0) ==
               0;
    }
    return strncmp(name, landlock_name, length) == 0 &&
           hide_landlock(filter, name + length);
}

/* Whether QUESTION is about a file that is named children. */
static bool opens_children(const struct seccomp_notif *question)
{
    const char end[] = "/children";
    char path[256] = "";
    char name[40];
    ssize_t n = -1;
    int memory;

    (void)snprintf(name, sizeof name, "/proc/%d/mem", (int)question->pid);
    memory = open(name, O_RDONLY | O_CLOEXEC);
    if (memory >= 0) {
        // it may be shorter and end at the end of what can be read
        for (n = 0; n < (ssize_t)sizeof path - 1; n++)
            if (pread(memory, path + n, 1,
                      (off_t)question->data.args[1] + (off_t)n) != 1 ||
                path[n] == '\0')
                break;
        (void)close(memory);
    }
    path[n > 0 ? n : 0] = '\0';
    return n >= (ssize_t)sizeof end &&
           strcmp(path + n - (sizeof end - 1), end) == 0;
}

/* Answers the questions that come from FD until nobody is left to ask. */
static void answer(int fd)
{
    struct seccomp_notif *question = NULL;
    struct seccomp_notif_resp *reply = NULL;
    struct pollfd ready = {fd, POLLIN, 0};

    if (seccomp_notify_alloc(&question, &reply) < 0)
        return;
    while (poll(&ready, 1, -1) > 0 && !(ready.revents & (POLLHUP | POLLERR))) {
        memset(question, 0, sizeof *question);
        if (seccomp_notify_receive(fd, question) < 0)
            continue; // who asked is gone
        memset(reply, 0, sizeof *reply);
        reply->id = question->id;
        if (question->data.nr == SCMP_SYS(fsync) ||
            question->data.nr == SCMP_SYS(fdatasync)) {
            (void)poll(NULL, 0, delay);
            reply->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        } else if (question->data.nr != SCMP_SYS(openat))
            reply->val = landlock;
        else if (opens_children(question))
            reply->error = -ENOENT;
        else
            reply->flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
        (void)seccomp_notify_respond(fd, reply); // who asked may be gone
    }
    seccomp_notify_free(question, reply);
}

/* A descriptor that crosses SOCKET: sends FD, or receives one when that is
   -1. */
static int pass(int socket, int fd)
{
    char byte = 0;
    struct iovec part = {&byte, 1};
    union {
        char bytes[CMSG_SPACE(sizeof fd)];
        struct cmsghdr align;
    } extra = {{0}};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = extra.bytes,
                             .msg_controllen = sizeof extra.bytes};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);

    if (fd < 0) {
        if (recvmsg(socket, &message, 0) <= 0 || !CMSG_FIRSTHDR(&message))
            return -1;
        memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
        return fd;
    }
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    return sendmsg(socket, &message, 0) < 0 ? -1 : 0;
}

/* Starts the process that answers, which is not a child of PROGRAM and holds
   none of its pipes. Returns the socket on which it waits for the
   descriptor. */
static int start_answering(void)
{
    int ends[2];
    int status;
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);

        if (fork() != 0)
            _exit(0);
        for (int fd = 0; fd < 3; fd++)
            (void)dup2(null, fd); // whoever reads them sees the end
        (void)close(ends[1]);
        (void)setsid();
        answer(pass(ends[0], -1));
        _exit(0);
    }
    (void)close(ends[0]);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return ends[1];
}

int main(int argc, char **argv)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int socket = -1;
    int i = 1;

    if (!filter)
        return 1;
    for (; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (!add_feature(filter, argv[i])) {
            (void)fprintf(stderr, "without: %s cannot be hidden\n", argv[i]);
            return 2;
        }
    if (i + 1 >= argc)
        return 2;
    if (landlock >= 0 || children || delay > 0)
        socket = start_answering();
    // root needs no such promise, and its programs shall not see one
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_NNP, geteuid() != 0);
    if (seccomp_load(filter) < 0 ||
        (socket >= 0 && pass(socket, seccomp_notify_fd(filter)) < 0)) {
        (void)fprintf(stderr, "without: no filter: %s\n", strerror(errno));
        return 1;
    }
    seccomp_release(filter);
    (void)execvp(argv[i + 1], argv + i + 1);
    perror(argv[i + 1]);
    return 127;
}
