/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of sandbox.c: which folders code may write to, and how that is
   explained. */
#include <errno.h>
#include <pwd.h>
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
    set_folder("XDG_CACHE_HOME", NULL);
    set_folder("XDG_CONFIG_HOME", NULL);
    set_folder("XDG_STATE_HOME", NULL);
    set_folder("XDG_DATA_HOME", NULL);
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
    char temporary[100];

    (void)snprintf(path, sizeof path, "%s/%s", root, folder);
    (void)snprintf(temporary, sizeof temporary, "%s/tmp", root);
    sandbox_find_places(&sandbox, path, temporary, &places);
}

/* The same for the project, with NAME of the user as temporary folder. */
static void find_with_temporary(const char *name)
{
    struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE};
    char project[100];
    char path[200];

    (void)snprintf(project, sizeof project, "%s/user/project", root);
    (void)snprintf(path, sizeof path, "%s/user/%s", root, name);
    in_root("mkdir -p user/.local/state/ecl-mcp-0-1/tmp");
    sandbox_find_places(&sandbox, project, path, &places);
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

/* The cache is in the folder CACHES of the root. */
static void expect_cache(const char *caches)
{
    char path[100];

    (void)snprintf(path, sizeof path, "%s/ecl-mcp/lisp-%u", caches,
                   (unsigned)geteuid());
    expect(SANDBOX_CACHE, path, NULL);
}

static void sandbox_finds_its_places(void **state)
{
    (void)state;
    find(SANDBOX_WORKSPACE, "user/project");
    expect(SANDBOX_ROOT, "user/project", NULL);
    expect(SANDBOX_TEMPORARY, "tmp", NULL);
    expect_cache("user/.cache");
    set_folder("XDG_CACHE_HOME", "caches");
    find(SANDBOX_WORKSPACE, "alias/project");
    expect(SANDBOX_ROOT, "user/project", NULL);
    expect_cache("caches");
}

static void sandbox_takes_no_relative_paths_from_outside(void **state)
{
    struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE};

    (void)state;
    assert_int_equal(setenv("XDG_CACHE_HOME", "caches", 1), 0);
    find(SANDBOX_WORKSPACE, "user/project");
    expect_cache("user/.cache");
    sandbox_find_places(&sandbox, "/usr", "tmp", &places);
    assert_string_equal(places.writable[SANDBOX_TEMPORARY], "");
    sandbox_find_places(&sandbox, "/usr", "", &places);
    assert_string_equal(places.writable[SANDBOX_TEMPORARY], "");
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
    sandbox_find_places(&sandbox, "/", "", &places);
    assert_string_equal(places.refused[SANDBOX_ROOT], "it is the whole system");
    set_folder("HOME", NULL); // the system knows the home, too
    sandbox_find_places(&sandbox, "/", "", &places);
    assert_true(places.homes[0].path[0] == '/' || geteuid() != 0);
}

/* Code may not write to a folder in which secrets of the home lie, or what this
   program relies on: it could put rules there. */
static void sandbox_spares_folders_that_hold_secrets(void **state)
{
    static const struct {
        const char *folder;
        const char *why;
    } cases[] = {
        {"user/.config", "secrets of the home folder lie in it"},
        {"user/.local", "secrets of the home folder lie in it"},
        {"user/.local/state", "secrets of the home folder lie in it"},
        {"user/.emacs.d", "secrets of the home folder lie in it"},
        {"user/.config/emacs", "secrets of the home folder lie in it"},
        {"user/.config/gh", "it is secret"},
        {"user/.config/other", NULL},
        {"user/.local/share/other", NULL},
        {"user/project", NULL}, // with an .env of its own
    };

    (void)state;
    in_root("mkdir -p user/.config/gh user/.config/other user/.config/emacs "
            "user/.local/state user/.local/share/other user/.emacs.d && "
            "echo text >user/project/.env");
    for (size_t i = 0; i < COUNT(cases); i++) {
        find(SANDBOX_WORKSPACE, cases[i].folder);
        expect(SANDBOX_ROOT, cases[i].folder, cases[i].why);
    }
    find_with_temporary(".local/state");
    expect(SANDBOX_TEMPORARY, "user/.local/state",
           "secrets of the home folder lie in it");
    find_with_temporary(".local/state/ecl-mcp-0-1/tmp");
    expect(SANDBOX_TEMPORARY, "user/.local/state/ecl-mcp-0-1/tmp", NULL);
}

