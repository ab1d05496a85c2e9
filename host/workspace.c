/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workspace.c: every path is resolved, looked at, and then walked name by name
   from the root's descriptor without following a link: who swaps one meanwhile
   gets a refusal. */
#include "host/workspace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/units.h"
#include "base/utf8.h"
#include "files/secrets.h"
#include "host/replace.h"
#include "host/resolve.h"

/* Characters of a path that a message shows. */
#define SHOWN_CHARS 200

struct workspace {
    int fd;              /* of the root */
    char root[PATH_MAX]; /* absolute, links resolved; empty for "/" */
    const char *const *secrets;
    unsigned temporary; /* number of the last temporary file */
};

/* One operation on one path. */
struct job {
    struct workspace *workspace;
    struct arena *arena;
    struct str asked;    /* the path as the model wrote it */
    struct str name;     /* from the root, links resolved; empty is the root */
    struct str *problem; /* out */
};

/* --- Refusals --------------------------------------------------------------
 */

static enum files_result say(const struct job *job, enum files_result result,
                             const char *what)
{
    struct buf text = BUF_EMPTY;

    utf8_append_visible(&text, utf8_head(job->asked, SHOWN_CHARS));
    buf_printf(&text, ": %s", what);
    return arena_take(job->arena, &text, job->problem) == ST_OK ? result
                                                                : FILES_NOMEM;
}

static enum files_result fail(const struct job *job, int error)
{
    switch (error) {
    case ENOMEM:
        return FILES_NOMEM;
    case ENOENT:
    case ENOTDIR:
        return say(job, FILES_MISSING, "there is no such file or folder.");
    case ELOOP:
        return say(
            job, FILES_REFUSED,
            "a symbolic link is in the way: it was put there meanwhile, or "
            "links lead in a circle.");
    case EACCES:
    case EPERM:
        return say(job, FILES_FAILED, "permission denied.");
    case ENOSPC:
    case EDQUOT:
        return say(job, FILES_FAILED, "the disk is full.");
    case EFBIG:
        return say(job, FILES_FAILED,
                   "the system allows no file of this size.");
    case EROFS:
        return say(job, FILES_FAILED, "the file system is read-only.");
    case ENAMETOOLONG:
        return say(job, FILES_REFUSED, "the name is too long.");
    default:
        return say(job, FILES_FAILED, strerror(error));
    }
}

static enum files_result too_large(const struct job *job, uint64_t size,
                                   uint64_t max)
{
    char text[2 * UNITS_TEXT + 80];
    char words[UNITS_TEXT];

    (void)snprintf(text, sizeof text, "it has %llu bytes; the limit is %s.",
                   (unsigned long long)size, units_size(max, words));
    return say(job, FILES_REFUSED, text);
}

/* --- Paths -----------------------------------------------------------------
 */

/* The part of the absolute path REAL below the root, or false. */
static bool find_below(const struct workspace *workspace, const char *real,
                       struct str *out)
{
    size_t n = strlen(workspace->root);

    if (strncmp(real, workspace->root, n) != 0 ||
        (real[n] != '/' && real[n] != '\0'))
        return false;
    *out = str_from(real + n + (real[n] == '/'));
    return true;
}

bool workspace_contains(const struct workspace *workspace, const char *path)
{
    struct str name;

    return find_below(workspace, path, &name);
}

static enum files_result outside(const struct job *job)
{
    struct str text = arena_printf(
        job->arena,
        "it lies outside the workspace, which is %s. Only what is in there can "
        "be used.",
        job->workspace->root[0] != '\0' ? job->workspace->root : "/");

    return text.n == 0 ? FILES_NOMEM : say(job, FILES_REFUSED, text.p);
}

static enum files_result locate_real(struct job *job, const char *real)
{
    struct str name;

    if (!find_below(job->workspace, real, &name))
        return outside(job);
    if (secrets_match(name, job->workspace->secrets))
        return say(job, FILES_REFUSED,
                   "it may hold secrets, so no tool reads or changes it.");
    return arena_str(job->arena, name, &job->name) == ST_OK ? FILES_OK
                                                            : FILES_NOMEM;
}

