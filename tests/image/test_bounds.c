/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What images may make the supervisor hold in memory, with the real zygote and
   images: evaluated code writes to the socket of its image, and prints without
   end. The supervisor is in this process, whose memory is looked at. Argument 1
   of the program is ecl-mcp-image. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/imagehost.h"
#include "wire/wire.h"

#define MB (1024.0 * 1024)

/* Sessions that fill memory at a time, and how many of them find room for the
   longest answer: a part of each is its share. */
#define SESSIONS 20
#define WITH_ROOM                                                              \
    ((int)(LIMIT_SESSIONS_HELD / (LIMIT_OUTPUT_KEPT - LIMIT_SESSION_SHARE)))

/* (forge CALL SIZE N): answers call CALL of the supervisor with the head of a
   body of SIZE bytes, and sends N bytes of it. Private descriptors start at
   200, and the first of them is the socket. */
static const char definitions[] =
    "(defun forge (call size n)\n"
    "  (let ((out (ext:make-stream-from-fd 200 :output\n"
    "              :element-type '(unsigned-byte 8) :buffering :full))\n"
    "        (block (make-array 65536 :element-type '(unsigned-byte 8)\n"
    "                                 :initial-element 97)))\n"
    "    (flet ((number (n bytes)\n"
    "             (dotimes (i bytes)\n"
    "               (write-byte (ldb (byte 8 (* 8 i)) n) out))))\n"
    "      (number size 4) (number 16 2) (number 0 2) (number call 8)\n"
    "      (write-byte 83 out) (number (- size 5) 4)\n"
    "      (loop while (> n 0)\n"
    "            do (write-sequence block out :end (min n 65536))\n"
    "               (decf n 65536))\n"
    "      (finish-output out))))\n"
    "(defun fill-pipes (megabytes)\n"
    "  (let ((text (make-string (expt 2 20) :initial-element #\\a)))\n"
    "    (dotimes (i megabytes)\n"
    "      (write-string text)\n"
    "      (write-string text *error-output*))\n"
    "    (finish-output) (finish-output *error-output*)))\n"
    "(defun done (name)\n"
    "  (close (open name :direction :output))\n"
    "  (sleep 1000))\n";

static uint64_t calls; /* of the supervisor, as it counts them */

static int set_up(void **state)
{
    char path[FOLDER_SIZE + 20];
    FILE *file;

    if (host_setup_in_folder(state) < 0)
        return -1;
    (void)snprintf(path, sizeof path, "%s/code.lisp", folder);
    file = fopen(path, "we");
    if (!file || fputs(definitions, file) == EOF || fclose(file) == EOF)
        return -1;
    calls = 0;
    return 0;
}

/* Megabytes from the line NAME of /proc/self/status: VmRSS is now, VmHWM the
   most there was. */
