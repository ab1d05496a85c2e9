/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of arena.c. */
#include <stdalign.h>

#include "base/arena.h"
#include "support/check.h"

static struct arena arena;

static int release(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

static void arena_gives_aligned_distinct_memory(void **state)
{
    (void)state;
    unsigned char *pieces[300];
    for (size_t i = 0; i < COUNT(pieces); i++) {
        pieces[i] = arena_alloc(&arena, i);
        assert_memory(pieces[i] != NULL);
        assert_int_equal((uintptr_t)pieces[i] % alignof(max_align_t), 0);
        memset(pieces[i], (int)(i % 256), i);
    }
    for (size_t i = 0; i < COUNT(pieces); i++)
        for (size_t j = 0; j < i; j++)
            assert_int_equal(pieces[i][j], i % 256);
}

static void arena_keeps_its_chunk_beside_large_pieces(void **state)
{
    (void)state;
    char *first = arena_alloc(&arena, 16);
    assert_memory(first != NULL);
    char *large = arena_alloc(&arena, 1024 * 1024);
    assert_memory(large != NULL);
    memset(large, 'x', 1024 * 1024);
    char *second = arena_alloc(&arena, 16);
    assert_memory(second != NULL);
    assert_ptr_equal(second, first + 16);
}

static void arena_joins_another(void **state)
{
    (void)state;
    struct arena other = ARENA_EMPTY;
    struct str large;
    arena_join(&arena, &other); // nothing
    char *small = arena_alloc(&other, 16);
    assert_memory(small != NULL);
    memset(small, 'x', 16);
    if (arena_str(&other, STR("kept"), &large) != ST_OK)
        large = STR("kept");
    size_t bytes = arena_bytes(&other);
    arena_join(&arena, &other);
    assert_int_equal(arena_bytes(&other), 0);
    assert_int_equal(arena_bytes(&arena), bytes);
    assert_memory(arena_alloc(&arena, 16) != NULL);
    arena_join(&arena, &other); // empty again
    assert_int_equal(small[15], 'x');
    assert_text(large, "kept");
}

static void arena_refuses_overflow(void **state)
{
    (void)state;
    assert_null(arena_alloc(&arena, SIZE_MAX));
    assert_null(arena_alloc(&arena, SIZE_MAX - 64));
    assert_null(arena_array(&arena, SIZE_MAX / 2, 3));
    struct str out = STR("kept");
    assert_status(arena_str(&arena, str_make("", SIZE_MAX), &out), ST_NOMEM);
    assert_text(out, "kept");
    assert_memory(arena_alloc(&arena, 1) != NULL);
}

static void arena_clears_arrays(void **state)
{
    (void)state;
    char *dirty = arena_alloc(&arena, 4000);
    assert_memory(dirty != NULL);
    memset(dirty, 0xff, 4000);
    arena_release(&arena);
    unsigned *numbers = arena_array(&arena, 1000, sizeof *numbers);
    assert_memory(numbers != NULL);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(numbers[i], 0);
    assert_memory(arena_array(&arena, 0, 8) != NULL);
    assert_memory(arena_array(&arena, 8, 0) != NULL);
}

static void arena_copies_text_with_nul(void **state)
{
    (void)state;
    char source[] = "ab\0c";
    struct str copy;
    assert_ok(arena_str(&arena, str_make(source, 4), &copy));
    memset(source, 'x', sizeof source);
    assert_text(copy, "ab\0c");
    assert_int_equal(copy.p[copy.n], 0);
    assert_ok(arena_str(&arena, str_make(NULL, 0), &copy));
    assert_string_equal(copy.p, "");
}

static void arena_formats(void **state)
{
    (void)state;
    struct str s = arena_printf(&arena, "%d-%s", 42, "x");
    assert_memory(s.p != NULL);
    assert_text(s, "42-x");
    assert_int_equal(s.p[s.n], 0);
    s = arena_printf(&arena, "%*s|", 9000, "wide");
    assert_memory(s.p != NULL);
    assert_int_equal(s.n, 9001);
    assert_int_equal(s.p[9000], '|');
}

static void arena_is_usable_after_release(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        arena_release(&arena);
        assert_memory(arena_alloc(&arena, 5000) != NULL);
    }
    struct arena zeroed = ARENA_EMPTY;
    arena_release(&zeroed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(arena_gives_aligned_distinct_memory, release),
        cmocka_unit_test_teardown(arena_keeps_its_chunk_beside_large_pieces,
                                  release),
        cmocka_unit_test_teardown(arena_joins_another, release),
        cmocka_unit_test_teardown(arena_refuses_overflow, release),
        cmocka_unit_test_teardown(arena_clears_arrays, release),
        cmocka_unit_test_teardown(arena_copies_text_with_nul, release),
        cmocka_unit_test_teardown(arena_formats, release),
        cmocka_unit_test_teardown(arena_is_usable_after_release, release),
    };
    return RUN_TESTS("arena", tests);
}