/* The supervisor names a temporary folder without links. If TMPDIR lies in the
   workspace, code of another server can put one in its way. */
static void sandbox_takes_no_link_for_the_temporary_folder(void **state)
{
    struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE};
    char workspace[100];
    char path[200];

    (void)state;
    (void)snprintf(workspace, sizeof workspace, "%s/ws", root);
    (void)snprintf(path, sizeof path, "%s/tmp/own", workspace);
    in_root("mkdir -p ws/tmp/own user/bin/own");
    sandbox_find_places(&sandbox, workspace, NULL, &places);
    sandbox_set_temporary(&sandbox, path, &places);
    expect(SANDBOX_TEMPORARY, "ws/tmp/own", NULL);
    in_root("mv ws/tmp ws/away && ln -s ../user/bin ws/tmp");
    sandbox_find_places(&sandbox, workspace, NULL, &places);
    sandbox_set_temporary(&sandbox, path, &places);
    assert_string_equal(places.writable[SANDBOX_TEMPORARY], "");
}

/* Makes the cache for the workspace FOLDER of the root; its path is CACHE below
   the root, or "". */
static void expect_made(const char *folder, const char *cache)
{
    struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE};
    char expected[200];

    find(SANDBOX_WORKSPACE, folder);
    sandbox_make_cache(&sandbox, &places);
    (void)snprintf(expected, sizeof expected, "%s/%s/ecl-mcp/lisp-%u", root,
                   cache, (unsigned)geteuid());
    assert_string_equal(places.writable[SANDBOX_CACHE],
                        cache[0] != '\0' ? expected : "");
}

/* Code could put links in the place of a cache in its workspace. */
static void sandbox_has_no_cache_in_the_workspace(void **state)
{
    (void)state;
    in_root("mkdir -p ws/x away && ln -s ../ws/x away/caches");
    expect_made("ws", "user/.cache");
    set_folder("XDG_CACHE_HOME", "caches");
    expect_made("ws", "caches");
    set_folder("XDG_CACHE_HOME", "ws/caches");
    expect_made("ws", "user/.cache");
    expect_made("user/project", "ws/caches");
    set_folder("XDG_CACHE_HOME", "away/caches"); // by a link
    expect_made("ws", "user/.cache");
    expect_made("user/project", "ws/x");
    set_folder("XDG_CACHE_HOME", "ws/../caches");
    expect_made("ws", "user/.cache"); // code could make it a link
    set_folder("XDG_CACHE_HOME", NULL);
    expect_made("user/.cache", "");
    find(SANDBOX_WORKSPACE, "user/.cache/ecl-mcp");
    expect(SANDBOX_ROOT, "user/.cache/ecl-mcp",
           "it is a cache of compiled files");
    // a link of the user's to what is secret
    in_root("rm -r user/.cache && mkdir user/.config && "
            "ln -s .config user/.cache");
    expect_made("user/project", "");
    expect_made("user", ""); // not writable, and neither is the cache
}

static void sandbox_follows_links_to_what_it_relies_on(void **state)
{
    (void)state;
    in_root("mkdir -p dotfiles/config dotfiles/other && "
            "ln -s ../dotfiles/config user/.config");
    find(SANDBOX_WORKSPACE, "dotfiles");
    expect(SANDBOX_ROOT, "dotfiles", "files on which ecl-mcp relies lie in it");
    find(SANDBOX_WORKSPACE, "dotfiles/config");
    expect(SANDBOX_ROOT, "dotfiles/config",
           "files on which ecl-mcp relies lie in it");
    find(SANDBOX_WORKSPACE, "dotfiles/other");
    expect(SANDBOX_ROOT, "dotfiles/other", NULL);
}

