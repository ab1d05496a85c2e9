/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The supervisor in this process, with the real zygote and real images:
   argument 1 of the program is ecl-mcp-image. Processes are killed under it,
   calls are stopped, and every call must be answered all the same. */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "limits.h"
#include "linux.h"
#include "supervisor.h"
#include "wire.h"

/* Milliseconds after which a test gives up waiting. */
#define PATIENCE_MS 20000

#define MAX_FDS 64

static const char *image_path;
static struct supervisor *supervisor;
static struct buf answer; /* text of the last reply */
static uint64_t answer_id;
static bool answer_error;

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void print_line(void *context, enum log_level level, struct str line)
{
    (void)context;
    (void)level;
    (void)printf("# %.*s\n", STR_ARG(line));
}

static void start(const char *path, const char *workspace)
{
    struct supervisor_config config = {
        path, workspace, 0, {LOG_WARN, print_line, NULL}};

    supervisor = supervisor_new(&config, now_ms());
    assert_non_null(supervisor);
}

static int setup(void **state)
{
    (void)state;
    start(image_path, NULL);
    return 0;
}

static int teardown(void **state)
{
    pid_t children[16];

    (void)state;
    supervisor_free(supervisor);
    supervisor = NULL;
    buf_release(&answer);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    return linux_children(children, 16) == 0 ? 0 : -1; // nobody is left
}

/* One round of what a host does. */
static void turn(int64_t wait_ms)
{
    struct pollfd fds[MAX_FDS];
    size_t n = supervisor_fds(supervisor, fds, MAX_FDS);
    int64_t deadline = supervisor_deadline(supervisor);
    int64_t now = now_ms();

    if (deadline >= 0 && deadline - now < wait_ms)
        wait_ms = deadline > now ? deadline - now : 0;
    if (poll(fds, (nfds_t)n, (int)wait_ms) < 0)
        n = 0;
    supervisor_reap(supervisor, now_ms());
    supervisor_run(supervisor, fds, n, now_ms());
}

/* Takes the oldest reply out of the supervisor's output. */
static bool take_reply(void)
{
    struct buf *out = supervisor_output(supervisor);
    struct wire_head head;
    struct str body;
    struct str text;

    if (wire_frame(buf_view(out), &head, &body) != ST_OK)
        return false;
    assert_int_equal(head.kind, WIRE_REPLY);
    assert_int_equal(wire_take_string(&body, &text), ST_OK);
    buf_reset(&answer);
    buf_str(&answer, text);
    buf_byte(&answer, '\0');
    answer_id = head.id;
    answer_error = (head.flags & WIRE_ERROR) != 0;
    buf_consume(out, WIRE_HEAD + head.size);
    return true;
}

static void wait_reply(uint64_t id)
{
    int64_t end = now_ms() + PATIENCE_MS;

    while (!take_reply()) {
        assert_true(now_ms() < end);
        turn(100);
    }
    assert_int_equal(answer_id, id);
}

static void feed(struct buf *frame)
{
    assert_int_equal(supervisor_feed(supervisor, frame->p, frame->n, now_ms()),
                     ST_OK);
    buf_release(frame);
}

static void call_in(const char *session, uint64_t id, const char *code)
{
    struct buf frame = BUF_EMPTY;
    size_t at = wire_begin(&frame, WIRE_CALL, 0, id);

    wire_put_string(&frame, str_from(session));
    wire_put_string(&frame, STR("evaluate"));
    wire_put_int(&frame, 10000);
    wire_put_int(&frame, 0);
    wire_put_string(&frame, STR("code"));
    wire_put_string(&frame, str_from(code));
    wire_end(&frame, at);
    feed(&frame);
}

static void call(uint64_t id, const char *code)
{
    call_in("main", id, code);
}

static void stop(uint64_t id)
{
    struct buf frame = BUF_EMPTY;

    wire_end(&frame, wire_begin(&frame, WIRE_STOP, 0, id));
    feed(&frame);
}

static void finish(int64_t grace_ms)
{
    struct buf frame = BUF_EMPTY;
    size_t at = wire_begin(&frame, WIRE_FINISH, 0, 0);

    wire_put_int(&frame, grace_ms);
    wire_end(&frame, at);
    feed(&frame);
}

static void expect(uint64_t id, const char *code, const char *text)
{
    call(id, code);
    wait_reply(id);
    assert_string_equal(answer.p, text);
}

static void expect_part(const char *part)
{
    if (!strstr(answer.p, part))
        fail_msg("\"%s\" is not in \"%s\"", part, answer.p);
}

/* The process of the image that runs session main. */
static pid_t image_pid(uint64_t id)
{
    call(id, "(ext:getpid)");
    wait_reply(id);
    assert_int_equal(strncmp(answer.p, "=> ", 3), 0);
    return (pid_t)strtol(answer.p + 3, NULL, 10);
}

