/* SPDX-License-Identifier: GPL-3.0-or-later */
/* host.h: what every host makes ready for a core: the log of calls, the
   workspace, the rules of the user, a random key, and the time. */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include <stdint.h>

#include "base/status.h"
#include "core/core.h"
#include "gate/policy.h"
#include "host/auditfile.h"
#include "host/report.h"
#include "host/workspace.h"

/* Must stay where it is while a core uses it. */
struct host {
    struct log log;              /* copied; its context is borrowed */
    struct buf notices;          /* for the next answer */
    struct report report;        /* to both */
    struct policy policy;        /* the caller may add rules before host_fill */
    struct auditfile *audit;     /* NULL: calls are not logged */
    struct workspace *workspace; /* NULL: no files */
    struct files files;
};

void host_init(struct host *host, const struct log *log);

/* Accepts a zeroed one. */
void host_release(struct host *host);

/* Opens the log of calls: the file PATH, none for "off"; for NULL,
   host_begin_audit opens that of the day. ST_IO: PATH cannot be used, and errno
   says why (auditfile_reason). */
enum status MUST_CHECK host_open_audit(struct host *host, const char *path);

/* Opens the folder ROOT, with SECRETS as for workspace_new. ST_IO with errno:
   there is no such folder; the host may do without files. */
enum status MUST_CHECK host_open_workspace(struct host *host, const char *root,
                                           const char *const *secrets);

/* Reads the rules in the file POLICY (see policyfile_read) and fills the
   members of CONFIG that are not options: log, key, files, policy, audit,
   notices; and gives long work a clock. Call it after the two above. Logs what
   is wrong with the rules. ST_IO with errno: the system has no random bytes. */
enum status MUST_CHECK host_fill(struct host *host, const char *policy,
                                 struct core_config *config);

/* What can wait until the client has its first answer: opens the log of the
   day, unless a call was faster, and warns of a log of calls that the agent
   could change. A failure is a warning in the log. */
void host_begin_audit(struct host *host);

/* Monotonic time in milliseconds. */
int64_t host_now(void);

#endif
