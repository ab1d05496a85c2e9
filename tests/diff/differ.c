/* SPDX-License-Identifier: GPL-3.0-or-later */
/* differ.c: the diff engine as a program, for comparison with diff(1) and
   patch(1). differ OLD NEW prints the diff. differ OLD NEW CHOICE prints OLD
   with the hunks for which CHOICE has a 1. With a file CURRENT after that, it
   prints CURRENT with these hunks, and a line of outcomes on standard error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff/diff.h"

static struct arena arena;

static void fail(const char *what)
{
    (void)fprintf(stderr, "differ: %s\n", what);
    exit(2);
}

static struct str read_file(const char *name)
{
    struct buf text = BUF_EMPTY;
    struct str out = STR("");
    char chunk[65536];
    size_t n;
    FILE *file = fopen(name, "rb");

    if (!file)
        fail(name);
    while ((n = fread(chunk, 1, sizeof chunk, file)) > 0)
        buf_append(&text, chunk, n);
    (void)fclose(file);
    if (buf_failed(&text) || arena_str(&arena, buf_view(&text), &out) != ST_OK)
        fail("out of memory");
    buf_release(&text);
    return out;
}

static void print(struct str text)
{
    if (fwrite(text.p, 1, text.n, stdout) != text.n)
        fail("cannot write");
}

static void apply(const struct diff *diff, const char *choice,
                  const char *current)
{
    bool *chosen = arena_array(&arena, diff->hunk_count + 1, sizeof *chosen);
    enum diff_outcome *outcomes =
        arena_array(&arena, diff->hunk_count + 1, sizeof *outcomes);
    struct str out = STR("");

    if (!chosen || !outcomes || strlen(choice) != diff->hunk_count)
        fail("a choice has a 0 or 1 for each hunk");
    for (size_t i = 0; i < diff->hunk_count; i++)
        chosen[i] = choice[i] == '1';
    if (current) {
        if (diff_apply_to(&arena, diff, chosen, read_file(current), outcomes,
                          &out) != ST_OK)
            fail("cannot apply");
        for (size_t i = 0; i < diff->hunk_count; i++)
            (void)fputc("-as"[outcomes[i]], stderr);
        (void)fputc('\n', stderr);
    } else if (diff_apply(&arena, diff, chosen, &out) != ST_OK) {
        fail("cannot apply");
    }
    print(out);
}

int main(int argc, char **argv)
{
    struct diff diff;
    struct buf text = BUF_EMPTY;

    if (argc < 3)
        fail("usage: differ OLD NEW [CHOICE [CURRENT]]");
    if (diff_make(&arena, read_file(argv[1]), read_file(argv[2]), &diff) !=
        ST_OK)
        fail("cannot compare");
    if (argc > 3) {
        apply(&diff, argv[3], argc > 4 ? argv[4] : NULL);
    } else {
        diff_write(&text, &diff, STR("text"), SIZE_MAX);
        print(buf_view(&text));
    }
    buf_release(&text);
    arena_release(&arena);
    return 0;
}
