/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory that an image gives back to the system before a copy is taken, with
   the real zygote and images. Argument 1 of the program is ecl-mcp-image. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "support/check.h"
#include "support/imagehost.h"
#include "wire/wire.h"

/* Characters of a long string in code; in Lisp each takes four bytes, together
   more than LIMIT_HEAP_LOOSE. */
#define LONG 9000000

/* Megabytes that an image uses at most whose data are small. */
#define SMALL 40

/* What the system says about process PID after NAME. */
static double status(pid_t pid, const char *name)
{
    char path[64];
    char line[200];
    double found = -1;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    file = fopen(path, "re");
    assert_non_null(file);
    while (found < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            found = strtod(line + strlen(name), NULL);
    (void)fclose(file); // was only read
    assert_true(found > 0);
    return found;
}

/* Megabytes that process PID has for itself and its copies. */
static double memory(pid_t pid)
{
    return status(pid, "RssAnon:") / 1024;
}

/* Has a copy taken, named NAME if that is not NULL, by call ID. */
static void take_named_copy(uint64_t id, const char *name)
{
    struct buf frame;

    host_begin(&frame, "main", id, "checkpoint-session", 0);
    if (name) {
        wire_put_string(&frame, STR("name"));
        wire_put_string(&frame, str_from(name));
    }
    host_send(&frame);
    host_wait(id);
    host_expect_success();
}

static void take_copy(uint64_t id)
{
    take_named_copy(id, NULL);
}

static void garbage_is_given_back_before_a_copy(void **state)
{
    pid_t image = host_image_pid(1);

    (void)state;
    host_expect(2, "(length (loop repeat 10 collect (make-string 4000000)))",
                "=> 10");
    assert_true(memory(image) > SMALL);
    take_copy(3);
    assert_true(memory(image) < SMALL);
}

/* The last forms and values are kept by variables, and ECL's reader keeps its
   buffers: neither lasts. */
static void long_code_is_given_back(void **state)
{
    pid_t image = host_image_pid(1);
    struct buf code = BUF_EMPTY;
    uint64_t id = 3;

    (void)state;
    buf_str(&code, STR("(length \""));
    for (int i = 0; i < LONG / 10; i++)
        buf_str(&code, STR("0123456789"));
    buf_str(&code, STR("\")"));
    buf_byte(&code, '\0');
    assert_false(buf_failed(&code));
    host_expect(2, code.p, "=> 9000000");
    buf_release(&code);
    assert_true(memory(image) > SMALL);
    for (int i = 0; i < 5; i++) {
        host_expect(id++, "(+ 1 2)", "=> 3");
        take_copy(id++);
    }
    assert_true(memory(image) < SMALL);
}

/* The number that CODE evaluates to; asked for by call ID. */
static double number(uint64_t id, const char *code)
{
    host_call(id, code);
    host_wait(id);
    host_expect_success();
    host_expect_part("=> ");
    return strtod(strstr(host_answer.p, "=> ") + 3, NULL);
}

/* Number of collections that the image has done; asked for by call ID. */
static long collections(uint64_t id)
{
    return (long)number(id, "(ecl-mcp::collection-count)");
}

/* What the start has left is in the zygote, too: to collect it in the image
   would only make pages of its own. */
static void what_the_start_left_is_not_collected(void **state)
{
    long before = collections(1);

    (void)state;
    for (uint64_t id = 2; id < 8; id += 2) {
        host_pass(50);
        take_copy(id);
        assert_int_equal(collections(id + 1), before);
    }
}

/* The code that only the start has run does not count as memory. */
static void code_of_the_start_is_let_go(void **state)
{
    pid_t image = host_image_pid(1);
    pid_t keeper = (pid_t)status(image, "PPid:");
    pid_t zygote = (pid_t)status(keeper, "PPid:");
    int ms = 0;

    (void)state;
    while (status(zygote, "RssFile:") > status(image, "RssFile:")) {
        assert_true(ms < HOST_PATIENCE_MS);
        host_pass(10);
        ms += 10;
    }
}

/* The heap would grow for what small calls leave. It is collected when nobody
   waits and there is enough, and not sooner. */
static void small_garbage_is_collected_in_quiet_moments(void **state)
{
    char code[100];
    uint64_t id = 1;
    double held = 0;
    pid_t image;
    long before;

    (void)state;
    (void)snprintf(code, sizeof code, "(length (make-string %d))",
                   (int)(LIMIT_HEAP_STALE / 4));
    host_call(id, code);
    host_wait(id++);
    take_named_copy(id++, "clean"); // without garbage: it begins anew
    (void)snprintf(code, sizeof code, "(length (make-string %d))",
                   (int)(LIMIT_HEAP_STALE / 2 / 4));
    host_call(id, code);
    host_wait(id++);
    before = collections(id++);
    for (int i = 0; i < 3; i++) {
        host_pass(50); // a copy was taken
        assert_int_equal(collections(id++), before);
    }
    image = host_image_pid(id++);
    (void)snprintf(code, sizeof code, "(length (make-string %d))",
                   (int)(LIMIT_HEAP_STALE / 4));
    // on a busy machine a copy may come right after the second call, which is
    // no quiet moment: what is collected for it stays in the image
    for (int i = 0;
         i == 0 || collections(id++) == before || memory(image) >= held; i++) {
        assert_true(i < HOST_PATIENCE_MS / 50);
        host_call(id, code); // the collector may run meanwhile, of itself
        host_wait(id++);
        before = collections(id++);
        held = memory(image);
        host_pass(50);
    }
}

/* Each process of a session has the pages that the start has touched, be they
   garbage or not. */
static void the_start_leaves_little_garbage(void **state)
{
    double used;
    double has;

    (void)state;
    has = memory(host_image_pid(1));
    used = number(2, "(progn (si:gc t) (ecl-mcp::bytes-in-use))") / 1e6;
    assert_true(has < used * 1.25);
}

/* A named checkpoint stays: it is taken without the garbage of the calls right
   before it. */
static void named_copies_have_no_garbage(void **state)
{
    char code[100];
    long before;

    (void)state;
    before = collections(1);
    (void)snprintf(code, sizeof code, "(length (make-string %d))",
                   (int)(LIMIT_HEAP_STALE / 4));
    host_call(2, code);
    host_wait(2);
    take_named_copy(3, "lasting");
    assert_true(collections(4) > before);
}

/* Pages that the system has made or copied for process PID so far, once that
   waits. */
static long pages_made(pid_t pid)
{
    char state = 'R';
    long made = 0;

    while (state != 'S')
        made = host_process_field(pid, 7, &state);
    return made;
}

/* Each page that a process writes behind a copy is copied first. The image does
   that for the next call before it waits. Sometimes a call needs a new page: so
   not each of them needs none. */
static void no_page_is_copied_for_a_call_like_the_last(void **state)
{
    enum { ROUNDS = 10 };
    pid_t image = host_image_pid(1);
    long least = 100;
    uint64_t id = 2;

    (void)state;
    for (int i = 0; i < ROUNDS; i++)
        host_expect(id++, "(+ 1 2)", "=> 3");
    for (int i = 0; i < ROUNDS; i++) {
        long before;
        long made;

        take_copy(id++);
        before = pages_made(image);
        host_expect(id++, "(+ 1 2)", "=> 3");
        made = pages_made(image) - before;
        least = made < least ? made : least;
    }
    assert_int_equal(least, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_start_leaves_little_garbage,
                                        host_setup, host_teardown),
        cmocka_unit_test_setup_teardown(what_the_start_left_is_not_collected,
                                        host_setup, host_teardown),
        cmocka_unit_test_setup_teardown(code_of_the_start_is_let_go, host_setup,
                                        host_teardown),
        cmocka_unit_test_setup_teardown(garbage_is_given_back_before_a_copy,
                                        host_setup, host_teardown),
        cmocka_unit_test_setup_teardown(long_code_is_given_back, host_setup,
                                        host_teardown),
        cmocka_unit_test_setup_teardown(
            small_garbage_is_collected_in_quiet_moments, host_setup,
            host_teardown),
        cmocka_unit_test_setup_teardown(named_copies_have_no_garbage,
                                        host_setup, host_teardown),
        cmocka_unit_test_setup_teardown(
            no_page_is_copied_for_a_call_like_the_last, host_setup,
            host_teardown),
    };

    host_use(argc, argv);
    return RUN_TESTS("memory", tests);
}
