/* SPDX-License-Identifier: GPL-3.0-or-later */
/* location.c: a path is resolved once and checked; from then on its name is
   walked from the descriptor of the root without following a link: whoever
   swaps a name for a link meanwhile gets a refusal. */
#include "host/location.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/units.h"
#include "base/utf8.h"
#include "files/secrets.h"
#include "host/home.h"
#include "host/resolve.h"

/* Characters of a path that a message shows. */
#define SHOWN_CHARS 200

/* --- Refusals ------------------------------------------------------------- */

enum files_result location_refuse(const struct location *location,
                                  enum files_result result, const char *what)
{
    struct buf text = BUF_EMPTY;

    utf8_append_visible(&text, utf8_head(location->asked, SHOWN_CHARS));
    buf_printf(&text, ": %s", what);
    return arena_take(location->arena, &text, location->problem) == ST_OK
               ? result
               : FILES_NOMEM;
}

enum files_result location_fail(const struct location *location, int error)
{
    switch (error) {
    case ENOMEM:
        return FILES_NOMEM;
    case ENOENT:
    case ENOTDIR:
        return location_refuse(location, FILES_MISSING,
                               "there is no such file or folder.");
    case ELOOP:
        return location_refuse(location, FILES_REFUSED,
                               "a symbolic link is in the way: it appeared "
                               "during the call, or links form a loop.");
    case EACCES:
    case EPERM:
        return location_refuse(location, FILES_FAILED, "permission denied.");
    case ENOSPC:
    case EDQUOT:
        return location_refuse(location, FILES_FAILED, "the disk is full.");
    case EFBIG:
        return location_refuse(location, FILES_FAILED,
                               "the system does not allow a file this large.");
    case EROFS:
        return location_refuse(location, FILES_FAILED,
                               "the file system is read-only.");
    case ENAMETOOLONG:
        return location_refuse(location, FILES_REFUSED,
                               "the name is too long.");
    default:
        return location_refuse(location, FILES_FAILED, strerror(error));
    }
}

enum files_result location_too_large(const struct location *location,
                                     uint64_t size, uint64_t max)
{
    char text[2 * UNITS_TEXT + 80];
    char words[UNITS_TEXT];

    (void)snprintf(text, sizeof text, "it has %llu bytes; the limit is %s.",
                   (unsigned long long)size, units_size(max, words));
    return location_refuse(location, FILES_REFUSED, text);
}

enum files_result location_changed(const struct location *location)
{
    return location_refuse(location, FILES_CHANGED,
                           "it has changed meanwhile.");
}

/* --- Paths ---------------------------------------------------------------- */

bool location_below(const struct workspace *workspace, const char *real,
                    struct str *out)
{
    size_t n = strlen(workspace->root);

    if (strncmp(real, workspace->root, n) != 0 ||
        (real[n] != '/' && real[n] != '\0'))
        return false;
    *out = str_from(real + n + (real[n] == '/'));
    return true;
}

static enum files_result refuse_outside(const struct location *location)
{
    const char *root = location->workspace->root;
    struct str text = arena_printf(
        location->arena,
        "it is outside the workspace, which is %s. Tools can use only what is "
        "in it.",
        root[0] != '\0' ? root : "/");

    return text.n == 0 ? FILES_NOMEM
                       : location_refuse(location, FILES_REFUSED, text.p);
}

bool location_is_secret(const struct workspace *workspace, struct str name)
{
    char path[2 * PATH_MAX];
    const char *start = workspace->in_home;
    int n = snprintf(path, sizeof path, "%s%s%.*s", start,
                     start[0] != '\0' && name.n > 0 ? "/" : "", STR_ARG(name));

    if (n < 0 || (size_t)n >= sizeof path)
        return true;
    // this finds all that is found in the part of the path that is NAME
    return secrets_match(str_make(path, (size_t)n), workspace->secrets);
}

