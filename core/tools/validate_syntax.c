/* SPDX-License-Identifier: GPL-3.0-or-later */
/* validate_syntax.c: checks the syntax of Lisp code without the Lisp reader. */
#include "source/source.h"
#include "tools/fields.h"
#include "tools/sets.h"

enum { CODE };

static const struct schema_field fields[] = {
    [CODE] = FIELD_CODE,
    {0},
};

static enum status validate_syntax(const struct tool_request *request,
                                   struct tool_answer *answer)
{
    struct source_report report;
    enum status status = source_check(request->arena->strand,
                                      request->values[CODE].string, &report);
    if (status != ST_OK)
        return status;
    answer->state = TOOL_ANSWERED;
    answer->text = source_describe(request->arena, &report);
    return answer->text.n > 0 ? ST_OK : ST_NOMEM;
}

const struct tool tool_validate_syntax = {
    .name = "validate-syntax",
    .title = "Validate syntax",
    .description = "Check parentheses and syntax of Lisp code without "
                   "evaluating it: where it breaks, what is missing.",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .in_steps = true,
    .handler = validate_syntax,
};
