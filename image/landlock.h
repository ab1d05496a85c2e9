/* SPDX-License-Identifier: GPL-3.0-or-later */
/* landlock.h: confines the files, TCP and signals of live images by Linux's
   Landlock, without a library. The zygote opens the folders that may be written
   before any code runs, and never looks at their paths again: code that moves a
   folder and puts a link in its place does not change what is allowed. */
#ifndef IMAGE_LANDLOCK_H
#define IMAGE_LANDLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/status.h"
#include "image/hidden.h"
#include "image/sandbox.h"

struct landlock_mark; /* how a folder looked when the rules were made */

/* What the images of a zygote share. */
struct landlock {
    int version;            /* of the system's interface that is used */
    int folders[SANDBOX_N]; /* the writable ones; -1: nothing to be allowed */
    int rules;              /* the descriptor of the rules; -1: not made yet */
    struct landlock_mark *marks; /* owned */
    size_t n;                    /* of the marks */
    struct hidden hidden;        /* what the rules hide */
    bool found;                  /* HIDDEN is for the next rules */
    bool fresh; /* the rules are for the next image, whatever has changed */
};

/* Opens the writable folders of PLACES. One that is no longer what its path
   names, or whose path has got a link, cannot be written, and PLACES says so.
   Rights that VERSION does not know are not restricted. Takes over HIDDEN,
   unless NULL: what the first rules must hide, as it was found before mounts
   were laid over it. */
void landlock_open(struct landlock *landlock, int version,
                   struct sandbox_places *places, struct hidden *hidden);

/* Whether the folders on the way to what the rules hide are as they were. */
bool landlock_is_current(const struct landlock *landlock);

/* Makes the rules, unless they are fresh, or the folders on the way to what
   they hide are as they were: code can write only below PLACES, and not read
   secrets in the home folders. ST_IO: the system refuses, and errno says why.
 */
enum status MUST_CHECK landlock_renew(struct landlock *landlock,
                                      const struct sandbox *sandbox,
                                      const struct sandbox_places *places);

/* Confines this process and all that it starts by the rules; it can neither
   signal nor inspect processes outside, either. The descriptors are closed; the
   memory stays, for an image shares it with the zygote as long as nobody
   writes there.
   ST_IO: the system refuses, errno says why, and nothing has changed. */
enum status MUST_CHECK landlock_confine(struct landlock *landlock);

#endif
