/* SPDX-License-Identifier: GPL-3.0-or-later */
/* disk.h: what waits for the disk, and who waits for it. A slow disk takes
   seconds to write down what it has been given. In a process that may have
   threads, one that lives for that long waits for it, and nobody else. */
#ifndef HOST_DISK_H
#define HOST_DISK_H

#include <stdbool.h>

#include "base/arena.h"

/* From now on threads do it, and each writes a byte to WAKE at its end. Before,
   as in Emacs, everything below is done at once. */
void disk_use_threads(int wake);

/* fsync(2) of FD, in the strand of ARENA, which waits. 0 or an errno;
   ECANCELED: the strand is stopped, and nobody knows. */
int disk_sync(const struct arena *arena, int fd);

/* Closes FD, which holds a file without a name: to free a large one takes
   time. */
void disk_close(int fd);

/* fdatasync(2) that has begun; NULL: there is no thread, do it yourself. The
   caller may close FD. */
struct disk_job;
struct disk_job *disk_begin(int fd);

/* Whether it is done. */
bool disk_is_done(const struct disk_job *job);

/* Waits until it is done, and frees it. 0 or an errno. */
int disk_end(struct disk_job *job);

#endif