static pid_t zygote_pid(void)
{
    pid_t children[16];

    assert_true(linux_children(children, 16) >= 1);
    return children[0];
}

static bool exists(pid_t pid)
{
    return kill(pid, 0) == 0;
}

static void wait_gone(pid_t pid)
{
    int64_t end = now_ms() + PATIENCE_MS;

    while (exists(pid)) {
        assert_true(now_ms() < end);
        turn(10);
    }
}

/* Calls CODE as call ID and waits until it runs: it opens a file first. */
static void call_and_see_it_run(uint64_t id, const char *code)
{
    char folder[] = "/tmp/ecl-mcp-test-XXXXXX";
    char flag[64];
    char text[256];
    int64_t end = now_ms() + PATIENCE_MS;

    assert_non_null(mkdtemp(folder));
    (void)snprintf(flag, sizeof flag, "%s/runs", folder);
    (void)snprintf(text, sizeof text,
                   "(progn (close (open \"%s\" :direction :output)) %s)", flag,
                   code);
    call(id, text);
    while (access(flag, F_OK) < 0) {
        assert_true(now_ms() < end);
        turn(10);
    }
    assert_int_equal(unlink(flag), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void supervisor_answers_in_order(void **state)
{
    char code[64];
    char text[64];
    uint64_t i;

    (void)state;
    for (i = 1; i <= 200; i++) {
        (void)snprintf(code, sizeof code, "(progn (print %d) %d)", (int)i,
                       (int)i);
        call(i, code);
    }
    for (i = 1; i <= 200; i++) {
        wait_reply(i);
        (void)snprintf(text, sizeof text, "[stdout]\n\n%d \n\n=> %d", (int)i,
                       (int)i);
        assert_string_equal(answer.p, text);
    }
}

static void supervisor_replaces_a_killed_image(void **state)
{
    (void)state;
    expect(1, "(defvar *x* 1)", "=> *X*");
    call(2, "(progn (princ \"before\") (finish-output)"
            " (ext:system (format nil \"kill -9 ~d\" (ext:getpid)))"
            " (loop))");
    call(3, "(boundp '*x*)");
    wait_reply(2);
    assert_true(answer_error);
    expect_part("[stdout]\nbefore\n\n[ERROR] ECL-MCP:IMAGE-DIED\n");
    expect_part("was killed by signal 9 (SIGKILL)");
    wait_reply(3);
    assert_string_equal(answer.p, "=> NIL");
}

static void supervisor_notices_the_death_of_an_idle_image(void **state)
{
    pid_t pid;

    (void)state;
    pid = image_pid(1);
    assert_int_equal(kill(pid, SIGTERM), 0);
    wait_gone(pid);
    call(2, "(+ 1 1)");
    wait_reply(2);
    assert_false(answer_error);
    expect_part("[notice]\nThe Lisp image was killed by signal 15 (SIGTERM) "
                "between two evaluations.");
    expect_part("\n\n=> 2");
    expect(3, "(+ 1 2)", "=> 3");
}

/* Images outlive their zygote, and the next one serves new images. */
static void supervisor_survives_its_zygote(void **state)
{
    pid_t image;
    pid_t zygote;

    (void)state;
    expect(1, "(defvar *x* 42)", "=> *X*");
    image = image_pid(2);
    zygote = zygote_pid();
    assert_int_equal(kill(zygote, SIGKILL), 0);
    wait_gone(zygote);
    expect(3, "*x*", "=> 42");
    assert_int_equal(image_pid(4), image);
    assert_int_equal(kill(image, SIGKILL), 0); // now it is this process's
    wait_gone(image);
    call(5, "(boundp '*x*)");
    wait_reply(5);
    expect_part("was killed by signal 9");
    expect_part("=> NIL");
    assert_int_not_equal(image_pid(6), image);
}

static void supervisor_withdraws_what_was_not_begun(void **state)
{
    (void)state;
    expect(1, "(defvar *ran* nil)", "=> *RAN*");
    call(2, "(sleep 1)");
    call(3, "(push 3 *ran*)");
    call(4, "(push 4 *ran*)");
    stop(3);
    wait_reply(2);
    wait_reply(3);
    assert_true(answer_error);
    expect_part("[ERROR] ECL-MCP:NOT-EVALUATED\n");
    wait_reply(4);
    assert_string_equal(answer.p, "=> (4)");
    stop(99); // nobody has it
    expect(5, "*ran*", "=> (4)");
}

static void supervisor_interrupts_what_runs(void **state)
{
    (void)state;
    expect(1, "(defvar *x* 7)", "=> *X*");
    call_and_see_it_run(2, "(princ \"partial\") (loop)");
    call(3, "*x*");
    stop(2);
    wait_reply(2);
    assert_true(answer_error);
    expect_part("[stdout]\npartial\n\n[ERROR] ");
    wait_reply(3);
    assert_string_equal(answer.p, "=> 7"); // the image was not replaced
}

static void supervisor_kills_what_ignores_interrupts(void **state)
{
    (void)state;
    expect(1, "(+ 1 1)", "=> 2");
    call_and_see_it_run(2, "(mp:without-interrupts (loop))");
    stop(2);
    wait_reply(2);
    expect_part("[ERROR] ECL-MCP:IMAGE-DIED\nThe Lisp image did not stop when "
                "asked to and was killed");
    expect(3, "(+ 1 1)", "=> 2");
}

static void supervisor_answers_everything_at_the_end(void **state)
{
    (void)state;
    expect(1, "(+ 1 1)", "=> 2");
    call_and_see_it_run(2, "(loop)");
    call(3, "(+ 1 1)");
    finish(50);
    wait_reply(2);
    assert_true(answer_error);
    wait_reply(3);
    assert_true(answer_error);
    expect_part("not begun");
    call(4, "(+ 1 1)");
    wait_reply(4);
    assert_true(answer_error);
}

static void supervisor_ends_the_programs_of_an_image(void **state)
{
    pid_t image;
    pid_t program;

    (void)state;
    image = image_pid(1);
    call(2, "(nth-value 2 (ext:run-program \"/bin/sh\" '(\"-c\" \"exec setsid "
            "sleep 1000\") :wait nil :output nil :input nil))");
    wait_reply(2);
    call(3, "(ext:external-process-pid *)");
    wait_reply(3);
    program = (pid_t)strtol(answer.p + 3, NULL, 10);
    assert_true(program > 1);
    assert_true(exists(program));
    assert_int_equal(kill(image, SIGKILL), 0);
    wait_gone(image);
    wait_gone(program);
}

static void supervisor_keeps_sessions_apart(void **state)
{
    (void)state;
    call_in("main", 1, "(defvar *x* 1)");
    wait_reply(1);
    call_in("other", 2, "(boundp '*x*)");
    wait_reply(2);
    assert_string_equal(answer.p, "=> NIL");
    expect(3, "*x*", "=> 1");
}

static void supervisor_refuses_broken_frames(void **state)
{
    char bytes[WIRE_HEAD];

    (void)state;
    memset(bytes, 0, sizeof bytes);
    bytes[4] = 77; // no such kind
    assert_int_equal(supervisor_feed(supervisor, bytes, sizeof bytes, now_ms()),
                     ST_INVALID);
}

/* Without an image every call says why, at once and again later. */
static void supervisor_says_why_there_is_no_image(void **state)
{
    (void)state;
    start("/nonexistent/ecl-mcp-image", NULL);
    call(1, "(+ 1 1)");
    wait_reply(1);
    assert_true(answer_error);
    expect_part("[ERROR] ECL-MCP:IMAGE-UNAVAILABLE\nThe Lisp image cannot be "
                "started: No such file or directory");
    call(2, "(+ 1 1)");
    wait_reply(2);
    assert_true(answer_error);
}

static void supervisor_gives_up_on_what_is_no_image(void **state)
{
    (void)state;
    start("/bin/true", NULL);
    call(1, "(+ 1 1)");
    wait_reply(1);
    expect_part("cannot be started: exit status 0 (/bin/true)");
}

static void supervisor_starts_in_the_workspace(void **state)
{
    char folder[] = "ecl-mcp-test-XXXXXX";
    char part[64];

    (void)state;
    assert_non_null(mkdtemp(folder));
    start(image_path, folder);
    call(1, "(ext:getcwd)");
    wait_reply(1);
    (void)snprintf(part, sizeof part, "%s/\"", folder);
    expect_part(part);
    assert_int_equal(rmdir(folder), 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define OWN_START(f) cmocka_unit_test_teardown(f, teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(supervisor_answers_in_order),
        TEST(supervisor_replaces_a_killed_image),
        TEST(supervisor_notices_the_death_of_an_idle_image),
        TEST(supervisor_survives_its_zygote),
        TEST(supervisor_withdraws_what_was_not_begun),
        TEST(supervisor_interrupts_what_runs),
        TEST(supervisor_kills_what_ignores_interrupts),
        TEST(supervisor_answers_everything_at_the_end),
        TEST(supervisor_ends_the_programs_of_an_image),
        TEST(supervisor_keeps_sessions_apart),
        TEST(supervisor_refuses_broken_frames),
        OWN_START(supervisor_says_why_there_is_no_image),
        OWN_START(supervisor_gives_up_on_what_is_no_image),
        OWN_START(supervisor_starts_in_the_workspace),
    };

    if (argc != 2 || access(argv[1], X_OK) < 0) {
        (void)fputs("usage: test_supervisor ECL-MCP-IMAGE\n", stderr);
        return 2;
    }
    image_path = realpath(argv[1], NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    int failed = RUN_TESTS("supervisor", tests);
    free((void *)(uintptr_t)image_path);
    return failed;
}
