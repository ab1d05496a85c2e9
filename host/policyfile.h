/* SPDX-License-Identifier: GPL-3.0-or-later */
/* policyfile.h: where the rules of the user are, and whether they are the
   user's: what the agent could have written is not trusted. */
#ifndef HOST_POLICYFILE_H
#define HOST_POLICYFILE_H

#include "base/status.h"
#include "gate/policy.h"
#include "host/workspace.h"

/* Where it is below HOME. */
#define POLICYFILE_PLACE ".config/ecl-mcp/policy.json"

/* Reads the rules in the file PATH; when that is NULL, in POLICYFILE_PLACE
   below the environment's HOME, where none need be. A file that cannot be read,
   that belongs to somebody else or may be changed by others, or that lies in
   WORKSPACE (may be NULL), is a fault of the policy. Only ST_NOMEM fails, and
   leaves a fault, too. */
enum status MUST_CHECK policyfile_read(struct policy *policy, const char *path,
                                       const struct workspace *workspace,
                                       policy_find *find);

#endif
