/* SPDX-License-Identifier: GPL-3.0-or-later */
/* editor_tools.c: see editor_tools.h. */
#include "editor/editor_tools.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/digest.h"
#include "base/limits.h"
#include "base/utf8.h"

/* Up to here every integer is exact as a double. */
#define EXACT_MAX 9007199254740991

struct editor_tools_list {
    struct arena arena; /* of the tools and their texts */
    size_t holders;     /* the last one to drop the list frees it */
    struct tool *tools;
    size_t count;
    unsigned char digest[DIGEST_SIZE]; /* of the editor's JSON text */
};

void editor_tools_hold(struct editor_tools_list *list)
{
    if (list)
        list->holders++;
}

void editor_tools_drop(struct editor_tools_list *list)
{
    if (!list || --list->holders > 0)
        return;
    arena_release(&list->arena);
    free(list);
}

void editor_tools_release(struct editor_tools *editor_tools)
{
    editor_tools_drop(editor_tools->now);
    editor_tools->now = NULL;
}

const struct tool *editor_tools_at(const struct editor_tools *editor_tools,
                                   size_t index)
{
    if (!editor_tools->now || index >= editor_tools->now->count)
        return NULL;
    return &editor_tools->now->tools[index];
}

static const struct tool *find(const struct editor_tools_list *list,
                               struct str name)
{
    for (size_t i = 0; i < list->count; i++)
        if (tool_has_name(&list->tools[i], name))
            return &list->tools[i];
    return NULL;
}

const struct tool *editor_tools_find(const struct editor_tools *editor_tools,
                                     struct str name)
{
    return editor_tools->now ? find(editor_tools->now, name) : NULL;
}

/* --- Reading ------------------------------------------------------------ */

/* One tool while it is read. */
struct reading {
    struct editor_tools_list *list;
    const struct toolset *reserved;
    char fault[80]; /* why it cannot be used */
};

static enum status refuse(struct reading *r, const char *fault)
{
    (void)snprintf(r->fault, sizeof r->fault, "%s", fault);
    return ST_INVALID;
}

/* WHAT has more of UNIT than the limit MAX. */
static enum status refuse_more(struct reading *r, const char *what, size_t max,
                               const char *unit)
{
    (void)snprintf(r->fault, sizeof r->fault, "%s has more than %zu %s", what,
                   max, unit);
    return ST_INVALID;
}

/* A null counts as absent. */
static struct json member(struct json object, const char *name)
{
    struct json value = json_get(object, name);

    return json_type(value) == JSON_NULL ? (struct json){0} : value;
}

/* Whether TEXT can be shown and be a C string: line ends are its only control
   characters. */
static bool is_plain(struct str text)
{
    for (size_t i = 0; i < text.n; i++)
        if ((unsigned char)text.p[i] < ' ' && text.p[i] != '\n')
            return false;
    return true;
}

/* The text VALUE of at most MAX bytes as a C string; NULL when it is absent.
   WHAT names it. */
static enum status read_text(struct reading *r, const char *what,
                             struct json value, size_t max, const char **out)
{
    struct str text;

    *out = NULL;
    if (json_is_absent(value))
        return ST_OK;
    enum status status = json_string(&r->list->arena, value, &text);
    if (status == ST_INVALID || (status == ST_OK && !is_plain(text)))
        return refuse(r, "a text is not a string, or has control characters");
    if (status != ST_OK)
        return status;
    if (text.n > max)
        return refuse_more(r, what, max, "bytes");
    if (arena_str(&r->list->arena, text, &text) != ST_OK) // with a NUL
        return ST_NOMEM;
    *out = text.p;
    return ST_OK;
}

/* Whether NAME has only characters that every client accepts. */
static bool is_name(const char *name)
{
    for (size_t i = 0; name[i] != '\0'; i++) {
        char c = name[i];
        if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-')
            return false;
    }
    return name[0] != '\0';
}

static enum status read_name(struct reading *r, struct json value,
                             const char **out)
{
    enum status status = read_text(r, "a name", value, LIMIT_TOOL_NAME, out);

    if (status != ST_OK)
        return status;
    return *out != NULL && is_name(*out)
               ? ST_OK
               : refuse(r, "a name may have lower-case letters, digits "
                           "and hyphens only");
}

