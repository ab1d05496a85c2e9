/* SPDX-License-Identifier: GPL-3.0-or-later */
/* growth.h: whether cost grows with the work that is asked for, or with what
   else there is: processes of the machine, sessions, definitions. What grows
   with the heap: life.h, with the home folder: sandbox.h. */
#ifndef TESTS_BENCH_GROWTH_H
#define TESTS_BENCH_GROWTH_H

/* SERVER is a command. Prints rows of the table. */
void bench_growth(const char *const *server);

#endif
