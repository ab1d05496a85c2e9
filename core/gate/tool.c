/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tool.c: what follows from a descriptor. */
#include "gate/tool.h"

#include <assert.h>
#include <stdlib.h>

void tool_question_release(struct tool_question *question)
{
    buf_release(&question->message);
    buf_release(&question->substance);
    buf_release(&question->form);
    buf_release(&question->carried);
    buf_release(&question->review);
    *question = (struct tool_question){0};
}

void tool_buffer_release(struct tool_buffer *buffer)
{
    buf_release(&buffer->text);
    *buffer = (struct tool_buffer){0};
}

void tool_call_forget_parts(struct tool_call *call)
{
    for (size_t i = 0; i < call->part_count; i++)
        tool_call_release(&call->parts[i]);
    free(call->parts);
    call->parts = NULL;
    call->part_count = 0;
}

enum status tool_divide(struct tool_call *call, size_t n)
{
    tool_call_forget_parts(call);
    call->parts = calloc(n > 0 ? n : 1, sizeof *call->parts);
    if (!call->parts)
        return ST_NOMEM;
    call->part_count = n;
    for (size_t i = 0; i < n; i++) {
        call->parts[i].tool = call->tool;
        call->parts[i].editor = call->editor;
    }
    return ST_OK;
}

size_t tool_buffer_bytes(const struct tool_call *call)
{
    size_t bytes = call->buffer.text.cap + arena_bytes(&call->unsaved.arena);

    for (size_t i = 0; i < call->part_count; i++)
        bytes += call->parts[i].buffer.text.cap;
    return bytes;
}

static size_t plan_bytes(const struct tool_plan *plan)
{
    return plan && plan->arena ? arena_bytes(plan->arena) : 0;
}

size_t tool_plan_bytes(const struct tool_call *call)
{
    size_t bytes = plan_bytes(call->plan);

    for (size_t i = 0; i < call->part_count; i++)
        bytes += plan_bytes(call->parts[i].plan);
    return bytes;
}

void tool_call_forget_question(struct tool_call *call)
{
    for (size_t i = 0; i < call->part_count; i++)
        tool_call_forget_question(&call->parts[i]);
    if (call->plan)
        call->plan->free(call->plan);
    call->plan = NULL;
    tool_question_release(&call->question);
}

void tool_call_stop_work(struct tool_call *call)
{
    if (call->work)
        call->work->free(call->work);
    call->work = NULL;
}

void tool_call_release(struct tool_call *call)
{
    tool_call_stop_work(call); // which uses the rest
    tool_call_forget_question(call);
    tool_call_forget_parts(call);
    buf_release(&call->shown);
    buf_release(&call->arguments);
    buf_release(&call->preview);
    buf_release(&call->place.path);
    buf_release(&call->place.name);
    buf_release(&call->place.problem);
    buf_release(&call->note);
    buf_release(&call->change.path);
    buf_release(&call->change.patch);
    buf_release(&call->change.before);
    buf_release(&call->change.after);
    buf_release(&call->rule);
    buf_release(&call->reason);
    tool_buffer_release(&call->buffer);
    tool_unsaved_release(&call->unsaved);
}

void tool_take_note(struct tool_call *call, struct tool_answer *answer)
{
    if (call->note.n == 0)
        return;
    buf_byte(&call->note, '\n');
    buf_str(&call->note, answer->text);
    answer->text = buf_view(&call->note);
    answer->structured = STR("");
    answer->content = STR("");
    if (!buf_failed(&call->note))
        return;
    answer->state = TOOL_FAILED;
    answer->text = STR("Out of memory.");
}

const struct tool_unsaved_file *tool_find_unsaved(const struct tool_call *call,
                                                  struct str path)
{
    const struct tool_unsaved *unsaved = &call->unsaved;

    for (size_t i = 0; i < unsaved->count; i++)
        if (str_eq(unsaved->files[i].path, path))
            return &unsaved->files[i];
    return NULL;
}

void tool_unsaved_release(struct tool_unsaved *unsaved)
{
    arena_release(&unsaved->arena);
    *unsaved = (struct tool_unsaved){0};
}

bool tool_has_name(const struct tool *tool, struct str name)
{
    if (schema_same_name(name, tool->name))
        return true;
    for (size_t i = 0; tool->aliases && tool->aliases[i]; i++)
        if (schema_same_name(name, tool->aliases[i]))
            return true;
    return false;
}

const char *tool_level_name(enum tool_level level)
{
    switch (level) {
    case TOOL_SAFE:
        return "safe";
    case TOOL_CAUTIOUS:
        return "cautious";
    case TOOL_DANGEROUS:
        break;
    }
    return "dangerous";
}

void tool_write(struct jsonw *w, const struct tool *tool, bool with_title)
{
    struct str title = str_from(tool->title);

    jsonw_object(w);
    jsonw_member(w, "name", str_from(tool->name));
    if (with_title)
        jsonw_member(w, "title", title);
    jsonw_member(w, "description", str_from(tool->description));
    jsonw_name(w, "inputSchema");
    schema_write(w, tool->fields);
    jsonw_name(w, "annotations");
    jsonw_object(w);
    jsonw_member(w, "title", title);
    jsonw_member_bool(w, "readOnlyHint", tool->level == TOOL_SAFE);
    jsonw_member_bool(w, "destructiveHint", tool->destructive);
    jsonw_member_bool(w, "idempotentHint", tool->idempotent);
    jsonw_member_bool(w, "openWorldHint", tool->open_world);
    jsonw_end_object(w);
    jsonw_end_object(w);
}

