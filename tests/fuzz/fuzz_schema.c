/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Arguments that pass the check agree with the table. */
#include "fuzz/fuzz.h"
#include "gate/schema.h"

static const char *const kinds[] = {"all", "functions", NULL};
static const struct schema_field fields[] = {
    {.name = "code", .kind = SCHEMA_STRING, .required = true},
    {.name = "max-output", .kind = SCHEMA_INTEGER, .min = 1, .max = 1000},
    {.name = "timeout", .kind = SCHEMA_NUMBER, .min = 0, .max = 60},
    {.name = "full", .alias = "whole", .kind = SCHEMA_BOOLEAN},
    {.name = "type", .kind = SCHEMA_CHOICE, .choices = kinds},
    {.name = "session", .kind = SCHEMA_NAME, .instead_of = "type"},
    {.name = "memory", .kind = SCHEMA_SIZE, .min = 5000, .max = 1 << 30},
    {.name = NULL},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = ARENA_EMPTY;
    struct json root;
    struct json_error error;
    struct str text = str_make((const char *)data, size);
    struct schema_value v[7] = {0};
    struct schema_notes notes = {0};
    if (json_parse(&arena, text, &root, &error) != ST_OK ||
        json_type(root) != JSON_OBJECT) {
        // Not a case for schema_check.
    } else if (schema_check(&arena, fields, root, v, &notes) == ST_OK) {
        REQUIRE(v[0].given && v[1].integer >= 0 && v[1].integer <= 1000);
        REQUIRE(v[2].real >= 0 && v[2].real <= 60);
        REQUIRE(!v[4].given || (v[4].string.n >= 3 && !v[5].given));
        REQUIRE(v[5].string.n <= 64 && v[6].integer <= 1 << 30);
        REQUIRE(!v[6].given || v[6].integer >= 5000);
    } else {
        REQUIRE(notes.problem.n > 0);
    }
    arena_release(&arena);
    return 0;
}
