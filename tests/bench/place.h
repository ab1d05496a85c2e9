/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place.h: workspaces for servers under measurement. */
#ifndef TESTS_BENCH_PLACE_H
#define TESTS_BENCH_PLACE_H

#include <stdbool.h>

#define PLACE_ROOM 512

/* Makes a folder with this NAME in the home folder, unless there is one, and
   puts its path into PATH. If SYSTEM, it holds the definition of one. */
void place_make(char path[PLACE_ROOM], const char *name, bool system);

#endif
