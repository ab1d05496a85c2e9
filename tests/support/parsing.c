/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parsing.c: see parsing.h. */
#include "support/parsing.h"

#include <stdlib.h>

#include "support/check.h"

struct parsing parsing;

char *parsing_room(size_t n)
{
    free(parsing.text);
    parsing.text = malloc(n > 0 ? n : 1);
    assert_memory(parsing.text != NULL);
    return parsing.text;
}

enum status parsing_read(struct str text, struct json *root,
                         struct json_error *error)
{
    char *copy = parsing_room(text.n);
    if (text.n > 0)
        memcpy(copy, text.p, text.n);
    return json_parse(&parsing.arena, str_make(copy, text.n), root, error);
}

struct json parsing_ok(const char *text)
{
    struct json root = {NULL, 0};
    struct json_error error;
    assert_ok(parsing_read(str_from(text), &root, &error));
    return root;
}

void parsing_was_quick(clock_t start)
{
    assert_true(clock() - start < 10 * CLOCKS_PER_SEC);
}

int parsing_release(void **state)
{
    (void)state;
    arena_release(&parsing.arena);
    free(parsing.text);
    parsing.text = NULL;
    return 0;
}
