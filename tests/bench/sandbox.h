/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sandbox.h: what the sandbox costs. */
#ifndef TESTS_BENCH_SANDBOX_H
#define TESTS_BENCH_SANDBOX_H

/* Starts and calls of SERVER with the sandbox against those without, in turns;
   and the start with many entries in the home folder against few. */
void bench_sandbox(const char *server);

#endif
