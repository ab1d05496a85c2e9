/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Evaluated code speaks to the supervisor in the name of its image. The
   supervisor, which is not in the sandbox, must not do anything for the code
   that the code cannot do itself. Argument 1 of the program is
   ecl-mcp-image. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "image/family.h"
#include "image/linux.h"
#include "image/names.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/imagehost.h"
#include "wire/wire.h"

/* Lisp with C in it. (forge VICTIM): a child of the image stops it, answers its
   call 2, waits for the order to make a copy, and says that the copy is process
   VICTIM. Then the image dies, and the supervisor turns to the copy. (say …)
   sends a frame of N numbers in the name of the image, WITH a descriptor or
   without, (answer ID) a REPLY. */
static const char attack[] =
    "(ffi:clines \"\n"
    "#include <pthread.h>\n"
    "#include <signal.h>\n"
    "#include <string.h>\n"
    "#include <sys/socket.h>\n"
    "#include <sys/stat.h>\n"
    "#include <unistd.h>\n"
    "static void frame(unsigned char *p, int kind, const unsigned char *id,\n"
    "                  int size)\n"
    "{\n"
    "    memmove(p + 8, id, 8);\n"
    "    memset(p, 0, 8);\n"
    "    p[0] = size; p[4] = kind;\n"
    "}\n"
    "static void forge(int victim)\n"
    "{\n"
    "    unsigned char bytes[64];\n"
    "    unsigned char two[8] = {2};\n"
    "    char room[CMSG_SPACE(sizeof(int))];\n"
    "    struct iovec part = {bytes, 25};\n"
    "    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1,\n"
    "        .msg_control = room, .msg_controllen = CMSG_LEN(sizeof(int))};\n"
    "    struct cmsghdr *cmsg = CMSG_FIRSTHDR(&header);\n"
    "    struct stat status;\n"
    "    int pair[2];\n"
    "    int fd = 200;\n"
    "    while (fstat(fd, &status) < 0 || !S_ISSOCK(status.st_mode))\n"
    "        fd++;\n"
    "    if (fork() != 0)\n"
    "        for (;;)\n"
    "            pause();\n"
    "    setsid();\n"
    "    kill(getppid(), SIGSTOP);\n"
    "    frame(bytes, 16, two, 7);\n"
    "    memcpy(bytes + 16, \\\"S\\\\2\\\\0\\\\0\\\\0hi\\\", 7);\n"
    "    send(fd, bytes, 23, 0);\n"
    "    recv(fd, bytes, 16, MSG_WAITALL);\n"
    "    frame(bytes, 12, bytes + 8, 9);\n"
    "    memset(bytes + 16, 0, 9);\n"
    "    bytes[16] = 73;\n"
    "    memcpy(bytes + 17, &victim, 4);\n"
    "    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);\n"
    "    cmsg->cmsg_level = SOL_SOCKET;\n"
    "    cmsg->cmsg_type = SCM_RIGHTS;\n"
    "    cmsg->cmsg_len = CMSG_LEN(sizeof(int));\n"
    "    memcpy(CMSG_DATA(cmsg), pair, sizeof(int));\n"
    "    sendmsg(fd, &header, 0);\n"
    "    kill(getppid(), SIGKILL);\n"
    "    for (;;)\n"
    "        pause();\n"
    "}\n"
    "static void say(int kind, int id, int with, int n, long a, long b,\n"
    "                long c)\n"
    "{\n"
    "    unsigned char bytes[64] = {0};\n"
    "    long numbers[] = {a, b, c};\n"
    "    char room[CMSG_SPACE(sizeof(int))];\n"
    "    struct iovec part = {bytes, 16 + 9 * n};\n"
    "    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1,\n"
    "        .msg_control = with ? room : 0,\n"
    "        .msg_controllen = with ? CMSG_LEN(sizeof(int)) : 0};\n"
    "    struct cmsghdr *cmsg = CMSG_FIRSTHDR(&header);\n"
    "    struct stat status;\n"
    "    int pair[2];\n"
    "    int fd = 200;\n"
    "    while (fstat(fd, &status) < 0 || !S_ISSOCK(status.st_mode))\n"
    "        fd++;\n"
    "    bytes[0] = 9 * n; bytes[4] = kind; bytes[8] = id;\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        bytes[16 + 9 * i] = 73;\n"
    "        memcpy(bytes + 17 + 9 * i, &numbers[i], 8);\n"
    "    }\n"
    "    if (with) {\n"
    "        socketpair(AF_UNIX, SOCK_STREAM, 0, pair);\n"
    "        cmsg->cmsg_level = SOL_SOCKET;\n"
    "        cmsg->cmsg_type = SCM_RIGHTS;\n"
    "        cmsg->cmsg_len = CMSG_LEN(sizeof(int));\n"
    "        memcpy(CMSG_DATA(cmsg), pair, sizeof(int));\n"
    "    }\n"
    "    sendmsg(fd, &header, 0);\n"
    "}\n"
    "static void answer(int id)\n"
    "{\n"
    "    unsigned char bytes[23] = {0};\n"
    "    struct stat status;\n"
    "    int fd = 200;\n"
    "    while (fstat(fd, &status) < 0 || !S_ISSOCK(status.st_mode))\n"
    "        fd++;\n"
    "    bytes[0] = 7; bytes[4] = 16; bytes[8] = id;\n"
    "    memcpy(bytes + 16, \\\"S\\\\2\\\\0\\\\0\\\\0hi\\\", 7);\n"
    "    send(fd, bytes, 23, 0);\n"
    "}\n"
    "static void *rest(void *p)\n"
    "{\n"
    "    for (;;)\n"
    "        pause();\n"
    "    return p;\n"
    "}\n"
    "static void change(int signal) {}\n"
    "static int branch(int manner)\n"
    "{\n"
    "    pthread_t thread;\n"
    "    int pid;\n"
    "    signal(SIGUSR2, change);\n"
    "    if ((pid = fork()) != 0)\n"
    "        return pid;\n"
    "    setsid();\n"
    "    pause();\n"
    "    if (manner == 1)\n"
    "        execl(\\\"/bin/sleep\\\", \\\"sleep\\\", \\\"1000\\\", (char "
    "*)0);\n"
    "    if (manner == 2)\n"
    "        pthread_create(&thread, 0, rest, 0);\n"
    "    rest(0);\n"
    "}\n"
    "static void start(void)\n"
    "{\n"
    "    static int started;\n"
    "    if (!started++ && fork() == 0)\n"
    "        for (;;)\n"
    "            pause();\n"
    "}\n"
    "\")\n";

