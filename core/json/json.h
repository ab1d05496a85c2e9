/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json.h: reading JSON (RFC 8259). jsmn cuts the text into tokens. It accepts
   much that is not JSON, so json_parse checks the text first: grammar, escapes,
   UTF-8, depth, and that there is one root. */
#ifndef JSON_JSON_H
#define JSON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

struct json_doc; /* text and tokens, in the arena given to json_parse */

/* A value inside a document; passed by value. doc is NULL when the value is
   absent; every function below accepts that. */
struct json {
    const struct json_doc *doc;
    int token;
};

enum json_type {
    JSON_ABSENT,
    JSON_NULL,
    JSON_FALSE,
    JSON_TRUE,
    JSON_NUMBER,
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT
};

/* Why a text was refused: WHAT is a static phrase without full stop ("expected
   a value", "nesting deeper than 512"), AT the byte offset. */
struct json_error {
    const char *what;
    size_t at;
};

/* Parses TEXT, which must outlive the document in ARENA. ST_INVALID (not JSON,
   or nested deeper than LIMIT_JSON_DEPTH) and ST_LIMIT (more than
   LIMIT_JSON_TOKENS) fill *ERROR; ST_NOMEM does not. */
enum status MUST_CHECK json_parse(struct arena *arena, struct str text,
                                  struct json *root, struct json_error *error);

enum json_type json_type(struct json value);
bool json_is_absent(struct json value);

/* The text of VALUE as it stands in the document; strings with their quotes. */
struct str json_raw(struct json value);

/* Member NAME of OBJECT, the last one when the name is repeated. Absent when
   there is no such member, or OBJECT is not an object. */
struct json json_get(struct json object, const char *name);

/* How many members or elements VALUE has; 0 unless it is an object or array. */
size_t json_count(struct json value);

/* Walks an array or object; anything else has no elements. json_walk_next sets
   NAME (a string) and VALUE to the next element; at the end it returns false.
   It steps over values, not into them. */
struct json_walk {
    struct json name; /* absent in arrays */
    struct json value;
    int next;    /* private */
    size_t left; /* private */
};
void json_walk_init(struct json_walk *walk, struct json container);
bool json_walk_next(struct json_walk *walk);

/* The decoded text of a string. Without escapes it points into the document,
   else it is a copy in ARENA. ST_INVALID when VALUE is not a string. */
enum status MUST_CHECK json_string(struct arena *arena, struct json value,
                                   struct str *out);

/* Whether VALUE is a string that, with its escapes decoded, equals TEXT. */
bool json_is_string(struct json value, const char *text);

/* The number as a double. ST_INVALID when VALUE is not a number, ST_LIMIT when
   it is not finite as a double. */
enum status MUST_CHECK json_number(struct json value, double *out);

/* Whether NUMBER, as json_number gives it, has no fraction. Without libm, which
   each start would have to load. */
bool json_is_whole(double number);

#endif
