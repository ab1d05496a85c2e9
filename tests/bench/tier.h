/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tier.h: what native code costs others, and how soon there is any. */
#ifndef TESTS_BENCH_TIER_H
#define TESTS_BENCH_TIER_H

/* Prints rows about the server with COMMAND, with and without --native on. */
void bench_tier(const char *const *command);

#endif