/* Sets job->name; with MAY_MISS what it names need not be there. */
static enum files_result locate(struct job *job, bool may_miss)
{
    struct str asked = job->asked;
    const char *root = job->workspace->root;
    char path[PATH_MAX];
    char real[PATH_MAX];
    bool missing;
    int error;

    if (asked.n == 0 || memchr(asked.p, '\0', asked.n))
        return say(job, FILES_REFUSED,
                   "a path has at least one character, and none is NUL.");
    bool absolute = asked.p[0] == '/';
    int n = snprintf(path, sizeof path, "%s%s%.*s", absolute ? "" : root,
                     absolute ? "" : "/", STR_ARG(asked));
    if (n < 0 || n >= PATH_MAX)
        return fail(job, ENAMETOOLONG);
    error = resolve_path(path, real, &missing);
    if (error != 0)
        return fail(job, error);
    enum files_result result = locate_real(job, real);
    // a slash at the end says that a folder is meant; there is no new one
    if (result == FILES_OK && missing && (!may_miss || path[n - 1] == '/'))
        return fail(job, ENOENT);
    return result;
}

static enum files_result locate_file(void *context, struct arena *arena,
                                     struct str path, struct str *name,
                                     struct str *problem)
{
    struct job job = {context, arena, path, STR(""), problem};
    enum files_result result = locate(&job, true);

    if (result == FILES_OK)
        *name = job.name.n > 0 ? job.name : STR(".");
    return result;
}

/* --- Descriptors -----------------------------------------------------------
 */

/* The name at the start of *REST as a C string; false when there is none or it
   is too long. */
static bool take_name(struct str *rest, char name[NAME_MAX + 1])
{
    size_t n = 0;

    while (n < rest->n && rest->p[n] != '/')
        n++;
    if (n == 0 || n > NAME_MAX)
        return false;
    memcpy(name, rest->p, n);
    name[n] = '\0';
    n += n < rest->n;
    *rest = str_make(rest->p + n, rest->n - n);
    return true;
}

/* Opens the folder in which NAME's last name stands, and copies that to LAST;
   "." for the root itself. With MAKE, folders that are missing are made. A
   descriptor or -1. */
static int open_parent(const struct workspace *workspace, struct str name,
                       bool make, char last[NAME_MAX + 1])
{
    int fd = openat(workspace->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct str rest = name;

    memcpy(last, ".", 2);
    while (fd >= 0 && rest.n > 0) {
        int next;

        if (!take_name(&rest, last)) {
            (void)close(fd);
            errno = ENAMETOOLONG;
            return -1;
        }
        if (rest.n == 0)
            break;
        if (make && mkdirat(fd, last, 0777) < 0 && errno != EEXIST) {
            int error = errno;

            (void)close(fd);
            errno = error;
            return -1;
        }
        next =
            openat(fd, last, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        int error = errno;
        (void)close(fd);
        errno = error;
        fd = next;
    }
    return fd;
}

static const char *kind_of(mode_t mode)
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
        return "a symbolic link came in the way while it was opened.";
    default:
        return "it is no file.";
    }
}

/* Files of these systems are made up by the kernel and may have effects. */
static bool is_made_up(int fd)
{
    struct statfs info;

    return fstatfs(fd, &info) == 0 &&
           (info.f_type == PROC_SUPER_MAGIC || info.f_type == SYSFS_MAGIC);
}

