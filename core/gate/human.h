/* SPDX-License-Identifier: GPL-3.0-or-later */
/* human.h: what a human said about a call: read, checked against the call, and
   put down in it. It decides nothing and runs nothing: that is gate.h. */
#ifndef GATE_HUMAN_H
#define GATE_HUMAN_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/status.h"
#include "base/str.h"
#include "gate/approval.h"
#include "gate/arguments.h"
#include "gate/grants.h"
#include "gate/tool.h"
#include "json/json.h"

struct human {
    struct approval approval;
    bool gave_arguments;        /* the approval came with other arguments */
    struct arguments arguments; /* these, if they are right */
    struct str problem;         /* why they are not; else empty */
};

/* Reads REPLY, that to the form of CALL (approval_form.h). Rule and reason are
   kept in CALL. ST_NOMEM only. */
enum status MUST_CHECK human_read_form(struct arena *arena, struct json reply,
                                       struct tool_call *call,
                                       struct human *out);

/* Reads RESULT, that of an editor (approval_editor.h), in the same way. */
enum status MUST_CHECK human_read_editor(struct arena *arena,
                                         struct json result,
                                         struct tool_call *call,
                                         struct human *out);

/* The arguments of CALL were ASKED, and are those of HUMAN from now on: the
   answer will say what the human changed. *CHANGED: anything. ST_NOMEM: the
   call must end. */
enum status MUST_CHECK human_keep_arguments(const struct arena *arena,
                                            const struct human *human,
                                            const struct arguments *asked,
                                            struct tool_call *call,
                                            bool *changed);

/* Grants the tool of CALL when HUMAN says so; when there is no room, the next
   call needs an approval again. */
void human_remember(const struct human *human, const struct tool_call *call,
                    struct grants *grants, const struct log *log);

#endif
