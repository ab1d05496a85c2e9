/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schema.c: checks arguments against a table of fields. */
#include "gate/schema.h"

#include <inttypes.h>
#include <math.h>

#include "base/limits.h"
#include "base/units.h"
#include "base/utf8.h"

/* The work (strand.h) of looking for the field of an argument. */
#define MEMBER 64

/* Characters that a message shows of a wrong value. */
#define SHOWN_CHARS 40

/* Unknown arguments that a message names. */
#define SHOWN_UNKNOWN 5

/* Up to here every integer is exact as a double. */
#define EXACT_MAX 9007199254740992.0

size_t schema_count(const struct schema_field *fields)
{
    size_t n = 0;

    while (fields && fields[n].name)
        n++;
    return n;
}

const struct schema_field *schema_first(const struct schema_field *fields,
                                        enum schema_kind kind)
{
    for (; fields && fields->name; fields++)
        if (fields->kind == kind)
            return fields;
    return NULL;
}

bool schema_same_name(struct str name, const char *expected)
{
    for (size_t i = 0; i < name.n; i++) {
        bool hyphen = name.p[i] == '_' && expected[i] == '-';

        if ((name.p[i] != expected[i] && !hyphen) || expected[i] == '\0')
            return false;
    }
    return expected[name.n] == '\0';
}

static const char *type_name(enum json_type type)
{
    static const char *const names[] = {
        [JSON_ABSENT] = "nothing",  [JSON_NULL] = "null",
        [JSON_FALSE] = "false",     [JSON_TRUE] = "true",
        [JSON_NUMBER] = "a number", [JSON_STRING] = "a string",
        [JSON_ARRAY] = "an array",  [JSON_OBJECT] = "an object",
    };

    return names[type];
}

/* Says what FIELD accepts. */
static struct str expected(struct arena *arena,
                           const struct schema_field *field)
{
    struct str list;
    char min[UNITS_TEXT];
    char max[UNITS_TEXT];

    switch (field->kind) {
    case SCHEMA_STRING:
    case SCHEMA_CODE:
        return STR("a string");
    case SCHEMA_PATH:
        return arena_printf(arena, "a string of at most %d bytes", LIMIT_PATH);
    case SCHEMA_NAME:
        return arena_printf(arena,
                            "a name of 1 to %d letters, digits, \".\", \"_\" "
                            "and \"-\"",
                            LIMIT_SESSION_NAME);
    case SCHEMA_SIZE:
        return arena_printf(arena, "a size from %s to %s, such as \"2G\"",
                            units_size((uint64_t)field->min, min),
                            units_size((uint64_t)field->max, max));
    case SCHEMA_BOOLEAN:
        return STR("true or false");
    case SCHEMA_LIST:
        return arena_printf(arena, "an array of 1 to %d objects",
                            LIMIT_LIST_ITEMS);
    case SCHEMA_INTEGER:
    case SCHEMA_NUMBER:
        list =
            field->kind == SCHEMA_INTEGER ? STR("an integer") : STR("a number");
        if (field->max == 0)
            return list;
        return arena_printf(arena, "%.*s from %" PRId64 " to %" PRId64,
                            STR_ARG(list), field->min, field->max);
    case SCHEMA_CHOICE:
        break;
    }
    list = str_from(field->choices[0]);
    for (size_t i = 1; field->choices[i]; i++)
        list =
            arena_printf(arena, "%.*s, %s", STR_ARG(list), field->choices[i]);
    return arena_printf(arena, "one of %.*s", STR_ARG(list));
}

/* Says what a model sent. */
static struct str shown(struct arena *arena, struct json value)
{
    enum json_type type = json_type(value);
    struct str raw = json_raw(value);
    struct str head = utf8_head(raw, SHOWN_CHARS);

    if (type == JSON_ARRAY && json_count(value) == 0)
        return STR("an empty array");
    if (type != JSON_NUMBER && type != JSON_STRING)
        return str_from(type_name(type));
    if (head.n == raw.n)
        return raw;
    return arena_printf(arena, "%.*s…", STR_ARG(head));
}

static enum status refuse(struct arena *arena, const struct schema_field *field,
                          struct json value, struct schema_notes *notes)
{
    struct str wanted = expected(arena, field);
    struct str got = shown(arena, value);

    notes->problem = arena_printf(arena, "argument %s must be %.*s, not %.*s",
                                  field->name, STR_ARG(wanted), STR_ARG(got));
    return notes->problem.n > 0 ? ST_INVALID : ST_NOMEM;
}

/* Reads digits only: integers that no double can hold stay exact. */
static enum status plain_integer(struct str text, int64_t *out)
{
    bool negative = text.n > 0 && text.p[0] == '-';
    int64_t n = 0;

