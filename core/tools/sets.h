/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sets.h: the sets of tools, and the descriptors in them that other files
   name. */
#ifndef TOOLS_SETS_H
#define TOOLS_SETS_H

#include "gate/tool.h"

/* Each in a file of its name, in the order of tools/list; ends with NULL. */
extern const struct tool *const tools_eval[];
extern const struct tool *const tools_session[];
extern const struct tool *const tools_introspect[];
extern const struct tool *const tools_files[];
extern const struct tool *const tools_measure[];
extern const struct tool *const tools_debug[];
extern const struct tool *const tools_step[];
extern const struct tool *const tools_threads[];
extern const struct tool *const tools_replay[];

/* Tools with code, each in a file of its name. */
extern const struct tool tool_compile_form;
extern const struct tool tool_configure_limits;
extern const struct tool tool_delete_file;
extern const struct tool tool_edit_definition;
extern const struct tool tool_list_directory;
extern const struct tool tool_move_file;
extern const struct tool tool_propose_changes;
extern const struct tool tool_propose_file_edit;
extern const struct tool tool_read_file;
extern const struct tool tool_read_output;
extern const struct tool tool_rename_symbol;
extern const struct tool tool_reset_session;
extern const struct tool tool_search_files;
extern const struct tool tool_validate_syntax;
extern const struct tool tool_write_file;

/* Tools of a set that resources show, too, */
extern const struct tool tool_describe_last_error;
extern const struct tool tool_list_definitions;
extern const struct tool tool_list_sessions;

/* and what resources show of a session and no tool alone does (views.c); in no
   set. */
extern const struct tool view_checkpoints;
extern const struct tool view_output;

/* What completes a path, and the name of a system of the workspace, from the
   arguments path, its folder, and typed (completions.c); in no set. */
extern const struct tool complete_paths;
extern const struct tool complete_systems;

#endif
