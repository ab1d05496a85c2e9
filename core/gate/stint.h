/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stint.h: one step of a call whose tool works in steps (tool.h): what the
   gate does about it runs in a strand, with copies of all that it needs, and
   pauses wherever the tool says how much it has done. */
#ifndef GATE_STINT_H
#define GATE_STINT_H

#include <stdbool.h>

#include "base/status.h"
#include "gate/gate_step.h"
#include "json/json.h"

/* What is to be done about T, whose arguments are there; REPLY as in
   stint_begin. */
typedef enum status stint_run(struct gate_step *t, struct json reply);

/* Lets RUN work on T with REPLY, which is absent, or what a human or an editor
   answered. Either it comes to its end, and T has its answer, which lives as
   long as the call; or the answer's state is TOOL_WORKS. It begins once fewer
   than LIMIT_STINTS are under way. The call owns it, and forgets its last one.
   ST_LIMIT: too many wait, or too many bytes of arguments. */
enum status MUST_CHECK stint_begin(struct gate_step *t, stint_run *run,
                                   struct json reply);

/* The next step of the stint of T's call. Returns as stint_begin does. */
enum status MUST_CHECK stint_go_on(struct gate_step *t);

/* Whether stint_go_on would do anything about CALL, which works: it may wait
   for its turn, or for the disk. */
bool stint_can_go_on(const struct gate *gate, const struct tool_call *call);

#endif
