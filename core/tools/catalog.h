/* SPDX-License-Identifier: GPL-3.0-or-later */
/* catalog.h: the descriptors of all tools, each defined in a file of its
   name. */
#ifndef TOOLS_CATALOG_H
#define TOOLS_CATALOG_H

#include "gate/tool.h"

extern const struct tool tool_apropos_search;
extern const struct tool tool_checkpoint_session;
extern const struct tool tool_class_info;
extern const struct tool tool_compile_form;
extern const struct tool tool_configure_limits;
extern const struct tool tool_describe_last_error;
extern const struct tool tool_describe_symbol;
extern const struct tool tool_describe_system;
extern const struct tool tool_edit_definition;
extern const struct tool tool_evaluate_lisp;
extern const struct tool tool_find_methods;
extern const struct tool tool_function_arglist;
extern const struct tool tool_inspect_value;
extern const struct tool tool_list_definitions;
extern const struct tool tool_list_directory;
extern const struct tool tool_list_package_symbols;
extern const struct tool tool_list_sessions;
extern const struct tool tool_list_systems;
extern const struct tool tool_load_file;
extern const struct tool tool_load_system;
extern const struct tool tool_macroexpand_form;
extern const struct tool tool_memory_report;
extern const struct tool tool_profile_code;
extern const struct tool tool_propose_file_edit;
extern const struct tool tool_read_file;
extern const struct tool tool_read_output;
extern const struct tool tool_reset_session;
extern const struct tool tool_restore_session;
extern const struct tool tool_search_files;
extern const struct tool tool_time_execution;
extern const struct tool tool_validate_syntax;
extern const struct tool tool_who_calls;
extern const struct tool tool_who_references;
extern const struct tool tool_write_file;

/* What resources show of a session and no tool alone does (views.c); not in the
   registry. */
extern const struct tool view_checkpoints;
extern const struct tool view_output;

#endif
