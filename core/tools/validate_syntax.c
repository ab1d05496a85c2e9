/* SPDX-License-Identifier: GPL-3.0-or-later */
/* validate_syntax.c: checks the syntax of Lisp code, or of a file, without the
   Lisp reader. */
#include "base/limits.h"
#include "base/utf8.h"
#include "files/text.h"
#include "gate/place.h"
#include "source/source.h"
#include "tools/fields.h"
#include "tools/sets.h"

enum { CODE, PATH };

static const struct schema_field fields[] = {
    [CODE] = {.name = "code", .kind = SCHEMA_CODE},
    [PATH] = {.name = "path", .kind = SCHEMA_PATH, .instead_of = "code"},
    {0},
};

/* Reads the file that the call is about. When that is impossible, ANSWER says
   why. */
static enum status read_text(const struct tool_request *request,
                             struct text *out, struct tool_answer *answer)
{
    struct arena *arena = request->arena;
    struct files_content file;

    if (!tool_has_files(request, answer))
        return ST_OK;
    enum files_result result =
        place_read(request, arena, LIMIT_FILE, &file, &answer->text);
    if (result == FILES_NOMEM)
        return ST_NOMEM;
    answer->state = TOOL_FAILED;
    if (result != FILES_OK)
        return ST_OK;
    enum status status = text_decode(arena, file.bytes, SIZE_MAX, out);
    if (status == ST_INVALID) {
        answer->text =
            arena_printf(arena, "%.*s is not a text file.", STR_ARG(file.name));
        return answer->text.n > 0 ? ST_OK : ST_NOMEM;
    }
    if (status == ST_OK)
        answer->state = TOOL_ANSWERED;
    return status;
}

static enum status validate_syntax(const struct tool_request *request,
                                   struct tool_answer *answer)
{
    const struct schema_value *values = request->values;
    struct text text = {.text = values[CODE].string};
    struct source_report report;
    enum status status = ST_OK;

    answer->state = TOOL_ANSWERED;
    if (values[PATH].given) {
        status = read_text(request, &text, answer);
    } else if (!values[CODE].given) {
        answer->state = TOOL_FAILED;
        answer->text = STR("Say what to check: code, or the path of a file.");
    }
    if (status != ST_OK || answer->state == TOOL_FAILED)
        return status;
    status = source_check(request->arena->strand, text.text, &report);
    if (status != ST_OK)
        return status;
    answer->text = source_describe(request->arena, &report);
    return answer->text.n > 0 ? ST_OK : ST_NOMEM;
}

const struct tool tool_validate_syntax = {
    .name = "validate-syntax",
    .title = "Validate syntax",
    .description = "Find where parentheses or syntax break in Lisp code or a "
                   "file.",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .in_steps = true,
    .handler = validate_syntax,
};
