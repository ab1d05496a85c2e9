/* SPDX-License-Identifier: GPL-3.0-or-later */
/* registry.c: the table of tools. */
#include "tools/registry.h"

#include "tools/catalog.h"

/* Each set once, by name: SETS is the table and the text about it. */
#define EVAL "eval"
#define SESSION "session"
#define INTROSPECT "introspect"
#define FILES "files"
#define MEASURE "measure"
#define EDITOR "emacs"

static const char *const set_names[] = {EVAL,  SESSION, INTROSPECT,
                                        FILES, MEASURE, EDITOR};

enum {
    IN_EVAL = 1u << 0,
    IN_SESSION = 1u << 1,
    IN_INTROSPECT = 1u << 2,
    IN_FILES = 1u << 3,
    IN_MEASURE = 1u << 4
};

static const struct {
    unsigned set;
    const struct tool *tool;
} entries[] = {
    {IN_EVAL, &tool_evaluate_lisp},
    {IN_EVAL, &tool_load_system},
    {IN_EVAL, &tool_load_file},
    {IN_EVAL, &tool_compile_form},
    {IN_EVAL, &tool_macroexpand_form},
    {IN_EVAL, &tool_validate_syntax},
    {IN_EVAL, &tool_describe_last_error},
    {IN_SESSION, &tool_list_definitions},
    {IN_SESSION, &tool_reset_session},
    {IN_SESSION, &tool_configure_limits},
    {IN_SESSION, &tool_checkpoint_session},
    {IN_SESSION, &tool_restore_session},
    {IN_SESSION, &tool_list_sessions},
    {IN_SESSION, &tool_read_output},
    {IN_INTROSPECT, &tool_describe_symbol},
    {IN_INTROSPECT, &tool_apropos_search},
    {IN_INTROSPECT, &tool_function_arglist},
    {IN_INTROSPECT, &tool_list_package_symbols},
    {IN_INTROSPECT, &tool_class_info},
    {IN_INTROSPECT, &tool_find_methods},
    {IN_INTROSPECT, &tool_who_calls},
    {IN_INTROSPECT, &tool_who_references},
    {IN_INTROSPECT, &tool_inspect_value},
    {IN_INTROSPECT, &tool_describe_system},
    {IN_INTROSPECT, &tool_list_systems},
    {IN_FILES, &tool_read_file},
    {IN_FILES, &tool_list_directory},
    {IN_FILES, &tool_search_files},
    {IN_FILES, &tool_write_file},
    {IN_FILES, &tool_propose_file_edit},
    {IN_FILES, &tool_edit_definition},
    {IN_MEASURE, &tool_time_execution},
    {IN_MEASURE, &tool_profile_code},
    {IN_MEASURE, &tool_memory_report},
};

#define SET_COUNT (sizeof set_names / sizeof *set_names)
#define ENTRY_COUNT (sizeof entries / sizeof *entries)

const char *registry_set_names(void)
{
    return EVAL ", " SESSION ", " INTROSPECT ", " FILES ", " MEASURE
                ", " EDITOR;
}

static enum status find_set(struct str name, unsigned *set)
{
    for (size_t i = 0; i < SET_COUNT; i++)
        if (str_eq(name, str_from(set_names[i]))) {
            *set = 1u << i;
            return ST_OK;
        }
    return ST_MISSING;
}

enum status registry_read_sets(struct str names, unsigned *sets)
{
    unsigned all = 0;

    for (size_t start = 0, end; start <= names.n; start = end + 1) {
        unsigned set;

        for (end = start; end < names.n && names.p[end] != ',';)
            end++;
        if (find_set(str_make(names.p + start, end - start), &set) != ST_OK)
            return ST_MISSING;
        all |= set;
    }
    *sets = all;
    return ST_OK;
}

const struct tool *registry_find(unsigned sets, struct str name)
{
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        if ((entries[i].set & sets) && tool_has_name(entries[i].tool, name))
            return entries[i].tool;
    return NULL;
}

const struct tool *registry_at(unsigned sets, size_t index)
{
    for (size_t i = 0; i < ENTRY_COUNT; i++)
        if ((entries[i].set & sets) && index-- == 0)
            return entries[i].tool;
    return NULL;
}
