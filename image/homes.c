/* SPDX-License-Identifier: GPL-3.0-or-later */
/* homes.c: see homes.h. */
#include "image/homes.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/secrets.h"
#include "image/folders.h"

/* The rest of PATH below FOLDER; NULL when PATH is not inside FOLDER. */
static const char *below(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    if (n == 1) // the root
        return path + 1;
    if (strncmp(path, folder, n) != 0 || (path[n] != '/' && path[n] != '\0'))
        return NULL;
    return path[n] == '/' ? path + n + 1 : path + n;
}

/* Adds the folder PATH, whose secrets have patterns that start with WITHIN,
   unless it is there already. */
static void add_home(struct home homes[HOMES_MAX], const char *path,
                     const char *within)
{
    char real[HOMES_PATH];
    size_t n = 0;

    if (!path || path[0] != '/' || !folders_resolve(path, real))
        return;
    for (; n < HOMES_MAX && homes[n].path[0] != '\0'; n++) {
        const struct home *known = &homes[n];
        const char *rest = below(real, known->path);

        if (rest && known->within[0] == '\0' && strcmp(rest, within) == 0)
            return;
    }
    if (n == HOMES_MAX)
        return;
    memcpy(homes[n].path, real, sizeof real);
    homes[n].within = within;
}

/* The home that the system has for the user; NULL: it was not asked yet. */
static const char *of_user;

void homes_set_user(const char *folder)
{
    of_user = folder;
}

const char *homes_of_user(void)
{
    static char folder[HOMES_PATH];
    const struct passwd *user;

    if (of_user)
        return of_user;
    user = getpwuid(getuid());
    if (user && user->pw_dir && strlen(user->pw_dir) < sizeof folder)
        memcpy(folder, user->pw_dir, strlen(user->pw_dir) + 1);
    of_user = folder;
    return of_user;
}

void homes_find(struct home homes[HOMES_MAX])
{
    for (size_t i = 0; i < HOMES_MAX; i++)
        homes[i] = (struct home){"", ""};
    add_home(homes, getenv("HOME"), "");
    add_home(homes, homes_of_user(), "");
    if (geteuid() == 0)
        add_home(homes, "/root", "");
    add_home(homes, getenv("XDG_CONFIG_HOME"), ".config");
    add_home(homes, getenv("XDG_DATA_HOME"), ".local/share");
    add_home(homes, getenv("XDG_STATE_HOME"), ".local/state");
}

/* Where NAME below HOME is, with the links resolved of what exists of it. False
   when that is too long. */
static bool find_place(const char *home, const char *name,
                       char real[HOMES_PATH])
{
    char path[HOMES_PATH];
    char start[HOMES_PATH]; // of the path, which exists
    int n = snprintf(path, sizeof path, "%s/%s", home, name);

    if (n < 0 || (size_t)n >= sizeof path)
        return false;
    size_t end = (size_t)n;
    memcpy(start, path, end + 1);
    if (path[1] != '/' && folders_lead_straight(path)) { // as most do
        memcpy(real, path, end + 1);
        return true;
    }
    while (end > 0 && !realpath(start, real)) {
        while (end > 0 && start[--end] != '/')
            continue;
        start[end] = '\0';
    }
    size_t used = end > 0 && strcmp(real, "/") != 0 ? strlen(real) : 0;
    size_t rest = (size_t)n - end; // follows as it stands
    if (used + rest >= HOMES_PATH)
        return false;
    memcpy(real + used, path + end, rest + 1);
    return true;
}

/* Forbids those of the N PATHS that are on the way to files of HOME on which
   this program relies, wherever links lead: those are looked up once for all.
 */
static void forbid_own_places(const char *home, const char *const *paths,
                              size_t n, const char **why)
{
    char real[HOMES_PATH];

    for (size_t i = 0; secrets_own_places[i]; i++) {
        if (!find_place(home, secrets_own_places[i], real))
            continue;
        for (size_t j = 0; j < n; j++)
            if (!why[j] && paths[j][0] != '\0' && below(real, paths[j]))
                why[j] = "files on which ecl-mcp relies lie in it";
    }
}

/* Why code must not write to PATH because of HOME; NULL: it may, unless links
   lead there. */
static const char *forbid(const struct home *home, const char *path,
                          const char *const *more)
{
    char name[2 * HOMES_PATH];
    const char *inside = below(path, home->path);
    bool whole = home->within[0] == '\0';

    if (below(home->path, path) && (whole || inside == NULL))
        return whole ? "the home folder lies in it"
                     : "secrets of the home folder lie in it";
    if (inside) {
        (void)snprintf(name, sizeof name, "%s%s%s", home->within,
                       whole || inside[0] == '\0' ? "" : "/", inside);
        if (secrets_match(str_from(name), more))
            return "it is secret";
        if (secrets_lie_in(str_from(name), more))
            return "secrets of the home folder lie in it";
    }
    return NULL;
}

void homes_forbid(const struct home homes[HOMES_MAX], const char *const *more,
                  const char *const *paths, size_t n, const char **why)
{
    for (size_t j = 0; j < n; j++) {
        why[j] = strcmp(paths[j], "/") == 0 ? "it is the whole system" : NULL;
        for (size_t i = 0; i < HOMES_MAX && !why[j] && paths[j][0]; i++)
            if (homes[i].path[0] == '/')
                why[j] = forbid(&homes[i], paths[j], more);
    }
    for (size_t i = 0; i < HOMES_MAX; i++)
        if (homes[i].path[0] == '/' && homes[i].within[0] == '\0')
            forbid_own_places(homes[i].path, paths, n, why);
}
