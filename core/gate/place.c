/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place.c: see place.h. */
#include "gate/place.h"

struct files_place place_view(const struct tool_call *call)
{
    return (struct files_place){.asked = buf_view(&call->place.path),
                                .name = buf_view(&call->place.name),
                                .linked = call->place.linked};
}

bool place_is_known(const struct tool_call *call)
{
    return call->place.found && call->place.result == FILES_OK;
}

/* Copies TEXT to OUT. */
static enum status keep(struct buf *out, struct str text)
{
    buf_reset(out);
    buf_str(out, text);
    return buf_failed(out) ? ST_NOMEM : ST_OK;
}

enum status place_locate(struct tool_place *place, const struct files *files,
                         struct str path)
{
    struct arena arena = ARENA_EMPTY;
    struct files_place found = {.name = STR("")};
    struct str problem = STR("");

    place->result =
        files->locate(files->context, &arena, path, &found, &problem);
    place->linked = found.linked;
    enum status status = place->result == FILES_NOMEM ? ST_NOMEM : ST_OK;
    if (status == ST_OK)
        status = keep(&place->path, path);
    if (status == ST_OK)
        status = keep(&place->name, found.name);
    if (status == ST_OK)
        status = keep(&place->problem, problem);
    place->found = status == ST_OK;
    arena_release(&arena);
    return status;
}

enum status place_find(struct tool_call *call, const struct files *files,
                       const struct schema_value *values)
{
    const struct schema_field *fields = call->tool->fields;
    const struct schema_field *field = schema_first(fields, SCHEMA_PATH);

    if (!field || !files)
        return ST_OK;
    const struct schema_value *value = &values[field - fields];
    struct str path = value->given ? value->string : STR(".");
    if (call->place.found && str_eq(path, buf_view(&call->place.path)))
        return ST_OK;
    call->place.found = false;
    return place_locate(&call->place, files, path);
}

/* Why CALL has no place; the sentence goes to ARENA. */
static enum files_result explain(const struct tool_call *call,
                                 struct arena *arena, struct str *problem)
{
    if (!call->place.found ||
        arena_str(arena, buf_view(&call->place.problem), problem) != ST_OK)
        return FILES_NOMEM;
    return call->place.result;
}

/* Refuses the file that was read when it has a name that it must not have. */
static enum files_result check_names(const struct tool_call *call,
                                     struct arena *arena,
                                     const struct files_content *file,
                                     struct str *problem)
{
    if (!file->linked || !call->place.sole)
        return FILES_OK;
    *problem = arena_printf(arena,
                            "%.*s: it got another name (a hard link) after the "
                            "user's rules were checked.",
                            STR_ARG(buf_view(&call->place.name)));
    return problem->n > 0 ? FILES_REFUSED : FILES_NOMEM;
}

/* Reads the place of the call of REQUEST, at most MAX bytes; once more, when
   KNOWN is what it was before. */
static enum files_result read_checked(const struct tool_request *request,
                                      struct arena *arena, uint64_t max,
                                      const struct files_content *known,
                                      struct files_content *out,
                                      struct str *problem)
{
    const struct tool_call *call = request->call;
    const struct files *files = request->files;
    const struct files_place place = place_view(call);

    *out = (struct files_content){.name = STR("")};
    if (!place_is_known(call))
        return explain(call, arena, problem);
    enum files_result result =
        known ? files->read_again(files->context, arena, &place, known, out,
                                  problem)
              : files->read(files->context, arena, &place, max, out, problem);
    return result == FILES_OK ? check_names(call, arena, out, problem) : result;
}

enum files_result place_read(const struct tool_request *request,
                             struct arena *arena, uint64_t max,
                             struct files_content *out, struct str *problem)
{
    return read_checked(request, arena, max, NULL, out, problem);
}

enum files_result place_read_again(const struct tool_request *request,
                                   struct arena *arena,
                                   const struct files_content *known,
                                   struct files_content *out,
                                   struct str *problem)
{
    return read_checked(request, arena, 0, known, out, problem);
}

enum files_result place_list(const struct tool_request *request,
                             struct arena *arena, struct files_folder *out,
                             struct str *problem)
{
    const struct files *files = request->files;
    const struct files_place place = place_view(request->call);

    if (!place_is_known(request->call))
        return explain(request->call, arena, problem);
    return files->list(files->context, arena, &place, out, problem);
}
