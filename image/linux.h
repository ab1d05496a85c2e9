/* SPDX-License-Identifier: GPL-3.0-or-later */
/* linux.h: what only Linux has, kept in one place: adopting orphans, dying
   with the parent, looking at other processes, giving up rights. */
#ifndef IMAGE_LINUX_H
#define IMAGE_LINUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Makes this process the one that adopts its orphaned descendants, so that it
   can wait for them. */
void linux_adopt_orphans(void);

/* Asks for SIGNAL when the parent of this process, or the one that adopts it
   later, ends; 0 asks for none. */
void linux_signal_on_orphaned(int signal);

/* The pids of this process's children, at most MAX of them, into PIDS.
   Returns their number; 0 when the system does not tell. */
size_t linux_children(pid_t *pids, size_t max);

/* Programs that this process starts from now on are recognised by its number
   in NAME_ENVIRONMENT. */
void linux_mark_programs(void);

/* Whether process PID was started with VALUE in environment variable NAME. */
bool linux_has_environment(pid_t pid, const char *name, const char *value);

/* Gives this process a name of at most 15 bytes, and tells whether process PID
   has such a name. */
void linux_set_name(const char *name);
bool linux_has_name(pid_t pid, const char *name);

/* Whether something that was sent through SOCKET, which is connected to another
   of this system, has not been read there. */
bool linux_has_unread(int socket);

/* What the system says of process PID: its parent, and when it was started, in
   ticks of a clock. False when there is none, or the system does not tell. */
bool linux_find(pid_t pid, pid_t *parent, int64_t *start);

/* Number of processes of live image SID that were started at SINCE_MS or later,
   a monotonic time in milliseconds (-1: whenever): those in its session
   (setsid(2)), those that descend from it, and orphans that have its number in
   their environment; threads, zombies and sleeping copies are not counted. 0
   when the system does not tell. With SIGNAL not 0, each of them gets it. SID
   itself is left out unless the time is -1. */
size_t linux_family(pid_t sid, int64_t since_ms, int signal);

/* Memory of process PID in bytes, its part of shared pages counted; 0 when the
   system does not tell. */
size_t linux_memory(pid_t pid);

/* Gives up all rights beyond those of a plain user, for this process and all
   that it starts, whatever program that is. False when some could not be given
   up. */
bool linux_give_up_rights(void);

/* Other programs of the user cannot look into this process any more. */
void linux_hide(void);

/* Fills P with N random bytes. False when the system has none to give. */
bool linux_random(void *p, size_t n);

/* The version of Landlock that the system has; 0: none. From these versions on
   it covers truncation, and signals. */
enum { LINUX_LANDLOCK_TRUNCATION = 3, LINUX_LANDLOCK_SIGNALS = 6 };
int linux_landlock_version(void);

#endif