/* Opens the regular file LAST in the folder PARENT. */
static enum files_result open_file(const struct job *job, int parent,
                                   const char *last, int *fd, struct stat *info)
{
    if (fstatat(parent, last, info, AT_SYMLINK_NOFOLLOW) < 0)
        return fail(job, errno);
    if (!S_ISREG(info->st_mode))
        return say(job, FILES_REFUSED, kind_of(info->st_mode));
    *fd = openat(parent, last,
                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (*fd < 0)
        return fail(job, errno);
    if (fstat(*fd, info) == 0 && S_ISREG(info->st_mode) && !is_made_up(*fd))
        return FILES_OK;
    (void)close(*fd);
    return say(job, FILES_REFUSED, "it is no ordinary file.");
}

/* --- Reading ---------------------------------------------------------------
 */

static enum files_result read_all(const struct job *job, int fd, uint64_t max,
                                  uint64_t size, struct str *out)
{
    struct buf bytes = BUF_EMPTY;
    ssize_t n = 1;

    (void)buf_reserve_exact(&bytes, (size_t)size + 1);
    while (n > 0 && bytes.n <= max) {
        char *room = buf_reserve(&bytes, 65536);

        n = room ? read(fd, room, 65536) : -1;
        if (n > 0)
            bytes.n += (size_t)n;
        else if (n < 0 && errno == EINTR && room)
            n = 1;
    }
    int error = n < 0 && !buf_failed(&bytes) ? errno : 0;
    enum files_result result = FILES_OK;
    if (error != 0)
        result = fail(job, error);
    else if (bytes.n > max)
        result = too_large(job, bytes.n, max);
    else if (buf_failed(&bytes) ||
             arena_str(job->arena, buf_view(&bytes), out) != ST_OK)
        result = FILES_NOMEM;
    buf_release(&bytes);
    return result;
}

static enum files_result read_at(const struct job *job, int parent,
                                 const char *last, uint64_t max,
                                 struct files_content *out)
{
    struct stat info;
    int fd = -1;
    enum files_result result = open_file(job, parent, last, &fd, &info);

    if (result != FILES_OK)
        return result;
    if ((uint64_t)info.st_size > max)
        result = too_large(job, (uint64_t)info.st_size, max);
    else
        result = read_all(job, fd, max, (uint64_t)info.st_size, &out->bytes);
    (void)close(fd);
    if (result == FILES_OK) {
        out->exists = true;
        digest_of(out->bytes, out->hash);
    }
    return result;
}

/* Reads the file of JOB, whose name is set; one that is missing is empty. */
static enum files_result read_located(const struct job *job, uint64_t max,
                                      struct files_content *out)
{
    char last[NAME_MAX + 1];
    int parent = open_parent(job->workspace, job->name, false, last);
    enum files_result result = FILES_MISSING;

    *out = (struct files_content){.name = job->name, .bytes = STR("")};
    if (parent < 0 && errno != ENOENT)
        return fail(job, errno);
    if (parent >= 0) {
        result = read_at(job, parent, last, max, out);
        (void)close(parent);
    }
    if (result == FILES_MISSING) {
        digest_of(out->bytes, out->hash);
        return FILES_OK;
    }
    return result;
}

static enum files_result read_file(void *context, struct arena *arena,
                                   struct str path, uint64_t max,
                                   struct files_content *out,
                                   struct str *problem)
{
    struct job job = {context, arena, path, STR(""), problem};
    enum files_result result = locate(&job, true);

    *out = (struct files_content){.name = STR("")};
    if (result == FILES_OK)
        result = read_located(&job, max, out);
    if (result == FILES_OK && !out->exists)
        return fail(&job, ENOENT);
    return result;
}

/* --- Folders ---------------------------------------------------------------
 */

static enum files_kind kind_in_list(mode_t mode)
{
    if (S_ISREG(mode))
        return FILES_FILE;
    if (S_ISDIR(mode))
        return FILES_FOLDER;
    return S_ISLNK(mode) ? FILES_LINK : FILES_OTHER;
}

static int by_name(const void *a, const void *b)
{
    const struct files_entry *one = a;
    const struct files_entry *other = b;

    return strcmp(one->name.p, other->name.p); // both end with a NUL
}

static bool is_secret(const struct job *job, struct str name)
{
    struct str path = name;

    if (job->name.n > 0)
        path = arena_printf(job->arena, "%.*s/%.*s", STR_ARG(job->name),
                            STR_ARG(name));
    return path.n == 0 || secrets_match(path, job->workspace->secrets);
}

/* Fills the next entry of OUT for NAME in FOLDER; what has gone meanwhile is
   left out. */
static enum files_result add_entry(const struct job *job, DIR *folder,
                                   const char *name, struct files_folder *out)
{
    struct files_entry *entry = &out->entries[out->count];
    struct stat info;

    if (fstatat(dirfd(folder), name, &info, AT_SYMLINK_NOFOLLOW) < 0)
        return FILES_OK;
    if (arena_str(job->arena, str_from(name), &entry->name) != ST_OK)
        return FILES_NOMEM;
    entry->kind = kind_in_list(info.st_mode);
    entry->size = (uint64_t)info.st_size;
    entry->changed_ms =
        (int64_t)info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1000000;
    entry->secret = is_secret(job, entry->name);
    out->count++;
    return FILES_OK;
}

static enum files_result read_folder(const struct job *job, DIR *folder,
                                     struct files_folder *out)
{
    enum files_result result = FILES_OK;
    struct dirent *found;

    out->entries =
        arena_array(job->arena, LIMIT_FOLDER_ENTRIES, sizeof *out->entries);
    if (!out->entries)
        return FILES_NOMEM;
    while (result == FILES_OK && (found = readdir(folder)) != NULL) {
        if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0)
            continue;
        if (out->count == LIMIT_FOLDER_ENTRIES) {
            out->cut = true;
            break;
        }
        result = add_entry(job, folder, found->d_name, out);
    }
    qsort(out->entries, out->count, sizeof *out->entries, by_name);
    return result;
}

