/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exposure.c: the rules of the sandbox, seen from the other side: it makes
   neither a folder that contains the home writable, nor secrets. */
#include "host/exposure.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/secrets.h"

bool exposure_find_path(int fd, char path[PATH_MAX])
{
    char link[32];

    (void)snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, path, PATH_MAX - 1);
    if (n <= 0 || path[0] != '/')
        return false;
    path[n] = '\0';
    return true;
}

/* Writes PATH without links to OUT; empty when there is no such folder. */
static void resolve(const char *path, char out[PATH_MAX])
{
    if (!path || path[0] != '/' || !realpath(path, out))
        out[0] = '\0';
}

/* Whether PATH is FOLDER (empty: none) or lies in it. */
static bool lies_in(const char *path, const char *folder)
{
    size_t n = strcmp(folder, "/") == 0 ? 0 : strlen(folder);

    return folder[0] == '/' && strncmp(path, folder, n) == 0 &&
           (path[n] == '/' || path[n] == '\0');
}

/* The cache of compiled files. */
static void find_cache(const char *home, char out[PATH_MAX])
{
    const char *caches = getenv("XDG_CACHE_HOME");
    char path[PATH_MAX];
    int n;

    if (caches && caches[0] == '/')
        n = snprintf(path, sizeof path, "%s/common-lisp", caches);
    else
        n = snprintf(path, sizeof path, "%s/.cache/common-lisp", home);
    resolve(n < (int)sizeof path ? path : NULL, out);
}

const char *exposure_of_file(int fd, const struct workspace *workspace)
{
    char path[PATH_MAX];
    char home[PATH_MAX];
    char folder[PATH_MAX];

    if (!exposure_find_path(fd, path))
        return "is in an unknown place: /proc is missing";
    resolve(getenv("HOME"), home);
    bool spared = home[0] != '\0' && lies_in(path, home) &&
                  secrets_match(str_from(path + 1), NULL);
    if (workspace && workspace_contains(workspace, path) &&
        !(spared && workspace_contains(workspace, home)))
        return "lies in the workspace, where the agent could change it (start "
               "ecl-mcp with --workspace and a folder that does not contain "
               "it)";
    find_cache(home, folder);
    if (lies_in(path, folder))
        return "lies in the cache of compiled files, where evaluated code "
               "could change it";
    return NULL;
}
