/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hidden.c: see hidden.h. */
#include "image/hidden.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files/secrets.h"

/* Never readable: terminals, disks, keys. */
static const char *const hidden_places[] = {
    "/dev",
    "/run/secrets",
    "/run/user",
    NULL,
};

/* What the system lets only root read. */
static const char *const hidden_from_root[] = {
    "/etc/shadow", "/etc/shadow-",     "/etc/gshadow", "/etc/gshadow-",
    "/etc/ssh",    "/etc/ssl/private", NULL,
};

/* PATH, and the path to which its links lead. */
static void hide(struct paths *hidden, const char *path)
{
    char real[SANDBOX_PATH];

    paths_add(hidden, path);
    if (realpath(path, real) && strcmp(real, path) != 0)
        paths_add(hidden, real);
}

static void hide_below(struct paths *hidden, const char *home, const char *name)
{
    char path[SANDBOX_PATH];
    int n = snprintf(path, sizeof path, "%s/%s", home, name);

    if (n > 0 && (size_t)n < sizeof path)
        hide(hidden, path);
}

/* Hides, below HOME, the PATTERNS (NULL: none) that name one path. */
static void hide_named(struct paths *hidden, const char *home,
                       const char *const *patterns)
{
    for (size_t i = 0; patterns && patterns[i]; i++)
        if (!strchr(patterns[i], '*'))
            hide_below(hidden, home, patterns[i]);
}

/* Hides the secrets of one home folder: the paths that patterns name, and the
   entries whose names match one. MORE are further patterns. */
static void hide_secrets(struct paths *hidden, const char *home,
                         const char *const *more)
{
    DIR *folder = opendir(home[0] != '\0' ? home : "/");
    const struct dirent *entry;

    hide_named(hidden, home, secrets_patterns);
    hide_named(hidden, home, more);
    while (folder && (entry = readdir(folder)))
        if (secrets_match(str_from(entry->d_name), more))
            hide_below(hidden, home, entry->d_name);
    if (folder)
        (void)closedir(folder); // was only read
}

void hidden_add_secrets(const struct sandbox *sandbox,
                        const struct sandbox_places *places,
                        struct paths *hidden)
{
    size_t homes = sizeof places->homes / sizeof places->homes[0];

    for (size_t i = 0; i < homes; i++) {
        const char *home = places->homes[i];

        if (home[0] == '/')
            hide_secrets(hidden, home[1] == '\0' ? "" : home, sandbox->secrets);
    }
}

void hidden_add_system(struct paths *hidden)
{
    for (size_t i = 0; hidden_places[i]; i++)
        hide(hidden, hidden_places[i]);
    for (size_t i = 0; geteuid() == 0 && hidden_from_root[i]; i++)
        hide(hidden, hidden_from_root[i]);
}
