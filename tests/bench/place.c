/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place.c: see place.h. */
#include "bench/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

void place_make(char path[PLACE_ROOM], const char *name, bool system)
{
    const char *home = getenv("HOME");
    char file[PLACE_ROOM + 16];
    FILE *out;

    (void)snprintf(path, PLACE_ROOM, "%s/%s", home ? home : "/tmp", name);
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        perror(path);
    if (!system)
        return;
    (void)snprintf(file, sizeof file, "%s/thing.asd", path);
    out = fopen(file, "we");
    if (!out || fputs("(defsystem \"thing\")\n", out) < 0 || fclose(out) != 0)
        perror(file);
}
