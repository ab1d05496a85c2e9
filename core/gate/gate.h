/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gate.h: the only place that decides whether a call runs, and the only one
   that runs it. In this order: a deny rule, an ask rule, an allow rule, a
   session grant, the level. When the rules cannot be trusted, only safe tools
   run. */
#ifndef GATE_GATE_H
#define GATE_GATE_H

#include <stdint.h>

#include "base/status.h"
#include "base/str.h"
#include "gate/gate_step.h"
#include "gate/schema.h"
#include "json/json.h"
#include "wire/image.h"

void gate_init(struct gate *gate, const struct log *log, struct image *image,
               const struct tool_limits *limits);

/* HOOK hears of every call from now on. ST_LIMIT when there are GATE_HOOKS. */
enum status MUST_CHECK gate_add_hook(struct gate *gate, gate_hook *hook,
                                     void *context);

/* Decides about the call, whose caller has set its own members, and runs it if
   it may run. ARGUMENTS (an object or absent) have been checked and gave
   VALUES. The state of the answer says what comes next. Until the call is over,
   it must stay where it is.

   TOOL_WAITS         the image answers: gate_end;
   TOOL_WORKS         gate_work until the state changes;
   TOOL_READS_BUFFER  ask the editor for the text of the file whose absolute
                      path is the answer's text, or, when call->unsaved is
                      asked for, for what it has not saved: gate_buffer_text;
   TOOL_ASKS          put call->question to a human: gate_decide, or, when an
                      editor asks, gate_decide_in_editor; nothing when the
                      client is going to make the call again;
   TOOL_IN_EDITOR     the editor does it: gate_end;
   else               it is over, the text is the answer.

   ST_NOMEM: nothing runs, the call is over. In any case the caller releases the
   call (tool_call_release) when it no longer needs the answer. */
enum status MUST_CHECK gate_start(struct gate_step *step, struct json arguments,
                                  const struct schema_value *values);

/* A human answered the question of a call. REPLY is an object with "action" and
   "content" as MCP's elicitation has it, with the content of the form
   (approval_form.h). It is absent when there is no answer, because of WHY
   ("nobody answered within 300 s"). Returns as gate_start does. */
enum status MUST_CHECK gate_decide(struct gate_step *step, struct json reply,
                                   struct str why);

/* The same when an editor was asked: RESULT is that of "approve". */
enum status MUST_CHECK gate_decide_in_editor(struct gate_step *step,
                                             struct json result);

/* What the editor says about what TOOL_READS_BUFFER is about: RESULT is that of
   "text" or "unsaved"; null or absent when the editor has no such buffer.
   Returns as gate_start does. */
enum status MUST_CHECK gate_buffer_text(struct gate_step *step,
                                        struct json result);

/* The editor did not receive the request of a call that reads a buffer or asks:
   the call continues as if there were no editor. Returns as gate_start does. */
enum status MUST_CHECK gate_without_editor(struct gate_step *step);

/* A call that asked is no longer what the human was shown: it is over. */
enum status MUST_CHECK gate_stale(struct gate_step *step);

/* The next step of a call that works. Returns as gate_start does. */
enum status MUST_CHECK gate_work(struct gate_step *step);

/* Ends a call that the gate has not ended itself: one that waited, whose answer
   STEP has, or one that worked and was stopped. The answer's text becomes the
   one for the client; it lives no longer than it did before, nor than the
   call. */
void gate_end(struct gate_step *step);

#endif
