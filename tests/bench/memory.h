/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.h: what /proc says about the memory of a process and its
   descendants, in megabytes. */
#ifndef TESTS_BENCH_MEMORY_H
#define TESTS_BENCH_MEMORY_H

#include <sys/types.h>

/* Field "VmRSS" (now) or "VmHWM" (the most ever) of process PID; 0 when there
   is no such process. */
double memory_of(pid_t pid, const char *field);

/* Proportional share (PSS) of all descendants of PID, without PID itself. */
double memory_below(pid_t pid);

/* The largest VmHWM among the descendants of PID. */
double memory_peak_below(pid_t pid);

/* Number of descendants of PID. */
double memory_processes(pid_t pid);

#endif