static void sandbox_knows_the_folders_of_xdg(void **state)
{
    (void)state;
    in_root("mkdir -p xdg/conf/gh xdg/conf/other xdg/state xdg/data");
    set_folder("XDG_CONFIG_HOME", "xdg/conf");
    set_folder("XDG_STATE_HOME", "xdg/state");
    set_folder("XDG_DATA_HOME", "xdg/data");
    find(SANDBOX_WORKSPACE, "xdg");
    expect(SANDBOX_ROOT, "xdg", "secrets of the home folder lie in it");
    find(SANDBOX_WORKSPACE, "xdg/conf");
    expect(SANDBOX_ROOT, "xdg/conf", "secrets of the home folder lie in it");
    find(SANDBOX_WORKSPACE, "xdg/conf/gh");
    expect(SANDBOX_ROOT, "xdg/conf/gh", "it is secret");
    find(SANDBOX_WORKSPACE, "xdg/state");
    expect(SANDBOX_ROOT, "xdg/state", "secrets of the home folder lie in it");
    find(SANDBOX_WORKSPACE, "xdg/conf/other");
    expect(SANDBOX_ROOT, "xdg/conf/other", NULL);
}

/* The system's home of the user counts whatever HOME is. */
static void sandbox_knows_both_homes(void **state)
{
    static const char *const homes[] = {"/nonexistent", "relative", "", "/"};
    struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE};
    const struct passwd *user = getpwuid(getuid());
    char real[4096];

    (void)state;
    if (!user || !realpath(user->pw_dir, real) || strcmp(real, "/") == 0)
        skip();
    for (size_t i = 0; i < COUNT(homes); i++) {
        assert_int_equal(setenv("HOME", homes[i], 1), 0);
        sandbox_find_places(&sandbox, real, "", &places);
        assert_string_equal(places.writable[SANDBOX_ROOT], real);
        assert_non_null(places.refused[SANDBOX_ROOT]);
        assert_string_equal(places.refused[SANDBOX_ROOT],
                            "the home folder lies in it");
    }
    // a link, into the workspace
    in_root("mkdir ws && ln -s ws/user home && mv user ws/user");
    set_folder("HOME", "home");
    find(SANDBOX_WORKSPACE, "ws");
    expect(SANDBOX_ROOT, "ws", "the home folder lies in it");
    find(SANDBOX_WORKSPACE, "ws/user/project");
    expect(SANDBOX_ROOT, "ws/user/project", NULL);
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
                   "below %s/user/project, %s/tmp (TMPDIR) and "
                   "%s/user/.cache/ecl-mcp/lisp-%u, no reading of secrets, no "
                   "sockets but those of the internet, no signals to programs "
                   "outside.",
                   root, root, root, (unsigned)geteuid());
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

static void sandbox_explains_its_mounts(void **state)
{
    struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE};
    struct sandbox_state in_force = {
        .known = true,
        .mounts = SANDBOX_MOUNTS | SANDBOX_MOUNTS_TEMPORARY |
                  SANDBOX_MOUNTS_VAR | SANDBOX_MOUNTS_COVERS};

    (void)state;
    memset(&places, 0, sizeof places);
    (void)snprintf(places.writable[SANDBOX_TEMPORARY], SANDBOX_PATH, "/own");
    buf_reset(&text);
    sandbox_explain_mounts(&sandbox, &in_force, &places, &text);
    assert_memory(!buf_failed(&text));
    assert_text(buf_view(&text),
                " /tmp and /var/tmp are its own, and lie in /own for all other "
                "programs. In the workspace it cannot change what other "
                "programs run or trust: .git/hooks, .git/config, .mcp.json, "
                ".vscode and the like (--protect, --no-protect).");
    in_force.mounts = 0;
    buf_reset(&text);
    sandbox_explain_mounts(&sandbox, &in_force, &places, &text);
    assert_memory(!buf_failed(&text));
    assert_text(buf_view(&text),
                " It can change all of the workspace, .git/hooks, .mcp.json "
                "and the like, too.");
    sandbox.mode = SANDBOX_READ_ONLY;
    buf_reset(&text);
    sandbox_explain_mounts(&sandbox, &in_force, &places, &text);
    assert_memory(!buf_failed(&text));
    assert_int_equal(text.n, 0);
}

