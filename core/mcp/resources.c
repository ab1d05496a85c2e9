/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resources.c: lists, templates and the reading of addresses come from two
   tables: the views, and the resources of the host. */
#include "mcp/resources.h"

#include <stdio.h>

#include "base/limits.h"
#include "mcp/result.h"
#include "tools/registry.h"
#include "tools/sets.h"

#define SESSIONS "lisp://session/"

static const struct view {
    const char *name; /* also the last part of the address */
    const char *title;
    const char *description;
    const struct tool *needs;    /* there is no view without this tool */
    const struct tool *shown_by; /* the tool that reads it */
    bool numbered; /* a number follows the name; in templates only */
} views[] = {
    {"definitions", "Definitions",
     "Definitions made in the Lisp session since it started or was reset.",
     &tool_list_definitions, &tool_list_definitions, false},
    {"last-error", "Last error",
     "The error of the last evaluation, with restarts and stack frames.",
     &tool_describe_last_error, &tool_describe_last_error, false},
    {"checkpoints", "Checkpoints",
     "State of the Lisp session, and what restore-session can return to.",
     &tool_list_sessions, &view_checkpoints, false},
    {"output", "Long output",
     "The full text of a shortened output, by the id that its answer names.",
     &tool_read_output, &view_output, true},
};

#define VIEWS (sizeof views / sizeof *views)

static bool is_enabled(unsigned sets, const struct view *view)
{
    return registry_find(sets, str_from(view->needs->name)) != NULL;
}

/* --- Lists -------------------------------------------------------------- */

/* Writes the members that resources and templates share. */
static void write_entry(struct jsonw *w, bool with_title, const char *name,
                        const char *title, const char *description)
{
    jsonw_member(w, "name", str_from(name));
    if (with_title)
        jsonw_member(w, "title", str_from(title));
    jsonw_member(w, "description", str_from(description));
}

/* The offsets in an address of the opening brace and after the closing one.
   False when the address has no braces. */
static bool find_braces(const struct resource *resource, size_t *start,
                        size_t *end)
{
    const char *open = strchr(resource->address, '{');
    const char *close = open ? strchr(open, '}') : NULL;

    if (!close)
        return false;
    *start = (size_t)(open - resource->address);
    *end = (size_t)(close - resource->address) + 1;
    return true;
}

/* Writes the resources of the host that are TEMPLATES, or those that are not.
 */
static void write_more(struct jsonw *w, const struct resources_page *page,
                       bool templates)
{
    const struct resource *more = page->resources->more;
    size_t start;
    size_t end;

    for (; more && more->address; more++) {
        if (find_braces(more, &start, &end) != templates)
            continue;
        jsonw_object(w);
        jsonw_member(w, templates ? "uriTemplate" : "uri",
                     str_from(more->address));
        write_entry(w, page->with_title, more->name, more->title,
                    more->description);
        jsonw_member(w, "mimeType", str_from(more->type));
        jsonw_end_object(w);
    }
}

static void write_metrics(struct jsonw *w, bool with_title)
{
    jsonw_object(w);
    jsonw_member(w, "uri", STR(RESOURCES_METRICS));
    write_entry(w, with_title, "metrics", "Metrics",
                "Counts and times of all tool calls; grants, rules, limits.");
    jsonw_member(w, "mimeType", STR(RESOURCES_METRICS_TYPE));
    jsonw_end_object(w);
}

/* The address needs no escapes: the names of sessions are plain. */
static void write_view(struct jsonw *w, const struct resources_page *page,
                       const struct sessions_entry *session,
                       const struct view *view)
{
    char text[sizeof SESSIONS + LIMIT_SESSION_NAME + 32];
    int prefix = snprintf(text, sizeof text, SESSIONS);

    (void)snprintf(text + prefix, sizeof text - (size_t)prefix, "%s/%s",
                   session->name, view->name);
    jsonw_object(w);
    jsonw_member(w, "uri", str_from(text));
    write_entry(w, page->with_title, text + prefix, view->title,
                view->description);
    jsonw_member(w, "mimeType", STR(RESULT_VIEW_TYPE));
    jsonw_end_object(w);
}

