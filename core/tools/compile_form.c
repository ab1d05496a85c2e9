/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compile_form.c: has code, or the text of a file, compiled for what the
   compiler says. */
#include "base/limits.h"
#include "files/text.h"
#include "gate/place.h"
#include "tools/fields.h"
#include "tools/sets.h"

enum { CODE, PATH, PACKAGE };

static const struct schema_field fields[] = {
    [CODE] = {.name = "code", .kind = SCHEMA_CODE},
    [PATH] = {.name = "path", .kind = SCHEMA_PATH, .instead_of = "code"},
    [PACKAGE] = FIELD_PACKAGE,
    FIELD_SESSION,
    {0},
};

/* Reads the file that the call is about. When that is impossible, ANSWER says
   why. */
static enum status read_text(const struct tool_request *request,
                             struct str *out, struct tool_answer *answer)
{
    struct files_content file;
    struct str problem = STR("");
    struct text text;

    if (!tool_has_files(request, answer))
        return ST_OK;
    enum files_result result =
        place_read(request, request->arena, LIMIT_SEARCH_FILE, &file, &problem);
    if (result == FILES_NOMEM)
        return ST_NOMEM;
    enum status status = ST_INVALID;
    if (result == FILES_OK)
        status = text_decode(request->arena, file.bytes, SIZE_MAX, &text);
    if (status == ST_OK)
        *out = text.text;
    if (status != ST_INVALID)
        return status;
    answer->state = TOOL_FAILED;
    answer->text = result == FILES_OK ? STR("The file is not text.") : problem;
    return ST_OK;
}

static enum status compile_form(const struct tool_request *request,
                                struct tool_answer *answer)
{
    const struct schema_value *values = request->values;
    struct image *image = request->image;
    struct str code = values[CODE].string;
    enum status status = ST_OK;

    if (values[PATH].given) {
        status = read_text(request, &code, answer);
    } else if (!values[CODE].given) {
        answer->state = TOOL_FAILED;
        answer->text = STR("Say what to compile: code, or the path of a file.");
    }
    if (status != ST_OK || answer->state == TOOL_FAILED)
        return status;
    tool_begin(request, "compile-form");
    wire_put_string(&image->out, STR("code"));
    wire_put_string(&image->out, code);
    if (values[PACKAGE].given) {
        wire_put_string(&image->out, STR("package"));
        wire_put_string(&image->out, values[PACKAGE].string);
    }
    return image_send(image, &request->call->image);
}

const struct tool tool_compile_form = {
    .name = "compile-form",
    .title = "Compile form",
    .description =
        "Compile Lisp code or a file, running only its macros: errors, "
        "warnings, undefined names.",
    .fields = fields,
    .level = TOOL_CAUTIOUS,
    .reads_only = true,
    .idempotent = true,
    .evaluates = true,
    .handler = compile_form,
};
