/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of auditfile.c with real files. tests/server/audit.mcp has the tests
   that need a full disk. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "host/auditfile.h"
#include "host/disk.h"
#include "host/host.h"
#include "support/check.h"
#include "support/client.h"
#include "support/folder.h"
#include "support/rights.h"

static struct buf lines; /* of the log */
static struct log log_of_lines;
static struct buf notices;
static const struct report report = {&log_of_lines, &notices};
static struct auditfile *file;

#define PLACE AUDITFOLDER_PLACE "/"
#define DAY INT64_C(86400000)

static void keep_line(void *context, enum log_level level, struct str line)
{
    (void)context;
    (void)level;
    buf_str(&lines, line);
    buf_byte(&lines, '\n');
}

static int set_up(void **state)
{
    (void)state;
    log_of_lines = (struct log){LOG_DEBUG, keep_line, NULL};
    return folder_make() == 0 && setenv("HOME", folder, 1) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    auditfile_free(file);
    file = NULL;
    buf_release(&lines);
    buf_release(&notices);
    folder_remove();
    return 0;
}

static void open_file(const char *name)
{
    char path[FOLDER_SIZE + 100];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name ? name : "");
    file = auditfile_new(name ? path : NULL, &report);
    assert_memory(file != NULL);
}

/* Replaces the function of the C library, since no test can cut the power:
   counts the calls and answers with sync_error. */
static int synced;
static int sync_error;

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
int fdatasync(int fd)
{
    assert_true(fd >= 0);
    synced++;
    errno = sync_error;
    return sync_error == 0 ? 0 : -1;
}

/* The same for fstat(2), which asks for the times of a file. */
static int asked;

// NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name)
int fstat(int fd, struct stat *info)
{
    enum { EMPTY_PATH = 0x1000 }; // AT_EMPTY_PATH, which POSIX has not

    asked++;
    return fstatat(fd, "", info, EMPTY_PATH);
}

static void append(int64_t now_ms, const char *members)
{
    auditfile_append(file, now_ms, 5, str_from(members), false);
}

/* Checks that file NAME has TEXT, in which N stands for the id of this
   process. */
static void check_file(const char *name, const char *text)
{
    char path[FOLDER_SIZE + 100];
    char got[2000];
    char number[32];
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    (void)snprintf(number, sizeof number, "\"server\":%d,", (int)getpid());
    FILE *in = fopen(path, "re");
    if (!in)
        fail_msg("no %s", name);
    size_t n = fread(got, 1, sizeof got - 1, in);
    got[n] = '\0';
    (void)fclose(in);
    for (char *at; (at = strstr(got, number)) != NULL;) {
        char *rest = at + strlen(number);
        memcpy(at, "\"server\":N,", 11);
        memmove(at + 11, rest, strlen(rest) + 1);
    }
    assert_string_equal(got, text);
}

static void check_lines(const char *text)
{
    bool good = str_eq(buf_view(&lines), str_from(text));
    assert_memory(good || !check_memory_is_back());
    check_text(buf_view(&lines), str_from(text), __FILE__, __LINE__);
}

/* Checks that the log is empty, unless memory ran out. */
static void check_memory_was_enough(void)
{
    assert_memory((lines.n == 0 && !buf_failed(&lines)) ||
                  !check_memory_is_back());
}

#define LINE(date, rest)                                                       \
    "{\"time\":\"" date "T00:00:00.995Z\",\"server\":N," rest "}\n"

static void auditfile_has_one_for_each_day(void **state)
{
    (void)state;
    open_file(NULL);
    folder_run("[ ! -e .local ]"); // nothing is made for nothing
    append(1000, "\"a\":1}");
    append(1000 + DAY, "\"a\":2}");
    append(1000, "\"a\":3}"); // the clock was set back
    check_memory_was_enough();
    check_file(PLACE "1970-01-01.jsonl",
               LINE("1970-01-01", "\"a\":1") LINE("1970-01-01", "\"a\":3"));
    check_file(PLACE "1970-01-02.jsonl", LINE("1970-01-02", "\"a\":2"));
    folder_run(
        "[ $(stat -c %a .local/state/ecl-mcp/audit) = 700 ] && "
        "[ $(stat -c %a .local/state/ecl-mcp/audit/1970-01-01.jsonl) = 600 "
        "]");
    check_lines("");
}

static void auditfile_removes_old_ones(void **state)
{
    (void)state;
    folder_run("mkdir -p -m 700 .local/state/ecl-mcp/audit && "
               "cd .local/state/ecl-mcp/audit && chmod 700 .. && "
               "touch 1969-12-31.jsonl 1970-01-01.jsonl 1970-01-02.jsonl "
               "1970-01-01.json a970-01-01.jsonl 1970-01-01.jsonl.gz x");
    open_file(NULL);
    append(1000 + (LIMIT_AUDIT_DAYS + 1) * DAY, "\"a\":1}");
    check_memory_was_enough();
    folder_run("[ \"$(echo $(ls .local/state/ecl-mcp/audit))\" = "
               "'1970-01-01.json 1970-01-01.jsonl.gz 1970-01-02.jsonl "
               "1970-04-02.jsonl a970-01-01.jsonl x' ]");
    check_lines("");
}