/* The same, in Lisp. */
static const char attack_functions[] =
    "(defun forge (victim)\n"
    "  (ffi:c-inline (victim) (:int) :void \"forge(#0);\"))\n"
    "(defun say (kind id with n a b c)\n"
    "  (ffi:c-inline (kind id with n a b c)\n"
    "                (:int :int :int :int :long :long :long) :void\n"
    "    \"say(#0, #1, #2, #3, #4, #5, #6);\"))\n"
    "(defun branch (manner)\n"
    "  (ffi:c-inline (manner) (:int) :int \"branch(#0)\" :one-liner t))\n"
    "(defun say-copy (id copy) (say 15 id 0 3 copy id 1) copy)\n"
    "(defun is-changed (copy manner)\n"
    "  (if (= manner 1)\n"
    "      (with-open-file (s (format nil \"/proc/~d/comm\" copy))\n"
    "        (equal (read-line s) \"sleep\"))\n"
    "      (cdr (directory (format nil \"/proc/~d/task/*/\" copy)))))\n"
    "(defun change (copy manner)\n"
    "  (loop until (is-changed copy manner)\n"
    "        do (ffi:c-inline (copy) (:int) :void \"kill(#0, SIGUSR2);\")\n"
    "           (sleep 0.01))\n"
    "  :changed)\n"
    "(defun answer (id)\n"
    "  (ffi:c-inline (id) (:int) :void \"answer(#0);\"))\n"
    "(defun die ()\n"
    "  (ffi:c-inline () () :void \"kill(getpid(), SIGKILL);\"))\n"
    "(defun start-below-copies ()\n"
    "  (ffi:c-inline () () :void \"pthread_atfork(0, 0, start);\"))\n";

