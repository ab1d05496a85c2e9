/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paths.h: a set of paths. */
#ifndef IMAGE_PATHS_H
#define IMAGE_PATHS_H

#include <stdbool.h>
#include <stddef.h>

/* A zeroed set is empty. */
struct paths {
    char **list; /* owned, in the order of their coming */
    size_t n;
    size_t cap;
    bool failed; /* memory ran out: some are missing */
};

void paths_release(struct paths *paths);

bool paths_has(const struct paths *paths, const char *path);

/* Adds a copy of PATH, unless it is there. */
void paths_add(struct paths *paths, const char *path);

/* The same for a PATH that cannot be there yet. */
void paths_append(struct paths *paths, const char *path);

#endif