static enum files_result list_located(const struct job *job,
                                      struct files_folder *out)
{
    char last[NAME_MAX + 1];
    int parent = open_parent(job->workspace, job->name, false, last);
    DIR *folder = NULL;
    int fd = -1;
    int error;

    if (parent >= 0)
        fd = openat(parent, last,
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        folder = fdopendir(fd);
    error = errno;
    if (parent >= 0)
        (void)close(parent);
    if (!folder) {
        if (fd >= 0)
            (void)close(fd);
        return error == ENOTDIR ? say(job, FILES_REFUSED, "it is no folder.")
                                : fail(job, error);
    }
    *out =
        (struct files_folder){.name = job->name.n > 0 ? job->name : STR(".")};
    enum files_result result = read_folder(job, folder, out);
    (void)closedir(folder);
    return result;
}

static enum files_result list_folder(void *context, struct arena *arena,
                                     struct str path, struct files_folder *out,
                                     struct str *problem)
{
    struct job job = {context, arena, path, STR(""), problem};
    enum files_result result = locate(&job, false);

    return result == FILES_OK ? list_located(&job, out) : result;
}

/* --- Writing ---------------------------------------------------------------
 */

static enum files_result changed(const struct job *job)
{
    return say(job, FILES_CHANGED, "it was changed meanwhile.");
}

/* Whether the file is still as EXPECTED says; FILES_CHANGED when not. */
static enum files_result check(const struct job *job, int parent,
                               const char *last,
                               const struct files_content *expected)
{
    struct files_content now = {.bytes = STR("")};
    enum files_result result = read_at(job, parent, last, LIMIT_FILE, &now);

    if (result == FILES_MISSING)
        result = FILES_OK;
    else if (result == FILES_REFUSED)
        return changed(job);
    else if (result != FILES_OK)
        return result;
    if (now.exists != expected->exists ||
        (now.exists && memcmp(now.hash, expected->hash, FILES_HASH) != 0))
        return changed(job);
    return result;
}

/* What becomes of an existing file; NULL when it is new. */
static enum files_result look(const struct job *job, int parent,
                              const char *last, struct stat *info,
                              const struct stat **old)
{
    *old = NULL;
    if (fstatat(parent, last, info, AT_SYMLINK_NOFOLLOW) < 0)
        return errno == ENOENT ? FILES_OK : fail(job, errno);
    if (!S_ISREG(info->st_mode))
        return changed(job);
    if ((info->st_mode & 0222) == 0 ||
        faccessat(parent, last, W_OK, AT_EACCESS) < 0)
        return say(job, FILES_FAILED, "the file is read-only.");
    *old = info;
    return FILES_OK;
}

static enum files_result replace(const struct job *job, int parent,
                                 const char *last,
                                 const struct files_content *expected,
                                 struct str bytes)
{
    char temporary[REPLACE_NAME];
    struct stat info;
    const struct stat *old;
    enum files_result result = look(job, parent, last, &info, &old);

