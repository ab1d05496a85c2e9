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

bool editor_buffer_ask_unsaved(struct tool_call *call)
{
    if (!call->editor || !call->tool->unsaved ||
        call->unsaved.state != UNSAVED_NEW)
        return false;
    call->unsaved.state = UNSAVED_ASKED;
    return true;
}

/* PATH, which is absolute, from the root of FILES; empty: it is not below that.
 */
static struct str from_root(const struct files *files, struct str path)
{
    size_t n = strcmp(files->root, "/") == 0 ? 0 : strlen(files->root);

    if (path.n > n + 1 && memcmp(path.p, files->root, n) == 0 &&
        path.p[n] == '/')
        return str_make(path.p + n + 1, path.n - n - 1);
    return STR("");
}

/* Reads VALUE, one of the files of "unsaved". *LEFT: bytes of texts that are
   taken. */
static enum status read_file(struct arena *arena, const struct files *files,
                             struct json value, struct tool_unsaved *unsaved,
                             size_t *left)
{
    struct tool_unsaved_file file = {.sent = false};
    struct arena *kept = &unsaved->arena;
    struct str text;
    enum status status = json_string(arena, json_get(value, "path"), &text);

    if (status == ST_OK)
        status = arena_str(kept, from_root(files, text), &file.path);
    if (status != ST_OK || file.path.n == 0)
        return status == ST_INVALID ? ST_OK : status;
    status = json_string(arena, json_get(value, "text"), &text);
    file.sent = status == ST_OK && text.n <= *left;
    if (file.sent) {
        *left -= text.n;
        status = arena_str(kept, text, &file.text);
    }
    unsaved->files[unsaved->count++] = file;
    return status == ST_INVALID ? ST_OK : status;
}

enum status editor_buffer_read_unsaved(struct arena *arena,
                                       const struct files *files,
                                       struct json result,
                                       struct tool_call *call)
{
    struct tool_unsaved *unsaved = &call->unsaved;
    struct json list = json_get(result, "files");
    size_t left = LIMIT_EDITOR_TEXT;
    struct json_walk walk;
    enum status status = ST_OK;

    unsaved->state = UNSAVED_KNOWN;
    unsaved->more = json_type(json_get(result, "more")) == JSON_TRUE;
    if (!files || json_type(list) != JSON_ARRAY)
        return ST_OK;
    unsaved->files = arena_array(&unsaved->arena, LIMIT_EDITOR_UNSAVED,
                                 sizeof *unsaved->files);
    json_walk_init(&walk, list);
    while (status == ST_OK && unsaved->files && json_walk_next(&walk)) {
        if (unsaved->count < LIMIT_EDITOR_UNSAVED)
            status = read_file(arena, files, walk.value, unsaved, &left);
        else
            unsaved->more = true;
    }
    return unsaved->files ? status : ST_NOMEM;
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
