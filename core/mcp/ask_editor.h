/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ask_editor.h: what the editor is asked for a call: to put the question to its
   human, to say what is in a buffer, or to run the call. It has to acknowledge
   each request within LIMIT_EDITOR_RECEIVE_MS. Its time for a buffer and for
   its tools is limited here; the time limit of its human is in ask.h.

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

/* Put the question of T to the editor's human, who has SECONDS to answer; ask
   for the text of the buffer of the file that the answer of T names; let the
   editor run the call. The call then waits in the state asking-editor,
   reading-buffer or in-editor. False, and nothing has changed: there is no
   editor, it does not read, or memory runs out. */
bool ask_editor_approve(struct editor *editor, struct step *t, int64_t seconds);
bool ask_editor_read(struct editor *editor, struct step *t);
bool ask_editor_call(struct editor *editor, struct step *t);

/* The call with the editor whose request has this number, or NULL. */
struct pending *ask_editor_find(const struct pending_table *table,
                                uint64_t request);

/* The editor has acknowledged the request of PENDING. */
void ask_editor_note_receipt(struct pending *pending);

/* When the editor is too late with PENDING, which is with it; DEADLINE_NEVER:
   nothing limits it. */
int64_t ask_editor_deadline(const struct pending *pending);

/* Whether the call of T is with the editor, and the editor is too late. */
bool ask_editor_is_late(const struct step *t);

/* Three things may happen to a call that is with the editor. As after
   gate_start, T then has the answer, and the caller hands the status to
   ask_go_on_alone. */

/* The editor has answered its request. */
enum status MUST_CHECK ask_editor_answer(struct step *t,
                                         const struct editor_message *result);

/* The editor is too late: withdraws the request. A call that the editor was to
   run has failed; any other goes on without the editor. */
enum status MUST_CHECK ask_editor_time_out(struct editor *editor,
                                           struct step *t);

/* The editor is gone. The same, but a question that it had acknowledged counts
   as asked, and is refused. */
enum status MUST_CHECK ask_editor_lose(struct step *t);

/* Tells the editor that the request of PENDING, which is with it, needs no
   answer because of WHY. */
void ask_editor_withdraw(struct editor *editor, const struct pending *pending,
                         struct str why);

#endif