/* An integer of a range; FALLBACK when it is absent. */
static enum status read_bound(struct reading *r, struct json value,
                              int64_t fallback, int64_t *out)
{
    double number = (double)fallback;

    if (!json_is_absent(value) && json_number(value, &number) != ST_OK)
        return refuse(r, "a bound is not a number");
    if (!(number >= -(double)EXACT_MAX && number <= (double)EXACT_MAX))
        return refuse(r, "a bound is too large");
    *out = (int64_t)number;
    return ST_OK;
}

static enum status read_range(struct reading *r, struct json field,
                              struct schema_field *out)
{
    struct json least = member(field, "least");
    struct json most = member(field, "most");

    if (json_is_absent(least) && json_is_absent(most))
        return ST_OK;
    if (out->kind != SCHEMA_INTEGER && out->kind != SCHEMA_NUMBER)
        return refuse(r, "only numbers can have bounds");
    enum status status = read_bound(r, least, -EXACT_MAX, &out->min);
    if (status == ST_OK)
        status = read_bound(r, most, EXACT_MAX, &out->max);
    // in a schema, a max of 0 means that there is none
    if (status == ST_OK && (out->min > out->max || out->max == 0))
        return refuse(r, "the range is empty or ends at 0");
    return status;
}

static enum status read_choices(struct reading *r, struct json value,
                                struct schema_field *out)
{
    size_t n = json_count(value);
    struct json_walk walk;

    if (json_is_absent(value))
        return ST_OK;
    if (json_type(value) != JSON_ARRAY || n == 0)
        return refuse(r, "choices must be an array of texts");
    if (n > LIMIT_EDITOR_CHOICES)
        return refuse_more(r, "a field", LIMIT_EDITOR_CHOICES, "choices");
    if (out->kind != SCHEMA_STRING)
        return refuse(r, "only texts can have choices");
    const char **choices = arena_array(&r->list->arena, n + 1, sizeof *choices);
    if (!choices)
        return ST_NOMEM;
    json_walk_init(&walk, value);
    for (size_t i = 0; json_walk_next(&walk); i++) {
        enum status status = read_text(r, "a choice", walk.value,
                                       LIMIT_EDITOR_TITLE, &choices[i]);
        if (status != ST_OK)
            return status;
    }
    out->kind = SCHEMA_CHOICE;
    out->choices = choices;
    return ST_OK;
}

static enum status read_kind(struct reading *r, struct json value,
                             enum schema_kind *out)
{
    static const struct {
        const char *name;
        enum schema_kind kind;
    } kinds[] = {{"text", SCHEMA_STRING},
                 {"name", SCHEMA_NAME},
                 {"integer", SCHEMA_INTEGER},
                 {"number", SCHEMA_NUMBER},
                 {"boolean", SCHEMA_BOOLEAN}};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (json_is_string(value, kinds[i].name)) {
            *out = kinds[i].kind;
            return ST_OK;
        }
    return refuse(r, "unknown kind of field");
}

static enum status read_field(struct reading *r, struct json field,
                              struct schema_field *out)
{
    struct json required = member(field, "required");
    enum status status = read_name(r, json_get(field, "name"), &out->name);

    if (status == ST_OK)
        status = read_kind(r, json_get(field, "kind"), &out->kind);
    if (status == ST_OK)
        status = read_text(r, "a help", member(field, "help"),
                           LIMIT_EDITOR_HELP, &out->help);
    if (status == ST_OK)
        status = read_range(r, field, out);
    if (status == ST_OK)
        status = read_choices(r, member(field, "choices"), out);
    out->required = json_type(required) == JSON_TRUE;
    if (status == ST_OK && !out->required && !json_is_absent(required) &&
        json_type(required) != JSON_FALSE)
        return refuse(r, "required must be true or false");
    return status;
}

static bool has_field(const struct schema_field *fields, size_t n,
                      const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(fields[i].name, name) == 0)
            return true;
    return false;
}

static enum status read_fields(struct reading *r, struct json value,
                               struct tool *tool)
{
    size_t n = json_count(value);
    struct json_walk walk;
    struct schema_field *fields =
        arena_array(&r->list->arena, n + 1, sizeof *fields);

