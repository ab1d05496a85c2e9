/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parsing.h: JSON parsed from copies that end where their memory ends, so that
   the address sanitizer sees any read past the end. */
#ifndef TESTS_SUPPORT_PARSING_H
#define TESTS_SUPPORT_PARSING_H

#include <stddef.h>
#include <time.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "json/json.h"

extern struct parsing {
    struct arena arena; /* of the documents */
    char *text;         /* the last copy */
} parsing;

/* Room of N bytes for the next text, which replaces the last one. */
char *parsing_room(size_t n);

/* Parses a copy of TEXT with json_parse. */
enum status parsing_read(struct str text, struct json *root,
                         struct json_error *error);

/* The same for a TEXT that must be JSON. */
struct json parsing_ok(const char *text);

/* Fails if the work since START was not linear. The limit is ten times what it
   takes under the sanitizers; a quadratic algorithm would take hours. */
void parsing_was_quick(clock_t start);

/* The teardown of each test. */
int parsing_release(void **state);

#endif
