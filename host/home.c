/* SPDX-License-Identifier: GPL-3.0-or-later */
/* home.c: see home.h. */
#include "host/home.h"

#include <limits.h>
#include <linux/limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool home_below(const char *real, struct str *out)
{
    const struct passwd *user = getpwuid(getuid());
    const char *homes[] = {getenv("HOME"), user ? user->pw_dir : NULL};
    char home[PATH_MAX];

    for (size_t i = 0; i < sizeof homes / sizeof homes[0]; i++) {
        if (!homes[i] || homes[i][0] != '/' || !realpath(homes[i], home))
            continue;
        size_t n = strcmp(home, "/") == 0 ? 0 : strlen(home);
        if (strncmp(real, home, n) != 0 || (real[n] != '/' && real[n] != '\0'))
            continue;
        *out = str_from(real + n + (real[n] == '/'));
        return true;
    }
    return false;
}

const char *home_folder(void)
{
    const char *home = getenv("HOME");

    if (home && home[0] == '/')
        return home;
    const struct passwd *user = getpwuid(getuid());
    return user && user->pw_dir && user->pw_dir[0] == '/' ? user->pw_dir : NULL;
}
