/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replace.c: see replace.h. */
#include "host/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "host/disk.h"

/* How many names to try: the first of 128 random bits is free. */
#define TRIES 10

/* Bytes that are written between two looks at the strand (base/strand.h). */
#define WRITE_PIECE (256u * 1024)

/* Attributes of a file and their values, as the system bounds them. */
struct attributes {
    char names[XATTR_LIST_MAX];
    char value[XATTR_SIZE_MAX];
};

/* Writes BYTES in steps. False with errno. */
static bool write_all(const struct arena *arena, int fd, struct str bytes)
{
    while (bytes.n > 0) {
        size_t piece = bytes.n < WRITE_PIECE ? bytes.n : WRITE_PIECE;
        ssize_t n = write(fd, bytes.p, piece);

        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0)
            bytes = str_make(bytes.p + n, bytes.n - (size_t)n);
        if (arena_spend(arena, piece) != ST_OK) {
            errno = ECANCELED;
            return false;
        }
    }
    return true;
}

/* Whether the new file gets the attribute NAME: it belongs to the file,
   whatever the content. One that lends rights to whoever runs the file
   (security.capability) does not. */
static bool is_kept(const char *name)
{
    return strncmp(name, "user.", 5) == 0 ||
           strcmp(name, "system.posix_acl_access") == 0;
}

/* Copies the attribute NAME from the file FROM to TO, by means of VALUE. False
   with errno. */
static bool copy_attribute(int from, int to, const char *name,
                           char value[XATTR_SIZE_MAX])
{
    ssize_t n = fgetxattr(from, name, value, XATTR_SIZE_MAX);

    if (n < 0)
        return errno == ENODATA; // it was removed meanwhile
    return fsetxattr(to, name, value, (size_t)n, 0) == 0;
}

/* Copies the attributes from the file FROM to TO; a file system may have none.
   False with errno. */
static bool copy_attributes(int from, int to)
{
    struct attributes *a = malloc(sizeof *a);
    const char *name;
    bool ok = true;

    if (!a) {
        errno = ENOMEM;
        return false;
    }
    ssize_t n = flistxattr(from, a->names, sizeof a->names);
    for (ssize_t at = 0; ok && at < n; at += (ssize_t)strlen(name) + 1) {
        name = a->names + at;
        if (is_kept(name))
            ok = copy_attribute(from, to, name, a->value);
    }
    free(a);
    return ok;
}

/* Gives FD the attributes of LAST in PARENT. False with errno. */
static bool take_attributes(int fd, int parent, const char *last)
{
    int from =
        openat(parent, last, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool ok = from >= 0 && copy_attributes(from, fd);
    int error = errno;

    if (from >= 0)
        (void)close(from); // it was only read
    errno = error;
    return ok;
}

/* Gives FD the owner, attributes and mode of LAST in PARENT, whose stat(2) is
   OLD; with OLD NULL, the mode of a new file. False with errno. */
static bool dress(int fd, int parent, const char *last, const struct stat *old)
{
    if (!old) {
        mode_t mask = umask(0);

        (void)umask(mask);
        return fchmod(fd, 0666 & ~mask) == 0;
    }
    // another owner's file stays that owner's where the system allows it;
    // otherwise it must not lend the new owner's rights to whoever runs it
    mode_t mode = old->st_mode & 07777;
    if (fchown(fd, old->st_uid, old->st_gid) < 0) {
        (void)!fchown(fd, (uid_t)-1, old->st_gid);
        mode &= 01777;
    }
    // the access control list changes what the mode means: so the list first
    return take_attributes(fd, parent, last) && fchmod(fd, mode) == 0;
}

/* Makes a new file in PARENT, whose name goes to OUT. A descriptor or -1. */
static int make(int parent, struct replacement *out)
{
    int fd = -1;

    for (int tries = 0; fd < 0 && tries < TRIES; tries++) {
        uint64_t random[2];

        if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
            return -1;
        (void)snprintf(out->name, sizeof out->name,
                       ".ecl-mcp-%016" PRIx64 "%016" PRIx64 ".tmp", random[0],
                       random[1]);
        fd = openat(parent, out->name,
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    return fd;
}

int replace_write(const struct arena *arena, int parent, const char *last,
                  const struct stat *old, struct str bytes,
                  struct replacement *out)
{
    struct stat info = {.st_ino = 0};
    int error = 0;
    int fd = make(parent, out);

    if (fd < 0)
        return errno;
    if (!write_all(arena, fd, bytes) || !dress(fd, parent, last, old) ||
        fstat(fd, &info) < 0)
        error = errno;
    if (error == 0)
        error = disk_sync(arena, fd);
    if (close(fd) < 0 && error == 0)
        error = errno;
    if (error != 0) {
        (void)unlinkat(parent, out->name, 0);
        return error;
    }
    out->device = info.st_dev;
    out->inode = info.st_ino;
    return 0;
}

int replace_rename(int parent, const char *name, int to, const char *last)
{
    if (renameat2(parent, name, to, last, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    if (linkat(parent, name, to, last, 0) < 0)
        return errno;
    (void)unlinkat(parent, name, 0);
    return 0;
}

/* 0 or an errno. */
static int move(int parent, const char *name, const char *last, bool is_new)
{
    if (is_new)
        return replace_rename(parent, name, parent, last);
    return renameat(parent, name, parent, last) < 0 ? errno : 0;
}

int replace_move(int parent, const struct replacement *file, const char *last,
                 bool is_new)
{
    struct stat info;
    int error = move(parent, file->name, last, is_new);

    if (error != 0)
        return error;
    // who watches the folder could have swapped the new file by now
    bool same = fstatat(parent, last, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                info.st_dev == file->device && info.st_ino == file->inode;
    return same ? 0 : ESTALE;
}
