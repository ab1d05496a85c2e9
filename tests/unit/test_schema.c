/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of schema.c. */
#include <stdio.h>

#include "gate/schema.h"
#include "support/check.h"

enum { TEXT, AMOUNT, RATIO, FLAG, SHAPE, FREE, NAME, SIZE, PACKAGE, FIELDS };

static const char *const shapes[] = {"round", "square", NULL};

static const struct schema_field fields[] = {
    [TEXT] = {.name = "text",
              .alias = "old-text",
              .kind = SCHEMA_STRING,
              .required = true,
              .help = "A text."},
    [AMOUNT] = {.name = "max-count",
                .kind = SCHEMA_INTEGER,
                .min = 1,
                .max = 100,
                .fallback = "7",
                .help = "A count."},
    [RATIO] = {.name = "ratio",
               .kind = SCHEMA_NUMBER,
               .max = 2,
               .help = "A ratio."},
    [FLAG] = {.name = "flag", .kind = SCHEMA_BOOLEAN, .help = "A flag."},
    [SHAPE] = {.name = "shape",
               .kind = SCHEMA_CHOICE,
               .choices = shapes,
               .help = "A shape."},
    [FREE] = {.name = "free", .kind = SCHEMA_INTEGER, .help = "Any integer."},
    [NAME] = {.name = "name", .kind = SCHEMA_NAME, .help = "A name."},
    [SIZE] = {.name = "size",
              .kind = SCHEMA_SIZE,
              .min = 1024,
              .max = INT64_C(1) << 40,
              .help = "A size."},
    [PACKAGE] = {.name = "package", .kind = SCHEMA_STRING, .package = true},
    [FIELDS] = {0},
};

static struct arena arena;
static struct buf out;
static struct schema_value values[FIELDS];
static struct schema_notes notes;

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    buf_release(&out);
    return 0;
}

static enum status check(const char *text)
{
    struct json value;
    struct json_error error;
    memset(values, 0, sizeof values);
    assert_ok(json_parse(&arena, str_from(text), &value, &error));
    return schema_check(&arena, fields, value, values, &notes);
}

static void schema_counts(void **state)
{
    (void)state;
    assert_int_equal(schema_count(fields), FIELDS);
    assert_int_equal(schema_count(NULL), 0);
}

static void schema_takes_underscores_for_hyphens(void **state)
{
    (void)state;
    assert_true(schema_same_name(STR("a-b"), "a-b"));
    assert_true(schema_same_name(STR("a_b"), "a-b"));
    assert_false(schema_same_name(STR("a-b"), "a_b"));
    assert_false(schema_same_name(STR("a-"), "a-b"));
    assert_false(schema_same_name(STR("a-bc"), "a-b"));
    assert_false(schema_same_name(STR("a-b\0"), "a-b"));
    assert_false(schema_same_name(STR("A-b"), "a-b"));
    assert_false(schema_same_name(STR(""), "a"));
}

static void schema_accepts_every_kind(void **state)
{
    (void)state;
    assert_ok(check("{\"text\":\"a\\nb\",\"max-count\":100,\"ratio\":0.5,"
                    "\"flag\":true,\"shape\":\"square\",\"free\":-3,"
                    "\"name\":\"a.b\",\"size\":\"64K\","
                    "\"package\":\"p\"}"));
    assert_text(values[TEXT].string, "a\nb");
    assert_int_equal(values[AMOUNT].integer, 100);
    assert_true(values[RATIO].real > 0.49 && values[RATIO].real < 0.51);
    assert_true(values[FLAG].boolean);
    assert_text(values[SHAPE].string, "square");
    assert_int_equal(values[FREE].integer, -3);
    assert_text(values[NAME].string, "a.b");
    assert_int_equal(values[SIZE].integer, 65536);
    for (size_t i = 0; i < FIELDS; i++)
        assert_true(values[i].given);
}

static void schema_leaves_absent_values_zero(void **state)
{
    (void)state;
    assert_ok(check("{\"text\":\"\",\"flag\":null,\"max-count\":null}"));
    assert_true(values[TEXT].given);
    for (size_t i = AMOUNT; i < FIELDS; i++)
        assert_false(values[i].given || values[i].boolean ||
                     values[i].integer || values[i].string.n);
}

static void schema_takes_other_spellings(void **state)
{
    (void)state;
    assert_ok(check("{\"old_text\":\"x\",\"max_count\":\"12\"}"));
    assert_text(values[TEXT].string, "x");
    assert_int_equal(values[AMOUNT].integer, 12);
    assert_ok(check("{\"\\u0074ext\":\"x\"}"));
    assert_text(values[TEXT].string, "x");
}