/* Sets the name of LOCATION to a copy of NAME, unless it may hold secrets. */
static enum files_result set_name(struct location *location, struct str name)
{
    if (location_is_secret(location->workspace, name))
        return location_refuse(
            location, FILES_REFUSED,
            "it may hold secrets, so no tool reads or changes it.");
    return arena_str(location->arena, name, &location->name) == ST_OK
               ? FILES_OK
               : FILES_NOMEM;
}

enum files_result location_take(struct location *location, struct str name)
{
    return set_name(location, str_eq(name, STR(".")) ? STR("") : name);
}

enum files_result location_find(struct location *location)
{
    struct str asked = location->asked;
    const char *root = location->workspace->root;

    if (asked.n == 0 || memchr(asked.p, '\0', asked.n))
        return location_refuse(location, FILES_REFUSED,
                               "a path must not be empty, and must not contain "
                               "a NUL.");
    const char *from = asked.p[0] == '/' ? "" : root;
    struct str rest = asked;
    if (asked.p[0] == '~' && (asked.n == 1 || asked.p[1] == '/')) {
        rest = str_make(asked.p + 1, asked.n - 1);
        from = home_folder();
        if (!from)
            return location_refuse(location, FILES_REFUSED,
                                   "there is no home folder.");
    }
    char path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%s%s%.*s", from,
                     from[0] != '\0' ? "/" : "", STR_ARG(rest));
    if (n < 0 || n >= PATH_MAX)
        return location_fail(location, ENAMETOOLONG);
    char real[PATH_MAX];
    bool missing;
    int error = resolve_path(path, real, &missing);
    if (error != 0)
        return location_fail(location, error);
    struct str name;
    if (!location_below(location->workspace, real, &name))
        return refuse_outside(location);
    enum files_result result = set_name(location, name);
    // a slash at the end means a folder, and folders are not made by name
    if (result == FILES_OK && missing && path[n - 1] == '/')
        return location_fail(location, ENOENT);
    return result;
}

/* --- Walking -------------------------------------------------------------- */

/* Takes the name at the start of *REST as a C string. 0 or an errno: it is
   empty, too long, or leads elsewhere. */
static int take_name(struct str *rest, char name[NAME_MAX + 1])
{
    size_t n = 0;

    while (n < rest->n && rest->p[n] != '/')
        n++;
    if (n > NAME_MAX)
        return ENAMETOOLONG;
    if (n == 0 || str_eq(str_make(rest->p, n), STR(".")) ||
        str_eq(str_make(rest->p, n), STR("..")))
        return EINVAL;
    memcpy(name, rest->p, n);
    name[n] = '\0';
    n += n < rest->n;
    *rest = str_make(rest->p + n, rest->n - n);
    return 0;
}

/* Closes FD and keeps errno. Returns -1. */
static int close_failed(int fd)
{
    int error = errno;

    (void)close(fd); // it was only a folder
    errno = error;
    return -1;
}

/* Opens the folder NAME in the folder PARENT. A descriptor or -1; a link is
   ELOOP. */
static int enter(int parent, const char *name)
{
    struct stat info;
    int fd =
        openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0 || errno != ENOTDIR)
        return fd;
    bool link = fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
                S_ISLNK(info.st_mode);
    errno = link ? ELOOP : ENOTDIR;
    return -1;
}

int location_open_parent(const struct workspace *workspace, struct str name,
                         bool make, char last[NAME_MAX + 1])
{
    int fd = openat(workspace->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct str rest = name;

    memcpy(last, ".", 2);
    while (fd >= 0 && rest.n > 0) {
        errno = take_name(&rest, last);
        if (errno != 0)
            return close_failed(fd);
        if (rest.n == 0)
            break;
        if (make && mkdirat(fd, last, 0777) < 0 && errno != EEXIST)
            return close_failed(fd);
        int next = enter(fd, last);
        (void)close_failed(fd);
        fd = next;
    }
    return fd;
}