    if (!fields)
        return ST_NOMEM;
    tool->fields = fields;
    if (json_is_absent(value))
        return ST_OK;
    if (json_type(value) != JSON_ARRAY)
        return refuse(r, "fields must be an array");
    if (n > LIMIT_EDITOR_FIELDS)
        return refuse_more(r, "a tool", LIMIT_EDITOR_FIELDS, "fields");
    json_walk_init(&walk, value);
    for (size_t i = 0; json_walk_next(&walk); i++) {
        enum status status = read_field(r, walk.value, &fields[i]);
        if (status != ST_OK)
            return status;
        if (has_field(fields, i, fields[i].name))
            return refuse(r, "two fields have the same name");
    }
    return ST_OK;
}

/* Whatever is not clearly harmless is dangerous. */
static enum tool_level read_level(struct json value)
{
    if (json_is_string(value, "safe"))
        return TOOL_SAFE;
    return json_is_string(value, "cautious") ? TOOL_CAUTIOUS : TOOL_DANGEROUS;
}

/* Whether the name of TOOL is taken. */
static bool is_taken(const struct reading *r, const struct tool *tool)
{
    struct str name = str_from(tool->name);

    return toolset_find(r->reserved, name) != NULL ||
           find(r->list, name) != NULL;
}

static enum status read_tool(struct reading *r, struct json value,
                             struct tool *out)
{
    *out = (struct tool){.in_editor = true,
                         .level = read_level(json_get(value, "level"))};
    out->destructive = out->level == TOOL_DANGEROUS;
    enum status status = read_name(r, json_get(value, "name"), &out->name);
    if (status == ST_OK)
        status = read_text(r, "the title", member(value, "title"),
                           LIMIT_EDITOR_TITLE, &out->title);
    if (status == ST_OK)
        status = read_text(r, "the description", member(value, "description"),
                           LIMIT_EDITOR_DESCRIPTION, &out->description);
    if (status == ST_OK)
        status = read_fields(r, member(value, "fields"), out);
    if (status != ST_OK)
        return status;
    if (!out->title)
        out->title = out->name;
    if (!out->description)
        return refuse(r, "the description is missing");
    return is_taken(r, out) ? refuse(r, "the name is taken") : ST_OK;
}

/* --- The list ----------------------------------------------------------- */

/* Puts the usable ones of TOOLS into LIST. */
static enum status fill(struct editor_tools *editor_tools,
                        struct editor_tools_list *list, struct json tools)
{
    struct json_walk walk;

    list->tools =
        arena_array(&list->arena, LIMIT_EDITOR_TOOLS, sizeof *list->tools);
    if (!list->tools)
        return ST_NOMEM;
    json_walk_init(&walk, tools);
    while (json_walk_next(&walk)) {
        struct reading r = {list, &editor_tools->reserved, ""};
        struct str shown =
            utf8_head(json_raw(json_get(walk.value, "name")), LIMIT_TOOL_NAME);
        if (list->count == LIMIT_EDITOR_TOOLS) {
            log_line(editor_tools->log, LOG_WARN,
                     "editor: more than %d tools: %.*s and those after it are "
                     "left out",
                     LIMIT_EDITOR_TOOLS, STR_ARG(shown));
            return ST_OK;
        }
        enum status status =
            read_tool(&r, walk.value, &list->tools[list->count]);
        if (status == ST_NOMEM)
            return status;
        if (status == ST_OK)
            list->count++;
        else
            log_line(editor_tools->log, LOG_WARN,
                     "editor: tool %.*s is left out: %s", STR_ARG(shown),
                     r.fault);
    }
    return ST_OK;
}

enum status editor_tools_replace(struct editor_tools *editor_tools,
                                 struct json tools, bool *changed)
{
    unsigned char digest[DIGEST_SIZE];
    struct editor_tools_list *old = editor_tools->now;

    *changed = false;
    digest_of(json_raw(tools), digest);
    if (old && memcmp(old->digest, digest, DIGEST_SIZE) == 0)
        return ST_OK;
    *changed = old != NULL && old->count > 0;
    editor_tools_release(editor_tools);
    struct editor_tools_list *list = calloc(1, sizeof *list);
    if (!list)
        return ST_NOMEM;
    list->holders = 1;
    memcpy(list->digest, digest, DIGEST_SIZE);
    if (fill(editor_tools, list, tools) != ST_OK) {
        editor_tools_drop(list);
        return ST_NOMEM;
    }
    editor_tools->now = list;
    *changed = *changed || list->count > 0;
    return ST_OK;
}