/* Puts the file that the call is about, as Lisp finds it: where PATH led when
   the call began, not where it leads by now. */
static void put_path(struct buf *out, const struct tool_request *request,
                     struct str path)
{
    const struct tool_place *place = &request->call->place;
    struct buf name = BUF_EMPTY;
    bool absolute = path.n > 0 && path.p[0] == '/';

    if (!place->found || place->result != FILES_OK) {
        wire_put_string(out, path);
        return;
    }
    if (absolute)
        buf_printf(&name, "%s/", request->files->root);
    else if (place->name.n > 0 && place->name.p[0] == '~')
        buf_str(&name, STR("./")); // it is not the home folder
    buf_str(&name, buf_view(&place->name));
    wire_put_string(out, buf_view(&name));
    out->failed = out->failed || buf_failed(&name);
    buf_release(&name);
}

static void put_argument(struct buf *out, const struct tool_request *request,
                         const struct schema_field *field,
                         const struct schema_value *value)
{
    wire_put_string(out, str_from(field->name));
    switch (field->kind) {
    case SCHEMA_STRING:
    case SCHEMA_CHOICE:
    case SCHEMA_NAME:
    case SCHEMA_CODE:
        wire_put_string(out, value->string);
        break;
    case SCHEMA_PATH:
        put_path(out, request, value->string);
        break;
    case SCHEMA_INTEGER:
    case SCHEMA_SIZE:
        wire_put_int(out, value->integer);
        break;
    case SCHEMA_NUMBER:
        wire_put_real(out, value->real);
        break;
    case SCHEMA_BOOLEAN:
        wire_put_bool(out, value->boolean);
        break;
    case SCHEMA_LIST:
        assert(false); // no operation takes one
        break;
    }
}

/* The value for the field NAME, or NULL when TOOL has no such field. */
static const struct schema_value *find_value(const struct tool *tool,
                                             const struct schema_value *values,
                                             const char *name)
{
    const struct schema_field *fields = tool->fields;

    for (size_t i = 0; fields && fields[i].name; i++)
        if (strcmp(fields[i].name, name) == 0)
            return &values[i];
    return NULL;
}

struct str tool_session(const struct tool *tool,
                        const struct schema_value *values)
{
    const struct schema_value *value = find_value(tool, values, TOOL_SESSION);

    if (!value || tool->in_editor)
        return STR("");
    return value->given ? value->string : STR(TOOL_MAIN_SESSION);
}

int64_t tool_milliseconds(double seconds)
{
    double wanted = seconds * 1000;
    int64_t whole = (int64_t)wanted;

    return (double)whole < wanted ? whole + 1 : whole; // upwards
}

/* The time limit of a call to an image; 0: none. */
static int64_t timeout_of(const struct tool_request *request)
{
    const struct schema_value *seconds =
        find_value(request->call->tool, request->values, TOOL_TIMEOUT);
    int64_t general = request->limits->timeout_ms;
    int64_t least = request->call->tool->timeout_ms;

    if (seconds && seconds->given)
        return tool_milliseconds(seconds->real);
    return general > 0 && general < least ? least : general;
}

/* Whether the client answers when the code reads a line. */
static bool supplies_input(const struct tool_request *request)
{
    const struct schema_value *input =
        find_value(request->call->tool, request->values, TOOL_INPUT);

    return input && input->given && input->boolean;
}

void tool_begin(const struct tool_request *request, const char *operation)
{
    struct str session = tool_session(request->call->tool, request->values);
    struct image_task task = {
        .session = session.n > 0 ? session : STR(TOOL_MAIN_SESSION),
        .operation = str_from(operation),
        .max_output = request->limits->max_output,
        .timeout_ms = timeout_of(request),
        .progress = request->call->progress,
        .view = request->call->view,
        .reads = request->call->tool->reads_only,
        .supplies = supplies_input(request),
    };

    image_begin_call(request->image, &task);
}

static bool is_argument(const struct schema_field *field)
{
    return strcmp(field->name, TOOL_SESSION) != 0 &&
           strcmp(field->name, TOOL_TIMEOUT) != 0;
}

bool tool_has_files(const struct tool_request *request,
                    struct tool_answer *answer)
{
    if (request->files)
        return true;
    answer->state = TOOL_FAILED;
    answer->text = STR("This server has no workspace, so no files.");
    return false;
}

enum status tool_send(const struct tool_request *request)
{
    const struct tool *tool = request->call->tool;
    const struct schema_field *fields = tool->fields;
    struct image *image = request->image;

    // what follows is one frame, and not done in steps
    if (arena_spend(request->arena, request->call->arguments.n / 8) != ST_OK)
        return ST_NOMEM;
    tool_begin(request, tool->operation);
    for (size_t i = 0; fields && fields[i].name; i++)
        if (request->values[i].given && is_argument(&fields[i]))
            put_argument(&image->out, request, &fields[i], &request->values[i]);
    return image_send(image, &request->call->image);
}
