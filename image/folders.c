/* SPDX-License-Identifier: GPL-3.0-or-later */
/* folders.c: see folders.h. */
#include "image/folders.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Takes the first name off *PATH; false when there is none, or when it is too
   long or leads up. */
static bool take_name(const char **path, char name[NAME_MAX + 1])
{
    size_t n = strcspn(*path, "/");

    if (n == 0 || n > NAME_MAX)
        return false;
    memcpy(name, *path, n);
    name[n] = '\0';
    *path += n;
    *path += strspn(*path, "/");
    return strcmp(name, "..") != 0;
}

/* Makes folder NAME in FOLDER, in the place of anything else. */
static void make(int folder, const char *name)
{
    struct stat status;

    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        !S_ISDIR(status.st_mode))
        (void)unlinkat(folder, name, 0); // else opening it says why
    (void)mkdirat(folder, name, 0700);   // the same
}

/* Names NAME in FOLDER; -1: it is a link, or not there. */
static int step(int folder, const char *name)
{
    int fd = openat(folder, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct stat status;

    if (fd < 0 || (fstat(fd, &status) == 0 && !S_ISLNK(status.st_mode)))
        return fd;
    (void)close(fd); // was only a name
    errno = ELOOP;
    return -1;
}

/* Names PATH in FOLDER, in one call; -1 with ENOSYS: the system has none, or
   its way of resolving may differ from ours. */
static int find_at_once(int folder, const char *path, uint64_t also)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC,
                           .resolve = RESOLVE_NO_SYMLINKS | also};
    int fd = -1;

    errno = ENOSYS;
    if (!strstr(path, "..") && path[0] != '\0')
        fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
    // a container may refuse the call; what else fails does so step by step
    if (fd < 0 && errno != ENOENT && errno != ELOOP && errno != ENOTDIR)
        errno = ENOSYS;
    return fd;
}

/* The same, name by name. */
static int find_by_steps(int folder, const char *path, bool making)
{
    int at = openat(folder, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    char name[NAME_MAX + 1];

    while (at >= 0 && *path != '\0') {
        int next = -1;
        int fault;

        errno = EINVAL;
        if (take_name(&path, name)) {
            if (making)
                make(at, name);
            next = step(at, name);
        }
        fault = errno;
        (void)close(at); // was only a name
        at = next;
        errno = fault;
    }
    return at;
}

int folders_find_below(int folder, const char *path, bool making)
{
    int fd = making ? -1 : find_at_once(folder, path, RESOLVE_BENEATH);

    if (fd >= 0 || (!making && errno != ENOSYS))
        return fd;
    return find_by_steps(folder, path, making);
}

int folders_find(const char *path)
{
    int fd = find_at_once(AT_FDCWD, path, 0);
    int root;
    int fault;

    if (fd >= 0 || errno != ENOSYS)
        return fd;
    root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (root >= 0)
        fd = find_by_steps(root, path + strspn(path, "/"), false);
    fault = errno;
    if (root >= 0)
        (void)close(root); // was only a name
    errno = fault;
    return fd;
}

bool folders_is_removed(int place)
{
    struct stat status;

    return fstat(place, &status) == 0 && status.st_nlink == 0;
}

/* Whether PATH has no names that are empty, or a dot alone. */
static bool is_plain(const char *path)
{
    size_t n = strlen(path);

    return !strstr(path, "//") && !strstr(path, "/./") && n > 0 &&
           path[n - 1] != '/' &&
           (n < 2 || path[n - 1] != '.' || path[n - 2] != '/');
}

bool folders_lead_straight(const char *path)
{
    int fd = is_plain(path) ? find_at_once(AT_FDCWD, path, 0) : -1;
    bool straight = is_plain(path) && (fd >= 0 || errno == ENOENT);

    if (fd >= 0)
        (void)close(fd); // was only a name
    return straight;
}

bool folders_resolve(const char *path, char *out)
{
    bool plain = path[0] == '/' && is_plain(path) && strlen(path) < PATH_MAX;
    int fd = plain ? find_at_once(AT_FDCWD, path, 0) : -1;

    if (fd < 0)
        return (!plain || errno != ENOENT) && realpath(path, out) != NULL;
    (void)close(fd); // was only a name
    memcpy(out, path, strlen(path) + 1);
    return true;
}

bool folders_copy_plain(char *path, const char *from)
{
    size_t n = 0;

    if (from[0] != '/' || strlen(from) >= PATH_MAX)
        return false;
    while (*from != '\0') {
        size_t name_n = strcspn(from, "/");

        if (name_n > 0 && !(name_n == 1 && from[0] == '.')) {
            path[n++] = '/';
            memcpy(path + n, from, name_n);
            n += name_n;
        }
        from += name_n;
        from += strspn(from, "/");
    }
    path[n] = '\0';
    return n > 0;
}
