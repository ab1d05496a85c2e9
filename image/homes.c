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

void homes_find(struct home homes[HOMES_MAX])
{
    const struct passwd *user = getpwuid(getuid());

    for (size_t i = 0; i < HOMES_MAX; i++)
        homes[i] = (struct home){"", ""};
    add_home(homes, getenv("HOME"), "");
    if (user)
        add_home(homes, user->pw_dir, "");
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

/* Whether PATH is on the way to files of HOME on which this program relies,
   wherever links lead. */
static bool holds_own_places(const char *path, const char *home)
{
    char real[HOMES_PATH];

    for (size_t i = 0; secrets_own_places[i]; i++)
        if (find_place(home, secrets_own_places[i], real) && below(real, path))
            return true;
    return false;
}

/* Why code must not write to PATH because of HOME; NULL: it may. */
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
    if (whole && holds_own_places(path, home->path))
        return "files on which ecl-mcp relies lie in it";
    return NULL;
}

const char *homes_forbid(const struct home homes[HOMES_MAX], const char *path,
                         const char *const *more)
{
    if (strcmp(path, "/") == 0)
        return "it is the whole system";
    for (size_t i = 0; i < HOMES_MAX; i++) {
        const struct home *home = &homes[i];
        const char *why =
            home->path[0] == '/' ? forbid(home, path, more) : NULL;

        if (why)
            return why;
    }
    return NULL;
}