static int set_up(void **state)
{
    char path[FOLDER_SIZE + 20];
    FILE *file;

    (void)state;
    if (folder_make() < 0)
        return -1;
    (void)snprintf(path, sizeof path, "%s/attack.lisp", folder);
    file = fopen(path, "we");
    if (!file || fputs(attack, file) == EOF ||
        fputs(attack_functions, file) == EOF || fclose(file) == EOF)
        return -1;
    host_start(NULL, folder);
    return 0;
}

static int tear_down(void **state)
{
    int status = host_teardown(state);

    folder_remove();
    return status;
}

static pid_t start_victim(void)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        for (;;)
            (void)pause();
    return pid;
}

static void end_victim(pid_t victim)
{
    int status;

    assert_int_equal(waitpid(victim, &status, WNOHANG), 0); // it lives
    assert_int_equal(kill(victim, SIGKILL), 0);
    assert_int_equal(waitpid(victim, &status, 0), victim);
}

static void load_attack(void)
{
    host_call(1, "(progn (load (compile-file \"attack.lisp\")) 1)");
    host_wait(1);
    assert_false(host_error);
}

/* Evaluates a form, whose format is FORMAT, as call ID. */
PRINTF_LIKE(2, 3)
static void evaluate(uint64_t id, const char *format, ...)
{
    char code[400];
    va_list arguments;

    va_start(arguments, format);
    (void)vsnprintf(code, sizeof code, format, arguments);
    va_end(arguments);
    host_call(id, code);
    host_wait(id);
}

/* The image dies in call ID; after it another goes on. */
static void die(uint64_t id)
{
    evaluate(id, "(die)");
    assert_true(host_error);
    evaluate(id + 1, "(+ 1 1)");
    host_expect_part("=> 2");
}

static void forgery_of_a_copy_reaches_no_other_process(void **state)
{
    pid_t victim = start_victim();

    (void)state;
    load_attack();
    evaluate(2, "(forge %d)", (int)victim);
    assert_string_equal(host_answer.p, "hi");
    host_wait_log("was killed by signal 9");
    evaluate(3, "(+ 1 1)");
    host_expect_part("The Lisp image was killed by signal 9");
    host_expect_part("=> 2");
    end_victim(victim);
}

/* Its keeper continues what sleeps at an error when another image replaces one
   that died: what was stopped outside stays stopped. */
static void forgery_of_an_error_continues_no_other_process(void **state)
{
    pid_t victim = start_victim();
    const int claims[] = {(int)victim, -1, -(int)victim, 0};
    int status;

    (void)state;
    assert_int_equal(setpgid(victim, 0), 0);
    load_attack();
    assert_int_equal(kill(victim, SIGSTOP), 0);
    assert_int_equal(waitpid(victim, &status, WUNTRACED), victim);
    for (unsigned i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        uint64_t id = 2 + 3 * i;

        evaluate(id, "(say 15 %d 0 3 %d %u 1)", (int)id, claims[i], i + 1);
        assert_false(host_error);
        if (i == 0)
            host_wait_log("is no copy of the image that sleeps at an error");
        die(id + 1);
        assert_int_equal(waitpid(victim, &status, WNOHANG | WCONTINUED), 0);
    }
    assert_int_equal(kill(victim, SIGCONT), 0); // the control: it would be seen
    assert_int_equal(waitpid(victim, &status, WCONTINUED), victim);
    end_victim(victim);
}

/* An image that is known, or one that a number has been used for, is none. */
static void forgery_of_an_error_with_a_number_that_was_there(void **state)
{
    pid_t image;

    (void)state;
    load_attack();
    evaluate(2, "(error \"one\")");
    host_expect_part("Frozen as error 1");
    evaluate(3, "(say 15 3 0 3 %d 1 1)", (int)getpid());
    host_expect_part("The Lisp image");
    image = host_image_pid(4);
    evaluate(5, "(say 15 5 0 3 %d 2 1)", (int)image);
    assert_false(host_error);
    host_wait_log("is no copy of the image that sleeps at an error");
    evaluate(6, "(say 15 6 0 3 %d 3 9)", (int)image); // of a later evaluation
    host_expect_part("The Lisp image");
}

