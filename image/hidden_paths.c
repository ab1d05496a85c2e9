/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hidden_paths.c: see hidden_paths.h. */
#include "image/hidden_paths.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"

void hidden_paths_forget(struct hidden_paths *paths)
{
    for (size_t i = 0; i < paths->n; i++) {
        struct hidden_path *path = &paths->list[i];

        if (path->listing)
            listing_release(path->listing);
        free(path->listing);
        path->listing = NULL;
    }
}

void hidden_paths_release(struct hidden_paths *paths)
{
    hidden_paths_forget(paths);
    for (size_t i = 0; i < paths->n; i++)
        free(paths->list[i].name);
    free(paths->list);
    *paths = (struct hidden_paths){.list = NULL};
}

static bool reserve(struct hidden_paths *paths)
{
    size_t cap = paths->cap * 2 + 64;
    struct hidden_path *list;

    if (paths->n < paths->cap)
        return true;
    list = realloc(paths->list, cap * sizeof *list);
    if (!list)
        return false;
    paths->list = list;
    paths->cap = cap;
    return true;
}

bool hidden_paths_append(struct hidden_paths *paths, struct hidden_path path,
                         const char *name)
{
    size_t bit = path.hash % HIDDEN_HASHES;

    path.name = reserve(paths) ? strdup(name) : NULL;
    if (!path.name)
        return false;
    paths->hashes[bit / 64] |= 1ull << bit % 64;
    paths->list[paths->n++] = path;
    return true;
}

/* Hundreds of paths that begin alike are compared with each other. */
uint32_t hidden_hash(const char *name)
{
    uint32_t hash = FNV_START;

    for (; *name != '\0'; name++)
        hash = fnv_add(hash, (unsigned char)*name);
    return hash;
}

struct hidden_path *hidden_paths_find(const struct hidden_paths *paths,
                                      const char *name, uint32_t hash)
{
    size_t bit = hash % HIDDEN_HASHES;

    if ((paths->hashes[bit / 64] & 1ull << bit % 64) == 0)
        return NULL;
    for (size_t i = 0; i < paths->n; i++)
        if (paths->list[i].hash == hash &&
            strcmp(paths->list[i].name, name) == 0)
            return &paths->list[i];
    return NULL;
}

/* Whether file NUMBER on DEVICE is one of PATHS. */
bool hidden_paths_have_file(const struct hidden_paths *paths, dev_t device,
                            ino_t number)
{
    for (size_t i = 0; number != 0 && i < paths->n; i++)
        if (paths->list[i].number == number && paths->list[i].device == device)
            return true;
    return false;
}

bool hidden_paths_hold(const struct hidden_paths *paths,
                       const struct hidden_paths *ways, const char *name)
{
    uint32_t hash = FNV_START;
    char part[PATH_MAX];

    for (size_t n = 0; n + 1 < sizeof part; n++) {
        part[n] = '\0';
        if (name[n] == '/' || name[n] == '\0') {
            const struct hidden_path *way = hidden_paths_find(ways, part, hash);

            if (hidden_paths_find(paths, part, hash) ||
                (way &&
                 hidden_paths_have_file(paths, way->device, way->number)))
                return true;
        }
        if (name[n] == '\0')
            return false;
        part[n] = name[n];
        hash = fnv_add(hash, (unsigned char)name[n]);
    }
    return true; // no path is so long
}

bool hidden_paths_have(const struct hidden_paths *paths, const char *way,
                       const char *name, dev_t device, ino_t number)
{
    size_t n = strlen(way);

    for (size_t i = 0; i < paths->n; i++) {
        const struct hidden_path *path = &paths->list[i];

        if (path->number != 0 && path->number == number &&
            path->device == device)
            return true;
        if (path->start == n + 1 && path->name[n + 1] == name[0] &&
            strcmp(path->name + n + 1, name) == 0 &&
            memcmp(path->name, way, n) == 0)
            return true;
    }
    return false;
}
