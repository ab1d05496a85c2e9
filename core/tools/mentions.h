/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mentions.h: which system definitions name a file, so that a model that moves
   or deletes it changes them, too. */
#ifndef TOOLS_MENTIONS_H
#define TOOLS_MENTIONS_H

#include "base/status.h"
#include "base/str.h"
#include "gate/tool.h"

/* *OUT is a sentence for each place in the .asd files of the folder of PART's
   file, and of those above it, where the name of the file stands as a string:
   at most LIMIT_MENTIONS of them. Empty: there is none. */
enum status MUST_CHECK mentions_find(const struct tool_request *request,
                                     const struct tool_call *part,
                                     struct str *out);

#endif