    if (result != FILES_OK)
        return result;
    int error = replace_write(parent, last, old, bytes,
                              &job->workspace->temporary, temporary);
    if (error != 0)
        return fail(job, error);
    result = check(job, parent, last, expected);
    if (result == FILES_OK)
        error = replace_move(parent, temporary, last, !expected->exists);
    if (result == FILES_OK && error == 0) {
        (void)fsync(parent); // the name; the content is safe already
        return FILES_OK;
    }
    (void)unlinkat(parent, temporary, 0);
    if (error == EEXIST)
        return changed(job);
    return error == 0 ? result : fail(job, error);
}

/* Removes the folders of NAME that were made for it: those whose path is longer
   than KEPT bytes. One that is not empty stays. */
static void remove_made(const struct workspace *workspace, struct str name,
                        size_t kept)
{
    while (name.n > 0) {
        char last[NAME_MAX + 1];

        while (name.n > 0 && name.p[name.n - 1] != '/')
            name.n--;
        name.n -= name.n > 0;
        if (name.n <= kept)
            return;
        int parent = open_parent(workspace, name, false, last);
        if (parent < 0)
            return;
        (void)unlinkat(parent, last, AT_REMOVEDIR);
        (void)close(parent);
    }
}

/* Bytes of the longest path at the start of NAME that is there. */
static size_t find_existing(const struct workspace *workspace, struct str name)
{
    while (name.n > 0) {
        char last[NAME_MAX + 1];
        struct stat info;
        int parent = open_parent(workspace, name, false, last);
        bool there = parent >= 0 &&
                     fstatat(parent, last, &info, AT_SYMLINK_NOFOLLOW) == 0;

        if (parent >= 0)
            (void)close(parent);
        if (there)
            break;
        while (name.n > 0 && name.p[name.n - 1] != '/')
            name.n--;
        name.n -= name.n > 0;
    }
    return name.n;
}

static enum files_result write_file(void *context, struct arena *arena,
                                    const struct files_content *expected,
                                    struct str bytes, struct str *problem)
{
    struct job job = {context, arena, expected->name, STR(""), problem};
    char last[NAME_MAX + 1];
    enum files_result result = locate(&job, true);

    if (result != FILES_OK)
        return result;
    if (!str_eq(job.name, expected->name))
        return changed(&job); // a link stands where none was
    size_t existing = find_existing(job.workspace, job.name);
    int parent = open_parent(job.workspace, job.name, true, last);
    result = parent < 0 ? fail(&job, errno)
                        : replace(&job, parent, last, expected, bytes);
    if (parent >= 0)
        (void)close(parent);
    if (result != FILES_OK)
        remove_made(job.workspace, job.name, existing);
    return result;
}

/* --- The workspace ---------------------------------------------------------
 */

bool workspace_takes_secret(const char *pattern)
{
    return secrets_is_pattern(str_from(pattern));
}

struct workspace *workspace_new(const char *root, const char *const *secrets)
{
    struct workspace *workspace = calloc(1, sizeof *workspace);

    if (!workspace)
        return NULL;
    workspace->secrets = secrets;
    workspace->fd = -1;
    if (realpath(root, workspace->root))
        workspace->fd =
            open(workspace->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (workspace->fd < 0) {
        int error = errno;

        workspace_free(workspace);
        errno = error;
        return NULL;
    }
    if (strcmp(workspace->root, "/") == 0)
        workspace->root[0] = '\0';
    return workspace;
}

void workspace_free(struct workspace *workspace)
{
    if (!workspace)
        return;
    if (workspace->fd >= 0)
        (void)close(workspace->fd);
    free(workspace);
}

struct files workspace_files(struct workspace *workspace)
{
    return (struct files){.context = workspace,
                          .root = workspace->root[0] != '\0' ? workspace->root
                                                             : "/",
                          .locate = locate_file,
                          .read = read_file,
                          .list = list_folder,
                          .write = write_file};
}
