/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arguments.c: see arguments.h. */
#include "gate/arguments.h"

#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "gate/preview.h"

struct str arguments_text(struct json object)
{
    return json_is_absent(object) ? STR("{}") : json_raw(object);
}

enum status arguments_view(struct arena *arena, const struct tool *tool,
                           struct str text, struct arguments *out,
                           struct str *problem)
{
    struct json_error error;
    struct schema_notes notes;
    struct json object;
    struct schema_value *values =
        arena_array(arena, schema_count(tool->fields), sizeof *values);

    if (!values)
        return ST_NOMEM;
    enum status status = json_parse(arena, text, &object, &error);
    if (status == ST_NOMEM)
        return ST_NOMEM;
    if (status != ST_OK) {
        *problem = arena_printf(arena, "they are not JSON: %s at byte %zu",
                                error.what, error.at);
        return ST_INVALID;
    }
    if (json_type(object) != JSON_OBJECT) {
        *problem = STR("they are not a JSON object");
        return ST_INVALID;
    }
    status = schema_check(arena, tool->fields, object, values, &notes);
    *problem = notes.problem;
    if (status == ST_OK)
        *out = (struct arguments){object, values};
    return status == ST_LIMIT ? ST_INVALID : status;
}

enum status arguments_read(struct arena *arena, const struct tool *tool,
                           struct str text, struct arguments *out,
                           struct str *problem)
{
    enum status status = arena_str(arena, text, &text);

    return status == ST_OK ? arguments_view(arena, tool, text, out, problem)
                           : status;
}

/* For the hooks, which come when the values are gone. */
static void keep_session(struct tool_call *call,
                         const struct schema_value *values)
{
    struct str name = tool_session(call->tool, values);
    size_t n = name.n < LIMIT_SESSION_NAME ? name.n : LIMIT_SESSION_NAME;

    if (n > 0)
        memcpy(call->session, name.p, n);
    call->session[n] = '\0';
}

enum status arguments_keep(const struct arena *arena, struct tool_call *call,
                           const struct arguments *arguments, struct str text)
{
    size_t before = call->arguments.n;

    keep_session(call, arguments->values);
    buf_reset(&call->preview);
    preview_write(&call->preview, call->tool->fields, arguments->values);

    buf_reset(&call->arguments);
    if (!buf_reserve_exact(&call->arguments, text.n))
        return ST_NOMEM;
    call->image.owner_bytes += text.n - before;
    return arena_append(arena, &call->arguments, text);
}

static void begin_change(struct buf *out, size_t start, struct str name)
{
    buf_printf(out, "%s%.*s ", out->n > start ? ", " : "", STR_ARG(name));
}

static struct json find_same(struct json object, struct json name)
{
    struct json_walk walk;
    struct json found = {0};

    json_walk_init(&walk, object);
    while (json_walk_next(&walk))
        if (str_eq(json_raw(walk.name), json_raw(name)))
            found = walk.value;
    return found;
}

void arguments_describe_changes(struct buf *out, struct json before,
                                struct json after)
{
    size_t start = out->n;
    struct json_walk walk;

    json_walk_init(&walk, after);
    while (json_walk_next(&walk)) {
        struct str value = json_raw(walk.value);
        struct str shown = utf8_head(value, LIMIT_CHANGE);
        struct json old = find_same(before, walk.name);
        if (!json_is_absent(old) && str_eq(json_raw(old), value))
            continue;
        begin_change(out, start, json_raw(walk.name));
        buf_printf(out, "is %.*s%s", STR_ARG(shown),
                   shown.n < value.n ? "…" : "");
    }
    json_walk_init(&walk, before);
    while (json_walk_next(&walk)) {
        if (!json_is_absent(find_same(after, walk.name)))
            continue;
        begin_change(out, start, json_raw(walk.name));
        buf_str(out, STR("is left out"));
    }
}
