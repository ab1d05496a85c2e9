/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of workspace.c on a real folder: other processes change the files
   between two steps, which no transcript can time. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "base/limits.h"
#include "host/disk.h"
#include "host/workspace.h"
#include "support/check.h"
#include "support/folder.h"

static struct arena arena;
static struct workspace *workspace;
static struct files files;
static struct str problem;

static int set_up(void **state)
{
    (void)state;
    return folder_make();
}

static int tear_down(void **state)
{
    (void)state;
    workspace_free(workspace);
    workspace = NULL;
    arena_release(&arena);
    folder_remove();
    return 0;
}

static void open_workspace(void)
{
    workspace = workspace_new(folder, NULL);
    assert_memory(workspace != NULL);
    files = workspace_files(workspace);
}

static void check_result(enum files_result result, enum files_result wanted)
{
    assert_memory(result != FILES_NOMEM);
    if (result != wanted)
        print_message("%.*s\n", STR_ARG(problem));
    assert_int_equal(result, wanted);
}

/* Where PATH leads now. */
static struct files_place locate(const char *path)
{
    struct files_place place = {.name = STR("")};
    check_result(
        files.locate(files.context, &arena, str_from(path), &place, &problem),
        FILES_OK);
    return place;
}

static struct files_content read_it(const char *path)
{
    struct files_content content;
    const struct files_place place = locate(path);
    enum files_result result = files.read(files.context, &arena, &place,
                                          LIMIT_FILE, &content, &problem);
    if (result != FILES_MISSING)
        check_result(result, FILES_OK);
    return content;
}

static void write_it(const struct files_content *expected, const char *text,
                     enum files_result wanted)
{
    check_result(
        files.write(files.context, &arena, expected, str_from(text), &problem),
        wanted);
}

/* Checks that file NAME has TEXT, and that no temporary file is left. */
static void check_file(const char *name, const char *text)
{
    struct files_content content = read_it(name);
    struct files_folder listed;
    const struct files_place root = locate(".");
    assert_true(content.exists);
    assert_true(str_eq(content.bytes, str_from(text)));
    check_result(files.list(files.context, &arena, &root, &listed, &problem),
                 FILES_OK);
    for (size_t i = 0; i < listed.count; i++)
        assert_false(str_starts(listed.entries[i].name, STR(".ecl-mcp-")));
}

static void workspace_writes_whole_files(void **state)
{
    struct stat info;
    char path[FOLDER_SIZE + 10];
    (void)state;
    folder_run("printf old >a && chmod 640 a");
    open_workspace();
    struct files_content content = read_it("a");
    write_it(&content, "new", FILES_OK);
    check_file("a", "new");
    (void)snprintf(path, sizeof path, "%s/a", folder);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
}

/* A file keeps its access control lists, as in acl(5), and the user's
   attributes, whatever is written to it. */
static void workspace_keeps_attributes(void **state)
{
    // rw-,user:65534:r--,r--,mask::rw-,---
    static const char list[] =
        "\2\0\0\0\1\0\6\0\xff\xff\xff\xff\2\0\4\0\xfe\xff\0\0\4\0\4\0\xff\xff"
        "\xff\xff\x10\0\6\0\xff\xff\xff\xff\x20\0\0\0\xff\xff\xff\xff";
    static const char access[] = "system.posix_acl_access";
    char path[FOLDER_SIZE + 10];
    char value[100];
    struct stat info;

    (void)state;
    folder_run("printf old >a && chmod 640 a");
    open_workspace();
    (void)snprintf(path, sizeof path, "%s/a", folder);
    if (setxattr(path, access, list, sizeof list - 1, 0) < 0 ||
        setxattr(path, "user.of", "mine", 4, 0) < 0) {
        assert_int_equal(errno, ENOTSUP);
        skip(); // this file system does not have them
    }
    struct files_content content = read_it("a");
    write_it(&content, "new", FILES_OK);
    check_file("a", "new");
    assert_int_equal(getxattr(path, access, value, sizeof value),
                     sizeof list - 1);
    assert_memory_equal(value, list, sizeof list - 1);
    assert_int_equal(getxattr(path, "user.of", value, sizeof value), 4);
    assert_memory_equal(value, "mine", 4);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0660);
}

