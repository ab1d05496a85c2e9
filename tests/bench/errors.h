/* SPDX-License-Identifier: GPL-3.0-or-later */
/* errors.h: what it costs that an error stays alive in a copy. */
#ifndef TESTS_BENCH_ERRORS_H
#define TESTS_BENCH_ERRORS_H

/* SERVER is a command. Prints rows of the table. */
void bench_errors(const char *const *server);

#endif
