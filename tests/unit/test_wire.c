/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of wire.c. */
#include "base/limits.h"
#include "support/check.h"
#include "wire/wire.h"

static struct buf out;

static int release(void **state)
{
    (void)state;
    buf_release(&out);
    return 0;
}

static void wire_writes_the_documented_bytes(void **state)
{
    (void)state;
    buf_str(&out, STR("before"));
    size_t start = wire_begin(&out, WIRE_CALL, WIRE_AHEAD, 0x1122334455667788);
    wire_put_string(&out, STR("a\0z"));
    wire_put_int(&out, -2);
    wire_put_bool(&out, true);
    wire_put_bool(&out, false);
    wire_put_null(&out);
    wire_put_real(&out, 1.5);
    wire_end(&out, start);
    assert_memory(!buf_failed(&out));
    assert_int_equal(start, 6);
    assert_text(buf_view(&out), "before"
                                "\x1d\0\0\0"
                                "\1\0"
                                "\2\0"
                                "\x88\x77\x66\x55\x44\x33\x22\x11"
                                "S\3\0\0\0a\0z"
                                "I\xfe\xff\xff\xff\xff\xff\xff\xff"
                                "T"
                                "F"
                                "N"
                                "R\0\0\0\0\0\0\xf8\x3f");
}

static void wire_reads_what_it_writes(void **state)
{
    (void)state;
    static const int64_t integers[] = {0, 1, -1, INT64_MIN, INT64_MAX};
    size_t start = wire_begin(&out, WIRE_REPLY, WIRE_ERROR, UINT64_MAX);
    for (size_t i = 0; i < COUNT(integers); i++)
        wire_put_int(&out, integers[i]);
    wire_put_real(&out, -0.1);
    wire_put_string(&out, str_make(NULL, 0));
    wire_end(&out, start);
    buf_str(&out, STR("next"));
    assert_memory(!buf_failed(&out));

    struct wire_head head;
    struct str body;
    assert_ok(wire_frame(buf_view(&out), &head, &body));
    assert_int_equal(head.kind, WIRE_REPLY);
    assert_int_equal(head.flags, WIRE_ERROR);
    assert_true(head.id == UINT64_MAX);
    assert_int_equal(WIRE_HEAD + head.size, out.n - 4);
    assert_int_equal(body.n, head.size);
    for (size_t i = 0; i < COUNT(integers); i++) {
        int64_t integer;
        assert_ok(wire_take_int(&body, &integer));
        assert_true(integer == integers[i]);
    }
    struct wire_field field;
    assert_ok(wire_field(&body, &field));
    assert_int_equal(field.type, WIRE_REAL);
    assert_true(field.real >= -0.1 && field.real <= -0.1);
    struct str string = STR("dirty");
    assert_ok(wire_take_string(&body, &string));
    assert_int_equal(string.n, 0);
    assert_status(wire_field(&body, &field), ST_MISSING);
    assert_status(wire_take_string(&body, &string), ST_MISSING);
}

static void wire_waits_for_the_rest_of_a_frame(void **state)
{
    (void)state;
    size_t start = wire_begin(&out, WIRE_OUTPUT, 0, 0);
    wire_put_string(&out, STR("text"));
    wire_end(&out, start);
    assert_memory(!buf_failed(&out));
    struct wire_head head = {.id = 7};
    struct str body = STR("kept");
    for (size_t n = 0; n < out.n; n++)
        assert_status(wire_frame(str_make(out.p, n), &head, &body), ST_MISSING);
    assert_int_equal(head.id, 7);
    assert_text(body, "kept");
    for (size_t n = 0; n < WIRE_HEAD; n++)
        assert_status(wire_head(str_make(out.p, n), &head), ST_MISSING);
    assert_ok(wire_head(str_make(out.p, WIRE_HEAD), &head));
    assert_int_equal(head.size, 9);
    assert_int_equal(head.kind, WIRE_OUTPUT);
}

static void wire_refuses_huge_frames(void **state)
{
    (void)state;
    char bytes[WIRE_HEAD] = {0};
    struct wire_head head;
    struct str body;
    const uint32_t sizes[] = {LIMIT_FRAME, LIMIT_FRAME + 1, UINT32_MAX};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        for (size_t byte = 0; byte < 4; byte++)
            bytes[byte] = (char)(unsigned char)(sizes[i] >> 8 * byte);
        struct str text = str_make(bytes, sizeof bytes);
        assert_status(wire_frame(text, &head, &body),
                      i == 0 ? ST_MISSING : ST_LIMIT);
        assert_status(wire_head(text, &head), i == 0 ? ST_OK : ST_LIMIT);
    }
}

static void wire_refuses_malformed_fields(void **state)
{
    (void)state;
    static const struct str bodies[] = {
        STR_INIT("x"),
        STR_INIT("\0"),
        STR_INIT("\xff"),
        STR_INIT("I"),
        STR_INIT("I1234567"),
        STR_INIT("R1234567"),
        STR_INIT("S"),
        STR_INIT("S\0\0\0"),
        STR_INIT("S\1\0\0\0"),
        STR_INIT("S\5\0\0\0text"),
        STR_INIT("S\xff\xff\xff\xfftext"),
    };
    for (size_t i = 0; i < COUNT(bodies); i++) {
        struct str body = bodies[i];
        struct wire_field field = {.type = WIRE_NULL, .integer = 7};
        struct str string = STR("kept");
        int64_t integer = 7;
        assert_status(wire_field(&body, &field), ST_INVALID);
        assert_status(wire_take_string(&body, &string), ST_INVALID);
        assert_status(wire_take_int(&body, &integer), ST_INVALID);
        assert_true(str_eq(body, bodies[i]));
        assert_int_equal(field.integer, 7);
        assert_text(string, "kept");
        assert_int_equal(integer, 7);
    }
}

static void wire_takes_only_the_type_asked_for(void **state)
{
    (void)state;
    struct str body = STR("S\1\0\0\0x");
    struct str string = STR("kept");
    int64_t integer = 7;
    assert_status(wire_take_int(&body, &integer), ST_INVALID);
    assert_int_equal(integer, 7);
    assert_ok(wire_take_string(&body, &string));
    assert_text(string, "x");
    body = STR("N");
    assert_status(wire_take_string(&body, &string), ST_INVALID);
    assert_int_equal(body.n, 1);
}

static void wire_survives_lost_memory(void **state)
{
    (void)state;
    size_t start = wire_begin(&out, WIRE_CALL, 0, 1);
    wire_put_string(&out, STR("a string that makes the buffer grow"));
    wire_put_int(&out, 1);
    wire_end(&out, start);
    bool lost = check_memory_is_back();
    assert_int_equal(buf_failed(&out), lost);
}

static void wire_marks_hold_key_and_id(void **state)
{
    (void)state;
    char mark[WIRE_MARK];
    wire_mark((const unsigned char *)"0123456789abcdef", 0x0102, mark);
    assert_text(str_make(mark, sizeof mark), "0123456789abcdef"
                                             "\2\1\0\0\0\0\0\0");
}

#define TEST(name) cmocka_unit_test_teardown(name, release)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(wire_writes_the_documented_bytes),
        TEST(wire_reads_what_it_writes),
        TEST(wire_waits_for_the_rest_of_a_frame),
        TEST(wire_refuses_huge_frames),
        TEST(wire_refuses_malformed_fields),
        TEST(wire_takes_only_the_type_asked_for),
        TEST(wire_survives_lost_memory),
        TEST(wire_marks_hold_key_and_id),
    };
    return RUN_TESTS("wire", tests);
}
