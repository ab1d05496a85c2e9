/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of sandbox.c: which folders code may write to, and how that is
   explained. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "image/sandbox.h"
#include "support/check.h"

static char root[] = "/tmp/ecl-mcp-test-XXXXXX";
static struct sandbox_places places;
static struct buf text;

static void in_root(const char *commands)
{
    char command[1000];

    if (snprintf(command, sizeof command, "cd '%s' && %s", root, commands) <
            0 ||
        system(command) != 0) // NOLINT(cert-env33-c): a fixed text
        fail_msg("cannot %s", commands);
}

/* Sets environment variable NAME to the folder of the root, or to none. */
static void set_folder(const char *name, const char *folder)
{
    char path[100];

    (void)snprintf(path, sizeof path, "%s/%s", root, folder ? folder : "");
    assert_int_equal(folder ? setenv(name, path, 1) : unsetenv(name), 0);
}

static int set_up(void **state)
{
    (void)state;
    memcpy(root + sizeof root - 7, "XXXXXX", 6);
    if (!mkdtemp(root))
        return -1;
    in_root("mkdir -p user/project user/.ssh tmp caches && ln -s user alias");
    set_folder("HOME", "user");
    set_folder("TMPDIR", "tmp");
    set_folder("XDG_CACHE_HOME", NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    buf_release(&text);
    in_root("cd / && rm -rf \"$OLDPWD\"");
    return 0;
}

/* Finds the places for the workspace FOLDER of the root. */
static void find(enum sandbox_mode mode, const char *folder)
{
    struct sandbox sandbox = {.mode = mode};
    char path[100];

    (void)snprintf(path, sizeof path, "%s/%s", root, folder);
    sandbox_find_places(&sandbox, path, &places);
}

/* PLACE is FOLDER of the root; code may write to it, or may not because of
   WHY. */
static void expect(enum sandbox_place place, const char *folder,
                   const char *why)
{
    char path[100];

    (void)snprintf(path, sizeof path, "%s/%s", root, folder);
    assert_string_equal(places.writable[place], path);
    if (why)
        assert_string_equal(places.refused[place], why);
    else
        assert_null(places.refused[place]);
}

static void sandbox_finds_its_places(void **state)
{
    (void)state;
    find(SANDBOX_WORKSPACE, "user/project");
    expect(SANDBOX_ROOT, "user/project", NULL);
    expect(SANDBOX_TEMPORARY, "tmp", NULL);
    expect(SANDBOX_CACHE, "user/.cache/common-lisp", NULL);
    set_folder("XDG_CACHE_HOME", "caches");
    set_folder("TMPDIR", NULL);
    find(SANDBOX_WORKSPACE, "alias/project");
    expect(SANDBOX_ROOT, "user/project", NULL);
    assert_string_equal(places.writable[SANDBOX_TEMPORARY], "/tmp");
    assert_string_equal(places.refused[SANDBOX_TEMPORARY],
                        "the home folder lies in it");
    expect(SANDBOX_CACHE, "caches/common-lisp", NULL);
}

static void sandbox_takes_no_relative_paths_from_outside(void **state)
{
    (void)state;
    assert_int_equal(setenv("TMPDIR", "tmp", 1), 0);
    assert_int_equal(setenv("XDG_CACHE_HOME", "caches", 1), 0);
    find(SANDBOX_WORKSPACE, "user/project");
    assert_string_equal(places.writable[SANDBOX_TEMPORARY], "/tmp");
    expect(SANDBOX_CACHE, "user/.cache/common-lisp", NULL);
}

static void sandbox_spares_the_home_folder(void **state)
{
    struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE};

    (void)state;
    find(SANDBOX_WORKSPACE, "user");
    expect(SANDBOX_ROOT, "user", "the home folder lies in it");
    find(SANDBOX_WORKSPACE, "alias/../user");
    expect(SANDBOX_ROOT, "user", "the home folder lies in it");
    find(SANDBOX_WORKSPACE, "user/.ssh");
    expect(SANDBOX_ROOT, "user/.ssh", "it is secret");
    find(SANDBOX_WORKSPACE, "nowhere");
    assert_string_equal(places.writable[SANDBOX_ROOT], "");
    sandbox_find_places(&sandbox, "/", &places);
    assert_string_equal(places.refused[SANDBOX_ROOT], "it is the whole system");
    set_folder("HOME", NULL); // the system knows the home, too
    sandbox_find_places(&sandbox, "/", &places);
    assert_true(places.homes[0][0] == '/' || geteuid() != 0);
}

