/* SPDX-License-Identifier: GPL-3.0-or-later */
/* registry.c: prints the table of tools for the tests of the Lisp library, as
   S-expressions: for each tool (NAME OPERATION FIELD...). OPERATION is nil when
   a handler does the work. A FIELD is (NAME TYPE REQUIRED), where TYPE is that
   of the value which the operation receives. The arguments that mean the same
   for every tool are left out: operations do not receive them. */
#include "tools/registry.h"

#include <stdio.h>
#include <string.h>

#include "gate/schema.h"
#include "gate/tool.h"

static const char *lisp_type(enum schema_kind kind)
{
    if (kind == SCHEMA_INTEGER || kind == SCHEMA_SIZE)
        return "integer";
    if (kind == SCHEMA_NUMBER)
        return "double-float";
    if (kind == SCHEMA_BOOLEAN)
        return "t";
    if (kind == SCHEMA_LIST)
        return "list"; // no operation can receive one
    return "string";
}

static bool is_sent(const struct schema_field *field)
{
    return strcmp(field->name, TOOL_SESSION) != 0 &&
           strcmp(field->name, TOOL_TIMEOUT) != 0;
}

static void print_tool(const struct tool *tool)
{
    size_t i;

    printf("(\"%s\" ", tool->name);
    if (tool->operation)
        printf("\"%s\"", tool->operation);
    else
        printf("nil");
    for (i = 0; i < schema_count(tool->fields); i++) {
        const struct schema_field *field = &tool->fields[i];

        if (is_sent(field))
            printf(" (\"%s\" %s %s)", field->name, lisp_type(field->kind),
                   field->required ? "t" : "nil");
    }
    printf(")\n");
}

int main(void)
{
    const struct tool *tool;
    size_t i;

    for (i = 0; (tool = registry_at(REGISTRY_ALL_SETS, i)); i++)
        print_tool(tool);
    return i > 0 && fflush(stdout) == 0 ? 0 : 1;
}
