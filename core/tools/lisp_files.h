/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lisp_files.h: the Lisp files of the workspace, one after the other. */
#ifndef TOOLS_LISP_FILES_H
#define TOOLS_LISP_FILES_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "gate/tool.h"

struct lisp_file {
    struct lisp_file *next;
    struct str path;     /* from the root */
    const char *skipped; /* why nobody has visited its text; NULL: it was */
};

/* How their names end; NULL at the end. */
extern const char *const lisp_files_ends[];

/* Finds all Lisp files of the workspace but those that are secret or in .git,
   also those that are only in the user's editor so far. ST_INVALID: *WHY says
   that what the call names does not exist. ST_LIMIT: more than
   LIMIT_RENAME_FILES. */
enum status MUST_CHECK lisp_files_find(const struct tool_request *request,
                                       struct arena *arena,
                                       struct lisp_file **out, struct str *why);

/* Whether the file PATH is what the call names, or below that. */
bool lisp_files_are_named(const struct tool_request *request, struct str path);

/* Gets the text of one of them, which lives until it returns. */
typedef enum status lisp_files_visit(void *context, struct str path,
                                     struct str text);

/* Calls VISIT with each of FILES that is a text of at most LIMIT_RENAME_FILE
   bytes; what the user's editor has not saved of it counts, if that is known.
   The others say why they were skipped. ST_LIMIT: they have more than
   LIMIT_RENAME_BYTES. */
enum status MUST_CHECK lisp_files_read(const struct tool_request *request,
                                       const struct arena *work,
                                       struct lisp_file *files,
                                       lisp_files_visit *visit, void *context);

#endif