static void schema_takes_the_last_of_a_repeated_name(void **state)
{
    (void)state;
    assert_ok(check("{\"text\":\"a\",\"old-text\":\"b\"}"));
    assert_text(values[TEXT].string, "b");
}

static void schema_reads_integers_exactly(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {
        {"0", 0},
        {"-0", 0},
        {"120", 120},
        {"\"120\"", 120},
        {"\" 120 \"", 120},
        {"120.0", 120},
        {"1.2e2", 120},
        {"\"1.2e2\"", 120},
        {"-5", -5},
        {"9007199254740993", 9007199254740993}, // no double has this value
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
    };
    static const char *const bad[] = {
        "9223372036854775808",
        "-9223372036854775809",
        "1e30",
        "1.5",
        "1e999",
        "\"12x\"",
        "\"\"",
        "\"0x10\"",
        "\"+1\"",
        "\"1 2\"",
        "\"nan\"",
        "\"null\"",
        "true",
        "[1]",
        "{}",
        "99999999999999999999999",
        "18446744073709551617",
    };
    char text[80];
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++) {
        snprintf(text, sizeof text, "{\"text\":\"\",\"free\":%s}",
                 good[i].text);
        assert_ok(check(text));
        assert_true(values[FREE].integer == good[i].value);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        snprintf(text, sizeof text, "{\"text\":\"\",\"free\":%s}", bad[i]);
        assert_status(check(text), ST_INVALID);
    }
}

