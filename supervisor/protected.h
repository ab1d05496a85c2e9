/* SPDX-License-Identifier: GPL-3.0-or-later */
/* protected.h: files of the workspace on which other programs rely
   (image/covers.h) and which come into being while Lisp runs. The user hears of
   them with the next answer; from then on they are covered, too. */
#ifndef SUPERVISOR_PROTECTED_H
#define SUPERVISOR_PROTECTED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/log.h"
#include "image/covers.h"
#include "image/sandbox.h"

/* A zeroed struct tells nothing. */
struct protected
{
    int workspace; /* a descriptor */
    struct covers covers;
    struct paths known; /* what there was, with its inode */
    uint64_t stamp;     /* of the folders then; 0: it tells nothing */
    bool partial;       /* it was told that not all of it is searched */
    bool open;
};

/* Looks at what there is in WORKSPACE, a path ("": none), if SANDBOX lets code
   write there and protects files. LOG hears of limits that were met. */
void protected_open(struct protected *protected, const struct sandbox *sandbox,
                    const char *workspace, const struct log *log);

/* Appends, after a line end, what has come since the last time. False: nothing
   has. */
bool protected_read(struct protected *protected, const struct sandbox *sandbox,
                    struct buf *out);

void protected_release(struct protected *protected);

#endif
