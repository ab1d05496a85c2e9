/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reference.h: what other Lisps take alone, without a server, for what is
   measured through ours. */
#ifndef TESTS_BENCH_REFERENCE_H
#define TESTS_BENCH_REFERENCE_H

#include <stdbool.h>

/* Whether PROGRAM is in a folder of PATH. */
bool reference_is_installed(const char *program);

/* The milliseconds that FORM, which writes to standard output, takes in the
   Lisp PROGRAM, "ecl" or "sbcl": the least of several rounds, with this program
   at the other end of the pipe. */
double reference_time(const char *program, const char *form);

/* The same of the first time in a program; the least of some programs. */
double reference_first(const char *program, const char *form);

#endif
