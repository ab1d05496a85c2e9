/* SPDX-License-Identifier: GPL-3.0-or-later */
/* auditfile.h: where the lines about calls (gate/audit.h) are kept: one file
   for each day below HOME, or one file. */
#ifndef HOST_AUDITFILE_H
#define HOST_AUDITFILE_H

#include "gate/audit.h"
#include "host/auditfolder.h"
#include "host/report.h"
#include "host/workspace.h"

struct auditfile;

/* Keeps lines in the file PATH, which is made if it is missing. When PATH is
   NULL: in a file for each day (UTC) below HOME, as auditfolder.h says; one
   with LIMIT_AUDIT_FILE bytes is full. REPORT is borrowed. NULL with errno set
   when PATH cannot be used, there is no HOME, or memory runs out. */
struct auditfile *auditfile_new(const char *path, const struct report *report);

/* The wall clock: milliseconds since 1970. */
int64_t auditfile_now(void);

/* Opens the file before there is a line: at the start, nobody can have kept the
   server from it yet. NOW_MS as for auditfile_append; a failure is reported. */
void auditfile_begin(struct auditfile *file, int64_t now_ms);

/* Why the agent could change the file PATH of auditfile_new, as
   exposure_of_file says it; NULL: it could not, or PATH was NULL. */
const char *auditfile_exposure(const struct auditfile *file,
                               const struct workspace *workspace);

/* Why the log could not be opened, from errno. */
const char *auditfile_reason(int error);

/* Accepts NULL. */
void auditfile_free(struct auditfile *file);

/* Appends a line, with one write. NOW_MS is the wall clock (since 1970), the
   other arguments are those of gate/audit.h. A failure is reported once, and so
   is its end; the next line that can be written says how many were lost.
   Returns the number of a line that must last, else 0. */
uint64_t auditfile_append(struct auditfile *file, int64_t now_ms,
                          int64_t age_ms, struct str members, bool lasting);

/* Whether the lines up to LINE are on the disk; or they could not be brought
   there, which is reported. */
bool auditfile_is_settled(struct auditfile *file, uint64_t line);

/* A sink that appends to FILE with the time of the system. */
struct audit_sink auditfile_sink(struct auditfile *file);

#endif
