/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place.h: the file or folder that a call is about. Its path is resolved once,
   when the call begins: the rules, the question, the log and the handler are
   about that file, wherever the path would lead later. */
#ifndef GATE_PLACE_H
#define GATE_PLACE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/status.h"
#include "files/files.h"
#include "gate/schema.h"
#include "gate/tool.h"

/* Fills CALL->place from the path in VALUES, unless it is the place of the same
   path already. FILES may be NULL. ST_NOMEM only. */
enum status MUST_CHECK place_find(struct tool_call *call,
                                  const struct files *files,
                                  const struct schema_value *values);

/* The same for one PATH, into PLACE. */
enum status MUST_CHECK place_locate(struct tool_place *place,
                                    const struct files *files, struct str path);

/* Reads the file that the call is about, as the function of files.h does. Also
   FILES_REFUSED: its path leads to no place, or the rules about paths that bind
   the call cannot be applied, because the file has got another name. */
enum files_result place_read(const struct tool_request *request,
                             struct arena *arena, uint64_t max,
                             struct files_content *out, struct str *problem);

/* The same for a file that was read before, as KNOWN. */
enum files_result place_read_again(const struct tool_request *request,
                                   struct arena *arena,
                                   const struct files_content *known,
                                   struct files_content *out,
                                   struct str *problem);

/* Lists the folder that the call is about. */
enum files_result place_list(const struct tool_request *request,
                             struct arena *arena, struct files_folder *out,
                             struct str *problem);

/* The place of CALL, for a host's function; borrowed from CALL. */
struct files_place place_view(const struct tool_call *call);

/* Whether CALL is about a file or folder that is known. */
bool place_is_known(const struct tool_call *call);

#endif
