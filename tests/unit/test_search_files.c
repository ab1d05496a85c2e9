/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of search_files.c: how many files one search opens. They are those of a
   disk that the test plays: no real one has so many. */
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "support/check.h"
#include "tools/sets.h"

/* The files of the workspace: the last one has what is searched. */
static size_t file_count;
static struct files_entry entries[LIMIT_SEARCH_FILES + 1];
static char names[LIMIT_SEARCH_FILES + 1][8];

static struct arena arena;

static enum files_result list(void *context, struct arena *in,
                              const struct files_place *place,
                              struct files_folder *out, struct str *problem)
{
    (void)context;
    (void)in;
    (void)place;
    (void)problem;
    *out = (struct files_folder){
        .name = STR("."), .entries = entries, .count = file_count};
    return FILES_OK;
}

static enum files_result read_file(void *context, struct arena *in,
                                   const struct files_place *place,
                                   uint64_t max, struct files_content *out,
                                   struct str *problem)
{
    bool last = str_eq(place->name, entries[file_count - 1].name);

    (void)context;
    (void)in;
    (void)max;
    (void)problem;
    *out = (struct files_content){.name = place->name,
                                  .exists = true,
                                  .bytes = last ? STR("x\n") : STR("y\n")};
    return FILES_OK;
}

static int set_up(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(entries); i++) {
        (void)snprintf(names[i], sizeof names[i], "f%05u",
                       (unsigned)i % 100000u);
        entries[i] = (struct files_entry){
            .name = str_from(names[i]), .kind = FILES_FILE, .size = 2};
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

/* The answer to a search for "x" in a workspace of N files. */
static struct str search(size_t n)
{
    const struct files files = {.root = "/w", .list = list, .read = read_file};
    struct schema_value values[8] = {{.string = STR("x")},
                                     {.string = STR(".")}};
    struct tool_call call = {.place = {.found = true, .result = FILES_OK}};
    const struct tool_request request = {
        .arena = &arena, .files = &files, .values = values, .call = &call};
    struct tool_answer answer = {.state = TOOL_WAITS};

    file_count = n;
    assert_ok(tool_search_files.handler(&request, &answer));
    assert_int_equal(answer.state, TOOL_ANSWERED);
    return answer.text;
}

static void files_are_searched_up_to_a_limit(void **state)
{
    (void)state;
    assert_text(search(LIMIT_SEARCH_FILES),
                "f49999:1: x\n1 match in 50000 files.");
    arena_release(&arena);
    // the one with the match is no longer opened
    assert_text(search(LIMIT_SEARCH_FILES + 1),
                "Nothing found in 50000 files; stopped at the limit of files "
                "(200 matches, 50000 files, 512 MiB): search a smaller folder, "
                "or for a longer text.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_are_searched_up_to_a_limit,
                                        set_up, tear_down),
    };
    return RUN_TESTS("search_files", tests);
}
