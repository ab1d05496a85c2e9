/* SPDX-License-Identifier: GPL-3.0-or-later */
/* linux.h: what only Linux can do, in one place: adopting orphans, dying with
   the parent, examining other processes, giving up rights. */
#ifndef IMAGE_LINUX_H
#define IMAGE_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* From now on this process adopts its orphaned descendants, and can wait for
   them. */
void linux_adopt_orphans(void);

/* Asks for SIGNAL when the parent of this process, or the one that adopts it
   later, ends; 0 asks for none. */
void linux_signal_on_orphaned(int signal);

/* The pids of this process's children, at most MAX of them, into PIDS.
   Returns their number; 0 when the system does not tell. */
size_t linux_children(pid_t *pids, size_t max);

/* From now on the programs that this process starts have its number in
   NAME_ENVIRONMENT. */
void linux_mark_programs(void);

/* Whether process PID was started with VALUE in environment variable NAME. */
bool linux_has_environment(pid_t pid, const char *name, const char *value);

/* Gives this process a NAME of at most 15 bytes. */
void linux_set_name(const char *name);

/* Whether process PID has such a NAME. */
bool linux_has_name(pid_t pid, const char *name);

/* Whether the other end of SOCKET, which is on this system, has left something
   unread. */
bool linux_has_unread(int socket);

/* Finds the parent of process PID, and when the process was started, in clock
   ticks. False when there is no such process, or the system does not tell. */
bool linux_find(pid_t pid, pid_t *parent, int64_t *start);

/* Counts the processes of live image SID that were started at SINCE_MS or
   later, a monotonic time in milliseconds (-1: at any time): those in its
   session (setsid(2)), its descendants, and orphans with its number in their
   environment, but not threads, zombies and sleeping copies. Sends them SIGNAL
   unless that is 0. SID itself is left out unless the time is -1. 0 when the
   system does not tell. */
size_t linux_family(pid_t sid, int64_t since_ms, int signal);

/* Memory of process PID in bytes, with its share of shared pages; 0 when the
   system does not tell. */
size_t linux_memory(pid_t pid);

/* Gives up all rights beyond those of a plain user, for this process and every
   program that it starts. False when some could not be given up. */
bool linux_give_up_rights(void);

/* The same, but the right to mount stays with this process and its forks, not
   with the programs that they start, until it is given up, too. */
bool linux_keep_mounting(void);

/* From now on other programs of the user cannot inspect this process. */
void linux_hide(void);

/* Closes every descriptor from FIRST on. May be called after fork(2). */
void linux_close_from(int first);

/* Fills P with N random bytes. False when the system has none. */
bool linux_random(void *p, size_t n);

/* The version of the system's Landlock; 0: it has none. From these versions on,
   Landlock covers truncation and signals. */
enum { LINUX_LANDLOCK_TRUNCATION = 3, LINUX_LANDLOCK_SIGNALS = 6 };
int linux_landlock_version(void);

#endif
