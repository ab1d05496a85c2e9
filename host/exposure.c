/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exposure.c: the rules of the sandbox, seen from the other side: it makes
   neither a folder writable that contains the home or secrets of the home, nor
   secrets. */
#include "host/exposure.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/secrets.h"
#include "host/home.h"

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
        n = snprintf(path, sizeof path, "%s/ecl-mcp", caches);
    else
        n = snprintf(path, sizeof path, "%s/.cache/ecl-mcp", home);
    resolve(n < (int)sizeof path ? path : NULL, out);
}

const char *exposure_of_path(const char *path,
                             const struct workspace *workspace)
{
    char home[PATH_MAX];
    char folder[PATH_MAX];
    struct str name;
    // a workspace that holds a secret of the home is not writable for code, and
    // the tools for files change no secrets
    bool spared = home_below(path, &name) && secrets_match(name, NULL);

    if (workspace && workspace_contains(workspace, path) && !spared)
        return "lies in the workspace, where the agent could change it (start "
               "ecl-mcp with --workspace and a folder that does not contain "
               "it)";
    resolve(getenv("HOME"), home);
    find_cache(home, folder);
    if (lies_in(path, folder))
        return "lies in the cache of compiled files, where evaluated code "
               "could change it";
    return NULL;
}

const char *exposure_of_file(int fd, const struct workspace *workspace)
{
    char path[PATH_MAX];

    if (!exposure_find_path(fd, path))
        return "is in an unknown place: /proc is missing";
    return exposure_of_path(path, workspace);
}
