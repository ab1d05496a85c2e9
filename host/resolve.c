/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resolve.c: realpath(3), also for what does not exist yet. */
#include "host/resolve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Takes the last name off PATH; false when nothing is left to take. */
static bool cut_last(char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash || slash == path)
        return false;
    *slash = '\0';
    return true;
}

/* Whether the names after the first N bytes of PATH could be created: none is
   "." or "..". */
static bool is_plain(const char *path, size_t n)
{
    for (const char *p = path + n; *p != '\0';) {
        p += *p == '/';
        size_t length = strcspn(p, "/");
        if (length == 0 || (length == 1 && p[0] == '.') ||
            (length == 2 && p[0] == '.' && p[1] == '.'))
            return false;
        p += length;
    }
    return true;
}

/* Resolves PATH (absolute) as far as it exists; the rest follows as it stands.
   Returns 0 or an errno. */
static int resolve_new(const char *path, char out[PATH_MAX])
{
    char part[PATH_MAX];
    int error = ENOENT;

    memcpy(part, path, strlen(path) + 1);
    while (error == ENOENT && cut_last(part))
        error = realpath(part, out) ? 0 : errno;
    if (error == ENOENT) { // only "/" exists of it
        part[0] = '\0';
        out[0] = '\0';
        error = 0;
    }
    if (error != 0)
        return error;
    if (!is_plain(path, strlen(part)))
        return ENOENT;
    size_t n = strcmp(out, "/") == 0 ? 0 : strlen(out);
    if (n + strlen(path + strlen(part)) >= PATH_MAX)
        return ENAMETOOLONG;
    memcpy(out + n, path + strlen(part), strlen(path + strlen(part)) + 1);
    return 0;
}

int resolve_path(const char *path, char out[PATH_MAX], bool *missing)
{
    bool found = realpath(path, out) != NULL;

    *missing = !found && errno == ENOENT;
    if (found)
        return 0;
    return *missing ? resolve_new(path, out) : errno;
}
