/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ask_editor.h: what the editor is asked for a call: to put the question to its
   human, to say what is in a buffer, or to do the call. It has to acknowledge
   each request within LIMIT_EDITOR_RECEIVE_MS; for a buffer and for its tools
   its time is limited here, the human's time is in ask.h.

   EDITOR is NULL where no editor will ever come. */
#ifndef MCP_ASK_EDITOR_H
#define MCP_ASK_EDITOR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"
#include "editor/editor.h"
#include "mcp/pending.h"
#include "mcp/step.h"

/* Put the question of T to the editor's human, who has so many SECONDS; ask for
   the text of the buffer of the file that the answer of T names; let the editor
   do the call. The call then waits in the state asking-editor, reading-buffer
   or in-editor. False, and nothing has changed: there is no editor, it does not
   read, or memory runs out. */
bool ask_editor_approve(struct editor *editor, struct step *t, int64_t seconds);
bool ask_editor_read(struct editor *editor, struct step *t);
bool ask_editor_call(struct editor *editor, struct step *t);

/* The call with the editor whose request has this number, or NULL. */
struct pending *ask_editor_find(const struct pending_table *table,
                                uint64_t request);

/* The editor has acknowledged the request of PENDING. */
void ask_editor_note_receipt(struct pending *pending);

/* When the editor is too late with PENDING, which is with it; DEADLINE_NEVER:
   it has all the time. */
int64_t ask_editor_deadline(const struct pending *pending);

/* Whether it is too late with the call of T, in any state. */
bool ask_editor_is_late(const struct step *t);

/* What follows from the result of the request, from ask_editor_is_late, and
   from the loss of the editor, for a call that is with it. What it has not
   acknowledged, and what its human was not asked for, goes on without it; what
   its human was asked is refused; what it was doing has failed. All go on as
   gate_start: the caller hands the status to ask_go_on_alone. */
enum status MUST_CHECK ask_editor_answer(struct step *t,
                                         const struct editor_message *result);
enum status MUST_CHECK ask_editor_time_out(struct editor *editor,
                                           struct step *t);
enum status MUST_CHECK ask_editor_lose(struct step *t);

/* The editor need not answer the request of PENDING, which is with it, because
   of WHY. */
void ask_editor_withdraw(struct editor *editor, const struct pending *pending,
                         struct str why);

#endif
