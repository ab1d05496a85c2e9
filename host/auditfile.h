/* SPDX-License-Identifier: GPL-3.0-or-later */
/* auditfile.h: where the lines about calls are kept (audit.h): a file of each
   day below HOME, or one file. */
#ifndef HOST_AUDITFILE_H
#define HOST_AUDITFILE_H

#include "base/log.h"
#include "gate/audit.h"
#include "host/workspace.h"

/* The folder of the files below HOME. */
#define AUDITFILE_PLACE ".local/state/ecl-mcp/audit"

struct auditfile;

/* Keeps lines in the file PATH, which is made if it is missing; with NULL in
   files of the days (UTC) in AUDITFILE_PLACE, made when the first line comes;
   those older than LIMIT_AUDIT_DAYS are removed. LOG is borrowed. NULL with
   errno set when PATH cannot be used, there is no HOME, or memory runs out. */
struct auditfile *auditfile_new(const char *path, const struct log *log);

/* Why evaluated code could change the file PATH that was given to
   auditfile_new, said of "it" (reach.h); NULL: it could not, or there is none.
 */
const char *auditfile_reach(const struct auditfile *file,
                            const struct workspace *workspace);

/* Why the log could not be opened, from errno. */
const char *auditfile_reason(int error);

/* Accepts NULL. */
void auditfile_free(struct auditfile *file);

/* Appends a line, with one write. NOW_MS is the wall clock (since 1970), the
   rest as audit.h has it. What cannot be written is logged once, and counted in
   the next line that can. */
void auditfile_append(struct auditfile *file, int64_t now_ms, int64_t age_ms,
                      struct str members, bool lasting);

/* The same, with the time of the system. */
struct audit_sink auditfile_sink(struct auditfile *file);

#endif