static void write_session(struct jsonw *w, const struct resources_page *page,
                          const struct sessions_entry *session)
{
    for (size_t i = 0; i < VIEWS; i++)
        if (!views[i].numbered && is_enabled(page->resources->sets, &views[i]))
            write_view(w, page, session, &views[i]);
}

void resources_list(struct jsonw *w, const struct resources_page *page)
{
    const struct sessions *sessions = page->resources->sessions;
    size_t shown = 0;
    size_t i = 0;

    jsonw_name(w, "resources");
    jsonw_array(w);
    if (page->after == 0) {
        write_metrics(w, page->with_title);
        write_more(w, page, false);
    }
    while (i < sessions->count && sessions->entries[i].serial <= page->after)
        i++;
    for (; i < sessions->count && shown < LIMIT_RESOURCES_PAGE; i++, shown++)
        write_session(w, page, &sessions->entries[i]);
    jsonw_end_array(w);
    if (i == sessions->count)
        return;
    char cursor[32];
    (void)snprintf(cursor, sizeof cursor, "after-%llu",
                   (unsigned long long)sessions->entries[i - 1].serial);
    jsonw_member(w, "nextCursor", str_from(cursor));
}

enum status resources_read_cursor(struct arena *arena, struct json cursor,
                                  struct resources_page *page)
{
    static const char before[] = "after-";
    size_t start = sizeof before - 1;
    struct str text;
    uint64_t serial = 0;

    if (json_is_absent(cursor) || json_type(cursor) == JSON_NULL)
        return ST_OK;
    enum status status = json_string(arena, cursor, &text);
    if (status != ST_OK)
        return status;
    if (!str_starts(text, STR(before)) || text.n == start ||
        text.n > start + 18 || text.p[start] == '0')
        return ST_INVALID;
    for (size_t i = start; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return ST_INVALID;
        serial = serial * 10 + (uint64_t)(text.p[i] - '0');
    }
    if (serial > page->resources->sessions->last_serial)
        return ST_INVALID;
    page->after = serial;
    return ST_OK;
}

void resources_list_templates(struct jsonw *w,
                              const struct resources_page *page)
{
    jsonw_name(w, "resourceTemplates");
    jsonw_array(w);
    for (size_t i = 0; i < VIEWS; i++) {
        char text[sizeof SESSIONS + 64];
        (void)snprintf(text, sizeof text, SESSIONS "{name}/%s%s", views[i].name,
                       views[i].numbered ? "/{id}" : "");
        if (!is_enabled(page->resources->sets, &views[i]))
            continue;
        jsonw_object(w);
        jsonw_member(w, "uriTemplate", str_from(text));
        write_entry(w, page->with_title, views[i].name, views[i].title,
                    views[i].description);
        jsonw_member(w, "mimeType", STR(RESULT_VIEW_TYPE));
        jsonw_end_object(w);
    }
    write_more(w, page, true);
    jsonw_end_array(w);
}

bool resources_is_session(struct str template, struct str variable)
{
    return str_starts(template, STR(SESSIONS "{name}/")) &&
           str_eq(variable, STR("name"));
}

/* --- Addresses ---------------------------------------------------------- */

/* Cuts S at its first "/". False when there is none; then *HEAD is all of S. */
static bool split(struct str s, struct str *head, struct str *tail)
{
    const char *slash = s.n > 0 ? memchr(s.p, '/', s.n) : NULL;

    *head = s;
    *tail = STR("");
    if (!slash)
        return false;
    size_t n = (size_t)(slash - s.p);
    *head = str_make(s.p, n);
    *tail = str_make(slash + 1, s.n - n - 1);
    return true;
}

static bool is_number(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return s.n > 0 && s.n <= 10 && s.p[0] != '0';
}

/* Makes the arguments of VIEW from TEXT, a JSON object, and checks them by the
   schema of its tool. */
