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

/* The absolute path of the file that CALL is about, in ARENA; empty when it is
   about none. FILES may be NULL. ST_NOMEM. */
enum status MUST_CHECK editor_buffer_path(struct arena *arena,
                                          const struct files *files,
                                          const struct tool_call *call,
                                          struct str *out);

/* Reads RESULT, that of "text" (docs/editor-protocol.md), into BUFFER; null or
   absent: the editor has no buffer of the file. *N: bytes of its text, 0
   without one. ST_LIMIT when they are more than LIMIT_EDITOR_TEXT; ST_NOMEM. */
enum status MUST_CHECK editor_buffer_read(struct arena *arena,
                                          struct json result,
                                          struct tool_buffer *buffer,
                                          size_t *n);

#endif
