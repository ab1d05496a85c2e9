/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two texts, cut at the first NUL: all hunks give the second, none the first.
 */
#include "diff/diff.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = ARENA_EMPTY;
    struct str all = str_make((const char *)data, size);
    const char *cut = size > 0 ? memchr(data, 0, size) : NULL;
    struct str before = cut ? str_make(all.p, (size_t)(cut - all.p)) : all;
    struct str after = cut ? str_make(cut + 1, size - before.n - 1) : STR("");
    struct diff diff;
    struct str text;
    REQUIRE(diff_make(&arena, before, after, &diff) == ST_OK);
    REQUIRE((diff.hunk_count == 0) == str_eq(before, after));
    bool *none = arena_array(&arena, diff.hunk_count + 1, sizeof *none);
    enum diff_outcome *outcomes =
        arena_array(&arena, diff.hunk_count + 1, sizeof *outcomes);
    REQUIRE(none && outcomes);
    REQUIRE(diff_apply(&arena, &diff, NULL, &text) == ST_OK);
    REQUIRE(str_eq(text, after));
    REQUIRE(diff_apply(&arena, &diff, none, &text) == ST_OK);
    REQUIRE(str_eq(text, before));
    // hunks found in an unchanged text are in their old places
    REQUIRE(diff_apply_to(&arena, &diff, NULL, before, outcomes, &text) ==
            ST_OK);
    bool stale = false;
    for (size_t i = 0; i < diff.hunk_count; i++)
        stale = stale || outcomes[i] != DIFF_APPLIED;
    REQUIRE(stale || str_eq(text, after));
    arena_release(&arena);
    return 0;
}
