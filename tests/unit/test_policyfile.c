/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of policyfile.c, and of rules about files, with real files. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/core.h"
#include "gate/place.h"
#include "host/policyfile.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/rights.h"

static struct policy policy;
static struct arena arena;
static struct workspace *workspace;
static struct files files;
static struct tool_call call;
static struct buf notices;
static const struct report report = {NULL, &notices};

static int set_up(void **state)
{
    char path[FOLDER_SIZE + 10];
    (void)state;
    if (folder_make() < 0)
        return -1;
    folder_run("mkdir -p home/.config/ecl-mcp work/src/gen work/doc && "
               "ln -s src work/link && ln -s ../home work/out && "
               "touch work/src/a.lisp work/src/gen/b.lisp && mkdir temp");
    if (unsetenv("XDG_CACHE_HOME") < 0)
        return -1;
    (void)snprintf(path, sizeof path, "%s/work", folder);
    workspace = workspace_new(path, NULL);
    policy_init(&policy);
    return workspace ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    workspace_free(workspace);
    policy_release(&policy);
    tool_call_release(&call);
    buf_release(&notices);
    call = (struct tool_call){.tool = NULL};
    arena_release(&arena);
    folder_remove();
    return 0;
}

/* Reads the file NAME of the folder, or the default one of the folder home. */
static void read_file(const char *name)
{
    char path[FOLDER_SIZE + 100];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name ? name : "home");
    assert_int_equal(setenv("HOME", name ? "/nonexistent" : path, 1), 0);
    policy_release(&policy);
    assert_ok(policyfile_read(&policy, name ? path : NULL, workspace,
                              core_find_tool, &report));
}

/* The fault ends with TEXT. */
static void check_fault(const char *text)
{
    size_t n = strlen(text);
    if ((n == 0) != (policy.fault.n == 0) || policy.fault.n < n ||
        (n > 0 && memcmp(policy.fault.p + policy.fault.n - n, text, n) != 0))
        fail_msg("got \"%.*s\", not \"%s\"", STR_ARG(policy.fault), text);
}

static void policyfile_is_found_in_the_home(void **state)
{
    (void)state;
    read_file(NULL);
    check_fault("");
    assert_null(policy.rules);
    folder_run(
        "echo '{\"deny\": [\"write-file\"]}' >home/.config/ecl-mcp/rules && "
        "ln -s rules home/.config/ecl-mcp/policy.json");
    read_file(NULL);
    check_fault("");
    assert_non_null(policy.rules);
    policy_release(&policy);
    assert_int_equal(setenv("HOME", "home", 1), 0); // not absolute: no home
    assert_ok(
        policyfile_read(&policy, NULL, workspace, core_find_tool, &report));
    assert_int_equal(unsetenv("HOME"), 0);
    assert_ok(
        policyfile_read(&policy, NULL, workspace, core_find_tool, &report));
    check_fault("");
    assert_null(policy.rules);
    // something other than a folder in its place
    folder_run("rm -r home/.config && touch home/.config");
    read_file(NULL);
    check_fault("");
}

static void policyfile_that_cannot_be_trusted(void **state)
{
    (void)state;
    read_file("none");
    check_fault("/none: No such file or directory");
    read_file("home");
    check_fault("/home: it is not a file");
    folder_run("mkfifo pipe && echo '{}' >rules");
    read_file("pipe");
    check_fault("/pipe: it is not a file");
    read_file("rules");
    check_fault("");
    folder_run("head -c 262145 /dev/zero >>rules");
    read_file("rules");
    check_fault("/rules: it has more than 256 KiB, the limit of a policy file");
    folder_run("printf '{\\n[' >rules");
    read_file("rules");
    check_fault("/rules, line 2: expected a name in quotes");
    if (geteuid() == 0) {
        folder_run("echo '{}' >rules && chown 12345 rules");
        read_file("rules");
        check_fault("/rules: it belongs to another user");
    }
    assert_int_equal(LIMIT_POLICY, 256 * 1024);
    // others could replace it
    folder_run("mkdir open && chmod g+w open && "
               "echo '{\"deny\": [\"write-file\"]}' >open/rules");
    read_file("open/rules");
    check_fault("/open/rules: it is in a folder that can be written by other "
                "users (chmod go-w helps)");
    assert_non_null(policy.rules); // which denies nevertheless
    folder_run("ln -s open/rules link");
    read_file("link");
    check_fault("/link: it is in a folder that can be written by other users "
                "(chmod go-w helps)");
    folder_run("chmod g-w,o+wt open");
    read_file("open/rules");
    check_fault("");
}

