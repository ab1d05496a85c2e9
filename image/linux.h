/* SPDX-License-Identifier: GPL-3.0-or-later */
/* linux.h: what only Linux can do, in one place: adopting orphans, dying with
   the parent, examining other processes, giving up rights. */
#ifndef IMAGE_LINUX_H
#define IMAGE_LINUX_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/status.h"

/* From now on this process adopts its orphaned descendants, and can wait for
   them. */
void linux_adopt_orphans(void);

/* Asks for SIGNAL when the parent of this process, or the one that adopts it
   later, ends; 0 asks for none. */
void linux_signal_on_orphaned(int signal);

/* The pids of this process's children, at most MAX of them, into PIDS.
   Returns their number; 0 when the system does not tell. */
size_t linux_children(pid_t *pids, size_t max);

/* Gives up the terminal of this process and of those that it starts, so that
   nothing of them can wait for it or be ended by its keys. The session stays:
   one of its own would wait for its turn on a busy machine (architecture.md).
 */
void linux_leave_terminal(void);

/* Gives this process a NAME of at most 15 bytes. */
void linux_set_name(const char *name);

/* Whether the other end of SOCKET, which is on this system, has left something
   unread. */
bool linux_has_unread(int socket);

/* Copies the page of P now, if it is shared with a copy of this process, and
   not when it is written first. No signal may change the byte at P. */
void linux_own_page(void *p);

/* How many bytes can be read from FD at once; 0 also if there is no FD. */
size_t linux_waiting(int fd);

/* Finds the parent of process PID, and when the process was started, in clock
   ticks. False when there is no such process, when it has ended (a zombie), or
   when the system does not tell. */
bool linux_find(pid_t pid, pid_t *parent, int64_t *start);

/* Whether process PID has one thread and runs the same program as process OF,
   as a fork of that does. True when the system does not tell about OF. */
bool linux_is_fork(pid_t pid, pid_t of);

/* The monotonic time MS in the clock ticks of linux_find, rounded down. */
int64_t linux_ticks(int64_t ms);

/* The monotonic clock, in milliseconds. */
int64_t linux_now_ms(void);

/* From now on the system ends this process, and what it starts, before others
   when memory runs out: raises its score by LIMIT_OOM_SCORE. */
void linux_offer_memory(void);

/* The code and constants of this process are no longer counted as its memory:
   they are in files, from where what it still needs comes again. For a process
   that has run most of its code for the last time. */
void linux_let_code_go(void);

/* From now on this process is served before others, as far as the system allows
   (root only). The second function undoes that, for a child; false when it
   cannot. */
void linux_go_ahead(void);
bool linux_go_behind(void);

/* Whether the system is Linux MAJOR.MINOR or newer. */
bool linux_is_at_least(int major, int minor);

/* Enters a user namespace in which this user is the only one, without rights.
   False when the system refuses; this process must end then. */
bool linux_enter_users(void);

/* Memory of process PID in bytes, without that of files, and with all that it
   shares with its copies; 0 when the system does not tell. Takes as long for
   any size, and does not wait for what PID does with its memory. */
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
   Landlock allows files to move to other folders, and covers truncation, open
   devices, and signals. */
enum {
    LINUX_LANDLOCK_MOVES = 2,
    LINUX_LANDLOCK_TRUNCATION = 3,
    LINUX_LANDLOCK_DEVICES = 5,
    LINUX_LANDLOCK_SIGNALS = 6
};
int linux_landlock_version(void);

/* Starts a thread with a small stack, which gets no signals, to be joined. */
bool MUST_CHECK linux_start(pthread_t *thread, void *run(void *),
                            void *argument);

#endif
