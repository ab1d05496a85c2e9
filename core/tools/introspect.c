/* SPDX-License-Identifier: GPL-3.0-or-later */
/* introspect.c: the set of tools that look things up in a Lisp session. */
#include "tools/fields.h"
#include "tools/sets.h"

static const char *const kinds[] = {
    "all", "function", "macro", "variable", "class", NULL,
};

const struct tool *const tools_introspect[] = {
    &(const struct tool){
        .name = "describe-symbol",
        .title = "Describe symbol",
        .description = "Describe a symbol: kinds, lambda list, documentation, "
                       "value, methods, file.",
        .fields =
            FIELDS(FIELD_REQUIRED("symbol"), FIELD_PACKAGE, FIELD_SESSION),
        .level = TOOL_SAFE,
        .reads_only = true,
        .idempotent = true,
        .operation = "describe-symbol",
    },
    &(const struct tool){
        .name = "apropos-search",
        .title = "Search symbols",
        .description = "Find symbols whose names contain a text, with their "
                       "kinds and lambda lists.",
        .fields = FIELDS(FIELD_REQUIRED("pattern"), FIELD_PACKAGE,
                         {.name = "kind",
                          .kind = SCHEMA_CHOICE,
                          .choices = kinds,
                          .fallback = "\"all\""},
                         FIELD_LIMIT, FIELD_SESSION),
        .level = TOOL_SAFE,
        .reads_only = true,
        .look_up = true,
        .idempotent = true,
        .operation = "apropos-search",
    },
    &(const struct tool){
        .name = "function-arglist",
        .title = "Function lambda list",
        .description = "Lambda list of a function, macro or (setf name).",
        .fields =
            FIELDS(FIELD_REQUIRED("function"), FIELD_PACKAGE, FIELD_SESSION),
        .level = TOOL_SAFE,
        .reads_only = true,
        .look_up = true,
        .idempotent = true,
        .operation = "function-arglist",
    },
    &(const struct tool){
        .name = "list-package-symbols",
        .title = "List package symbols",
        .description = "List the external symbols of a package by kind.",
        .fields = FIELDS({.name = "package",
                          .kind = SCHEMA_STRING,
                          .required = true,
                          .package = true},
                         {.name = "include-internal",
                          .kind = SCHEMA_BOOLEAN,
                          .fallback = "false",
                          .help = "List internal symbols, too."},
                         FIELD_SESSION),
        .level = TOOL_SAFE,
        .reads_only = true,
        .look_up = true,
        .idempotent = true,
        .operation = "list-package-symbols",
    },
    &(const struct tool){
        .name = "class-info",
        .title = "Class information",
        .description = "Describe a class, structure or condition: super- and "
                       "subclasses, slots.",
        .fields = FIELDS(FIELD_REQUIRED("class"), FIELD_PACKAGE, FIELD_SESSION),
        .level = TOOL_SAFE,
        .reads_only = true,
        .idempotent = true,
        .operation = "class-info",
    },
    &(const struct tool){
        .name = "find-methods",
        .title = "Find methods",
        .description = "List the methods specialized on a class.",
        .fields = FIELDS(FIELD_REQUIRED("class"), FIELD_PACKAGE, FIELD_SESSION),
        .level = TOOL_SAFE,
        .reads_only = true,
        .idempotent = true,
        .operation = "find-methods",
    },
    &(const struct tool){
        .name = "who-calls",
        .title = "Who calls",
        .description = "Find callers of a function or macro in evaluated code, "
                       "loaded files and systems.",
        .fields =
            FIELDS(FIELD_REQUIRED("function"), FIELD_PACKAGE, FIELD_SESSION),
        .level = TOOL_SAFE,
        .reads_only = true,
        .idempotent = true,
        .operation = "who-calls",
    },
    &(const struct tool){
        .name = "who-references",
        .title = "Who references",
        .description = "Find what reads, sets or binds a global variable in "
                       "evaluated code, files and systems.",
        .fields =
            FIELDS(FIELD_REQUIRED("variable"), FIELD_PACKAGE, FIELD_SESSION),
        .level = TOOL_SAFE,
        .reads_only = true,
        .idempotent = true,
        .operation = "who-references",
    },
    &(const struct tool){
        .name = "inspect-value",
        .title = "Inspect value",
        .description = "Show the parts of a value: elements, slots, entries.",
        .fields = FIELDS({.name = "expression",
                          .kind = SCHEMA_CODE,
                          .required = true,
                          .help = "Variable or accessor call."},
                         {.name = "path",
                          .kind = SCHEMA_STRING,
                          .help = "Labels or indices: slots/0/name."},
                         {.name = "offset",
                          .kind = SCHEMA_INTEGER,
                          .max = INT32_MAX,
                          .help = "Parts to skip."},
                         FIELD_LIMIT, FIELD_SESSION),
        .level = TOOL_SAFE,
        .reads_only = true,
        .look_up = true,
        .idempotent = true,
        .operation = "inspect-value",
    },
    &(const struct tool){
        .name = "describe-system",
        .title = "Describe system",
        .description = "Describe an ASDF system without loading it: version, "
                       "author, dependencies, files.",
        .fields = FIELDS(FIELD_REQUIRED("system"), FIELD_SESSION),
        .level = TOOL_SAFE,
        .reads_only = true,
        .idempotent = true,
        .evaluates = true, // the definition file of the system
        .operation = "describe-system",
    },
    &(const struct tool){
        .name = "list-systems",
        .title = "List systems",
        .description = "List ASDF systems: the loaded ones, then those that "
                       "load-system can find.",
        .fields = FIELDS(FIELD_OPTIONAL("pattern"),
                         {.name = "limit",
                          .kind = SCHEMA_INTEGER,
                          .min = 1,
                          .max = LIMIT_LISTED,
                          .help = "Default 100."},
                         FIELD_SESSION),
        .level = TOOL_SAFE,
        .reads_only = true,
        .idempotent = true,
        .operation = "list-systems",
    },
    NULL,
};
