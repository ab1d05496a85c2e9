/* SPDX-License-Identifier: GPL-3.0-or-later */
/* temporary.h: the temporary folder of the images: a folder of one supervisor
   alone, so that code cannot change temporary files of other programs.

   Below the user's temporary folder lies ecl-mcp-UID (mode 0700), and in it a
   folder for each supervisor, with a name of chance, which is TMPDIR for its
   images and is locked as long as it runs. Only that folder, which
   stays, is read to find what a supervisor has left that was killed; the next
   one removes it. An empty folder "way" may be in it: the next zygote mounts on
   that what leads from TMPDIR to the images' /tmp. */
#ifndef SUPERVISOR_TEMPORARY_H
#define SUPERVISOR_TEMPORARY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"
#include "image/sandbox.h"

#define TEMPORARY_NAME 48

struct temporary {
    char path[SANDBOX_PATH];     /* TMPDIR for the images; "": there is none */
    char common[TEMPORARY_NAME]; /* of the folder for those of all supervisors,
                                    which is in */
    int base;                    /* the user's temporary folder, or -1 */
    int parent;                  /* the common folder, or -1 */
    char name[TEMPORARY_NAME];   /* of the folder in that */
    int lock;                    /* open on it, or on a file beside it, which
                                    locks it */
    bool alone;    /* another user has the name of the common folder: COMMON is
                      this supervisor's own */
    bool reached;  /* images could reach all in it: it was no /tmp of theirs */
    pid_t sweeper; /* removes what others have left; 0: it has ended */
};

/* Makes the folder below TMPDIR or, if that is impossible, below /tmp. When no
   folder can be made, the path is empty, and LOG says why. */
void temporary_open(struct temporary *temporary, const struct log *log);

/* Starts to remove what others have left there, if there is any, until
   LIMIT_TEMPORARY_SWEEP_MS after NOW_MS, as linux_now_ms has it. Does nothing
   to one that is all zeros. */
void temporary_clean(struct temporary *temporary, int64_t now_ms);

/* Whether process PID, which has ended, was started here. */
bool temporary_note_exit(struct temporary *temporary, pid_t pid);

/* Removes the folder, until LIMIT_TEMPORARY_END_MS after NOW_MS; the next
   supervisor removes the rest. Does nothing to one that is all zeros. */
void temporary_close(struct temporary *temporary, int64_t now_ms);

/* Removes from the common folder PARENT, until UNTIL_MS, the folders of
 * supervisors that no longer run. */
void temporary_sweep(int parent, int64_t until_ms);

#endif