    if (text.n == (negative ? 1u : 0u))
        return ST_INVALID;
    for (size_t i = negative ? 1 : 0; i < text.n; i++) {
        int digit = text.p[i] - '0';

        if (digit < 0 || digit > 9)
            return ST_INVALID;
        if (n < (INT64_MIN + digit) / 10)
            return ST_LIMIT;
        n = n * 10 - digit; // the negative side is the larger one
    }
    if (!negative && n == INT64_MIN)
        return ST_LIMIT;
    *out = negative ? n : -n;
    return ST_OK;
}

/* Reads a JSON number: 120, 120.0 and 1.2e2 are the same. */
static enum status to_integer(struct json number, int64_t *out)
{
    enum status status = plain_integer(json_raw(number), out);
    double real;

    if (status != ST_INVALID)
        return status;
    if (json_number(number, &real) != ST_OK || !(fabs(real) <= EXACT_MAX) ||
        !json_is_whole(real))
        return ST_INVALID;
    *out = (int64_t)real;
    return ST_OK;
}

static enum status check_number(struct json number,
                                const struct schema_field *field,
                                struct schema_value *out)
{
    bool ranged = field->max != 0;

    if (field->kind != SCHEMA_NUMBER) {
        if (to_integer(number, &out->integer) != ST_OK ||
            (ranged &&
             (out->integer < field->min || out->integer > field->max)))
            return ST_INVALID;
        return ST_OK;
    }
    if (json_number(number, &out->real) != ST_OK ||
        (ranged &&
         !(out->real >= (double)field->min && out->real <= (double)field->max)))
        return ST_INVALID;
    return ST_OK;
}

/* Takes VALUE as a JSON value of TYPE: itself, or the one that a string holds.
 *OUT is absent when there is none. */
static enum status value_of(struct arena *arena, struct json value,
                            enum json_type type, struct json *out)
{
    struct json_error error;
    struct str text;
    enum status status;

    *out = value;
    if (json_type(value) == type)
        return ST_OK;
    *out = (struct json){NULL, 0};
    if (json_type(value) != JSON_STRING)
        return ST_OK;
    status = json_string(arena, value, &text);
    if (status == ST_OK)
        status = json_parse(arena, text, out, &error);
    if (status == ST_NOMEM)
        return ST_NOMEM;
    if (status != ST_OK || json_type(*out) != type)
        *out = (struct json){NULL, 0};
    return ST_OK;
}

