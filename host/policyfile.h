/* SPDX-License-Identifier: GPL-3.0-or-later */
/* policyfile.h: where the rules of the user are, and whether they are really
   the user's: a file that the agent could have written is not trusted, and a
   mode that keeps the rules from being read or protected is set right. */
#ifndef HOST_POLICYFILE_H
#define HOST_POLICYFILE_H

#include "base/status.h"
#include "gate/policy.h"
#include "host/report.h"
#include "host/workspace.h"

/* Where it is below HOME. */
#define POLICYFILE_PLACE ".config/ecl-mcp/policy.json"

/* Reads the rules in the file PATH; when that is NULL, in POLICYFILE_PLACE
   below HOME, if there is such a file. A mode of the file or of its folder
   there (and of .config) that lets others write, or keeps the user out, is set
   right and reported; what others could write allows nothing for now. A file
   that cannot be read, belongs to somebody else, lies in a folder of somebody
   else or one that others may write, or is exposed to the agent (exposure.h;
   WORKSPACE may be NULL) is a fault of the policy; its rules are read if that
   is possible. The only failure is ST_NOMEM, and it leaves a fault, too. */
enum status MUST_CHECK policyfile_read(struct policy *policy, const char *path,
                                       const struct workspace *workspace,
                                       policy_find *find,
                                       const struct report *report);

#endif