static void sandbox_explains_what_is_allowed(void **state)
{
    struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE, .network = true};
    char expected[1000];

    (void)state;
    find(SANDBOX_WORKSPACE, "user/project");
    sandbox_explain(&sandbox, &places, &text);
    assert_memory(!buf_failed(&text));
    (void)snprintf(expected, sizeof expected,
                   "The sandbox (--sandbox workspace) allows writing only "
                   "below %s/user/project, %s/tmp and "
                   "%s/user/.cache/common-lisp, no reading of secrets, no "
                   "sockets but those of the internet, no signals to programs "
                   "outside.",
                   root, root, root);
    assert_int_equal(text.n, strlen(expected));
    assert_memory_equal(text.p, expected, text.n);
}

static void sandbox_explains_where_nothing_is_allowed(void **state)
{
    struct sandbox sandbox = {.mode = SANDBOX_READ_ONLY};

    (void)state;
    find(SANDBOX_READ_ONLY, "user/project");
    sandbox_explain(&sandbox, &places, &text);
    assert_memory(!buf_failed(&text));
    assert_text(buf_view(&text),
                "The sandbox (--sandbox read-only) allows no writing, no "
                "reading of secrets, no network (--allow-network), no signals "
                "to programs outside.");
}

static void sandbox_reports_what_is_missing(void **state)
{
    static const struct {
        struct sandbox sandbox;
        struct sandbox_state state;
        bool missing;
        const char *text;
    } cases[] = {
        {{.mode = SANDBOX_WORKSPACE},
         {true, 7, true, true, SANDBOX_MOUNTS | SANDBOX_MOUNTS_TEMPORARY, 0},
         false,
         "sandbox: workspace, Landlock 7, seccomp, mounts"},
        {{.mode = SANDBOX_READ_ONLY, .network = true},
         {true, 6, true, true, SANDBOX_MOUNTS, 0},
         false,
         "sandbox: read-only with network, Landlock 6, seccomp, mounts"},
        {{.mode = SANDBOX_WORKSPACE},
         {true, 3, true, true, SANDBOX_MOUNTS, 0},
         true,
         "sandbox: workspace, Landlock 3 of this kernel does not block signals "
         "to other programs of the user, seccomp, mounts (/tmp is that of all "
         "programs)"},
        {{.mode = SANDBOX_WORKSPACE},
         {true, 0, false, false, 0, EPERM},
         true,
         "sandbox: workspace, NO Landlock in this kernel: files are not "
         "protected, NO seccomp in this system: network and system calls are "
         "not restricted, rights of root NOT given up, NO mount namespace "
         "(Operation not permitted): .git/hooks, .mcp.json and the like in the "
         "workspace can be changed by evaluated code, and /tmp is that of all "
         "programs"},
        {{.mode = SANDBOX_OFF},
         {true, 0, false, false, 0, EPERM},
         false,
         "sandbox: off"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        buf_reset(&text);
        assert_true(sandbox_report(&cases[i].sandbox, &cases[i].state, &text) ==
                    cases[i].missing);
        assert_memory(!buf_failed(&text));
        assert_int_equal(text.n, strlen(cases[i].text));
        assert_memory_equal(text.p, cases[i].text, text.n);
    }
}

static void sandbox_knows_its_modes(void **state)
{
    enum sandbox_mode mode = SANDBOX_OFF;

    (void)state;
    assert_int_equal(sandbox_mode_find(STR("read-only"), &mode), ST_OK);
    assert_int_equal(mode, SANDBOX_READ_ONLY);
    assert_string_equal(sandbox_mode_name(mode), "read-only");
    assert_int_equal(sandbox_mode_find(STR("Off"), &mode), ST_MISSING);
    assert_int_equal(sandbox_mode_find(STR(""), &mode), ST_MISSING);
    assert_int_equal(mode, SANDBOX_READ_ONLY);
}

static void sandbox_sees_refusals(void **state)
{
    (void)state;
    assert_true(sandbox_shows_refusal(STR("cat: x: Permission denied\n")));
    assert_true(sandbox_shows_refusal(STR("EPERM (Operation not permitted)")));
    assert_true(sandbox_shows_refusal(STR("mv: Invalid cross-device link")));
    assert_false(sandbox_shows_refusal(STR("No such file or directory")));
    assert_false(sandbox_shows_refusal(STR("")));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sandbox_finds_its_places),
        TEST(sandbox_takes_no_relative_paths_from_outside),
        TEST(sandbox_spares_the_home_folder),
        TEST(sandbox_explains_what_is_allowed),
        TEST(sandbox_explains_where_nothing_is_allowed),
        TEST(sandbox_reports_what_is_missing),
        TEST(sandbox_knows_its_modes),
        TEST(sandbox_sees_refusals),
    };

    return RUN_TESTS("sandbox", tests);
}
