/* SPDX-License-Identifier: GPL-3.0-or-later */
/* policyfile.h: where the rules of the user are, and whether they are really
   the user's: a file that the agent could have written is not trusted. */
#ifndef HOST_POLICYFILE_H
#define HOST_POLICYFILE_H

#include "base/status.h"
#include "gate/policy.h"
#include "host/workspace.h"

/* Where it is below HOME. */
#define POLICYFILE_PLACE ".config/ecl-mcp/policy.json"

/* Reads the rules in the file PATH; when that is NULL, in POLICYFILE_PLACE
   below HOME, if there is such a file. A file that cannot be read, belongs to
   somebody else, can be written by others, or is exposed to the agent
   (exposure.h; WORKSPACE may be NULL) is a fault of the policy. The only
   failure is ST_NOMEM, and it leaves a fault, too. */
enum status MUST_CHECK policyfile_read(struct policy *policy, const char *path,
                                       const struct workspace *workspace,
                                       policy_find *find);

#endif