/* Whether the notices have TEXT ("": there are none); they are dropped. */
static void check_notice(const char *text)
{
    buf_byte(&notices, '\0');
    assert_memory(!buf_failed(&notices));
    bool has =
        text[0] == '\0' ? notices.n == 1 : strstr(notices.p, text) != NULL;
    if (!has)
        print_error("the notices are %s\n", notices.p);
    buf_reset(&notices);
    assert_memory(has);
}

/* Whether the rule TEXT was read. */
static bool has_rule(const char *text)
{
    struct buf rules = BUF_EMPTY;
    struct jsonw w;

    jsonw_init(&w, &rules);
    policy_write(&w, &policy);
    buf_byte(&rules, '\0');
    bool failed = buf_failed(&rules);
    bool has = !failed && strstr(rules.p, text) != NULL;
    buf_release(&rules);
    assert_memory(!failed);
    return has;
}

/* What others could write denies, but allows nothing for now; what nobody could
   read is all right again. The modes are those of the home, where the file is
   this program's, or of a named file. */
static void policyfile_with_a_wrong_mode(void **state)
{
    static const struct {
        const char *change, *check, *notice;
        bool allows;
    } cases[] = {
        {"chmod 664 home/.config/ecl-mcp/policy.json",
         "test $(stat -c %a home/.config/ecl-mcp/policy.json) = 644",
         "~/.config/ecl-mcp/policy.json could be written by other users: its "
         "mode was 0664",
         false},
        {"chmod 666 home/.config/ecl-mcp/policy.json",
         "test $(stat -c %a home/.config/ecl-mcp/policy.json) = 644",
         "its mode was 0666", false},
        {"chmod 775 home/.config/ecl-mcp",
         "test $(stat -c %a home/.config/ecl-mcp) = 755",
         "~/.config/ecl-mcp could be written by other users: its mode was 0775",
         false},
        {"chmod 000 home/.config/ecl-mcp/policy.json",
         "test $(stat -c %a home/.config/ecl-mcp/policy.json) = 400",
         "~/.config/ecl-mcp/policy.json could not be used: its mode was 0000",
         true},
        {"chmod 000 home/.config/ecl-mcp",
         "test $(stat -c %a home/.config/ecl-mcp) = 700",
         "~/.config/ecl-mcp could not be used: its mode was 0000", true},
        {"chmod 500 home/.config/ecl-mcp; chmod 000 home/.config",
         "test $(stat -c %a home/.config home/.config/ecl-mcp | tr -d '\\n') "
         "= 700700",
         "~/.config could not be used: its mode was 0000", true},
        {"true", "true", "", true},
    };
    (void)state;
    folder_run("echo '{\"deny\": [\"write-file\"], \"ask\": [\"load-system\"], "
               "\"allow\": [\"edit-definition\"]}' "
               ">home/.config/ecl-mcp/policy.json && chmod 755 home/.config "
               "home/.config/ecl-mcp && cp home/.config/ecl-mcp/policy.json "
               "rules && chmod 602 rules");
    for (size_t i = 0; i < COUNT(cases); i++) {
        folder_run(cases[i].change);
        read_file(NULL);
        check_fault("");
        assert_true(has_rule("deny write-file"));
        assert_true(has_rule("ask load-system"));
        assert_int_equal(has_rule("allow edit-definition"), cases[i].allows);
        folder_run(cases[i].check);
        check_notice(cases[i].notice);
    }
    read_file("rules");
    check_fault("");
    assert_true(has_rule("deny write-file"));
    assert_false(has_rule("allow edit-definition"));
    folder_run("test $(stat -c %a rules) = 600");
    check_notice("/rules could be written by other users: its mode was 0602");
}

/* A file that the agent could have written is not trusted, however it is
   named. */
static void policyfile_in_the_workspace(void **state)
{
    static const char where[] =
        "it lies in the workspace, where the agent could change it (start "
        "ecl-mcp with --workspace and a folder that does not contain it)";
    (void)state;
    folder_run(
        "echo '{\"allow\": [\"write-file\"]}' >work/doc/rules && "
        "ln -s work/doc/rules rules && "
        "ln -s ../../../work/doc/rules home/.config/ecl-mcp/policy.json && "
        "cp work/doc/rules rules2 && ln -s ../rules2 work/rules");
    read_file("work/doc/rules");
    check_fault(where);
    assert_true(has_rule("allow write-file")); // which the fault overrides
    read_file("rules");
    check_fault(where);
    read_file(NULL);
    check_fault(where);
    read_file("work/rules"); // a link in it, to elsewhere
    check_fault("");
}

