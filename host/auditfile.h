/* SPDX-License-Identifier: GPL-3.0-or-later */
/* auditfile.h: where the lines about calls (gate/audit.h) are kept: one file
   for each day below HOME, or one file. */
#ifndef HOST_AUDITFILE_H
#define HOST_AUDITFILE_H

#include "base/log.h"
#include "gate/audit.h"
#include "host/workspace.h"

/* The folder of the files below HOME. */
#define AUDITFILE_PLACE ".local/state/ecl-mcp/audit"

struct auditfile;

/* Keeps lines in the file PATH, which is made if it is missing. When PATH is
   NULL: in a file for each day (UTC) in AUDITFILE_PLACE, made when its first
   line comes; files older than LIMIT_AUDIT_DAYS are removed. LOG is borrowed.
   NULL with errno set when PATH cannot be used, there is no HOME, or memory
   runs out. */
struct auditfile *auditfile_new(const char *path, const struct log *log);

/* Why the agent could change the file PATH of auditfile_new, as
   exposure_of_file says it; NULL: it could not, or PATH was NULL. */
const char *auditfile_exposure(const struct auditfile *file,
                               const struct workspace *workspace);

/* Why the log could not be opened, from errno. */
const char *auditfile_reason(int error);

/* Accepts NULL. */
void auditfile_free(struct auditfile *file);

/* Appends a line, with one write. NOW_MS is the wall clock (since 1970), the
   other arguments are those of gate/audit.h. A failure is logged once; the next
   line that can be written says how many were lost. */
void auditfile_append(struct auditfile *file, int64_t now_ms, int64_t age_ms,
                      struct str members, bool lasting);

/* A sink that appends to FILE with the time of the system. */
struct audit_sink auditfile_sink(struct auditfile *file);

#endif