static double memory(const char *name)
{
    FILE *file = fopen("/proc/self/status", "re");
    char line[200];
    double found = -1;

    assert_non_null(file);
    while (found < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            found = strtod(line + strlen(name) + 1, NULL) / 1024;
    (void)fclose(file);
    assert_true(found > 0);
    return found;
}

static void expect_memory_below(const char *name, double limit)
{
    double held = memory(name);

    if (held >= limit)
        fail_msg("%s is %.0f MB, not below %.0f MB", name, held, limit);
}

static void call_in(const char *session, uint64_t id, const char *code)
{
    calls++;
    host_call_in(session, id, code);
}

/* Opens SESSION, and defines there what the tests call. Returns its process. */
static pid_t open_session(const char *session)
{
    call_in(session, 1, "(progn (load \"code.lisp\") (ext:getpid))");
    host_wait(1);
    assert_int_equal(strncmp(host_answer.p, "=> ", 3), 0);
    return (pid_t)strtol(host_answer.p + 3, NULL, 10);
}

static void checkpoint(const char *session)
{
    struct buf frame;

    calls++;
    host_begin(&frame, session, 1, "checkpoint-session", 0);
    host_send(&frame);
    host_wait(1);
    host_expect_success();
}

/* Waits until all sessions have called DONE. */
static void wait_done(void)
{
    char path[FOLDER_SIZE + 20];

    for (int i = 0; i < SESSIONS; i++) {
        (void)snprintf(path, sizeof path, "%s/done%d", folder, i);
        for (int tries = 0; access(path, F_OK) < 0; tries++) {
            assert_true(tries < 100000);
            host_turn(10);
        }
    }
}

/* The image says that 1 GiB follows, and sends it. */
static void bounds_end_an_answer_that_is_too_long(void **state)
{
    static const unsigned sizes[] = {WIRE_STRING_BYTES + LIMIT_OUTPUT_KEPT + 1,
                                     1024u * 1024 * 1024};

    (void)state;
    (void)open_session("main");
    checkpoint("main");
    for (size_t i = 0; i < COUNT(sizes); i++) {
        char code[100];

        (void)snprintf(code, sizeof code, "(forge %d %u %u)", (int)calls + 1,
                       sizes[i], sizes[i]);
        call_in("main", 2, code);
        host_wait(2);
        assert_true(host_error);
        host_expect_part(
            "[ERROR] ECL-MCP:IMAGE-DIED\nThe Lisp image sent an answer of more "
            "than 16777216 bytes, the limit, and was ended during this "
            "evaluation.\nSession main continues from the checkpoint after "
            "evaluation 1: (progn (load");
    }
    call_in("main", 3, "(if (fboundp 'forge) 5)");
    host_wait(3);
    assert_string_equal(host_answer.p, "=> 5");
    expect_memory_below("VmHWM", 64);
}

/* A thread answers a call that has not been made: nothing of that is kept. */
static void bounds_end_an_answer_to_nothing(void **state)
{
    (void)state;
    (void)open_session("main");
    call_in("main", 2,
            "(progn (mp:process-run-function :x (lambda () (sleep 0.1) "
            "(forge 1000 10000000 10000000))) 5)");
    host_wait(2);
    host_wait_log("sent an invalid answer and was ended");
    call_in("main", 3, "(+ 1 1)");
    host_wait(3);
    host_expect_part("sent an invalid answer and was ended between two");
    host_expect_part("=> 2");
    expect_memory_below("VmHWM", 64);
}

/* The longest answer of all arrives whole; it says what is missing. */
static void bounds_pass_the_longest_answer(void **state)
{
    static const char end[] = "\n[… the rest is not kept …]";
    const size_t n = LIMIT_OUTPUT_KEPT;
    struct buf frame;

    (void)state;
    (void)open_session("main");
    host_begin(&frame, "main", 2, "evaluate", 0);
    frame.p[6] = WIRE_VIEW; // the answer is not cut for a model
    wire_put_string(&frame, STR("code"));
    wire_put_string(&frame, STR("(values-list (make-list 18 :initial-element "
                                "(make-string 990000 :initial-element "
                                "#\\LATIN_SMALL_LETTER_U_WITH_DIAERESIS)))"));
    host_send(&frame);
    host_wait(2);
    host_expect_success();
    // the NUL that host_wait adds, and half of a character at most
    assert_true(host_answer.n == n + 1 || host_answer.n == n);
    assert_string_equal(host_answer.p + host_answer.n - sizeof end, end);
    call_in("main", 3, "(+ 1 1)");
    host_wait(3);
    assert_string_equal(host_answer.p, "=> 2");
}

/* What many sessions send, in long answers that do not end, is bounded; others
   are served, and the memory is there again when the images have died. */
static void bounds_hold_for_all_sessions(void **state)
{
    pid_t images[SESSIONS];
    const unsigned size = WIRE_STRING_BYTES + LIMIT_OUTPUT_KEPT;
    char session[16];
    char code[100];

    (void)state;
    (void)open_session("other");
    for (int i = 0; i < SESSIONS; i++) {
        (void)snprintf(session, sizeof session, "s%d", i);
        images[i] = open_session(session);
    }
    for (int i = 0; i < SESSIONS; i++) {
        (void)snprintf(session, sizeof session, "s%d", i);
        (void)snprintf(code, sizeof code,
                       "(progn (forge %d %u %u) (done \"done%d\"))",
                       (int)calls + 1, size, size - WIRE_STRING_BYTES - 1, i);
        call_in(session, 50, code);
    }
    wait_done();
    for (int i = WITH_ROOM; i < SESSIONS; i++) {
        host_wait(50);
        assert_true(host_error);
        host_expect_part("its answer of 16777221 bytes cannot be shown");
    }
    call_in("other", 60, "(progn (princ :hello) 5)");
    host_wait(60);
    assert_string_equal(host_answer.p, "[stdout]\nHELLO\n\n=> 5");
    expect_memory_below(
        "VmRSS",
        (LIMIT_SESSIONS_HELD + SESSIONS * LIMIT_SESSION_SHARE) / MB + 64);
    for (int i = 0; i < SESSIONS; i++)
        assert_int_equal(kill(images[i], SIGKILL), 0);
    for (int i = 0; i < WITH_ROOM; i++) {
        host_wait(50);
        host_expect_part("(SIGKILL) during this evaluation");
    }
    expect_memory_below("VmRSS", 64);
}

/* The same with output of evaluations that do not end. */
static void bounds_hold_for_output(void **state)
{
    pid_t images[SESSIONS];
    char session[16];
    char code[100];

    (void)state;
    (void)open_session("other");
    for (int i = 0; i < SESSIONS; i++) {
        (void)snprintf(session, sizeof session, "s%d", i);
        images[i] = open_session(session);
        (void)snprintf(code, sizeof code,
                       "(progn (fill-pipes 17) (done \"done%d\"))", i);
        call_in(session, 50, code);
    }
    wait_done();
    call_in("other", 60, "(progn (princ :hello) 5)");
    host_wait(60);
    assert_string_equal(host_answer.p, "[stdout]\nHELLO\n\n=> 5");
    expect_memory_below(
        "VmRSS",
        (LIMIT_SESSIONS_HELD + SESSIONS * LIMIT_SESSION_SHARE) / MB + 64);
    for (int i = 0; i < SESSIONS; i++)
        assert_int_equal(kill(images[i], SIGKILL), 0);
    for (int i = 0; i < SESSIONS; i++) {
        host_wait(50);
        host_expect_part("(SIGKILL) during this evaluation");
        host_expect_part("characters omitted; read-output id");
    }
    // the supervisor keeps some for read-output
    expect_memory_below("VmRSS", LIMIT_OUTPUTS_BYTES / MB + 64);
}

/* An answer to reset-session is told to others who use the session, but not all
   of it when it is forged and long. */
static void bounds_cut_what_others_are_told(void **state)
{
    struct front *owner = host_front;
    struct front *other = host_join(false);
    struct buf frame;
    char code[200];

    (void)state;
    (void)open_session("main");
    host_front = other;
    call_in("main", 2, "1");
    host_wait(2);
    host_front = owner;
    (void)snprintf(code, sizeof code,
                   "(progn (forge %d 10 5) (loop until (probe-file \"go\") do "
                   "(sleep 0.01)) (forge %d 100005 100000) (sleep 1000))",
                   (int)calls + 1, (int)calls + 2);
    call_in("main", 3, code);
    host_wait(3);
    host_begin(&frame, "main", 4, "reset-session", 0);
    host_send(&frame);
    folder_run("touch go");
    host_wait(4);
    assert_true(host_answer.n > 10000);
    host_front = other;
    host_begin(&frame, "main", 5, "close-session", 0);
    host_send(&frame);
    host_wait(5);
    host_expect_part(
        "Someone who shares this session has called reset-session");
    assert_true(host_answer.n < LIMIT_NOTICE + 500);
    host_front = owner;
}

#define TEST(f)                                                                \
    cmocka_unit_test_setup_teardown(f, set_up, host_teardown_in_folder)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        // first, for the most that the process ever held is looked at
        TEST(bounds_end_an_answer_that_is_too_long),
        TEST(bounds_end_an_answer_to_nothing),
        TEST(bounds_pass_the_longest_answer),
        TEST(bounds_cut_what_others_are_told),
        TEST(bounds_hold_for_all_sessions),
        TEST(bounds_hold_for_output),
    };

    host_use(argc, argv);
    return RUN_TESTS("bounds", tests);
}