/* The names of temporary files cannot be taken by others. */
static void workspace_makes_names_that_nobody_guesses(void **state)
{
    char command[300];
    (void)state;
    folder_run("printf old >a && printf mine >b");
    for (int i = 1; i <= 120; i++) {
        (void)snprintf(command, sizeof command, "%s .ecl-mcp-%d-%d.tmp",
                       i % 3 == 0   ? "ln -s b"
                       : i % 3 == 1 ? "mkdir"
                                    : "mkfifo",
                       (int)getpid(), i);
        folder_run(command);
    }
    open_workspace();
    struct files_content content = read_it("a");
    write_it(&content, "new", FILES_OK);
    content = read_it("c");
    write_it(&content, "fresh", FILES_OK);
    folder_run("rm -r .ecl-mcp-*-*.tmp && grep -qx mine b");
    check_file("a", "new");
    check_file("c", "fresh");
}

/* Somebody else was faster, in every possible way. */
static void workspace_notices_changes(void **state)
{
    static const struct {
        const char *before;
        const char *meanwhile;
        enum files_result result;
        const char *after; /* of a */
    } cases[] = {
        {"printf old >a", "printf other >a", FILES_CHANGED, "other"},
        {"printf old >a", "rm a", FILES_CHANGED, NULL},
        {"rm -f a", "printf other >a", FILES_CHANGED, "other"},
        {"printf old >a", "mv a b && ln -s b a", FILES_CHANGED, "old"},
        {"rm -f a b; printf old >a", "rm a && ln -s /etc/passwd a",
         FILES_CHANGED, NULL},
        {"rm -f a; printf old >a", "rm a && mkdir a", FILES_CHANGED, NULL},
        {"rmdir a; printf old >a", "rm a && mkfifo a", FILES_CHANGED, NULL},
        {"rm -f a; printf old >a", "chmod 444 a", FILES_FAILED, "old"},
    };
    (void)state;
    open_workspace();
    for (size_t i = 0; i < COUNT(cases); i++) {
        folder_run(cases[i].before);
        struct files_content content = read_it("a");
        folder_run(cases[i].meanwhile);
        write_it(&content, "new", cases[i].result);
        if (cases[i].after)
            check_file("a", cases[i].after);
    }
}

/* A folder on the way is swapped for a link that leads out. */
static void workspace_follows_no_swapped_link(void **state)
{
    (void)state;
    folder_run(
        "mkdir -p d outside && printf old >d/a && printf old >outside/a");
    open_workspace();
    struct files_content content = read_it("d/a");
    folder_run("mv d e && ln -s /etc d");
    write_it(&content, "new", FILES_REFUSED);
    folder_run("rm d && ln -s outside d");
    write_it(&content, "new", FILES_REFUSED);
    folder_run("grep -q old outside/a && grep -q old e/a");
}

/* What a path led to stays what the call is about. */
static void workspace_resolves_a_path_once(void **state)
{
    struct files_content content;
    struct files_folder listed;
    (void)state;
    folder_run("mkdir -p d/sub outside/sub && printf secret >outside/a && "
               "printf old >d/a && touch outside/sub/c && ln -s d link");
    open_workspace();
    const struct files_place file = locate("link/a");
    const struct files_place folder_of_it = locate("link/sub");
    assert_text(file.name, "d/a");
    assert_text(file.asked, "link/a");
    folder_run("rm link && ln -s outside link");
    check_result(files.read(files.context, &arena, &file, LIMIT_FILE, &content,
                            &problem),
                 FILES_OK);
    assert_text(content.bytes, "old");
    folder_run("mv d e && ln -s outside d");
    check_result(files.read(files.context, &arena, &file, LIMIT_FILE, &content,
                            &problem),
                 FILES_REFUSED);
    assert_text(problem, "link/a: a symbolic link is in the way: it appeared "
                         "during the call, or links form a loop.");
    check_result(
        files.list(files.context, &arena, &folder_of_it, &listed, &problem),
        FILES_REFUSED);
    // names that no path leads to
    static const char *const bad[] = {"../x",        "e/../a", "e//a",
                                      "/etc/passwd", "./e/a",  ".ssh/x"};
    for (size_t i = 0; i < COUNT(bad); i++) {
        const struct files_place place = {.name = str_from(bad[i])};
        enum files_result result = files.read(files.context, &arena, &place,
                                              LIMIT_FILE, &content, &problem);
        assert_memory(result != FILES_NOMEM);
        assert_true(result == FILES_REFUSED || result == FILES_FAILED);
    }
}

