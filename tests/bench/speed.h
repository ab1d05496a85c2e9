/* SPDX-License-Identifier: GPL-3.0-or-later */
/* speed.h: how fast the code is that was evaluated. */
#ifndef TESTS_BENCH_SPEED_H
#define TESTS_BENCH_SPEED_H

/* Prints rows about the functions of the file SOURCE (speed.lisp) in the server
   with COMMAND, against the same in ECL, and in SBCL if it is installed; and
   about a library that is not compiled yet. */
void bench_speed(const char *const *command, const char *source);

#endif
