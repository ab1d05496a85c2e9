/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schema.h: the arguments of a tool as a table of fields. It is both the JSON
   schema that clients see and the check of what they send. */
#ifndef GATE_SCHEMA_H
#define GATE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "json/json.h"
#include "json/jsonw.h"

enum schema_kind {
    SCHEMA_STRING,
    SCHEMA_INTEGER,
    SCHEMA_NUMBER,
    SCHEMA_BOOLEAN,
    SCHEMA_CHOICE, /* one of several strings */
    SCHEMA_NAME,   /* a string that names a session or checkpoint */
    SCHEMA_PATH,   /* a string that names a file of the workspace */
    SCHEMA_CODE,   /* a string of Common Lisp */
    SCHEMA_SIZE,   /* a number of bytes, or a string like 512M, 2G, 1 GiB */
    SCHEMA_LIST    /* an array of objects, each with the same fields */
};

/* One argument. A table ends with a field without a name; NULL is an empty
   table. */
struct schema_field {
    const char *name;  /* words joined with hyphens */
    const char *alias; /* another name that is accepted but not shown */
    enum schema_kind kind;
    bool required;
    bool package;               /* a string that names a package */
    bool hidden;                /* accepted, but not shown: for editors; not
                                   the first one */
    int64_t min;                /* range of integers, numbers and sizes; */
    int64_t max;                /* 0: no range; one up to LIMIT_OUTPUT_KEPT or
                                   more is not worth telling a model */
    const char *const *choices; /* of SCHEMA_CHOICE, ends with NULL */
    const char *fallback;       /* what absence means, as JSON text, or NULL; of
                                   choices: the first one */
    const char *instead_of;     /* another field, which this one excludes */
    const struct schema_field *items; /* of SCHEMA_LIST; without lists */
    const char *help; /* sentences for the model; NULL: the name says all */
};

/* The checked value of one field; all zero when it was not given. */
struct schema_value {
    bool given;
    bool boolean;
    int64_t integer; /* also the bytes of a size */
    double real;
    struct str string;          /* also the name of a choice */
    struct schema_value *items; /* of a list: the values of the first element,
                                   then those of the second, ... */
    size_t count;               /* elements of a list */
};

/* What schema_check says besides its status. */
struct schema_notes {
    struct str problem; /* on ST_INVALID: names the argument; starts with a
                           small letter, has no full stop */
};

/* The number of fields in a table. */
size_t schema_count(const struct schema_field *fields);

/* The first field of KIND, or NULL. */
const struct schema_field *schema_first(const struct schema_field *fields,
                                        enum schema_kind kind);

/* The index of the field that the argument NAME means, or the number of
   fields. */
size_t schema_find(const struct schema_field *fields, struct str name);

/* Whether NAME means EXPECTED, with underscores for hyphens or not. */
bool schema_same_name(struct str name, const char *expected);

/* Checks ARGUMENTS, an object or absent, against FIELDS and fills VALUES: one
   for each field, cleared by the caller. A number or boolean may be a string; a
   choice may be in upper case, and have underscores for hyphens. null counts
   as not given when the argument is not required. An argument without a field
   is refused. ST_INVALID fills NOTES->problem. Texts live in ARENA or in the
   document. */
enum status MUST_CHECK schema_check(struct arena *arena,
                                    const struct schema_field *fields,
                                    struct json arguments,
                                    struct schema_value *values,
                                    struct schema_notes *notes);

/* Writes the JSON schema of FIELDS as one value. */
void schema_write(struct jsonw *w, const struct schema_field *fields);

#endif