/* Call ID is OPERATION, about session main. */
static void call_operation(uint64_t id, const char *operation)
{
    struct buf frame;

    host_begin(&frame, "main", id, operation, 0);
    host_send(&frame);
    host_wait(id);
    assert_false(host_error);
}

/* A program of the session is no copy of its image, so it ends with that. */
static void forgery_of_an_error_spares_no_program(void **state)
{
    pid_t program;

    (void)state;
    load_attack();
    evaluate(2, "(parse-integer (with-output-to-string (s) (ext:run-program "
                "\"/bin/sh\" '(\"-c\" \"setsid sleep 1000 & echo $!\") "
                ":output s)))");
    program = (pid_t)strtol(strstr(host_answer.p, "=> ") + 3, NULL, 10);
    assert_true(host_exists(program));
    evaluate(3, "(say 15 3 0 3 %d 1 1)", (int)program);
    host_wait_log("is no copy of the image that sleeps at an error");
    die(4);
    host_wait_gone(program);
}

/* Has call ID fork the image, as a forged error; the copy does MANNER: 0
   sleeps, 1 becomes another program, 2 starts a thread, each once "go" exists.
 */
static pid_t forge_error(uint64_t id, int manner)
{
    pid_t copy;

    evaluate(id, "(say-copy %d (branch %d))", (int)id, manner);
    assert_false(host_error);
    copy = (pid_t)strtol(strstr(host_answer.p, "=> ") + 3, NULL, 10);
    assert_true(host_exists(copy));
    return copy;
}

/* It may name a fork of its image, which is then spared when the image dies:
   but not when the session ends. */
static void forgery_of_an_error_ends_with_the_session(void **state)
{
    pid_t copy;

    (void)state;
    load_attack();
    copy = forge_error(2, 0);
    call_operation(3, "checkpoint-session"); // which knows of the error
    die(4);
    assert_true(host_exists(copy)); // what would be seen
    call_operation(6, "close-session");
    host_wait_gone(copy);
}

/* Such a fork is no copy any more once it is another program, or works. */
static void forgery_of_an_error_that_changes_is_not_spared(void **state)
{
    (void)state;
    load_attack();
    for (int manner = 1; manner <= 2; manner++) {
        uint64_t id = 2 + 5 * (uint64_t)(manner - 1);
        pid_t copy = forge_error(id, manner);

        evaluate(id + 1, "(change %d %d)", (int)copy, manner);
        host_expect_part("=> :CHANGED");
        call_operation(id + 2, "checkpoint-session");
        die(id + 3);
        host_wait_gone(copy);
    }
}

/* How many processes have been started by errors that sleep in the session of
   IMAGE. */
static int started_by_errors(pid_t image)
{
    struct family family = {NULL, 0, 0};
    pid_t keeper = 0;
    int64_t start;
    int n = 0;

    assert_true(linux_find(image, &keeper, &start));
    family_find(&family, keeper, NULL);
    for (size_t i = 0; i < family.n; i++) {
        char path[64];
        char name[32] = "";
        FILE *file;

        (void)snprintf(path, sizeof path, "/proc/%d/comm",
                       (int)family.list[i].parent);
        file = fopen(path, "re");
        if (file) {
            (void)!fgets(name, sizeof name, file); // else it has just ended
            (void)fclose(file);                    // was only read
        }
        n += strcmp(name, NAME_FROZEN "\n") == 0;
    }
    family_release(&family);
    return n;
}

static void wait_started(pid_t image, int wanted)
{
    for (int tries = 0; started_by_errors(image) != wanted; tries++) {
        assert_true(tries < HOST_PATIENCE_MS / 5);
        host_turn(5);
    }
}

/* What an error that sleeps has started belongs to nobody when the image dies,
   and ends; the error stays. */
