/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of covers.c and protected.c: how far repositories are looked for, and
   what stars stand for. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "supervisor/protected.h"
#include "support/check.h"
#include "support/folder.h"

static struct buf said;

static void note(void *context, enum log_level level, struct str line)
{
    (void)context;
    (void)level;
    buf_str(&said, line);
}

static const struct log sink = {LOG_INFO, note, NULL};

static int set_up(void **state)
{
    (void)state;
    return folder_make();
}

static int tear_down(void **state)
{
    (void)state;
    buf_release(&said);
    folder_remove();
    return 0;
}

/* How many roots are found; the log says that LIMIT was met, or (NULL) says
   nothing. */
static size_t find_roots(const char *limit)
{
    const struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE};
    struct protected protected;
    size_t n;

    buf_reset(&said);
    protected_open(&protected, &sandbox, folder, &sink);
    n = protected.covers.roots.n;
    protected_release(&protected);
    buf_byte(&said, '\0');
    assert_false(buf_failed(&said));
    if (limit)
        assert_non_null(strstr(said.p, limit));
    else
        assert_string_equal(said.p, "");
    return n;
}

/* One folder in another; the last one, a repository, is the first that is not
   looked into. */
static void repositories_are_sought_in_few_folders(void **state)
{
    char path[2 * LIMIT_COVERED_FOLDERS + 8] = ".";
    size_t n = 1;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)state;
    assert_true(fd >= 0);
    for (int i = 1; i < LIMIT_COVERED_FOLDERS; i++, n += 2) {
        memcpy(path + n, "/a", 3);
        assert_int_equal(mkdirat(fd, path, 0700), 0);
    }
    memcpy(path + n, "/.git", 6);
    assert_int_equal(mkdirat(fd, path, 0700), 0);
    assert_int_equal(find_roots(NULL), 2);
    assert_int_equal(unlinkat(fd, path, AT_REMOVEDIR), 0);
    memcpy(path + n, "/a", 3);
    assert_int_equal(mkdirat(fd, path, 0700), 0);
    memcpy(path + n + 2, "/.git", 6);
    assert_int_equal(mkdirat(fd, path, 0700), 0);
    assert_int_equal(find_roots("LIMIT_COVERED_FOLDERS"), 1);
    assert_int_equal(close(fd), 0);
}

/* The last entry that is looked at is that of a repository; one more, and it is
   not. They are names of one file, as many files would take long to make. */
static void repositories_are_sought_among_few_entries(void **state)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    char name[20];

    (void)state;
    assert_true(fd >= 0);
    folder_run("mkdir -p a/.git && touch 0");
    for (int i = 1; i < LIMIT_COVERED_ENTRIES - 2; i++) {
        (void)snprintf(name, sizeof name, "%d", i);
        assert_int_equal(linkat(fd, "0", fd, name, 0), 0);
    }
    assert_int_equal(close(fd), 0);
    assert_int_equal(find_roots(NULL), 2);
    folder_run("touch more");
    assert_int_equal(find_roots("LIMIT_COVERED_ENTRIES"), 1);
}

/* The workspace is one of them. */
static void few_repositories_are_covered(void **state)
{
    char command[100];

    (void)state;
    (void)snprintf(command, sizeof command,
                   "seq -f %%.0f/.git %d | xargs mkdir -p",
                   LIMIT_COVERED_ROOTS - 1);
    folder_run(command);
    assert_int_equal(find_roots(NULL), LIMIT_COVERED_ROOTS);
    folder_run("mkdir -p more/.git");
    assert_int_equal(find_roots("LIMIT_COVERED_ROOTS"), LIMIT_COVERED_ROOTS);
}

/* Whatever has a star is found in folders with few entries, and one of them is
   enough. */
static void stars_find_what_is_there(void **state)
{
    static const char *const protects[] = {"deep/*/x", "*.sln", NULL};
    static const char *const makes[] = {"a.code-workspace",
                                        "sub/b.code-workspace",
                                        ".git/worktrees/w/gitdir",
                                        "sub/.git/modules/m/config",
                                        "deep/1/x",
                                        "sub/c.sln"};
    const struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE,
                                    .protects = protects};

    (void)state;
    for (size_t i = 0; i < sizeof makes / sizeof makes[0]; i++) {
        struct covers covers = {.repository = false};
        char command[200];
        int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        assert_true(fd >= 0);
        (void)snprintf(command, sizeof command,
                       "rm -rf .git sub deep *.* && mkdir -p .git sub/.git "
                       "$(dirname %s) && touch %s",
                       makes[i], makes[i]);
        folder_run(command);
        covers_find_roots(fd, &covers);
        covers_list(fd, &sandbox, &covers);
        if (!paths_has(&covers.closed, makes[i]) || covers.closed.n != 1)
            fail_msg("%s is not covered alone", makes[i]);
        covers_release(&covers);
        assert_int_equal(close(fd), 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(repositories_are_sought_in_few_folders),
        TEST(repositories_are_sought_among_few_entries),
        TEST(few_repositories_are_covered),
        TEST(stars_find_what_is_there),
    };

    return RUN_TESTS("covers", tests);
}
