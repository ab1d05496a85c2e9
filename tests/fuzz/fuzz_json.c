/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Accepted JSON can be walked, and strings are written as they were read. */
#include "fuzz/fuzz.h"
#include "json/json.h"
#include "json/jsonw.h"

static void check(struct arena *arena, struct json value)
{
    struct json_walk walk;
    for (json_walk_init(&walk, value); json_walk_next(&walk);) {
        REQUIRE(json_type(walk.name) == JSON_STRING ||
                json_type(value) == JSON_ARRAY);
        check(arena, walk.value);
    }
    double number = 0;
    bool is_number = json_number(value, &number) != ST_INVALID;
    REQUIRE(is_number == (json_type(value) == JSON_NUMBER));
    struct str text, again;
    if (json_string(arena, value, &text) != ST_OK)
        return;
    struct json_error error;
    struct buf out = BUF_EMPTY;
    jsonw_string(&(struct jsonw){&out, false}, text);
    REQUIRE(json_parse(arena, buf_view(&out), &value, &error) == ST_OK);
    REQUIRE(json_string(arena, value, &again) == ST_OK && str_eq(text, again));
    buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = ARENA_EMPTY;
    struct json root;
    struct json_error error;
    struct str text = str_make((const char *)data, size);
    if (json_parse(&arena, text, &root, &error) == ST_OK)
        check(&arena, root);
    arena_release(&arena);
    return 0;
}