/* A file that evaluated code may write is not trusted, either. */
static void policyfile_where_code_may_write(void **state)
{
    char path[FOLDER_SIZE + 20];
    (void)state;
    folder_run("echo '{}' >temp/rules && mkdir -p home/.cache/ecl-mcp caches/"
               "ecl-mcp && cp temp/rules home/.cache/ecl-mcp/rules && "
               "cp temp/rules caches/ecl-mcp/rules");
    read_file("temp/rules");
    check_fault("");
    (void)snprintf(path, sizeof path, "%s/caches", folder);
    assert_int_equal(setenv("XDG_CACHE_HOME", path, 1), 0);
    read_file("caches/ecl-mcp/rules");
    check_fault("it lies in the cache of compiled files, where evaluated code "
                "could change it");
    read_file("home/.cache/ecl-mcp/rules");
    check_fault("");
}

/* If the home lies in the workspace, the sandbox lets no code write there, and
   the tools for files change no secrets. */
static void policyfile_in_a_home_that_is_the_workspace(void **state)
{
    char path[FOLDER_SIZE + 20];
    (void)state;
    folder_run("echo '{}' >home/.config/ecl-mcp/policy.json && "
               "echo '{}' >home/rules");
    workspace_free(workspace);
    (void)snprintf(path, sizeof path, "%s/home", folder);
    workspace = workspace_new(path, NULL);
    assert_memory(workspace != NULL);
    read_file(NULL);
    check_fault("");
    assert_int_equal(setenv("HOME", path, 1), 0);
    policy_release(&policy);
    (void)snprintf(path, sizeof path, "%s/home/rules", folder);
    assert_ok(
        policyfile_read(&policy, path, workspace, core_find_tool, &report));
    check_fault("where the agent could change it (start ecl-mcp with "
                "--workspace and a folder that does not contain it)");
}

/* --- Rules about files -------------------------------------------------- */

static void check_rule(const char *name, const char *path, const char *session,
                       enum policy_decision wanted)
{
    const struct tool *tool = core_find_tool(str_from(name));
    struct schema_value values[20] = {{0}};
    struct policy_question question = {tool, values, &call.place};
    struct str why;
    assert_non_null(tool);
    assert_in_range(schema_count(tool->fields), 0, COUNT(values));
    files = workspace_files(workspace);
    for (size_t i = 0; i < schema_count(tool->fields); i++) {
        const char *field = tool->fields[i].name;
        const char *value = strcmp(field, "path") == 0      ? path
                            : strcmp(field, "session") == 0 ? session
                                                            : NULL;
        values[i].given = value != NULL;
        values[i].string = value ? str_from(value) : STR("");
    }
    tool_call_release(&call);
    call = (struct tool_call){.tool = tool};
    assert_ok(place_find(&call, &files, values));
    enum policy_decision got = policy_decide(&policy, &question, &why);
    assert_memory(got == wanted || !check_memory_is_back());
    if (got != wanted)
        print_error("%s %s: %.*s\n", name, path ? path : "", STR_ARG(why));
    assert_int_equal(got, wanted);
}

static void read_text(const char *text)
{
    policy_release(&policy);
    assert_ok(policy_read(&policy, STR("p"), str_from(text), core_find_tool));
    check_fault("");
}

static void rules_about_files(void **state)
{
    static const char *const same[] = {
        "src/a.lisp",  "./src//a.lisp",      "src/gen/../a.lisp",
        "link/a.lisp", "link/gen/../a.lisp", "doc/../src/a.lisp"};
    char path[FOLDER_SIZE + 100];
    (void)state;
    read_text("{\"deny\": [{\"tool\": \"write-file\", \"path\": \"src/*\"}]}");
    for (size_t i = 0; i < COUNT(same); i++) {
        check_rule("write-file", same[i], NULL, POLICY_DENY);
        (void)snprintf(path, sizeof path, "%s/work/%s", folder, same[i]);
        check_rule("write-file", path, NULL, POLICY_DENY);
        check_rule("read-file", same[i], NULL, POLICY_NONE);
    }
    check_rule("write-file", "link/new", NULL, POLICY_DENY);
    check_rule("write-file", "src/gen/b.lisp", NULL, POLICY_NONE);
    check_rule("write-file", "doc/x", NULL, POLICY_NONE);
}

