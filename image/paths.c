/* SPDX-License-Identifier: GPL-3.0-or-later */
/* paths.c: see paths.h. */
#include "image/paths.h"

#include <stdlib.h>
#include <string.h>

void paths_release(struct paths *paths)
{
    for (size_t i = 0; i < paths->n; i++)
        free(paths->list[i]);
    free(paths->list);
    memset(paths, 0, sizeof *paths);
}

bool paths_has(const struct paths *paths, const char *path)
{
    for (size_t i = 0; i < paths->n; i++)
        if (strcmp(paths->list[i], path) == 0)
            return true;
    return false;
}

void paths_append(struct paths *paths, const char *path)
{
    if (paths->n == paths->cap) {
        size_t cap = paths->cap * 2 + 64;
        char **list = realloc(paths->list, cap * sizeof *list);

        paths->failed = paths->failed || !list;
        if (!list)
            return;
        paths->list = list;
        paths->cap = cap;
    }
    paths->list[paths->n] = strdup(path);
    if (paths->list[paths->n])
        paths->n++;
    else
        paths->failed = true;
}

void paths_add(struct paths *paths, const char *path)
{
    if (!paths_has(paths, path))
        paths_append(paths, path);
}
