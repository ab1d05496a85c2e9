/* SPDX-License-Identifier: GPL-3.0-or-later */
/* home.c: see home.h. */
#include "host/home.h"

#include <limits.h>
#include <linux/limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The home folder that the system has; NULL: none. */
static const char *of_system(void)
{
    const struct passwd *user = getpwuid(getuid());

    return user && user->pw_dir && user->pw_dir[0] == '/' ? user->pw_dir : NULL;
}

/* Whether REAL is FOLDER, which may be NULL, or lies in it. */
static bool is_below(const char *folder, const char *real, struct str *out)
{
    char home[PATH_MAX];

    if (!folder || folder[0] != '/' || !realpath(folder, home))
        return false;
    size_t n = strcmp(home, "/") == 0 ? 0 : strlen(home);
    if (strncmp(real, home, n) != 0 || (real[n] != '/' && real[n] != '\0'))
        return false;
    *out = str_from(real + n + (real[n] == '/'));
    return true;
}

bool home_below(const char *real, struct str *out)
{
    // the system reads several files to tell the other one
    return is_below(getenv("HOME"), real, out) ||
           is_below(of_system(), real, out);
}

const char *home_folder(void)
{
    const char *home = getenv("HOME");

    if (home && home[0] == '/')
        return home;
    return of_system();
}