/* If it is not known which file a call is about, the call is not allowed. */
static void rules_about_unknown_files(void **state)
{
    static const char *const paths[] = {
        "out/x",      "../home/x", "/etc/passwd", "link/../../x",
        "src/.ssh/x", "",          "doc/new/"};
    (void)state;
    for (size_t i = 0; i < COUNT(paths); i++) {
        read_text("{\"deny\": [{\"tool\": \"*\", \"path\": \"nowhere\"}]}");
        check_rule("write-file", paths[i], NULL, POLICY_DENY);
        read_text("{\"ask\": [{\"tool\": \"*\", \"path\": \"nowhere\"}]}");
        check_rule("write-file", paths[i], NULL, POLICY_ASK);
        read_text("{\"allow\": [{\"tool\": \"*\", \"path\": \"**\"}]}");
        check_rule("write-file", paths[i], NULL, POLICY_NONE);
    }
    check_rule("write-file", "src/x", NULL, POLICY_ALLOW);
}

/* A file that has another name may be the one that a rule is about. */
static void rules_about_files_with_two_names(void **state)
{
    (void)state;
    folder_run("ln work/src/a.lisp work/doc/a.lisp && touch work/doc/b.lisp");
    read_text("{\"deny\": [{\"tool\": \"*\", \"path\": \"src/**\"}]}");
    check_rule("read-file", "doc/a.lisp", NULL, POLICY_DENY);
    check_rule("load-file", "doc/a.lisp", NULL, POLICY_DENY);
    check_rule("read-file", "doc/b.lisp", NULL, POLICY_NONE);
    check_rule("list-directory", "doc", NULL, POLICY_NONE);
    read_text("{\"ask\": [{\"tool\": \"read-file\", \"path\": \"src/**\"}]}");
    check_rule("read-file", "doc/a.lisp", NULL, POLICY_ASK);
    check_rule("write-file", "doc/a.lisp", NULL, POLICY_NONE);
    read_text("{\"allow\": [{\"tool\": \"*\", \"path\": \"doc/**\"}]}");
    check_rule("write-file", "doc/a.lisp", NULL, POLICY_ALLOW);
    read_text("{\"deny\": [\"write-file\"]}");
    check_rule("read-file", "doc/a.lisp", NULL, POLICY_NONE);
}

static void rules_about_any_tool(void **state)
{
    (void)state;
    read_text("{\"ask\": [{\"tool\": \"*\", \"path\": \"src/**\"}],"
              "\"deny\": [{\"tool\": \"*\", \"session\": \"a\"}]}");
    check_rule("list-directory", "src", NULL, POLICY_ASK);
    check_rule("list-directory", NULL, NULL, POLICY_NONE);
    check_rule("list-sessions", NULL, NULL, POLICY_NONE);
    check_rule("evaluate-lisp", NULL, "a", POLICY_DENY);
    check_rule("evaluate-lisp", NULL, "b", POLICY_NONE);
    read_text("{\"ask\": [{\"tool\": \"*\", \"path\": \".\"}]}");
    check_rule("list-directory", NULL, NULL, POLICY_ASK);
    check_rule("list-directory", "src", NULL, POLICY_NONE);
    read_text("{\"ask\": [{\"tool\": \"eval-form\", \"session\": \"main\"}]}");
    check_rule("evaluate-lisp", NULL, NULL, POLICY_ASK);
    check_rule("evaluate-lisp", NULL, "main", POLICY_ASK);
    check_rule("evaluate-lisp", NULL, "x", POLICY_NONE);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(policyfile_is_found_in_the_home),
        TEST(policyfile_that_cannot_be_trusted),
        TEST(policyfile_with_a_wrong_mode),
        TEST(policyfile_in_the_workspace),
        TEST(policyfile_where_code_may_write),
        TEST(policyfile_in_a_home_that_is_the_workspace),
        TEST(rules_about_files),
        TEST(rules_about_unknown_files),
        TEST(rules_about_files_with_two_names),
        TEST(rules_about_any_tool),
    };
    rights_heed_modes();
    return RUN_TESTS("policyfile", tests);
}
