/* SPDX-License-Identifier: GPL-3.0-or-later */
/* life.h: the price of sessions that cannot be lost: sessions, checkpoints,
   restores, stops, and evaluations beside sleepers. */
#ifndef TESTS_BENCH_LIFE_H
#define TESTS_BENCH_LIFE_H

/* SERVER, TWO, the echo through two processes, and FLOOR, the program of
   floor.c, are commands. Prints rows of the table. */
void bench_life(const char *const *server, const char *const *two,
                const char *const *floor);

#endif
