/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ownfile.c: see ownfile.h. Modes are changed through descriptors: a name could
   lead elsewhere by then. */
#include "host/ownfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define PERMISSIONS 07777
#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

/* Room for "/proc/self/fd/" and a number. */
#define LINK_SIZE 32

static bool is_shared(const struct stat *info)
{
    bool sticky = S_ISDIR(info->st_mode) && (info->st_mode & S_ISVTX);

    return (info->st_mode & OTHERS_WRITE) != 0 && !sticky;
}

bool ownfile_is_shared(int fd)
{
    struct stat info;

    return fstat(fd, &info) < 0 || is_shared(&info);
}

static int close_keeping_errno(int fd)
{
    int error = errno;

    (void)close(fd); // nothing was written to it
    errno = error;
    return -1;
}

/* The path of what FD is open on, which leads to nothing else. */
static void name_of(int fd, char path[LINK_SIZE])
{
    (void)snprintf(path, LINK_SIZE, "/proc/self/fd/%d", fd);
}

/* Sets the mode of FD right, which may be open as a path only. Notes in OUT
   what was wrong. False with errno. */
static bool fix(int fd, struct ownfile_mode mode, struct ownfile *out)
{
    char path[LINK_SIZE];
    struct stat info;

    if (fstat(fd, &info) < 0)
        return false;
    bool ordinary = S_ISREG(info.st_mode) || S_ISDIR(info.st_mode);
    mode_t now = info.st_mode & PERMISSIONS;
    mode_t right = (now | mode.has) & ~mode.lacks;
    *out = (struct ownfile){.shared = is_shared(&info), .was = now};
    if (!ordinary || info.st_uid != geteuid() || now == right)
        return true;
    if (fchmod(fd, right) < 0) {
        name_of(fd, path);
        if (errno != EBADF || chmod(path, right) < 0)
            return false;
    }
    out->fixed = true;
    return true;
}

/* Opens what its mode keeps from the user, who may change the mode. */
static int open_closed(int parent, const char *name, int flags,
                       struct ownfile_mode mode, struct ownfile *out)
{
    char path[LINK_SIZE];
    int fd = openat(parent, name, O_PATH | O_CLOEXEC | (flags & O_NOFOLLOW));

    if (fd < 0)
        return -1;
    int opened = -1;
    name_of(fd, path);
    if (!fix(fd, mode, out) || !out->fixed)
        errno = EACCES;
    else
        opened = open(path, flags & ~(O_NOFOLLOW | O_CREAT));
    (void)close_keeping_errno(fd);
    return opened;
}

int ownfile_open(int parent, const char *name, int flags,
                 struct ownfile_mode mode, struct ownfile *out)
{
    *out = (struct ownfile){.was = 0};
    int fd = openat(parent, name, flags, 0600);
    if (fd < 0 && errno == EACCES)
        return open_closed(parent, name, flags, mode, out);
    if (fd >= 0 && !fix(fd, mode, out))
        return close_keeping_errno(fd);
    return fd;
}
