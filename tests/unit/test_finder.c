/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of finder.c and digest.c. */
#include "base/buf.h"
#include "base/digest.h"
#include "base/finder.h"
#include "support/check.h"

static struct arena arena;
static struct buf out;

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    buf_release(&out);
    return 0;
}

static size_t find(struct str part, struct str text, size_t from)
{
    struct finder finder;
    size_t at = 0;

    assert_ok(finder_init(&finder, &arena, part));
    assert_ok(finder_next(&finder, text, from, &at));
    return at;
}

static void finder_finds_the_first(void **state)
{
    (void)state;
    assert_int_equal(find(STR("a"), STR("a"), 0), 0);
    assert_int_equal(find(STR("b"), STR("a"), 0), FINDER_NONE);
    assert_int_equal(find(STR("ab"), STR("a"), 0), FINDER_NONE);
    assert_int_equal(find(STR("ab"), STR(""), 0), FINDER_NONE);
    assert_int_equal(find(STR("aab"), STR("aaab"), 0), 1);
    assert_int_equal(find(STR("abab"), STR("abaabab"), 0), 3);
    assert_int_equal(find(STR("aa"), STR("aaa"), 1), 1);
    assert_int_equal(find(STR("a\0b"), STR("\0a\0b"), 0), 1);
}

/* Compares with the obvious way, for all short texts of two letters. */
static void finder_agrees_with_comparing(void **state)
{
    enum { LONGEST = 8 };
    char text[LONGEST];
    char part[LONGEST];
    (void)state;
    for (unsigned n = 1; n <= LONGEST; n++)
        for (unsigned bits = 0; bits < 1u << n; bits++)
            for (unsigned m = 1; m <= 6; m++)
                for (unsigned few = 0; few < 1u << m; few++) {
                    size_t wanted = FINDER_NONE;
                    for (unsigned i = 0; i < n; i++)
                        text[i] = bits & 1u << i ? 'a' : 'b';
                    for (unsigned i = 0; i < m; i++)
                        part[i] = few & 1u << i ? 'a' : 'b';
                    for (size_t i = 0; i + m <= n && wanted == FINDER_NONE; i++)
                        if (memcmp(text + i, part, m) == 0)
                            wanted = i;
                    assert_int_equal(
                        find(str_make(part, m), str_make(text, n), 0), wanted);
                }
}

/* A comparison at each place would take a million times a million steps. */
static void finder_takes_linear_time(void **state)
{
    enum { HALF = 1000000 };
    (void)state;
    char *text = buf_reserve(&out, 2 * HALF);
    assert_memory(text != NULL);
    memset(text, 'a', 2 * HALF);
    text[HALF] = 'b';
    assert_int_equal(
        find(str_make(text, HALF + 1), str_make(text + 1, 2 * HALF - 1), 0),
        FINDER_NONE);
}

static void digest_is_sha256(void **state)
{
    unsigned char digest[DIGEST_SIZE];
    (void)state;
    digest_of(STR("abc"), digest);
    digest_write(&out, digest);
    assert_memory(!buf_failed(&out));
    assert_text(buf_view(&out), "ba7816bf8f01cfea414140de5dae2223b00361a396177a"
                                "9cb410ff61f20015ad");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(finder_finds_the_first, tear_down),
        cmocka_unit_test_teardown(finder_agrees_with_comparing, tear_down),
        cmocka_unit_test_teardown(finder_takes_linear_time, tear_down),
        cmocka_unit_test_teardown(digest_is_sha256, tear_down),
    };
    return RUN_TESTS("finder", tests);
}
