/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ownfile.h: files and folders of the user on which this program relies: rules,
   and the log of calls. Evaluated code can change the modes of all files that
   belong to the user, so a wrong mode is set right, and the user is told. */
#ifndef HOST_OWNFILE_H
#define HOST_OWNFILE_H

#include <stdbool.h>
#include <sys/types.h>

/* How the mode must be. */
struct ownfile_mode {
    mode_t has;   /* bits that it needs */
    mode_t lacks; /* bits that it must not have */
};

/* What was found. */
struct ownfile {
    bool fixed;  /* the mode was wrong, and is right now */
    bool shared; /* others could write it */
    mode_t was;  /* the mode before, permissions only */
};

/* Opens NAME in the folder PARENT with FLAGS, as openat(2) does (a file that is
   made gets the mode 0600). When it is a file or folder of the user whose mode
   is not as MODE says, the mode of that very file is set right, also when it
   did not let the user open it. A descriptor, or -1 with errno. *OUT is always
   written. */
int ownfile_open(int parent, const char *name, int flags,
                 struct ownfile_mode mode, struct ownfile *out);

/* Whether others may write what FD is open on, and the system would let them
   replace what is in it: it is no folder in which only the owner of a file may
   do that (sticky). */
bool ownfile_is_shared(int fd);

#endif