static void schema_names_what_is_wrong(void **state)
{
    static const struct {
        const char *text, *problem;
    } cases[] = {
        {"{}", "missing required argument: text"},
        {"{\"flag\":true}", "missing required argument: text"},
        {"{\"text\":17}", "argument text must be a string, not 17"},
        {"{\"text\":null}", "argument text must be a string, not null"},
        {"{\"text\":[\"a\"]}", "argument text must be a string, not an array"},
        {"{\"text\":{}}", "argument text must be a string, not an object"},
        {"{\"old_text\":false}", "argument text must be a string, not false"},
        {"{\"text\":\"\",\"max-count\":0}",
         "argument max-count must be an integer from 1 to 100, not 0"},
        {"{\"text\":\"\",\"max-count\":101}",
         "argument max-count must be an integer from 1 to 100, not 101"},
        {"{\"text\":\"\",\"max-count\":\"many\"}",
         "argument max-count must be an integer from 1 to 100, not \"many\""},
        {"{\"text\":\"\",\"ratio\":2.5}",
         "argument ratio must be a number from 0 to 2, not 2.5"},
        {"{\"text\":\"\",\"ratio\":1e999}",
         "argument ratio must be a number from 0 to 2, not 1e999"},
        {"{\"text\":\"\",\"ratio\":true}",
         "argument ratio must be a number from 0 to 2, not true"},
        {"{\"text\":\"\",\"free\":1.5}",
         "argument free must be an integer, not 1.5"},
        {"{\"text\":\"\",\"flag\":\"yes\"}",
         "argument flag must be true or false, not \"yes\""},
        {"{\"text\":\"\",\"flag\":0}",
         "argument flag must be true or false, not 0"},
        {"{\"text\":\"\",\"shape\":\"oval\"}",
         "argument shape must be one of round, square, not \"oval\""},
        {"{\"text\":\"\",\"shape\":\"Rounds\"}",
         "argument shape must be one of round, square, not \"Rounds\""},
        {"{\"text\":\"\",\"name\":\"\"}",
         "argument name must be a name of 1 to 64 letters, digits, \".\", "
         "\"_\" and \"-\", not \"\""},
        {"{\"text\":\"\",\"name\":7}",
         "argument name must be a name of 1 to 64 letters, digits, \".\", "
         "\"_\" and \"-\", not 7"},
        {"{\"text\":\"\",\"size\":1023}",
         "argument size must be a size from 1 KiB to 1 TiB, such as \"2G\", "
         "not 1023"},
        {"{\"text\":\"\",\"shape\":1}",
         "argument shape must be one of round, square, not 1"},
        {"{\"text\":\"\",\"shape\":"
         "\"ääääääääääääääääääääääääääääääääääääääääää\"}",
         "argument shape must be one of round, square, not "
         "\"äääääääääääääääääääääääääääääääääääääää…"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_status(check(cases[i].text), ST_INVALID);
        assert_memory(str_eq(notes.problem, str_from(cases[i].problem)));
    }
}

static void schema_knows_arguments_that_exclude_others(void **state)
{
    static const struct schema_field two[] = {
        {.name = "name", .kind = SCHEMA_STRING},
        {.name = "back", .kind = SCHEMA_INTEGER, .instead_of = "name"},
        {0},
    };
    static const struct {
        const char *text;
        enum status status;
    } cases[] = {
        {"{}", ST_OK},
        {"{\"name\":\"\"}", ST_OK},
        {"{\"back\":1}", ST_OK},
        {"{\"back\":1,\"name\":null}", ST_OK},
        {"{\"back\":1,\"name\":\"\"}", ST_INVALID},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct json value;
        struct json_error error;
        memset(values, 0, sizeof values);
        assert_ok(json_parse(&arena, str_from(cases[i].text), &value, &error));
        assert_status(schema_check(&arena, two, value, values, &notes),
                      cases[i].status);
    }
    assert_text(notes.problem, "arguments name and back exclude each other");
}

/* A list of objects. A problem in one of them comes with its place. */
static void schema_reads_lists(void **state)
{
    static const struct schema_field edit[] = {
        {.name = "old", .kind = SCHEMA_STRING, .required = true, .help = "A."},
        {.name = "new", .kind = SCHEMA_STRING, .help = "B."},
        {0},
    };
    static const struct schema_field one[] = {
        {.name = "edits", .kind = SCHEMA_LIST, .items = edit, .help = "C."},
        {0},
    };
    static const struct {
        const char *text;
        const char *problem; /* NULL: fine */
    } cases[] = {
        {"{\"edits\":[{\"old\":\"a\",\"new\":\"b\"},{\"old\":\"c\"}]}", NULL},
        {"{\"edits\":[{\"old\":\"a\",\"new\":\"b\"},{\"old\":\"c\",\"x\":1}]}",
         "element 2 of argument edits: unknown argument x; known are old, "
         "new"},
        {"{\"edits\":\"[{\\\"old\\\":\\\"a\\\"},{\\\"old\\\":\\\"c\\\"}]\"}",
         NULL},
        {"{\"edits\":[]}",
         "argument edits must be an array of 1 to 1000 objects, not an "
         "empty array"},
        {"{\"edits\":{}}",
         "argument edits must be an array of 1 to 1000 objects, not an object"},
        {"{\"edits\":[7]}",
         "argument edits must be an array of 1 to 1000 objects, not 7"},
        {"{\"edits\":[{\"old\":\"\"},{\"new\":\"\"}]}",
         "element 2 of argument edits: missing required argument: old"},
        {"{\"edits\":[{\"old\":1}]}",
         "element 1 of argument edits: argument old must be a string, not 1"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct json value;
        struct json_error error;
        memset(values, 0, sizeof values);
        assert_ok(json_parse(&arena, str_from(cases[i].text), &value, &error));
        enum status status = schema_check(&arena, one, value, values, &notes);
        if (cases[i].problem) {
            assert_status(status, ST_INVALID);
            assert_memory(str_eq(notes.problem, str_from(cases[i].problem)));
            continue;
        }
        assert_ok(status);
        assert_int_equal(values[0].count, 2);
        assert_text(values[0].items[0].string, "a");
        assert_text(values[0].items[2].string, "c");
    }
    buf_reset(&out);
    struct jsonw w;
    jsonw_init(&w, &out);
    schema_write(&w, one);
    assert_memory(!buf_failed(&out));
    assert_text(
        buf_view(&out),
        "{\"type\":\"object\",\"properties\":{\"edits\":{\"type\":\"array\","
        "\"items\":{\"type\":\"object\",\"properties\":{"
        "\"old\":{\"type\":\"string\",\"description\":\"A.\"},"
        "\"new\":{\"type\":\"string\",\"description\":\"B.\"}},"
        "\"required\":[\"old\"],\"additionalProperties\":false},"
        "\"description\":\"C.\"}},\"additionalProperties\":false}");
}

static void schema_checks_names(void **state)
{
    static const char *const good[] = {
        "a",
        "main",
        "A.b_c-9",
        "-",
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    };
    static const char *const bad[] = {
        "",
        "a b",
        "a/b",
        "\xc3\xa4",
        "a\\u0000",
        "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0",
    };
    (void)state;
    char text[200];
    for (size_t i = 0; i < COUNT(good); i++) {
        snprintf(text, sizeof text, "{\"text\":\"\",\"name\":\"%s\"}", good[i]);
        assert_ok(check(text));
        assert_true(values[NAME].given);
        assert_memory(str_eq(values[NAME].string, str_from(good[i])));
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        snprintf(text, sizeof text, "{\"text\":\"\",\"name\":\"%s\"}", bad[i]);
        assert_status(check(text), ST_INVALID);
    }
}

static void schema_reads_sizes(void **state)
{
    static const struct {
        const char *text;
        int64_t bytes;
    } good[] = {
        {"1024", 1024},
        {"2048.0", 2048},
        {"\"4096\"", 4096},
        {"\"1K\"", 1024},
        {"\"3k\"", 3072},
        {"\"512M\"", INT64_C(512) << 20},
        {"\"2 GiB\"", INT64_C(2) << 30},
        {"\"2GB\"", INT64_C(2) << 30},
        {"\"1T\"", INT64_C(1) << 40},
    };
    static const char *const bad[] = {
        "1023",      "\"0K\"",
        "\"\"",      "\"K\"",
        "\"B\"",     "\"1.5G\"",
        "\"1X\"",    "\"-4K\"",
        "\"2T\"",    "\"99999999999T\"",
        "\"1 K 1\"", "1e30",
        "true",      "[]",
        "\"5 iB\"",  "\"9999999999999999999K\"",
    };
    (void)state;
    char text[100];
    for (size_t i = 0; i < COUNT(good); i++) {
        snprintf(text, sizeof text, "{\"text\":\"\",\"size\":%s}",
                 good[i].text);
        assert_ok(check(text));
        assert_true(values[SIZE].integer == good[i].bytes);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        snprintf(text, sizeof text, "{\"text\":\"\",\"size\":%s}", bad[i]);
        assert_status(check(text), ST_INVALID);
    }
}

/* As people write them. */
static void schema_takes_designators(void **state)
{
    static const struct {
        const char *text;
        const char *package;
    } packages[] = {
        {"pa", "pa"},
        {":pa", "pa"},
        {"#:pa", "pa"},
        {"\\\"PA\\\"", "PA"},
        {" :pa ", "pa"},
        {"a:b", "a:b"},
        {":", ":"},
        {"#:", "#:"},
        {"\\\"\\\"", "\\\"\\\""},
        {"", ""},
    };
    static const char *const good[] = {
        "\"shape\":\"SQUARE\"",
        "\"shape\":\" Square\"",
        "\"flag\":\"true\"",
        "\"flag\":\"False\"",
    };
    static const char *const bad[] = {
        "\"shape\":\"squares\"", "\"shape\":\"\"", "\"flag\":\"yes\"",
        "\"flag\":\"\"",         "\"flag\":1",
    };
    char text[100];
    (void)state;
    for (size_t i = 0; i < COUNT(packages); i++) {
        snprintf(text, sizeof text, "{\"text\":\"\",\"package\":\"%s\"}",
                 packages[i].text);
        assert_ok(check(text));
        if (packages[i].package[0] != '\\')
            assert_true(
                str_eq(values[PACKAGE].string, str_from(packages[i].package)));
    }
    for (size_t i = 0; i < COUNT(good); i++) {
        snprintf(text, sizeof text, "{\"text\":\"\",%s}", good[i]);
        assert_ok(check(text));
        assert_true(!values[SHAPE].given ||
                    str_eq(values[SHAPE].string, STR("square")));
        assert_int_equal(values[FLAG].boolean, i == 2);
    }
    for (size_t i = 0; i < COUNT(bad); i++) {
        snprintf(text, sizeof text, "{\"text\":\"\",%s}", bad[i]);
        assert_status(check(text), ST_INVALID);
    }
}

static void schema_refuses_unknown_arguments(void **state)
{
    static const struct {
        const char *arguments;
        const char *problem;
    } cases[] = {
        {"{\"text\":\"\",\"Text\":\"\"}", "unknown argument Text; known are "},
        {"{\"texts\":1}", "unknown argument texts; known are text, "},
        {"{\"a\":1,\"text\":\"\",\"b\":{\"text\":1},\"\":[]}",
         "unknown argument a, b, ; known are "},
        {"{\"text\":\"\",\"x\":null}", "unknown argument x; "},
        {"{\"a\\nb\":1,\"text\":\"\"}", "unknown argument a\\nb; "},
        {"{\"1\":1,\"2\":1,\"3\":1,\"4\":1,\"5\":1,\"6\":1,\"7\":1}",
         "unknown argument 1, 2, 3, 4, 5 and 2 more; "},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        assert_status(check(cases[i].arguments), ST_INVALID);
        assert_true(str_starts(notes.problem, str_from(cases[i].problem)));
    }
    struct schema_value none[1];
    struct json object;
    struct json_error error;
    assert_ok(json_parse(&arena, STR("{\"x\":1}"), &object, &error));
    assert_status(schema_check(&arena, NULL, object, none, &notes), ST_INVALID);
    assert_text(notes.problem, "unknown argument x; none is known");
}

static void schema_accepts_absent_arguments(void **state)
{
    (void)state;
    memset(values, 0, sizeof values);
    struct json absent = {NULL, 0};
    assert_ok(schema_check(&arena, NULL, absent, values, &notes));
    assert_status(schema_check(&arena, fields, absent, values, &notes),
                  ST_INVALID);
}

static void schema_writes_json_schema(void **state)
{
    (void)state;
    struct jsonw w;
    jsonw_init(&w, &out);
    schema_write(&w, fields);
    assert_memory(!buf_failed(&out));
    assert_text(
        buf_view(&out),
        "{\"type\":\"object\",\"properties\":{"
        "\"text\":{\"type\":\"string\",\"description\":\"A text.\"},"
        "\"max-count\":{\"type\":\"integer\",\"maximum\":100,"
        "\"default\":7,\"description\":\"A count.\"},"
        "\"ratio\":{\"type\":\"number\",\"maximum\":2,"
        "\"description\":\"A ratio.\"},"
        "\"flag\":{\"type\":\"boolean\",\"description\":\"A flag.\"},"
        "\"shape\":{\"type\":\"string\",\"enum\":[\"round\",\"square\"],"
        "\"description\":\"A shape.\"},"
        "\"free\":{\"type\":\"integer\",\"description\":\"Any integer.\"},"
        "\"name\":{\"type\":\"string\",\"description\":\"A name.\"},"
        "\"size\":{\"type\":\"string\",\"description\":\"A size.\"},"
        "\"package\":{\"type\":\"string\"}},"
        "\"required\":[\"text\"],\"additionalProperties\":false}");
}

/* Words that tell a model nothing are left out. */
static void schema_writes_no_idle_words(void **state)
{
    static const struct schema_field idle[] = {
        {.name = "session", .kind = SCHEMA_NAME},
        {.name = "source", .kind = SCHEMA_STRING, .hidden = true},
        {.name = "path", .kind = SCHEMA_PATH, .help = "A."},
        {.name = "all",
         .kind = SCHEMA_BOOLEAN,
         .fallback = "false",
         .help = "B."},
        {.name = "offset", .kind = SCHEMA_INTEGER, .max = INT32_MAX},
        {.name = "lines", .kind = SCHEMA_INTEGER, .min = 2, .max = 9},
        {.name = "type",
         .kind = SCHEMA_CHOICE,
         .choices = shapes,
         .fallback = "\"round\""},
        {0},
    };
    (void)state;
    struct jsonw w;
    jsonw_init(&w, &out);
    schema_write(&w, idle);
    assert_memory(!buf_failed(&out));
    assert_text(buf_view(&out),
                "{\"type\":\"object\",\"properties\":{"
                "\"session\":{\"type\":\"string\"},"
                "\"path\":{\"type\":\"string\",\"description\":\"A.\"},"
                "\"all\":{\"type\":\"boolean\",\"description\":\"B.\"},"
                "\"offset\":{\"type\":\"integer\"},"
                "\"lines\":{\"type\":\"integer\",\"minimum\":2,"
                "\"maximum\":9},"
                "\"type\":{\"type\":\"string\",\"enum\":[\"round\","
                "\"square\"]}},"
                "\"additionalProperties\":false}");
}

static void schema_writes_an_empty_object(void **state)
{
    (void)state;
    struct jsonw w;
    jsonw_init(&w, &out);
    schema_write(&w, NULL);
    assert_memory(!buf_failed(&out));
    assert_text(buf_view(&out), "{\"type\":\"object\",\"properties\":{},"
                                "\"additionalProperties\":false}");
}

#define TEST(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(schema_counts),
        TEST(schema_takes_underscores_for_hyphens),
        TEST(schema_accepts_every_kind),
        TEST(schema_leaves_absent_values_zero),
        TEST(schema_takes_other_spellings),
        TEST(schema_takes_the_last_of_a_repeated_name),
        TEST(schema_reads_integers_exactly),
        TEST(schema_names_what_is_wrong),
        TEST(schema_knows_arguments_that_exclude_others),
        TEST(schema_reads_lists),
        TEST(schema_checks_names),
        TEST(schema_reads_sizes),
        TEST(schema_takes_designators),
        TEST(schema_refuses_unknown_arguments),
        TEST(schema_accepts_absent_arguments),
        TEST(schema_writes_json_schema),
        TEST(schema_writes_no_idle_words),
        TEST(schema_writes_an_empty_object),
    };
    return RUN_TESTS("schema", tests);
}