static bool is_name(struct str s)
{
    for (size_t i = 0; i < s.n && i <= LIMIT_SESSION_NAME; i++) {
        char c = s.p[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

        if (!letter && (c < '0' || c > '9') && c != '.' && c != '_' && c != '-')
            return false;
    }
    return s.n > 0 && s.n <= LIMIT_SESSION_NAME;
}

/* Cuts the unit off the end of *TEXT: K, M, G or T, perhaps followed by iB or
   B. Returns the bits by which it shifts a number; 0 when there is no unit. */
static int take_unit(struct str *text)
{
    static const char units[] = "kmgt";
    size_t n = text->n;

    if (n > 0 && (text->p[n - 1] == 'B' || text->p[n - 1] == 'b'))
        n--;
    if (n > 0 && n < text->n && text->p[n - 1] == 'i')
        n--;
    for (int i = 0; n > 0 && units[i] != '\0'; i++) {
        if ((text->p[n - 1] | 0x20) != units[i])
            continue;
        for (n--; n > 0 && text->p[n - 1] == ' ';)
            n--;
        text->n = n;
        return 10 * (i + 1);
    }
    return 0;
}

/* Reads a size that is a string with a unit. */
static enum status check_size(struct arena *arena, struct json value,
                              const struct schema_field *field,
                              struct schema_value *out)
{
    struct str text;
    int64_t n;
    enum status status = json_string(arena, value, &text);

    if (status != ST_OK)
        return status;
    int shift = take_unit(&text);
    if (shift == 0 || plain_integer(text, &n) != ST_OK || n < 0 ||
        n > field->max >> shift)
        return ST_INVALID;
    out->integer = n << shift;
    return out->integer >= field->min ? ST_OK : ST_INVALID;
}

/* A package as people name it: p, :p, #:p, "P". */
static struct str bare_name(struct str text)
{
    struct str name = str_trim(text);

    if (name.n > 2 && name.p[0] == '"' && name.p[name.n - 1] == '"')
        name = str_make(name.p + 1, name.n - 2);
    else if (name.n > 2 && str_starts(name, STR("#:")))
        name = str_make(name.p + 2, name.n - 2);
    else if (name.n > 1 && name.p[0] == ':')
        name = str_make(name.p + 1, name.n - 1);
    return name.n > 0 ? name : text;
}

static char plain(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '_' ? '-' : c;
}

/* Whether A and B are the same word, in upper or lower case, with hyphens or
   underscores. */
static bool same_word(struct str a, struct str b)
{
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (plain(a.p[i]) != plain(b.p[i]))
            return false;
    return true;
}

/* The choice of FIELD that TEXT means, exactly or as the same word. */
static enum status check_choice(const struct schema_field *field,
                                struct str *text)
{
    struct str word = str_trim(*text);
    const char *found = NULL;

    for (size_t i = 0; field->choices[i]; i++) {
        struct str choice = str_from(field->choices[i]);

        if (str_eq(*text, choice))
            return ST_OK;
        if (!found && same_word(word, choice))
            found = choice.p;
    }
    if (!found)
        return ST_INVALID;
    *text = str_from(found);
    return ST_OK;
}

static enum status check_text(struct arena *arena, struct json value,
                              const struct schema_field *field,
                              struct schema_value *out)
{
    enum status status = json_string(arena, value, &out->string);

    if (status != ST_OK)
        return status;
    if (field->kind == SCHEMA_NAME)
        return is_name(out->string) ? ST_OK : ST_INVALID;
    if (field->kind == SCHEMA_PATH)
        return out->string.n <= LIMIT_PATH ? ST_OK : ST_INVALID;
    if (field->package)
        out->string = bare_name(out->string);
    return field->kind == SCHEMA_CHOICE ? check_choice(field, &out->string)
                                        : ST_OK;
}

static enum status check_boolean(struct arena *arena, struct json value,
                                 struct schema_value *out)
{
    struct str text = json_raw(value);
    enum status status = ST_OK;

    if (json_type(value) == JSON_STRING)
        status = json_string(arena, value, &text);
    if (status != ST_OK)
        return status;
    out->boolean = same_word(text, STR("true"));
    return out->boolean || same_word(text, STR("false")) ? ST_OK : ST_INVALID;
}

static enum status check_scalar(struct arena *arena, struct json value,
                                const struct schema_field *field,
                                struct schema_value *out)
{
    struct json number;

    out->given = true;
    switch (field->kind) {
    case SCHEMA_STRING:
    case SCHEMA_CHOICE:
    case SCHEMA_NAME:
    case SCHEMA_PATH:
    case SCHEMA_CODE:
        return check_text(arena, value, field, out);
    case SCHEMA_INTEGER:
    case SCHEMA_NUMBER:
    case SCHEMA_SIZE:
        if (value_of(arena, value, JSON_NUMBER, &number) != ST_OK)
            return ST_NOMEM;
        if (field->kind == SCHEMA_SIZE && json_is_absent(number))
            return check_size(arena, value, field, out);
        return check_number(number, field, out);
    case SCHEMA_LIST:
    case SCHEMA_BOOLEAN:
        break;
    }
    return check_boolean(arena, value, out);
}

size_t schema_find(const struct schema_field *fields, struct str name)
{
    size_t i = 0;

    for (; fields && fields[i].name; i++)
        if (schema_same_name(name, fields[i].name) ||
            (fields[i].alias && schema_same_name(name, fields[i].alias)))
            break;
    return i;
}

static enum status check_required(struct arena *arena,
                                  const struct schema_field *fields,
                                  const struct schema_value *values,
                                  struct schema_notes *notes)
{
    for (size_t i = 0; fields && fields[i].name; i++)
        if (fields[i].required && !values[i].given) {
            notes->problem = arena_printf(
                arena, "missing required argument: %s", fields[i].name);
            return notes->problem.n > 0 ? ST_INVALID : ST_NOMEM;
        }
    return ST_OK;
}

static enum status check_object(struct arena *arena,
                                const struct schema_field *fields,
                                struct json object, struct schema_value *values,
                                struct schema_notes *notes);

/* Puts "element I of FIELD" before NOTES->problem. */
static enum status place_problem(struct arena *arena,
                                 const struct schema_field *field, size_t i,
                                 struct schema_notes *notes)
{
    notes->problem = arena_printf(arena, "element %zu of argument %s: %.*s",
                                  i + 1, field->name, STR_ARG(notes->problem));
    return notes->problem.n > 0 ? ST_INVALID : ST_NOMEM;
}

static enum status check_list(struct arena *arena,
                              const struct schema_field *field,
                              struct json value, struct schema_value *out,
                              struct schema_notes *notes)
{
    size_t width = schema_count(field->items);
    struct json_walk walk;
    struct json list;

    if (value_of(arena, value, JSON_ARRAY, &list) != ST_OK)
        return ST_NOMEM;
    if (json_count(list) == 0 || json_count(list) > LIMIT_LIST_ITEMS)
        return refuse(arena, field, value, notes);
    out->items = arena_array(arena, json_count(list) * width, sizeof *out);
    if (!out->items)
        return ST_NOMEM;
    json_walk_init(&walk, list);
    for (; json_walk_next(&walk); out->count++) {
        enum status status;

        if (json_type(walk.value) != JSON_OBJECT)
            return refuse(arena, field, walk.value, notes);
        status = check_object(arena, field->items, walk.value,
                              out->items + out->count * width, notes);
        if (status == ST_INVALID)
            return place_problem(arena, field, out->count, notes);
        if (status != ST_OK)
            return status;
    }
    out->given = true;
    return ST_OK;
}

static enum status check_member(struct arena *arena,
                                const struct schema_field *field,
                                struct json value, struct schema_value *out,
                                struct schema_notes *notes)
{
    enum status status;

    *out = (struct schema_value){0}; // of a repeated name the last value counts
    if (!field->required && json_type(value) == JSON_NULL)
        return ST_OK;
    if (field->kind == SCHEMA_LIST)
        return check_list(arena, field, value, out, notes);
    status = check_scalar(arena, value, field, out);
    return status == ST_INVALID ? refuse(arena, field, value, notes) : status;
}

static enum status check_exclusive(struct arena *arena,
                                   const struct schema_field *fields,
                                   const struct schema_value *values,
                                   struct schema_notes *notes)
{
    for (size_t i = 0; fields && fields[i].name; i++) {
        const char *other = fields[i].instead_of;

        if (!other || !values[i].given ||
            !values[schema_find(fields, str_from(other))].given)
            continue;
        notes->problem =
            arena_printf(arena, "arguments %s and %s exclude each other", other,
                         fields[i].name);
        return notes->problem.n > 0 ? ST_INVALID : ST_NOMEM;
    }
    return ST_OK;
}

/* Says which arguments of OBJECT have no field, and which there are. */
static enum status refuse_unknown(struct arena *arena,
                                  const struct schema_field *fields,
                                  struct json object,
                                  struct schema_notes *notes)
{
    struct json_walk walk;
    struct buf out = BUF_EMPTY;
    size_t unknown = 0;

    json_walk_init(&walk, object);
    while (json_walk_next(&walk)) {
        struct str name;
        enum status status = json_string(arena, walk.name, &name);

        if (status == ST_OK)
            status = arena_spend(arena, MEMBER);
        if (status != ST_OK) {
            buf_release(&out);
            return status;
        }
        if (schema_find(fields, name) < schema_count(fields) ||
            ++unknown > SHOWN_UNKNOWN)
            continue;
        buf_str(&out, unknown == 1 ? STR("unknown argument ") : STR(", "));
        utf8_append_visible(&out, utf8_head(name, SHOWN_CHARS));
    }
    if (unknown > SHOWN_UNKNOWN)
        buf_printf(&out, " and %zu more", unknown - SHOWN_UNKNOWN);
    buf_str(&out, fields && fields->name ? STR("; known are ")
                                         : STR("; none is known"));
    for (size_t i = 0; fields && fields[i].name; i++)
        if (!fields[i].hidden)
            buf_printf(&out, "%s%s", i > 0 ? ", " : "", fields[i].name);
    enum status status = arena_take(arena, &out, &notes->problem);
    return status == ST_OK ? ST_INVALID : status;
}

static enum status check_object(struct arena *arena,
                                const struct schema_field *fields,
                                struct json object, struct schema_value *values,
                                struct schema_notes *notes)
{
    struct json_walk walk;
    enum status status;

    json_walk_init(&walk, object);
    while (json_walk_next(&walk)) {
        struct str name;
        size_t i;

        status = json_string(arena, walk.name, &name);
        if (status == ST_OK)
            status = arena_spend(arena, MEMBER);
        if (status != ST_OK)
            return status;
        i = schema_find(fields, name);
        if (!fields || !fields[i].name)
            return refuse_unknown(arena, fields, object, notes);
        status = check_member(arena, &fields[i], walk.value, &values[i], notes);
        if (status != ST_OK)
            return status;
    }
    status = check_required(arena, fields, values, notes);
    if (status != ST_OK)
        return status;
    return check_exclusive(arena, fields, values, notes);
}

enum status schema_check(struct arena *arena, const struct schema_field *fields,
                         struct json arguments, struct schema_value *values,
                         struct schema_notes *notes)
{
    *notes = (struct schema_notes){0};
    return check_object(arena, fields, arguments, values, notes);
}