static void sandbox_sees_who_misses_a_temporary_file(void **state)
{
    struct sandbox_state own = {.mounts = SANDBOX_MOUNTS_TEMPORARY};
    struct sandbox_state none = {.mounts = 0};
    struct str missing = STR("cat: /tmp/x: No such file or directory");

    (void)state;
    assert_true(sandbox_misses_temporary(&own, missing));
    assert_false(sandbox_misses_temporary(&none, missing));
    assert_true(sandbox_misses_temporary(
        &own, STR("Cannot open \"/tmp/x\": it does not exist.")));
    assert_false(sandbox_misses_temporary(&own, STR("/x: No such file")));
    assert_false(sandbox_misses_temporary(&own, STR("")));
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
         {true, 7, true, true, SANDBOX_MOUNTS | SANDBOX_MOUNTS_TEMPORARY, 0, 0},
         false,
         "sandbox: workspace, Landlock 7, seccomp, mounts"},
        {{.mode = SANDBOX_READ_ONLY, .network = true},
         {true, 6, true, true, SANDBOX_MOUNTS, 0, 0},
         false,
         "sandbox: read-only with network, Landlock 6, seccomp, mounts"},
        {{.mode = SANDBOX_WORKSPACE},
         {true, 3, true, true, SANDBOX_MOUNTS, 0, 0},
         true,
         "sandbox: workspace, Landlock 3 of this kernel does not block signals "
         "to other programs of the user or operations on open devices, "
         "seccomp, mounts (/tmp is shared with other programs)"},
        {{.mode = SANDBOX_READ_ONLY},
         {true, 5, true, true, SANDBOX_MOUNTS, 0, 0},
         true,
         "sandbox: read-only, Landlock 5 of this kernel does not block signals "
         "to other programs of the user, seccomp, mounts"},
        {{.mode = SANDBOX_READ_ONLY},
         {true, 1, true, true, SANDBOX_MOUNTS, 0, 0},
         true,
         "sandbox: read-only, Landlock 1 of this kernel does not block signals "
         "to other programs of the user or operations on open devices, and "
         "lets no file move to another folder, seccomp, mounts"},
        {{.mode = SANDBOX_WORKSPACE},
         {true, 0, false, false, 0, EPERM, 0},
         true,
         "sandbox: workspace, NO Landlock in this kernel: files are not "
         "protected, NO seccomp in this system: network and system calls are "
         "not restricted, rights of root NOT given up, NO mount namespace "
         "(Operation not permitted): .git/hooks, .mcp.json and the like in the "
         "workspace can be changed by evaluated code, and /tmp is shared with "
         "other programs"},
        {{.mode = SANDBOX_READ_ONLY},
         {true, 7, true, true, SANDBOX_MOUNTS, 0,
          SANDBOX_UNSOUGHT_FOLDERS | SANDBOX_UNSOUGHT_NAMES |
              SANDBOX_UNSOUGHT_INSIDE},
         true,
         "sandbox: read-only, Landlock 7, seccomp, mounts, secrets searched "
         "for in only 256 folders of the home (LIMIT_SECRET_FOLDERS), secrets "
         "searched for among only 10000 names (LIMIT_SECRET_NAMES), other "
         "names searched for of only 1000 secret files (LIMIT_SECRET_INSIDE): "
         "--secret hides what it names"},
        {{.mode = SANDBOX_OFF},
         {true, 0, false, false, 0, EPERM, 0},
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
    assert_true(sandbox_shows_refusal(STR("x: Read-only file system")));
    assert_true(sandbox_shows_refusal(STR("mv: Device or resource busy")));
    assert_true(sandbox_shows_refusal(STR("Unable to create temporay file")));
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
        TEST(sandbox_spares_folders_that_hold_secrets),
        TEST(sandbox_takes_no_link_for_the_temporary_folder),
        TEST(sandbox_has_no_cache_in_the_workspace),
        TEST(sandbox_follows_links_to_what_it_relies_on),
        TEST(sandbox_knows_the_folders_of_xdg),
        TEST(sandbox_knows_both_homes),
        TEST(sandbox_explains_what_is_allowed),
        TEST(sandbox_explains_where_nothing_is_allowed),
        TEST(sandbox_explains_its_mounts),
        TEST(sandbox_sees_who_misses_a_temporary_file),
        TEST(sandbox_reports_what_is_missing),
        TEST(sandbox_knows_its_modes),
        TEST(sandbox_sees_refusals),
    };

    return RUN_TESTS("sandbox", tests);
}