static void what_errors_start_ends_with_the_image(void **state)
{
    struct buf frame;

    (void)state;
    load_attack();
    evaluate(2, "(start-below-copies)");
    evaluate(3, "(error \"one\")");
    host_expect_part("Frozen as error 1");
    wait_started(host_image_pid(4), 1);
    die(5);
    wait_started(host_image_pid(7), 0);
    host_begin(&frame, "main", 8, "describe-last-error", 0);
    host_send(&frame);
    host_wait(8);
    host_expect_part("one");
}

static void forgery_of_an_outcome_that_nobody_asked_for(void **state)
{
    pid_t victim = start_victim();

    (void)state;
    load_attack();
    evaluate(2, "(say 11 2 1 2 %d 1 0)", (int)victim);
    host_expect_part("The Lisp image");
    evaluate(3, "(+ 1 1)");
    host_expect_part("=> 2");
    end_victim(victim);
}

/* Code of a call whose front answers nothing says that it waits for a human: no
   question comes, and the time limit counts on. */
static void forgery_of_a_question_stops_no_clock(void **state)
{
    struct buf frame;

    (void)state;
    load_attack();
    host_begin(&frame, "main", 2, "evaluate", 300);
    wire_put_string(&frame, STR("code"));
    wire_put_string(&frame, STR("(progn (say 14 2 0 1 0 0 0) (loop))"));
    host_send(&frame);
    host_wait(2); // and nothing else came
    host_expect_part("stopped at its time limit");
}

/* Frames about a call that is not the one that runs. */
static void forgery_about_another_call_ends_the_image(void **state)
{
    static const int kinds[] = {14, 15, 11};

    (void)state;
    load_attack();
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        uint64_t id = 2 + 2 * i;

        evaluate(id, "(say %d 9999 %d %d 0 1 0)", kinds[i], kinds[i] == 11,
                 kinds[i] == 14   ? 1
                 : kinds[i] == 15 ? 3
                                  : 2);
        host_expect_part("The Lisp image");
        evaluate(id + 1, "(+ 1 1)");
        host_expect_part("=> 2");
    }
}

/* Beside a call that may adopt, whose code waits until that is done. */
static void forgery_of_an_outcome_reaches_no_other_process(void **state)
{
    pid_t victim = start_victim();
    struct buf frame;

    (void)state;
    load_attack();
    evaluate(2, "(error \"one\")");
    host_expect_part("Frozen as error 1");
    evaluate(3,
             "(mp:process-run-function 'forger (lambda () (loop until "
             "(probe-file \"asked/\") do (sleep 0.01)) (say 11 4 1 2 %d 1 0) "
             "(answer 4) (loop (sleep 1))))",
             (int)victim);
    host_begin(&frame, "main", 4, "invoke-restart", 0);
    wire_put_string(&frame, STR("restart"));
    wire_put_string(&frame, STR("RETURN-FORM"));
    wire_put_string(&frame, STR("code"));
    wire_put_string(&frame, STR("(progn (ensure-directories-exist "
                                "\"asked/\") (loop (sleep 1)))"));
    wire_put_string(&frame, STR("adopt"));
    wire_put_bool(&frame, true);
    host_send(&frame);
    host_wait(4);
    host_expect_part("NOT-ADOPTED");
    end_victim(victim);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(forgery_of_a_copy_reaches_no_other_process),
        TEST(forgery_of_an_error_continues_no_other_process),
        TEST(forgery_of_an_error_with_a_number_that_was_there),
        TEST(forgery_of_an_error_spares_no_program),
        TEST(forgery_of_an_error_ends_with_the_session),
        TEST(forgery_of_an_error_that_changes_is_not_spared),
        TEST(what_errors_start_ends_with_the_image),
        TEST(forgery_of_an_outcome_that_nobody_asked_for),
        TEST(forgery_of_a_question_stops_no_clock),
        TEST(forgery_about_another_call_ends_the_image),
        TEST(forgery_of_an_outcome_reaches_no_other_process),
    };

    host_use(argc, argv);
    return RUN_TESTS("forgery", tests);
}
