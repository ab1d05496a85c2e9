/* SPDX-License-Identifier: GPL-3.0-or-later */
/* editor_buffer.c: see editor_buffer.h. */
#include "gate/editor_buffer.h"

#include <string.h>

#include "base/limits.h"
#include "gate/place.h"

struct tool_call *editor_buffer_asked(struct tool_call *call)
{
    struct tool_call *last = call;

    for (size_t i = 0; i < call->part_count; i++)
        if (call->parts[i].buffer.asked)
            last = &call->parts[i];
    return last;
}

void editor_buffer_forget(struct tool_call *call)
{
    tool_buffer_release(&call->buffer);
    for (size_t i = 0; i < call->part_count; i++)
        tool_buffer_release(&call->parts[i].buffer);
}

/* The call, or its part, whose file the editor was not asked about. */
static struct tool_call *find_next(struct tool_call *call)
{
    if (!call->tool->divide)
        return call->buffer.asked ? NULL : call;
    for (size_t i = 0; i < call->part_count; i++)
        if (!call->parts[i].buffer.asked)
            return &call->parts[i];
    return NULL;
}

static enum status path_of(struct arena *arena, const struct files *files,
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

enum status editor_buffer_next(struct arena *arena, const struct files *files,
                               struct tool_call *call, struct str *out)
{
    enum status status = ST_OK;
    struct tool_call *next = find_next(call);

    *out = STR("");
    for (; next && out->n == 0 && status == ST_OK; next = find_next(call)) {
        next->buffer.asked = true;
        status = path_of(arena, files, next, out);
    }
    return status;
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
