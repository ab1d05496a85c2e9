/* SPDX-License-Identifier: GPL-3.0-or-later */
/* editor_buffer.c: see editor_buffer.h. */
#include "gate/editor_buffer.h"

#include <string.h>

#include "base/limits.h"

/* The argument that names the file of a review, or NULL. */
static const struct schema_value *find_path(const struct tool *tool,
                                            const struct schema_value *values)
{
    for (size_t i = 0; i < schema_count(tool->fields); i++)
        if (tool->fields[i].kind == SCHEMA_PATH && values[i].given)
            return &values[i];
    return NULL;
}

enum status editor_buffer_path(struct arena *arena, const struct files *files,
                               const struct tool *tool,
                               const struct schema_value *values,
                               struct str *out)
{
    const struct schema_value *path = find_path(tool, values);
    struct str problem;
    struct str name;

    *out = STR("");
    if (!files || !path)
        return ST_OK;
    enum files_result result =
        files->locate(files->context, arena, path->string, &name, &problem);
    if (result != FILES_OK)
        return result == FILES_NOMEM ? ST_NOMEM : ST_OK;
    bool root = strcmp(files->root, "/") == 0;
    *out =
        arena_printf(arena, "%s/%.*s", root ? "" : files->root, STR_ARG(name));
    return out->n > 0 ? ST_OK : ST_NOMEM;
}

enum status editor_buffer_read(struct arena *arena, struct json result,
                               struct tool_buffer *buffer, size_t *n)
{
    struct str text;
    enum status status = json_string(arena, json_get(result, "text"), &text);

    *n = 0;
    if (status == ST_INVALID)
        return ST_OK; // no buffer
    if (status != ST_OK)
        return status;
    *n = text.n;
    buffer->exists = true;
    buffer->modified = json_type(json_get(result, "modified")) == JSON_TRUE;
    if (text.n > LIMIT_EDITOR_TEXT)
        return ST_LIMIT;
    if (!buf_reserve_exact(&buffer->text, text.n))
        return ST_NOMEM;
    buf_str(&buffer->text, text);
    return ST_OK;
}
