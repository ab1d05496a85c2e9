/* SPDX-License-Identifier: GPL-3.0-or-later */
/* editor_buffer.h: an editor may have a text of the file under review that is
   not on the disk: which file to ask it for, and what it says. */
#ifndef GATE_EDITOR_BUFFER_H
#define GATE_EDITOR_BUFFER_H

#include <stddef.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "files/files.h"
#include "gate/schema.h"
#include "gate/tool.h"
#include "json/json.h"

/* *OUT is the absolute path, in ARENA, of the next file that CALL is about and
   the editor was not asked about; from now on it was. Empty: there is none.
   FILES may be NULL. ST_NOMEM. */
enum status MUST_CHECK editor_buffer_next(struct arena *arena,
                                          const struct files *files,
                                          struct tool_call *call,
                                          struct str *out);

/* Whether the editor of CALL is to be asked now for what it has not saved of
   the files that CALL looks through: once, if at all. */
bool editor_buffer_ask_unsaved(struct tool_call *call);

/* Reads RESULT, that of "unsaved" (docs/editor-protocol.md), into
   CALL->unsaved; null or absent: the editor has nothing that is not saved, or
   does not know the request. Texts beyond LIMIT_EDITOR_TEXT bytes, and files
   beyond LIMIT_EDITOR_UNSAVED, are not taken, which is noted. ARENA is for what
   it needs meanwhile. ST_NOMEM. */
enum status MUST_CHECK editor_buffer_read_unsaved(struct arena *arena,
                                                  const struct files *files,
                                                  struct json result,
                                                  struct tool_call *call);

/* The call, or its part, whose file the editor was asked about last. */
struct tool_call *editor_buffer_asked(struct tool_call *call);

/* Forgets what the editor said, and that it was asked. */
void editor_buffer_forget(struct tool_call *call);

/* Reads RESULT, that of "text" (docs/editor-protocol.md), into BUFFER; null or
   absent: the editor has no buffer of the file. *N: bytes of its text, 0
   without one. ST_LIMIT when they are more than LIMIT_EDITOR_TEXT; ST_NOMEM. */
enum status MUST_CHECK editor_buffer_read(struct arena *arena,
                                          struct json result,
                                          struct tool_buffer *buffer,
                                          size_t *n);

#endif
