/* SPDX-License-Identifier: GPL-3.0-or-later */
/* files.c: the set of tools that read and change files of the workspace. */
#include "tools/sets.h"

const struct tool *const tools_files[] = {
    &tool_read_file,         &tool_list_directory,
    &tool_search_files,      &tool_write_file,
    &tool_propose_file_edit, &tool_propose_changes,
    &tool_edit_definition,   &tool_move_file,
    &tool_delete_file,       NULL,
};
