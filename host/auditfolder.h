/* SPDX-License-Identifier: GPL-3.0-or-later */
/* auditfolder.h: the files in which the lines about calls are kept: one for
   each day, those of a day that are full, and how they are opened. Modes that
   evaluated code has changed are set right and reported. */
#ifndef HOST_AUDITFOLDER_H
#define HOST_AUDITFOLDER_H

#include <stdint.h>

#include "host/ownfile.h"
#include "host/report.h"

/* The folder below HOME. */
#define AUDITFOLDER_PLACE ".local/state/ecl-mcp/audit"

/* Opens the file PATH for appending; makes it if it is missing. No link is
   followed; a file of another user, or one that others may write, is EPERM. A
   descriptor or -1 with errno. */
int auditfolder_open_named(const char *path, const struct report *report);

/* Opens the file of DAY (since 1970, UTC) in AUDITFOLDER_PLACE below HOME;
   makes both if they are missing, and removes files older than
   LIMIT_AUDIT_DAYS. */
int auditfolder_open(const char *home, int64_t day,
                     const struct report *report);

/* The file of DAY, on which FD is open, is full: it gets a number, and a new
   one begins, unless another server has done that already. Of full files,
   LIMIT_AUDIT_PARTS are kept for a day. A descriptor of the file that is to be
   used from now on, or -1 with errno; FD stays open. */
int auditfolder_rotate(const char *home, int64_t day, int fd,
                       const struct report *report);

#endif
