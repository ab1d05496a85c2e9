/* SPDX-License-Identifier: GPL-3.0-or-later */
/* family.h: the descendants of a process, by the chain of parents that the
   system keeps and no process can change. Where every orphan is adopted by ROOT
   (linux_adopt_orphans), these are all that ROOT and its descendants have ever
   started. Names and environments, which code can choose, play no part. */
#ifndef IMAGE_FAMILY_H
#define IMAGE_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct family_member {
    pid_t pid;
    pid_t parent;
    bool spared; /* it is one of those to spare */
    bool below;  /* it descends from the image that stays */
};

/* A zeroed struct is empty. */
struct family {
    struct family_member *list;
    size_t n;
    size_t size;
};

/* Who is spared. */
struct family_spared {
    const int32_t *pids;
    size_t n;
    pid_t image; /* of this one the descendants, too; 0: of none */
    pid_t group; /* of an image that may have ended; 0: of none */
};

/* Finds the descendants of ROOT, in the order of generations. They come and go
   meanwhile: some may be missing. Without memory only some are found. The
   caller releases FAMILY. SPARED may be NULL. */
void family_find(struct family *family, pid_t root,
                 const struct family_spared *spared);
void family_release(struct family *family);

/* Whether PID, which lives, is one of the descendants of ROOT, whoever its
   parent is now: ancestors may end while they are looked at. */
bool family_descends(pid_t pid, pid_t root);

/* Whether the family of ROOT has more than MOST processes, SPARED ones and
   those that have ended not counted; *N: how many there are, if not more, with
   those that have ended and wait to be noticed by their parents. */
bool family_is_crowded(pid_t root, const struct family_spared *spared,
                       size_t most, size_t *n);

/* Stops all processes of the family of ROOT but SPARED ones (SIGSTOP), until no
   new ones come up, for two seconds at most. Whole process groups are stopped
   at once, which leaves a fork bomb no time; so a spared process in one of them
   may be stopped, too. In groups that others may be in, processes are stopped
   one by one. */
void family_stop(pid_t root, const struct family_spared *spared);

/* The same, so that none can start another, and kills them. Returns how many it
   has found, those included that have ended and wait to be noticed: to be
   repeated until there are none. *WHO is another number when they are others.
 */
size_t family_kill(pid_t root, const struct family_spared *spared,
                   uint64_t *who);

/* For a process HEAD that should have ended its family and itself by now: kills
   it if none of the family is left; otherwise continues it (SIGCONT), for it
   may have been stopped. */
void family_end_head(pid_t head);

/* Continues those of the family of ROOT that are SPARED, and no other process,
   whatever numbers that names (SIGCONT). */
void family_continue(pid_t root, const struct family_spared *spared);

#endif
