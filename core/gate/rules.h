/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rules.h: the rules of the user (policy.h) are asked about a call: about the
   file that it names, or about each of the files that it is about. */
#ifndef GATE_RULES_H
#define GATE_RULES_H

#include "base/status.h"
#include "base/str.h"
#include "gate/gate_step.h"
#include "gate/policy.h"
#include "gate/tool.h"

/* Finds the places of T's call, REQUEST, unless they are known, and what the
   rules say about it. Of several files the strictest word counts; the call is
   allowed when it is for all of them. *RULE as policy_decide has it; it names
   the file when there are several. Or the call is over: T has its answer. */
enum status MUST_CHECK rules_ask(struct gate_step *t,
                                 const struct tool_request *request,
                                 enum policy_decision *decision,
                                 struct str *rule);

#endif