/* A file that others can write to, or that cannot be checked. */
static void auditfile_refuses_files_that_others_can_change(void **state)
{
    static const char why[] =
        "audit: calls are not logged in ~/" AUDITFOLDER_PLACE ": ";
    static const struct {
        const char *command;
        const char *why;
    } cases[] = {
        {"mkdir -p real && ln -s ../../../real .local/state/ecl-mcp/audit",
         "Not a directory"},
        {"mkdir -m 700 .local/state/ecl-mcp/audit && ln -s ../../../../x "
         ".local/state/ecl-mcp/audit/1970-01-01.jsonl",
         "it is a symbolic link, and none is followed"},
        {"mkdir -m 700 .local/state/ecl-mcp/audit && mkdir "
         ".local/state/ecl-mcp/audit/1970-01-01.jsonl",
         "Is a directory"},
        {"touch .local/state/ecl-mcp/audit", "Not a directory"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        char text[300];
        folder_run("rm -rf .local && mkdir -p .local/state && "
                   "mkdir -m 700 .local/state/ecl-mcp");
        folder_run(cases[i].command);
        open_file(NULL);
        append(1000, "\"a\":1}");
        append(1000, "\"a\":2}"); // is not logged again
        (void)snprintf(text, sizeof text, "%s%s\n", why, cases[i].why);
        check_lines(text);
        buf_reset(&lines);
        auditfile_free(file);
        file = NULL;
    }
    folder_run("[ ! -e x ] && [ -z \"$(ls -A real)\" ]");
}

/* Modes that evaluated code can set are set right, also those that keep the
   user out. */
static void auditfile_sets_modes_right(void **state)
{
    static const char again[] =
        "stat -c %a .local/state .local/state/ecl-mcp .local/state/ecl-mcp/"
        "audit .local/state/ecl-mcp/audit/* | tr '\\n' ' ' >modes; "
        "chmod -R u+rwX .; grep -qx '700 700 700 600 ' modes";
    static const struct {
        const char *change;
        const char *what;
    } cases[] = {
        {"chmod 770 .local/state/ecl-mcp/audit",
         "audit: ~/.local/state/ecl-mcp/audit had the mode 0770, which has "
         "been corrected. The user or evaluated code had changed it; tell the "
         "user.\n"},
        {"chmod 777 .local/state/ecl-mcp",
         "audit: ~/.local/state/ecl-mcp had the mode 0777, …"},
        {"chmod 000 .local/state/ecl-mcp/audit",
         "audit: ~/.local/state/ecl-mcp/audit had the mode 0000, …"},
        {"chmod 000 .local/state/ecl-mcp",
         "audit: ~/.local/state/ecl-mcp had the mode 0000, …"},
        {"chmod 000 .local/state",
         "audit: ~/.local/state had the mode 0000, …"},
        {"chmod 666 .local/state/ecl-mcp/audit/*",
         "audit: the log of the day had the mode 0666, …"},
        {"chmod 000 .local/state/ecl-mcp/audit/*",
         "audit: the log of the day had the mode 0000, …"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        open_file(NULL);
        append(1000, "\"a\":1}");
        check_memory_was_enough();
        auditfile_free(file);
        file = NULL;
        folder_run(cases[i].change);
        open_file(NULL);
        auditfile_begin(file, 1000);
        assert_memory(client_matches(buf_view(&lines), cases[i].what));
        assert_memory(str_starts(buf_view(&notices), STR("[notice] audit: ")));
        folder_run(again);
        buf_reset(&lines);
        buf_reset(&notices);
        auditfile_free(file);
        file = NULL;
    }
    folder_run("touch one && chmod 642 one");
    open_file("one");
    folder_run("test $(stat -c %a one) = 640");
}

/* A file that somebody removes while it is open would take the lines with
   it. */
static void auditfile_notices_that_its_file_is_gone(void **state)
{
    (void)state;
    open_file(NULL);
    append(1000, "\"a\":1}");
    folder_run("rm -r .local/state/ecl-mcp");
    append(1000, "\"a\":2}");
    check_memory_was_enough();
    check_file(PLACE "1970-01-01.jsonl", LINE("1970-01-01", "\"a\":2"));
    auditfile_free(file);
    open_file("one");
    folder_run("rm one");
    append(1000, "\"a\":1}");
    check_lines("audit: calls are not logged in the file of --audit: No such "
                "file or directory\n");
    assert_memory(str_starts(buf_view(&notices), STR("[notice] audit: ")));
}

/* A full file gets a number, and the oldest of a day go when there are too
   many. */
static void auditfile_begins_another_when_one_is_full(void **state)
{
    static const char fill[] =
        "truncate -s 67108864 .local/state/ecl-mcp/audit/1970-01-01.jsonl";
    struct auditfile *other;
    (void)state;
    open_file(NULL);
    auditfile_begin(file, 1000);
    other = auditfile_new(NULL, &report);
    assert_memory(other != NULL);
    auditfile_begin(other, 1000);
    append(1000, "\"a\":1}");
    folder_run(fill);
    append(1000, "\"a\":2}");
    bool enough = !check_memory_is_back();
    auditfile_append(other, 1000, 5, STR("\"a\":3}"), false);
    auditfile_free(other);
    assert_memory(enough);
    check_memory_was_enough();
    check_file(PLACE "1970-01-01.jsonl",
               LINE("1970-01-01", "\"a\":2") LINE("1970-01-01", "\"a\":3"));
    folder_run("test $(stat -c %s .local/state/ecl-mcp/audit/"
               "1970-01-01.0001.jsonl) = 67108864");
    // LIMIT_AUDIT_FILE: with a byte less there is room for a line
    folder_run("truncate -s 67108863 " PLACE "1970-01-01.jsonl");
    append(1000, "\"a\":1}");
    folder_run("test ! -e " PLACE "1970-01-01.0002.jsonl && "
               "test $(stat -c %s " PLACE "1970-01-01.jsonl) -gt 67108863");
    for (int i = 1; i <= LIMIT_AUDIT_PARTS; i++) {
        check_lines("");
        folder_run(fill);
        append(1000, "\"a\":4}");
    }
    check_lines("audit: the log of 1970-01-01 is larger than 15 files of 64 "
                "MiB: its oldest file, 1970-01-01.0001.jsonl, was removed. "
                "Tell the user.\n");
    folder_run("test $(ls .local/state/ecl-mcp/audit | wc -l) = 16 && "
               "test $(ls .local/state/ecl-mcp/audit | tail -n 1) = "
               "1970-01-01.jsonl"); // as M-x ecl-mcp-log sorts them
    append(1000 + (LIMIT_AUDIT_DAYS + 1) * DAY, "\"a\":5}");
    folder_run("test $(ls .local/state/ecl-mcp/audit) = 1970-04-02.jsonl");
}

/* The next line that can be written has the number of those that were lost. */
static void auditfile_counts_what_is_lost(void **state)
{
    (void)state;
    folder_run("touch .local");
    open_file(NULL);
    append(1000, "\"a\":1}");
    append(1000, "\"a\":2}");
    folder_run("rm .local");
    append(1000, "\"a\":3}");
    append(1000, "\"a\":4}");
    check_lines("audit: calls are not logged in ~/" AUDITFOLDER_PLACE
                ": Not a directory\n"
                "audit: calls are logged again; 2 were not\n");
    check_file(PLACE "1970-01-01.jsonl",
               LINE("1970-01-01", "\"lost\":2,\"a\":3")
                   LINE("1970-01-01", "\"a\":4"));
}

/* A line that was cut off does not spoil the next one. */
static void auditfile_continues_after_a_torn_line(void **state)
{
    struct rlimit was;
    (void)state;
    open_file("one");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    struct rlimit small = {100, was.rlim_max};
    append(1000, "\"a\":1}");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    append(1000, "\"a\":2,\"long\":\"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\"}");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
    append(1000, "\"a\":3}");
    check_lines("audit: calls are not logged in the file of --audit: No space "
                "left on device\n"
                "audit: calls are logged again; 1 were not\n");
    folder_run("[ $(wc -l <one) = 3 ] && [ $(head -n 2 one | wc -c) = 101 ] && "
               "tail -n 1 one | grep -q '\"lost\":1,\"a\":3}$'");
}

/* A line that must last reaches the disk, or is counted as lost. */
static void auditfile_syncs_lines_that_must_last(void **state)
{
    (void)state;
    synced = 0;
    open_file("one");
    append(1000, "\"a\":1}");
    assert_int_equal(synced, 0);
    auditfile_append(file, 1000, 5, STR("\"a\":2}"), true);
    check_memory_was_enough();
    assert_int_equal(synced, 1);
    check_lines("");
    sync_error = EIO;
    auditfile_append(file, 1000, 5, STR("\"a\":3}"), true);
    sync_error = 0;
    auditfile_append(file, 1000, 5, STR("\"a\":4}"), true);
    check_lines("audit: calls are not logged in the file of --audit: "
                "Input/output error\n"
                "audit: calls are logged again; 1 were not\n");
    folder_run("tail -n 1 one | grep -q '\"lost\":1,\"a\":4}$'");
}

/* A thread waits for the disk; what comes meanwhile waits for the next one. */
static void auditfile_leaves_the_disk_to_a_thread(void **state)
{
    int ends[2];
    (void)state;
    synced = 0;
    open_file("one");
    assert_int_equal(pipe(ends), 0);
    disk_use_threads(ends[1]);
    uint64_t first = auditfile_append(file, 1000, 5, STR("\"a\":1}"), true);
    uint64_t second = auditfile_append(file, 1000, 5, STR("\"a\":2}"), true);
    check_memory_was_enough();
    assert_true(first > 0 && second > first);
    while (!auditfile_is_settled(file, second)) {
        struct pollfd woken = {ends[0], POLLIN, 0};
        char byte;
        assert_true(poll(&woken, 1, 10000) > 0);
        assert_int_equal(read(ends[0], &byte, 1), 1);
    }
    assert_true(auditfile_is_settled(file, first));
    assert_int_equal(synced, 2);
    // the end waits for what has begun
    (void)auditfile_append(file, 1000, 5, STR("\"a\":3}"), true);
    auditfile_free(file);
    file = NULL;
    assert_int_equal(synced, 3);
    check_lines("");
    disk_use_threads(-1);
    close(ends[0]);
    close(ends[1]);
}

static void auditfile_may_be_named(void **state)
{
    static const struct {
        const char *command;
        const char *why;
    } cases[] = {
        {"mkdir bad", "Is a directory"},
        {"ln -s one bad", "it is a symbolic link, and none is followed"},
    };
    char path[FOLDER_SIZE + 100];
    (void)state;
    (void)snprintf(path, sizeof path, "%s/bad", folder);
    for (size_t i = 0; i < COUNT(cases); i++) {
        folder_run("rm -rf bad");
        folder_run(cases[i].command);
        struct auditfile *none = auditfile_new(path, &report);
        int error = errno;
        assert_null(none);
        assert_memory(!check_memory_is_back());
        assert_string_equal(auditfile_reason(error), cases[i].why);
    }
    folder_run("rm -rf bad && mkfifo bad");
    assert_null(auditfile_new(path, &report));
    assert_int_equal(setenv("HOME", "", 1), 0);
    assert_null(auditfile_new(NULL, &report));
    // an existing file is continued
    folder_run("echo before >one");
    open_file("one");
    append(1000, "\"a\":1}");
    check_memory_was_enough();
    check_file("one", "before\n" LINE("1970-01-01", "\"a\":1"));
    folder_run("[ ! -e .local ]");
}

/* The folder waits until the client has its first answer; a call does not wait
   for it. */
static void auditfile_can_wait(void **state)
{
    (void)state;
    struct host host;

    host_init(&host, &log_of_lines);
    assert_memory(host_open_audit(&host, NULL) == ST_OK);
    folder_run("[ ! -e .local ]");
    host_begin_audit(&host);
    host_release(&host);
    check_memory_was_enough();
    folder_run("[ -f " PLACE "*-*-*.jsonl ]");
    folder_run("rm -r .local");
    open_file(NULL);
    append(1000, "\"a\":1}");
    check_memory_was_enough();
    check_file(PLACE "1970-01-01.jsonl", LINE("1970-01-01", "\"a\":1"));
}

/* Linux gives a file that is written an exact time if somebody has asked for
   its times, and puts that into the journal of the file system. */
static void auditfile_does_not_ask_for_times(void **state)
{
    (void)state;
    open_file(NULL);
    append(1000, "\"a\":1}");
    asked = 0;
    append(1000, "\"a\":2}");
    assert_int_equal(asked, 0);
    check_memory_was_enough();
    check_file(PLACE "1970-01-01.jsonl",
               LINE("1970-01-01", "\"a\":1") LINE("1970-01-01", "\"a\":2"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(auditfile_has_one_for_each_day),
        TEST(auditfile_removes_old_ones),
        TEST(auditfile_refuses_files_that_others_can_change),
        TEST(auditfile_sets_modes_right),
        TEST(auditfile_notices_that_its_file_is_gone),
        TEST(auditfile_begins_another_when_one_is_full),
        TEST(auditfile_counts_what_is_lost),
        TEST(auditfile_continues_after_a_torn_line),
        TEST(auditfile_syncs_lines_that_must_last),
        TEST(auditfile_leaves_the_disk_to_a_thread),
        TEST(auditfile_may_be_named),
        TEST(auditfile_can_wait),
        TEST(auditfile_does_not_ask_for_times),
    };
    // a file that grows too large is an error, and does not end the program
    (void)signal(SIGXFSZ, SIG_IGN);
    rights_heed_modes();
    return RUN_TESTS("auditfile", tests);
}
