/* SPDX-License-Identifier: GPL-3.0-or-later */
/* file.c: see file.h. */
#include "host/file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/limits.h"
#include "host/disk.h"
#include "host/replace.h"

/* --- Reading -------------------------------------------------------------- */

/* Bytes that are read between two looks at the strand (base/strand.h). */
#define READ_PIECE (256u * 1024)

/* Why what has MODE is refused. */
static const char *describe_kind(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "it is a folder.";
    case S_IFIFO:
        return "it is a pipe (FIFO), not a file.";
    case S_IFSOCK:
        return "it is a socket, not a file.";
    case S_IFCHR:
    case S_IFBLK:
        return "it is a device, not a file.";
    case S_IFLNK:
        return "a symbolic link took its place while it was opened.";
    default:
        return "it is not a file.";
    }
}

/* Whether the kernel makes the file up: reading such a file may have
   effects. */
static bool is_made_up(int fd)
{
    struct statfs info;

    return fstatfs(fd, &info) == 0 &&
           (info.f_type == PROC_SUPER_MAGIC || info.f_type == SYSFS_MAGIC);
}

/* Opens the regular file LAST in the folder PARENT. */
static enum files_result open_file(const struct location *location, int parent,
                                   const char *last, int *fd, struct stat *info)
{
    if (fstatat(parent, last, info, AT_SYMLINK_NOFOLLOW) < 0)
        return location_fail(location, errno);
    if (!S_ISREG(info->st_mode))
        return location_refuse(location, FILES_REFUSED,
                               describe_kind(info->st_mode));
    *fd = openat(parent, last,
                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (*fd < 0)
        return location_fail(location, errno);
    if (fstat(*fd, info) == 0 && S_ISREG(info->st_mode) && !is_made_up(*fd))
        return FILES_OK;
    (void)close(*fd);
    return location_refuse(location, FILES_REFUSED,
                           "it is not an ordinary file.");
}

/* Appends some bytes of the file to BYTES. Returns their number, 0 at the end
   of the file or without memory, -1 with errno. */
static ssize_t read_some(int fd, struct buf *bytes)
{
    size_t room = bytes->cap - bytes->n;
    char *to = buf_reserve(bytes, room > 0 ? 1 : READ_PIECE);
    ssize_t n = 0;

    if (!to)
        return 0;
    room = bytes->cap - bytes->n;
    do {
        n = read(fd, to, room < READ_PIECE ? room : READ_PIECE);
    } while (n < 0 && errno == EINTR);
    bytes->n += n > 0 ? (size_t)n : 0;
    return n;
}

/* Reads the file, which has SIZE bytes or has grown to at most MAX, in
   steps. */
static enum files_result read_all(const struct location *location, int fd,
                                  uint64_t max, uint64_t size, struct str *out)
{
    struct buf bytes = BUF_EMPTY;
    enum files_result result = FILES_OK;
    ssize_t n = 1;

    (void)buf_reserve_exact(&bytes, (size_t)size + 1);
    while (n > 0 && bytes.n <= max && result == FILES_OK) {
        n = read_some(fd, &bytes);
        if (n < 0)
            result = location_fail(location, errno);
        else if (arena_spend(location->arena, (size_t)n / 2) != ST_OK)
            result = FILES_NOMEM;
    }
    if (result == FILES_OK && bytes.n > max)
        result = location_too_large(location, bytes.n, max);
    if (result == FILES_OK && arena_take(location->arena, &bytes, out) != ST_OK)
        result = FILES_NOMEM;
    buf_release(&bytes);
    return result;
}

/* Takes the digest of the file, of at most LIMIT_FILE bytes and one piece, in
   steps; it is not held in memory. */
static enum files_result take_digest(const struct location *location, int fd,
                                     unsigned char hash[FILES_HASH])
{
    struct arena scratch = {.strand = location->arena->strand};
    struct digest *digest = digest_begin(&scratch);
    struct buf piece = BUF_EMPTY;
    enum files_result result = digest ? FILES_OK : FILES_NOMEM;
    size_t bytes = 0;
    ssize_t n = 1;

    while (n > 0 && bytes <= LIMIT_FILE && result == FILES_OK) {
        buf_truncate(&piece, 0);
        n = read_some(fd, &piece);
        bytes += piece.n;
        digest_add(digest, buf_view(&piece));
        if (n < 0)
            result = location_fail(location, errno);
        else if (buf_failed(&piece) ||
                 arena_spend(location->arena, piece.n + piece.n / 2) != ST_OK)
            result = FILES_NOMEM;
    }
    if (result == FILES_OK)
        digest_end(digest, hash);
    buf_release(&piece);
    arena_release(&scratch);
    return result;
}

/* Whether the file still has the bytes of KNOWN; otherwise it can be read from
   its start. */
static enum files_result compare(const struct location *location, int fd,
                                 const struct files_content *known, bool *same)
{
    unsigned char hash[FILES_HASH];
    enum files_result result = take_digest(location, fd, hash);

    *same = result == FILES_OK && memcmp(hash, known->hash, FILES_HASH) == 0;
    if (result == FILES_OK && !*same && lseek(fd, 0, SEEK_SET) < 0)
        return location_fail(location, errno);
    return result;
}

/* Reads the file, of SIZE bytes, or takes what is KNOWN, if anything is. */
static enum files_result read_bytes(const struct location *location, int fd,
                                    uint64_t max, uint64_t size,
                                    const struct files_content *known,
                                    struct files_content *out)
{
    enum files_result result = FILES_OK;
    bool same = false;

    if (size > max)
        return location_too_large(location, size, max);
    if (known && known->exists)
        result = compare(location, fd, known, &same);
    if (same) {
        out->bytes = known->bytes;
        memcpy(out->hash, known->hash, FILES_HASH);
        return FILES_OK;
    }
    if (result == FILES_OK)
        result = read_all(location, fd, max, size, &out->bytes);
    if (result != FILES_OK)
        return result;
    return digest_in_steps(location->arena, out->bytes, out->hash) == ST_OK
               ? FILES_OK
               : FILES_NOMEM;
}

/* Reads the file LAST in the folder PARENT into OUT, which may have the name of
   what is KNOWN, or NULL. */
static enum files_result read_at(const struct location *location, int parent,
                                 const char *last, uint64_t max,
                                 const struct files_content *known,
                                 struct files_content *out)
{
    struct stat info;
    int fd = -1;
    enum files_result result = open_file(location, parent, last, &fd, &info);

    if (result != FILES_OK)
        return result;
    result = read_bytes(location, fd, max, (uint64_t)info.st_size, known, out);
    (void)close(fd);
    if (result != FILES_OK)
        return result;
    out->exists = true;
    out->linked = info.st_nlink > 1;
    return FILES_OK;
}

bool file_is_linked(const struct location *location)
{
    char last[NAME_MAX + 1];
    struct stat info;
    int parent =
        location_open_parent(location->workspace, location->name, false, last);
    bool linked = parent >= 0 &&
                  fstatat(parent, last, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                  S_ISREG(info.st_mode) && info.st_nlink > 1;

    if (parent >= 0)
        (void)close(parent); // it was only a folder
    return linked;
}

enum files_result file_read(const struct location *location, uint64_t max,
                            const struct files_content *known,
                            struct files_content *out)
{
    char last[NAME_MAX + 1];
    int parent =
        location_open_parent(location->workspace, location->name, false, last);
    enum files_result result = FILES_MISSING;

    *out = (struct files_content){.name = location->name, .bytes = STR("")};
    if (parent < 0 && errno != ENOENT) {
        out->name = STR("");
        return location_fail(location, errno);
    }
    if (parent >= 0) {
        result = read_at(location, parent, last, max, known, out);
        (void)close(parent);
    }
    if (result == FILES_MISSING) {
        digest_of(out->bytes, out->hash);
        return FILES_OK;
    }
    return result;
}

/* --- Writing -------------------------------------------------------------- */

/* Whether both describe the same content, as far as the system tells. */
static bool same_content(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
           a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
           a->st_ctim.tv_sec == b->st_ctim.tv_sec &&
           a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* Checks that the file is still as EXPECTED says: else FILES_CHANGED. */
static enum files_result check(const struct location *location, int parent,
                               const char *last,
                               const struct files_content *expected)
{
    unsigned char hash[FILES_HASH];
    struct stat before;
    struct stat after;
    int fd = -1;
    bool there = fstatat(parent, last, &before, AT_SYMLINK_NOFOLLOW) == 0;
    enum files_result result = open_file(location, parent, last, &fd, &after);
    bool exists = result == FILES_OK;

    if (exists) {
        result = take_digest(location, fd, hash);
        (void)close(fd);
    }
    if (result == FILES_MISSING)
        result = FILES_OK;
    else if (result == FILES_REFUSED)
        return location_changed(location);
    else if (result != FILES_OK)
        return result;
    if (exists != expected->exists ||
        (exists && memcmp(hash, expected->hash, FILES_HASH) != 0))
        return location_changed(location);
    // others may have written while it was read in steps
    if (there && (fstatat(parent, last, &after, AT_SYMLINK_NOFOLLOW) < 0 ||
                  !same_content(&before, &after)))
        return location_changed(location);
    return result;
}

/* Finds the file that will be replaced: *OLD is INFO, or NULL when there is
   none. */
static enum files_result find_old(const struct location *location, int parent,
                                  const char *last, struct stat *info,
                                  const struct stat **old)
{
    *old = NULL;
    if (fstatat(parent, last, info, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? FILES_OK : location_fail(location, errno);
    if (!S_ISREG(info->st_mode))
        return location_changed(location);
    if ((info->st_mode & 0222) == 0)
        return location_refuse(location, FILES_FAILED,
                               "the file is read-only.");
    if (faccessat(parent, last, W_OK, AT_EACCESS) < 0)
        return location_fail(location, errno);
    *old = info;
    return FILES_OK;
}

/* A descriptor that holds the file LAST, whose stat(2) is INFO, so that it does
   not end with its name, which takes long when it is large. -1: none. */
static int hold(int parent, const char *last, const struct stat *info)
{
    if (!info || info->st_size < LIMIT_FREED)
        return -1;
    return openat(parent, last, O_PATH | O_NOFOLLOW | O_CLOEXEC);
}

static enum files_result replace(const struct location *location, int parent,
                                 const char *last,
                                 const struct files_content *expected,
                                 struct str bytes)
{
    struct replacement file;
    struct stat info;
    const struct stat *old;
    enum files_result result = find_old(location, parent, last, &info, &old);

    if (result != FILES_OK)
        return result;
    int error = replace_write(location->arena, parent, last, old, bytes, &file);
    if (error != 0)
        return location_fail(location, error);
    result = check(location, parent, last, expected);
    int held = hold(parent, last, old);
    if (result == FILES_OK)
        error = replace_move(parent, &file, last, !expected->exists);
    if (held >= 0)
        disk_close(held);
    if (result == FILES_OK && error == 0) {
        // the name; the content is on the disk already
        (void)disk_sync(location->arena, parent);
        return FILES_OK;
    }
    (void)unlinkat(parent, file.name, 0);
    if (error == EEXIST || error == ESTALE)
        return location_changed(location);
    return error == 0 ? result : location_fail(location, error);
}

/* Takes the last name off NAME, and the slash before it. */
static void cut_last(struct str *name)
{
    while (name->n > 0 && name->p[name->n - 1] != '/')
        name->n--;
    name->n -= name->n > 0;
}

/* Removes the folders of NAME that were made for it: those whose path is longer
   than KEPT bytes. One that is not empty stays. */
static void remove_made(const struct workspace *workspace, struct str name,
                        size_t kept)
{
    for (cut_last(&name); name.n > kept; cut_last(&name)) {
        char last[NAME_MAX + 1];
        int parent = location_open_parent(workspace, name, false, last);

        if (parent < 0)
            return;
        (void)unlinkat(parent, last, AT_REMOVEDIR);
        (void)close(parent);
    }
}

/* Bytes of the longest path at the start of NAME that exists. */
static size_t find_existing(const struct workspace *workspace, struct str name)
{
    for (; name.n > 0; cut_last(&name)) {
        char last[NAME_MAX + 1];
        struct stat info;
        int parent = location_open_parent(workspace, name, false, last);
        bool exists = parent >= 0 &&
                      fstatat(parent, last, &info, AT_SYMLINK_NOFOLLOW) == 0;

        if (parent >= 0)
            (void)close(parent);
        if (exists)
            break;
    }
    return name.n;
}

enum files_result file_write(const struct location *location,
                             const struct files_content *expected,
                             struct str bytes)
{
    const struct workspace *workspace = location->workspace;
    struct str name = location->name;
    char last[NAME_MAX + 1];
    size_t existing = find_existing(workspace, name);
    int parent = location_open_parent(workspace, name, true, last);
    enum files_result result =
        parent < 0 ? location_fail(location, errno)
                   : replace(location, parent, last, expected, bytes);

    if (parent >= 0)
        (void)close(parent);
    if (result != FILES_OK)
        remove_made(workspace, name, existing);
    return result;
}

/* --- Removing and moving -------------------------------------------------- */

/* Checks that LAST in PARENT is the file EXPECTED still, and may be changed. */
static enum files_result check_old(const struct location *location, int parent,
                                   const char *last,
                                   const struct files_content *expected)
{
    struct stat info;
    const struct stat *old;
    enum files_result result = find_old(location, parent, last, &info, &old);

    if (result != FILES_OK)
        return result;
    return old ? check(location, parent, last, expected)
               : location_fail(location, ENOENT);
}

enum files_result file_remove(const struct location *location,
                              const struct files_content *expected)
{
    char last[NAME_MAX + 1];
    int parent =
        location_open_parent(location->workspace, location->name, false, last);

    if (parent < 0)
        return location_fail(location, errno);
    enum files_result result = check_old(location, parent, last, expected);
    struct stat info = {.st_size = LIMIT_FREED};
    int held = hold(parent, last, &info);
    if (result == FILES_OK && unlinkat(parent, last, 0) < 0)
        result = location_fail(location, errno);
    if (held >= 0)
        disk_close(held);
    if (result == FILES_OK)
        (void)disk_sync(location->arena, parent);
    (void)close(parent);
    return result;
}

/* Renames FROM in the folder PARENT to TO, if nothing has that name. */
static enum files_result move_to(int parent, const char *from,
                                 const struct location *to)
{
    char last[NAME_MAX + 1];
    size_t existing = find_existing(to->workspace, to->name);
    int target = location_open_parent(to->workspace, to->name, true, last);

    if (target < 0)
        return location_fail(to, errno);
    int error = replace_rename(parent, from, target, last);
    enum files_result result = FILES_OK;
    if (error == EEXIST)
        result = location_refuse(to, FILES_REFUSED,
                                 "something has this name already.");
    else if (error == EXDEV)
        result =
            location_refuse(to, FILES_FAILED, "it is on another file system.");
    else if (error != 0)
        result = location_fail(to, error);
    (void)disk_sync(to->arena, target);
    (void)close(target);
    if (result != FILES_OK)
        remove_made(to->workspace, to->name, existing);
    return result;
}

enum files_result file_move(const struct location *from,
                            const struct files_content *expected,
                            const struct location *to)
{
    char last[NAME_MAX + 1];
    int parent = location_open_parent(from->workspace, from->name, false, last);

    if (parent < 0)
        return location_fail(from, errno);
    enum files_result result = check_old(from, parent, last, expected);
    if (result == FILES_OK)
        result = move_to(parent, last, to);
    if (result == FILES_OK)
        (void)disk_sync(from->arena, parent);
    (void)close(parent);
    return result;
}