static enum status make_call(struct arena *arena, const struct buf *text,
                             struct resources_view *view)
{
    const struct schema_field *fields = view->tool->fields;
    struct str copy;
    struct json_error error;
    struct schema_notes notes;
    struct schema_value *values =
        arena_array(arena, schema_count(fields), sizeof *values);

    enum status status = buf_failed(text) || values == NULL
                             ? ST_NOMEM
                             : arena_str(arena, buf_view(text), &copy);
    if (status == ST_OK)
        status = json_parse(arena, copy, &view->arguments, &error);
    if (status == ST_OK)
        status = schema_check(arena, fields, view->arguments, values, &notes);
    view->values = values;
    return status == ST_OK || status == ST_NOMEM ? status : ST_MISSING;
}

static enum status call_view(struct arena *arena, struct str session,
                             struct str number, struct resources_view *view)
{
    struct buf text = BUF_EMPTY;
    struct jsonw w;

    jsonw_init(&w, &text);
    jsonw_object(&w);
    jsonw_member(&w, TOOL_SESSION, session);
    if (number.n > 0) {
        jsonw_name(&w, "id");
        jsonw_raw(&w, number);
    }
    jsonw_end_object(&w);
    enum status status = make_call(arena, &text, view);
    buf_release(&text);
    return status;
}

static enum status find_view(struct arena *arena, unsigned sets, struct str uri,
                             struct resources_view *view)
{
    size_t n = sizeof SESSIONS - 1;
    struct str session;
    struct str name;
    struct str number;

    if (!str_starts(uri, STR(SESSIONS)) ||
        !split(str_make(uri.p + n, uri.n - n), &session, &name))
        return ST_MISSING;
    bool more = split(name, &name, &number);
    for (size_t i = 0; i < VIEWS; i++) {
        const struct view *found = &views[i];
        if (!str_eq(name, str_from(found->name)) || !is_enabled(sets, found))
            continue;
        if (found->numbered ? !is_number(number) : more)
            return ST_MISSING;
        view->tool = found->shown_by;
        view->type = RESULT_VIEW_TYPE;
        return call_view(arena, session, number, view);
    }
    return ST_MISSING;
}

/* Whether URI is an address of RESOURCE. If so, ARGUMENT is the part that the
   braces stand for, empty when there are none. */
static bool fits(const struct resource *resource, struct str uri,
                 struct str *argument)
{
    struct str address = str_from(resource->address);
    size_t start;
    size_t end;

    *argument = STR("");
    if (!find_braces(resource, &start, &end))
        return str_eq(uri, address);
    struct str head = str_make(address.p, start);
    struct str tail = str_make(address.p + end, address.n - end);
    if (uri.n <= head.n + tail.n || !str_starts(uri, head) ||
        !str_eq(str_make(uri.p + uri.n - tail.n, tail.n), tail))
        return false;
    *argument = str_make(uri.p + start, uri.n - head.n - tail.n);
    return memchr(argument->p, '/', argument->n) == NULL;
}

static enum status find_more(struct arena *arena, const struct resource *more,
                             struct str uri, struct resources_view *view)
{
    struct str argument;
    struct buf text = BUF_EMPTY;
    struct jsonw w;

    while (more && more->address && !fits(more, uri, &argument))
        more++;
    if (!more || !more->address)
        return ST_MISSING;
    view->tool = more->shown_by;
    view->type = more->type;
    jsonw_init(&w, &text);
    jsonw_object(&w);
    if (argument.n > 0)
        jsonw_member(&w, view->tool->fields[0].name, argument);
    jsonw_end_object(&w);
    enum status status = make_call(arena, &text, view);
    buf_release(&text);
    return status;
}

enum status resources_find(struct arena *arena,
                           const struct resources *resources, struct str uri,
                           struct resources_view *view)
{
    enum status status = find_view(arena, resources->sets, uri, view);

    return status == ST_MISSING ? find_more(arena, resources->more, uri, view)
                                : status;
}
