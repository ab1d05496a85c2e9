/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of the file tools while another process swaps a folder and a link to a
   folder that the rules deny, as evaluated code can, all the time: no call may
   read or write behind the rule. */
#include <fcntl.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/core.h"
#include "host/workspace.h"
#include "support/check.h"
#include "support/folder.h"

/* How often each of the two states must be met, and after how many calls the
   test gives up: the other process may not get a processor. */
#define ENOUGH 500
#define CALLS_MOST 2000000

static struct policy policy;
static struct workspace *workspace;
static struct files files;
static struct core *core;
static pid_t swinger;

/* What came of the calls. */
static struct count {
    int open;   /* the folder's file */
    int denied; /* by the rule */
    int link;   /* a link stood on the way */
    int other;
    int behind; /* the rule was passed */
} count;

/* --- The parts ----------------------------------------------------------- */

static void keep_nothing(void *context, enum log_level level, struct str line)
{
    (void)context;
    (void)level;
    (void)line;
}

static void start_core(void)
{
    struct core_config config = {.files = &files, .policy = &policy};

    config.log = (struct log){LOG_ERROR, keep_nothing, NULL};
    static const char hello[] =
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":"
        "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
        "\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}}\n";

    core = core_new(&config);
    assert_non_null(core);
    core_feed(core, hello, sizeof hello - 1, 0);
}

/* Swaps the folder "a" and the link "b" without end. */
static void swing(void)
{
    swinger = fork();
    assert_true(swinger >= 0);
    if (swinger > 0)
        return;
    if (chdir(folder) < 0)
        _exit(1);
    for (;;)
        if (renameat2(AT_FDCWD, "a", AT_FDCWD, "b", RENAME_EXCHANGE) < 0)
            _exit(1);
}

static int set_up(void **state)
{
    (void)state;
    count = (struct count){0};
    if (folder_make() < 0)
        return -1;
    folder_run("mkdir a denied && echo open >a/f && echo SECRET >denied/f && "
               "ln -s denied b");
    workspace = workspace_new(folder, NULL);
    if (!workspace)
        return -1;
    files = workspace_files(workspace);
    policy_init(&policy);
    assert_ok(policy_read(&policy, STR("p"),
                          STR("{\"allow\": [\"write-file\"], \"deny\": "
                              "[{\"tool\": \"*\", \"path\": \"denied/**\"}]}"),
                          core_find_tool));
    start_core();
    swing();
    return 0;
}

static int tear_down(void **state)
{
    int status = 0;

    (void)state;
    if (swinger > 0) {
        (void)kill(swinger, SIGKILL);
        (void)waitpid(swinger, &status, 0);
        swinger = 0;
    }
    core_free(core);
    core = NULL;
    policy_release(&policy);
    workspace_free(workspace);
    folder_remove();
    // it swung to the end
    return WIFSIGNALED(status) ? 0 : -1;
}

/* --- The calls ----------------------------------------------------------- */

static bool holds(struct str text, const char *part)
{
    return memmem(text.p, text.n, part, strlen(part)) != NULL;
}

/* Sends LINE and counts the answer; GOOD is in that of a call that came
   through. */
static void call(const char *line, const char *good)
{
    struct buf *output = core_output(core);

    buf_consume(output, output->n);
    core_feed(core, line, strlen(line), 0);
    core_feed(core, "\n", 1, 0);
    struct str answer = buf_view(output);
    assert_true(answer.n > 0);
    if (holds(answer, "SECRET"))
        count.behind++;
    else if (holds(answer, good))
        count.open++;
    else if (holds(answer, "the user's rule"))
        count.denied++;
    else if (holds(answer, "a symbolic link"))
        count.link++;
    else
        count.other++;
}

/* Whether both states were met often enough, after I calls. Lets the swinger
   run. */
static bool is_enough(int i)
{
    (void)sched_yield(); // it never fails on Linux
    return i >= CALLS_MOST || (count.open >= ENOUGH && count.denied >= ENOUGH);
}

static void check_count(void)
{
    print_message("%d came through, %d were denied, %d met the link, %d failed "
                  "otherwise, %d got behind the rule\n",
                  count.open, count.denied, count.link, count.other,
                  count.behind);
    assert_int_equal(count.behind, 0);
    assert_true(count.open >= ENOUGH);
    assert_true(count.denied >= ENOUGH);
}

/* What the file NAME holds, following links. */
static void read_plainly(const char *name, char text[32])
{
    char path[FOLDER_SIZE + 20];

    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, 31);
    text[n > 0 ? n : 0] = '\0';
    if (fd >= 0)
        (void)close(fd);
}

static void nothing_is_read_behind_a_rule(void **state)
{
    (void)state;
    for (int i = 0; !is_enough(i); i++)
        call("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
             "\"params\":{\"name\":\"read-file\",\"arguments\":"
             "{\"path\":\"a/f\"}}}",
             "open");
    check_count();
}

static void nothing_is_listed_behind_a_rule(void **state)
{
    (void)state;
    folder_run("touch denied/SECRET.txt");
    for (int i = 0; !is_enough(i); i++)
        call("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
             "\"params\":{\"name\":\"list-directory\",\"arguments\":"
             "{\"path\":\"a\"}}}",
             "1 entry");
    check_count();
}

/* Both a file that exists and new ones. */
static void nothing_is_written_behind_a_rule(void **state)
{
    char line[300];
    char text[32];
    struct stat info;

    (void)state;
    for (int i = 0; !is_enough(i); i++) {
        (void)snprintf(
            line, sizeof line,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\","
            "\"params\":{\"name\":\"write-file\",\"arguments\":"
            "{\"path\":\"a/%s\",\"content\":\"mine %d\"}}}",
            i % 2 ? "f" : "new", i);
        call(line, "APPLIED");
        read_plainly("denied/f", text);
        count.behind += strcmp(text, "SECRET\n") != 0;
        (void)snprintf(line, sizeof line, "%s/denied/new", folder);
        count.behind += lstat(line, &info) == 0;
    }
    check_count();
    folder_run("test \"$(ls -A denied)\" = f");
}

/* The control: a program that follows links gets there, so the calls above met
   both states, too. */
static void a_program_that_follows_links_gets_there(void **state)
{
    char text[32];

    (void)state;
    for (int i = 0; !is_enough(i); i++) {
        read_plainly("a/f", text);
        count.open += strcmp(text, "open\n") == 0;
        count.denied += strcmp(text, "SECRET\n") == 0;
    }
    assert_true(count.open >= ENOUGH);
    assert_true(count.denied >= ENOUGH);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_read_behind_a_rule),
        TEST(nothing_is_listed_behind_a_rule),
        TEST(nothing_is_written_behind_a_rule),
        TEST(a_program_that_follows_links_gets_there),
    };
    return RUN_TESTS("swinging link", tests);
}
