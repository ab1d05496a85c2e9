/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reading.h: whether Lisp can still read a file after a change. */
#ifndef GATE_READING_H
#define GATE_READING_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

/* Appends a line that says where AFTER, the new text of the file NAME, cannot
   be read, and whether BEFORE, its text before, could; nothing when it can, or
   when NAME is not one of Lisp source. ST_NOMEM: ARENA has none, or is stopped.
 */
enum status MUST_CHECK reading_note(struct arena *arena, struct str name,
                                    struct str before, struct str after,
                                    struct buf *out);

#endif
