/* SPDX-License-Identifier: GPL-3.0-or-later */
/* temporary.h: the temporary folder of the images: a folder of one supervisor
   alone, so that code cannot change temporary files of other programs.

   Below the user's temporary folder lies ecl-mcp-UID-RANDOM (mode 0700); in it
   are "lock", which is locked as long as the supervisor runs, and "tmp", which
   is TMPDIR for the images. What a supervisor that was killed has left there is
   removed by the next one. */
#ifndef SUPERVISOR_TEMPORARY_H
#define SUPERVISOR_TEMPORARY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"
#include "image/sandbox.h"

#define TEMPORARY_NAME 48

struct temporary {
    char path[SANDBOX_PATH];   /* TMPDIR for the images; "": there is none */
    char name[TEMPORARY_NAME]; /* of the folder with the lock */
    int parent;                /* the folder in which that lies, or -1 */
    int folder;                /* with the lock, or -1 */
    int lock;
    pid_t sweeper; /* removes what others have left; 0: it has ended */
};

/* Makes the folder below TMPDIR or, if that is impossible, below /tmp. When no
   folder can be made, the path is empty, and LOG says why. */
void temporary_open(struct temporary *temporary, const struct log *log);

/* Starts to remove what others have left there, if there is any. Does nothing
   to one that is all zeros. */
void temporary_clean(struct temporary *temporary);

/* Whether process PID, which has ended, was started here. */
bool temporary_note_exit(struct temporary *temporary, pid_t pid);

/* Removes the folder, for LIMIT_TEMPORARY_END_MS at most; the next supervisor
   removes the rest. Does nothing to one that is all zeros. */
void temporary_close(struct temporary *temporary);

/* Removes from the folder PARENT, until UNTIL_MS (monotonic, in milliseconds),
   the folders of supervisors of this user that no longer run. */
void temporary_sweep(int parent, int64_t until_ms);

#endif
