/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of covers.c, submodules.c and protected.c: how far repositories and
   submodules are searched for, and what stars stand for. */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/submodules.h"
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

/* Folders do not tell of what kind their entries are, as on some systems. */
static bool without_types;

// the system's name of the parameter is reserved
// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
struct dirent *readdir(DIR *stream)
{
    static struct dirent *(*next)(DIR *);
    struct dirent *entry;

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "readdir");
    entry = next(stream);
    if (entry && without_types)
        entry->d_type = DT_UNKNOWN;
    return entry;
}

static int set_up(void **state)
{
    (void)state;
    without_types = false;
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
                                        ".git/modules/hooks/config",
                                        ".git/modules/logs/config",
                                        ".git/modules/refs/config",
                                        ".git/modules/objects/config",
                                        ".git/modules/lfs/config",
                                        ".git/modules/modules/config",
                                        ".git/modules/config/config",
                                        ".git/modules/a/refs/config",
                                        ".git/modules/libs/logs/config",
                                        ".git/modules/a/b/c/config",
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

/* Lists what is closed in the folder, each after a blank, into CLOSED; whether
   that is all. */
static bool list_closed(char *closed, size_t n)
{
    const struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE};
    struct covers covers = {.repository = false};
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    size_t used = 0;
    bool all;

    assert_true(fd >= 0);
    covers_find_roots(fd, &covers);
    covers_list(fd, &sandbox, &covers);
    closed[0] = '\0';
    for (size_t i = 0; i < covers.closed.n && used < n; i++)
        used += (size_t)snprintf(closed + used, n - used, " %s",
                                 covers.closed.list[i]);
    all = !covers.partial;
    covers_release(&covers);
    assert_int_equal(close(fd), 0);
    return all;
}

/* Fails unless that is CLOSED, and (not ALL) there may be more. */
static void closes(const char *closed, bool all)
{
    char list[8000];

    assert_int_equal(list_closed(list, sizeof list), all);
    assert_string_equal(list, closed);
}

/* A repository in .git/modules with what git makes, and much besides. */
#define REPOSITORY(name)                                                       \
    "(mkdir -p .git/modules/" name " && cd .git/modules/" name                 \
    " && mkdir -p hooks info branches objects/00 refs/heads logs/refs "        \
    "rr-cache/1 annex/x && touch HEAD config logs/HEAD hooks/config)"

/* Submodules have the hooks of theirs; stores of others are not searched. */
static void submodules_have_any_names(void **state)
{
    (void)state;
    folder_run(
        REPOSITORY("hooks") " && mkdir -p .git/modules/hooks/worktrees/w"
                            " && touch .git/modules/hooks/worktrees/w/gitdir");
    closes(" .git/modules/hooks/hooks .git/modules/hooks/config "
           ".git/modules/hooks/hooks/config "
           ".git/modules/hooks/worktrees/w/gitdir",
           true);
    folder_run("rm -rf .git/modules/hooks/hooks/config && mkdir -p "
               ".git/modules/hooks/modules/d/e && touch "
               ".git/modules/hooks/modules/d/e/config "
               ".git/modules/hooks/refs/heads/config");
    closes(" .git/modules/hooks/hooks .git/modules/hooks/config "
           ".git/modules/hooks/modules/d/e/config "
           ".git/modules/hooks/worktrees/w/gitdir",
           true);
}

/* Where folders do not tell of what kind their entries are, everything is found
   as well. */
static void kinds_of_entries_are_found_out(void **state)
{
    (void)state;
    without_types = true;
    folder_run("mkdir -p sub/.git .git/modules/a/b && touch .git/modules/c "
               "sub/.git/config .git/modules/a/b/config");
    closes(" sub/.git/config .git/modules/a/b/config", true);
}

/* Code can make a HEAD where it likes, and settings where there are none: the
   user hears of these. */
static void planted_files_hide_nothing(void **state)
{
    char list[1000];

    (void)state;
    folder_run("mkdir -p .git/modules/libs/logs/x .git/modules/libs/refs "
               ".git/modules/logs && touch .git/modules/libs/logs/x/config "
               ".git/modules/libs/refs/config .git/modules/logs/config && "
               "touch .git/modules/HEAD .git/modules/libs/HEAD "
               ".git/modules/config");
    closes(" .git/modules/logs/config .git/modules/libs/refs/config "
           ".git/modules/libs/logs/x/config",
           true);
    folder_run("rm .git/modules/libs/HEAD && touch .git/modules/libs/config");
    assert_true(list_closed(list, sizeof list));
    assert_non_null(strstr(list, " .git/modules/libs/config"));
    assert_non_null(strstr(list, " .git/modules/libs/refs/config"));
}

