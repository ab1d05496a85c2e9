/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arguments.h: the arguments of a call. The call keeps them as JSON text from
   step to step; each step reads and checks that text again. */
#ifndef GATE_ARGUMENTS_H
#define GATE_ARGUMENTS_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"
#include "gate/schema.h"
#include "gate/tool.h"
#include "json/json.h"

/* Arguments that were checked; valid during one step. */
struct arguments {
    struct json object; /* absent: there are none */
    const struct schema_value *values;
};

/* The text of OBJECT (an object or absent), as calls keep it. */
struct str arguments_text(struct json object);

/* Reads TEXT as arguments of TOOL. Everything lives in ARENA. ST_INVALID: they
   are not right, and *PROBLEM says why; ST_NOMEM. *OUT is written on success
   only. */
enum status MUST_CHECK arguments_read(struct arena *arena,
                                      const struct tool *tool, struct str text,
                                      struct arguments *out,
                                      struct str *problem);

/* The same without a copy of TEXT, which must outlive ARENA. */
enum status MUST_CHECK arguments_view(struct arena *arena,
                                      const struct tool *tool, struct str text,
                                      struct arguments *out,
                                      struct str *problem);

/* Keeps ARGUMENTS, whose text is TEXT, in CALL, instead of those that it had:
   the text, its preview, and the session that they name. The steps are those of
   ARENA's strand. ST_NOMEM: CALL has only some of it, and must end. */
enum status MUST_CHECK arguments_keep(const struct arena *arena,
                                      struct tool_call *call,
                                      const struct arguments *arguments,
                                      struct str text);

/* Appends in words how AFTER differs from BEFORE, two objects: "code is
   \"(f)\", n is left out"; nothing when it does not. */
void arguments_describe_changes(struct buf *out, struct json before,
                                struct json after);

#endif
