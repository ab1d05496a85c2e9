/* SPDX-License-Identifier: GPL-3.0-or-later */
/* namespace.c: see namespace.h. The interface is that of Linux 5.12; a system
   that is older has no Landlock, either. */
#include "image/namespace.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/folders.h"

static int write_to(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    size_t n = strlen(text);
    bool done = fd >= 0 && write(fd, text, n) == (ssize_t)n;
    int fault = errno;

    if (fd >= 0)
        (void)close(fd); // write has told
    errno = fault;
    return done ? 0 : -1;
}

/* Maps the one number ID to itself. */
static int map(const char *path, unsigned id)
{
    char line[40];

    (void)snprintf(line, sizeof line, "%u %u 1", id, id);
    return write_to(path, line);
}

/* Leaves one half of what the user may have of what FROM counts to others: TO
   counts what this namespace has. What cannot be limited is as it was. */
static void halve(const char *from, const char *to)
{
    char text[24] = "";
    int fd = open(from, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    long most;

    if (fd >= 0)
        (void)close(fd); // was only read
    most = n > 0 ? strtol(text, NULL, 10) : 0;
    (void)snprintf(text, sizeof text, "%ld", most / 2);
    if (most > 1)
        (void)write_to(to, text);
}

/* Without the right to mount: in a namespace of users everybody has it. */
static int unshare_users(void)
{
    unsigned user = geteuid();
    unsigned group = getegid();

    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return -1;
    // a system before 3.19 has no such file
    if (write_to("/proc/self/setgroups", "deny") < 0 && errno != ENOENT)
        return -1;
    if (map("/proc/self/uid_map", user) < 0 ||
        map("/proc/self/gid_map", group) < 0)
        return -1;
    halve("/proc/sys/fs/inotify/max_user_instances",
          "/proc/sys/user/max_inotify_instances");
    halve("/proc/sys/fs/inotify/max_user_watches",
          "/proc/sys/user/max_inotify_watches");
    return 0;
}

/* Makes the namespace of mounts this process's own. */
static int seclude(void)
{
    int file;
    int copy;

    // what the system mounts comes in, and nothing goes out
    if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
        return -1;
    // any will do: to copy one mount takes less than all of the root's
    file = open("/dev/null", O_PATH | O_CLOEXEC);
    copy = file >= 0 ? namespace_copy(file, true) : -1;
    if (file >= 0)
        (void)close(file); // was only a name
    if (copy >= 0)
        (void)close(copy); // is mounted nowhere
    return copy >= 0 ? 0 : -1;
}

/* Does what may fail in a container, or in a system that lets no user mount. */
static int try_to_enter(void)
{
    return unshare_users() < 0 ? -1 : seclude();
}

int namespace_enter(void)
{
    int status = 0;
    pid_t pid;

    // root may lack the right; without users of its own, half of it shows what
    // there is outside
    if (geteuid() == 0 && unshare(CLONE_NEWNS) == 0)
        return seclude();
    // a process that has entered half of the other cannot go back: a child
    // tries
    pid = fork();
    if (pid == 0)
        _exit(try_to_enter() == 0 ? 0 : errno & 127);
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    if (pid < 0)
        return -1;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        errno = WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
        return -1;
    }
    return try_to_enter();
}

int namespace_close(int tree)
{
    struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY};

    return mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes,
                         sizeof attributes);
}

int namespace_seal(int place)
{
    struct mount_attr attributes = {.attr_set = MOUNT_ATTR_RDONLY};

    return mount_setattr(place, "", AT_EMPTY_PATH, &attributes,
                         sizeof attributes);
}

int namespace_copy(int place, bool read_only)
{
    int tree = open_tree(place, "",
                         OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_EMPTY_PATH |
                             AT_RECURSIVE);
    int fault;

    if (tree < 0 || !read_only || namespace_close(tree) == 0)
        return tree;
    fault = errno;
    (void)close(tree); // is mounted nowhere
    errno = fault;
    return -1;
}

int namespace_memory(const char *mode)
{
    int context = fsopen("tmpfs", FSOPEN_CLOEXEC);
    int tree = -1;
    int fault;

    if (context >= 0 &&
        fsconfig(context, FSCONFIG_SET_STRING, "size", "64k", 0) == 0 &&
        fsconfig(context, FSCONFIG_SET_STRING, "mode", mode, 0) == 0 &&
        fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        tree = fsmount(context, FSMOUNT_CLOEXEC, 0);
    fault = errno;
    if (context >= 0)
        (void)close(context); // the tree holds it
    errno = fault;
    return tree;
}

int namespace_attach(int tree, int place)
{
    return move_mount(tree, "", place, "",
                      MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH);
}

int namespace_lay(int over, const char *path)
{
    char name[40];

    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", over);
    return mount(name, path, NULL, MS_BIND, NULL);
}

int namespace_detach(int tree)
{
    char path[40];

    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", tree);
    return umount2(path, MNT_DETACH);
}

bool namespace_is_mounted(int place)
{
    struct statx status;

    return statx(place, "", AT_EMPTY_PATH, 0, &status) == 0 &&
           (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}