/* Many folders in one submodule do not keep others from being covered. */
static void submodules_come_before_what_is_in_them(void **state)
{
    char command[500];

    (void)state;
    (void)snprintf(command, sizeof command,
                   REPOSITORY("x") " && cd .git/modules && rm x/hooks/config "
                                   "&& (cd x && seq %d | xargs mkdir) && mkdir "
                                   "-p y/modules/n z/n && touch y/config "
                                   "y/modules/n/config z/n/config",
                   LIMIT_COVERED_ENTRIES);
    folder_run(command);
    for (int i = 0; i < 2; i++) { // another order in the folder
        char list[1000];

        assert_false(list_closed(list, sizeof list));
        assert_non_null(strstr(list, " .git/modules/x/config"));
        assert_non_null(strstr(list, " .git/modules/y/config"));
        assert_non_null(strstr(list, " .git/modules/y/modules/n/config"));
        assert_non_null(strstr(list, " .git/modules/z/n/config"));
        folder_run("cd .git/modules && mv x w && cp -r y v && cp -r z u && "
                   "rm -r y z && mv v y && mv u z && mv w x");
    }
}

/* Each takes room for its folder, its settings, its hooks, and its "info",
   where attributes can come. */
static void many_submodules_have_room(void **state)
{
    const struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE};
    struct covers covers = {.repository = false};
    int n = LIMIT_COVERS / 4 - 1;
    char command[1000];
    size_t found = 0;
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    (void)state;
    assert_true(fd >= 0);
    (void)snprintf(command, sizeof command,
                   REPOSITORY("1") " && cd .git/modules && "
                                   "rm 1/hooks/config && seq 2 %d | "
                                   "xargs -n 1 cp -r 1",
                   n);
    folder_run(command);
    covers_find_roots(fd, &covers);
    covers_list(fd, &sandbox, &covers);
    for (size_t i = 0; i < covers.closed.n; i++)
        found += strstr(covers.closed.list[i], "/config") != NULL;
    assert_int_equal(found, n);
    assert_false(covers.partial);
    covers_release(&covers);
    assert_int_equal(close(fd), 0);
}

/* Names have few parts. */
static void submodules_are_not_deep(void **state)
{
    char path[400] = ".git/modules";
    char expected[450];
    char command[1300];
    size_t n = strlen(path);

    (void)state;
    for (int i = 0; i < SUBMODULES_DEPTH; i++, n += 2)
        memcpy(path + n, "/a", 3);
    (void)snprintf(command, sizeof command, "mkdir -p %s && touch %s/config",
                   path, path);
    folder_run(command);
    (void)snprintf(expected, sizeof expected, " %s/config", path);
    closes(expected, true);
    (void)snprintf(command, sizeof command,
                   "mkdir %s/b && mv %s/config %s/b/config", path, path, path);
    folder_run(command);
    closes("", false);
}

/* Whether the next answer tells that not everything is searched. */
static bool tells(struct protected *protected)
{
    const struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE};
    struct buf out = {.p = NULL};
    bool told = protected_read(protected, &sandbox, &out);

    buf_byte(&out, '\0');
    assert_false(buf_failed(&out));
    if (told)
        assert_non_null(strstr(out.p, "more entries than are searched"));
    buf_release(&out);
    return told;
}

/* What an earlier server left is told, too, in the log and once in an answer.
 */
static void the_first_answer_tells_what_is_not_searched(void **state)
{
    static const struct log warnings = {LOG_WARN, note, NULL};
    const struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE};
    struct protected protected;
    char fill[200];

    (void)state;
    (void)snprintf(fill, sizeof fill,
                   "mkdir -p .git/modules/x && cd .git/modules/x && "
                   "seq %d | xargs mkdir",
                   LIMIT_COVERED_ENTRIES);
    folder_run(fill);
    buf_reset(&said);
    protected_open(&protected, &sandbox, folder, &warnings);
    buf_byte(&said, '\0');
    assert_false(buf_failed(&said));
    assert_non_null(strstr(said.p, "more entries than are searched"));
    assert_true(tells(&protected));
    assert_false(tells(&protected));
    folder_run("rm -r .git/modules/x");
    assert_false(tells(&protected));
    folder_run(fill);
    assert_true(tells(&protected));
    protected_release(&protected);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(repositories_are_sought_in_few_folders),
        TEST(repositories_are_sought_among_few_entries),
        TEST(few_repositories_are_covered),
        TEST(stars_find_what_is_there),
        TEST(submodules_have_any_names),
        TEST(kinds_of_entries_are_found_out),
        TEST(planted_files_hide_nothing),
        TEST(submodules_come_before_what_is_in_them),
        TEST(many_submodules_have_room),
        TEST(submodules_are_not_deep),
        TEST(the_first_answer_tells_what_is_not_searched),
    };

    return RUN_TESTS("covers", tests);
}
