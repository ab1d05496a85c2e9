/* SPDX-License-Identifier: GPL-3.0-or-later */
/* editor_buffer.c: see editor_buffer.h. */
#include "gate/editor_buffer.h"

#include <string.h>

#include "base/limits.h"
#include "gate/place.h"

enum status editor_buffer_path(struct arena *arena, const struct files *files,
                               const struct tool_call *call, struct str *out)
{
    *out = STR("");
    if (!files || !place_is_known(call))
        return ST_OK;
    bool root = strcmp(files->root, "/") == 0;
    *out = arena_printf(arena, "%s/%.*s", root ? "" : files->root,
                        STR_ARG(buf_view(&call->place.name)));
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