static void workspace_makes_folders(void **state)
{
    (void)state;
    open_workspace();
    struct files_content content = read_it("x/y/z");
    assert_false(content.exists);
    write_it(&content, "new", FILES_OK);
    content = read_it("x/y/z");
    assert_true(str_eq(content.bytes, STR("new")));
    // no folder can be made where a file is
    struct files_place more;
    check_result(
        files.locate(files.context, &arena, STR("x/y/z/more"), &more, &problem),
        FILES_MISSING);
}

static void workspace_bounds_what_it_reads(void **state)
{
    struct files_content content;
    (void)state;
    folder_run("head -c 1001 /dev/zero >big");
    open_workspace();
    const struct files_place place = locate("big");
    check_result(
        files.read(files.context, &arena, &place, 1000, &content, &problem),
        FILES_REFUSED);
    assert_text(problem, "big: it has 1001 bytes; the limit is 1000 bytes.");
}

/* A file that is still the same is not held twice. */
static void workspace_reads_again(void **state)
{
    (void)state;
    struct files_content now;
    folder_run("printf one >f");
    open_workspace();
    const struct files_place place = locate("f");
    struct files_content known = read_it("f");
    check_result(
        files.read_again(files.context, &arena, &place, &known, &now, &problem),
        FILES_OK);
    assert_ptr_equal(now.bytes.p, known.bytes.p);
    assert_memory_equal(now.hash, known.hash, FILES_HASH);
    folder_run("printf two >f");
    check_result(
        files.read_again(files.context, &arena, &place, &known, &now, &problem),
        FILES_OK);
    assert_text(now.bytes, "two");
    assert_memory_not_equal(now.hash, known.hash, FILES_HASH);
    folder_run("rm f");
    check_result(
        files.read_again(files.context, &arena, &place, &known, &now, &problem),
        FILES_MISSING);
}

/* Replaces a file of SIZE bytes. Whether a thread frees them; if WAITS, it is
   waited for. */
static bool is_freed_by_a_thread(size_t size, bool waits)
{
    struct files_content content;
    char command[60];
    int ends[2];

    (void)snprintf(command, sizeof command, "rm -f f && truncate -s %zu f",
                   size);
    folder_run(command);
    content = read_it("f");
    assert_int_equal(pipe(ends), 0);
    disk_use_threads(ends[1]);
    enum files_result result =
        files.write(files.context, &arena, &content, STR("x"), &problem);
    disk_use_threads(-1);
    struct pollfd woken = {ends[0], POLLIN, 0};
    // without memory for a thread, there is none
    bool lost = waits && check_memory_is_back();
    assert_true(poll(&woken, 1, waits && !lost ? 10000 : 0) >= 0);
    (void)close(ends[0]);
    (void)close(ends[1]);
    check_result(result, FILES_OK);
    return woken.revents != 0;
}

/* What takes long to be freed is left to a thread. */
static void workspace_does_not_wait_for_a_large_file_to_end(void **state)
{
    (void)state;
    open_workspace();
    assert_false(is_freed_by_a_thread(LIMIT_FREED - 1, false));
    assert_memory(is_freed_by_a_thread(LIMIT_FREED, true));
}

static void workspace_needs_a_folder(void **state)
{
    (void)state;
    assert_null(workspace_new("/nonexistent", NULL));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(workspace_writes_whole_files, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(workspace_keeps_attributes, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            workspace_makes_names_that_nobody_guesses, set_up, tear_down),
        cmocka_unit_test_setup_teardown(workspace_notices_changes, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(workspace_follows_no_swapped_link,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(workspace_resolves_a_path_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(workspace_reads_again, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(workspace_makes_folders, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(workspace_bounds_what_it_reads, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            workspace_does_not_wait_for_a_large_file_to_end, set_up, tear_down),
        cmocka_unit_test_setup_teardown(workspace_needs_a_folder, set_up,
                                        tear_down),
    };
    return RUN_TESTS("workspace", tests);
}
