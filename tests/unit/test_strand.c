/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of strand.c, and of what arenas do in a strand: work that is done in
   steps, and stopped in the middle. */
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/digest.h"
#include "base/finder.h"
#include "base/limits.h"
#include "base/regex.h"
#include "base/stacks.h"
#include "base/strand.h"
#include "diff/diff.h"
#include "files/text.h"
#include "json/json.h"
#include "source/definition.h"
#include "source/source.h"
#include "support/check.h"

/* Some work, and what became of it. */
struct work {
    struct strand *strand;
    struct arena arena;
    struct str text;
    enum status (*run)(struct work *work);
    enum status status;
    int done;
};

static struct work work;
static struct buf text;

static int tear_down(void **state)
{
    (void)state;
    strand_free(work.strand);
    work.arena.strand = NULL;
    arena_release(&work.arena);
    buf_release(&text);
    work = (struct work){0};
    return 0;
}

static void run(void *context)
{
    struct work *w = context;

    w->status = w->run(w);
}

static void begin(enum status (*function)(struct work *w))
{
    work.run = function;
    work.text = buf_view(&text);
    work.strand = strand_new(run, &work);
    assert_memory(work.strand != NULL);
    work.arena.strand = work.strand;
}

static enum status three_steps(struct work *w)
{
    char mark = 'x'; // on the stack of the strand

    for (; w->done < 3; w->done++) {
        if (arena_spend(&w->arena, LIMIT_STEP) != ST_OK)
            return ST_NOMEM;
        assert_int_equal(mark, 'x');
    }
    return ST_OK;
}

static void strand_pauses_when_a_step_is_full(void **state)
{
    (void)state;
    begin(three_steps);
    for (int i = 0; i < 3; i++) {
        assert_false(strand_go_on(work.strand));
        assert_int_equal(work.done, i);
    }
    assert_true(strand_go_on(work.strand));
    assert_true(strand_go_on(work.strand)); // nothing is left
    assert_int_equal(work.done, 3);
    assert_ok(work.status);
}

static void strand_ends_when_it_is_freed(void **state)
{
    (void)state;
    begin(three_steps);
    strand_free(work.strand); // it has not begun
    work.strand = NULL;
    assert_int_equal(work.done, 0);
    begin(three_steps);
    assert_false(strand_go_on(work.strand));
    strand_free(work.strand);
    work.strand = NULL;
    assert_int_equal(work.done, 0);
    assert_status(work.status, ST_NOMEM);
}

static enum status stopped_arena(struct work *w)
{
    struct str copy;

    while (arena_spend(&w->arena, LIMIT_STEP) == ST_OK)
        w->done++;
    assert_null(arena_alloc(&w->arena, 1));
    assert_null(arena_array(&w->arena, 1, 1));
    return arena_str(&w->arena, STR("x"), &copy);
}

static void strand_gives_no_memory_once_it_is_stopped(void **state)
{
    (void)state;
    begin(stopped_arena);
    assert_false(strand_go_on(work.strand));
    assert_false(strand_go_on(work.strand));
    strand_free(work.strand);
    work.strand = NULL;
    assert_int_equal(work.done, 1);
    assert_status(work.status, ST_NOMEM);
}

static enum status outer(struct work *w)
{
    struct work inner = {.run = three_steps};

    inner.strand = strand_new(run, &inner);
    if (!inner.strand)
        return ST_NOMEM;
    inner.arena.strand = inner.strand;
    while (!strand_go_on(inner.strand))
        if (arena_spend(&w->arena, LIMIT_STEP) == ST_OK)
            w->done++;
    strand_free(inner.strand);
    return inner.done == 3 ? ST_OK : ST_INVALID;
}

static void strand_goes_on_inside_of_another(void **state)
{
    (void)state;
    int steps = 1;

    begin(outer);
    while (!strand_go_on(work.strand))
        steps++;
    assert_ok(work.status);
    assert_int_equal(work.done, 3);
    assert_int_equal(steps, 4);
}

/* --- What is done in steps ----------------------------------------------- */

static enum status parse(struct work *w)
{
    struct json root;
    struct json_error error;
    struct str value;
    enum status status = json_parse(&w->arena, w->text, &root, &error);

    return status == ST_OK ? json_string(&w->arena, root, &value) : status;
}

static enum status decode(struct work *w)
{
    struct text decoded;

    return text_decode(&w->arena, w->text, SIZE_MAX, &decoded);
}

static enum status hash(struct work *w)
{
    unsigned char digest[DIGEST_SIZE];

    return digest_in_steps(&w->arena, w->text, digest);
}

static enum status find(struct work *w)
{
    struct finder finder;
    size_t at;
    struct str part = str_make(w->text.p, w->text.n / 2);
    enum status status = finder_init(&finder, &w->arena, part);

    return status == ST_OK ? finder_next(&finder, w->text, 1, &at) : status;
}

static enum status compare(struct work *w)
{
    struct diff diff;
    struct str other = str_make(w->text.p + 1, w->text.n - 1);

    return diff_make(&w->arena, w->text, other, &diff);
}

static enum status check(struct work *w)
{
    struct source_report report;
    enum status status = source_check(w->arena.strand, w->text, &report);

    return strand_is_stopped(w->arena.strand) ? ST_NOMEM : status;
}

static enum status find_definition(struct work *w)
{
    struct definition place;
    struct str why;
    enum status status = definition_find(&w->arena, w->text, STR("defun"),
                                         STR("g"), &place, &why);

    return status == ST_MISSING ? ST_OK : status;
}

#define KIB (size_t)1024

/* Long texts that are a lot of work, and the functions that do it. */
static const struct {
    size_t n; /* bytes of the text */
    const char *first;
    const char *again;
    const char *last;
    enum status (*run)(struct work *w);
} cases[] = {
    {768 * KIB, "\"", "\\n", "\"", parse},
    {1536 * KIB, "\"", "\xc3\xa9", "\"", parse},
    {2048 * KIB, "\"", "abcdefgh", "\"", parse},
    {512 * KIB, "", "a\xe9\r\n", "", decode},
    {768 * KIB, "", "a\r\n", "", decode},
    {2048 * KIB, "", "abcdefgh", "", hash},
    {3072 * KIB, "", "a", "b", find},
    {1024 * KIB, "", "aaaaaaaaaaa\nbbbbbbbbbbb\nbbbbbbbbbbb\n", "", compare},
    {128 * KIB, "", "(a) ", "", check},
    {64 * KIB, "", "\n(defun f ", "", check},
    {256 * KIB, "", "a", "", check},
    {256 * KIB, "\"", "a", "\"", check},
    {256 * KIB, "#|", "a", "|#", check},
    {128 * KIB, "", "(defun f ())", "", find_definition},
};

static void make_text(size_t i, size_t n)
{
    size_t length = strlen(cases[i].again);

    buf_release(&text);
    buf_str(&text, str_from(cases[i].first));
    char *to = buf_reserve(&text, n);
    for (size_t at = 0; to && at + length <= n; at += length) {
        memcpy(to + at, cases[i].again, length);
        text.n += length;
    }
    buf_str(&text, str_from(cases[i].last));
    assert_memory(!buf_failed(&text));
}

/* The steps that case I takes; stops it before step LAST. */
static int count_steps(size_t i, int last)
{
    int steps = 1;

    begin(cases[i].run);
    while (steps < last && !strand_go_on(work.strand))
        steps++;
    strand_free(work.strand);
    work.strand = NULL;
    work.arena.strand = NULL;
    arena_release(&work.arena);
    return steps;
}

static void strand_pauses_in_all_long_work(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        make_text(i, cases[i].n);
        int steps = count_steps(i, INT32_MAX);
        assert_ok(work.status);
        if (steps < 4 || steps > 10)
            print_error("case %zu: %d steps\n", i, steps);
        assert_true(steps >= 4 && steps <= 10);
        assert_memory(count_steps(i, 3) == 3); // stopped in the middle
        assert_status(work.status, ST_NOMEM);
    }
}

static bool is_true(void *context)
{
    return *(bool *)context;
}

static bool event;

static enum status wait_for_event(struct work *w)
{
    w->done = 1;
    bool came = strand_wait(w->strand, is_true, &event);
    w->done = 2;
    return came ? ST_OK : ST_NOMEM;
}

static void strand_waits_for_what_is_outside(void **state)
{
    (void)state;
    event = false;
    begin(wait_for_event);
    assert_false(strand_is_waiting(work.strand));
    for (int i = 0; i < 3; i++) {
        assert_false(strand_go_on(work.strand));
        assert_true(strand_is_waiting(work.strand));
        assert_int_equal(work.done, 1);
    }
    event = true;
    assert_false(strand_is_waiting(work.strand));
    assert_true(strand_go_on(work.strand));
    assert_false(strand_is_waiting(work.strand));
    assert_int_equal(work.done, 2);
    assert_ok(work.status);
    // when it is freed, it waits for nothing
    strand_free(work.strand);
    work.arena.strand = NULL;
    event = false;
    begin(wait_for_event);
    assert_false(strand_go_on(work.strand));
    strand_free(work.strand);
    work.strand = NULL;
    assert_status(work.status, ST_NOMEM);
}

static int64_t time_us;

static int64_t clock_that_stands(void)
{
    return time_us;
}

/* As much work as one look at the clock, which takes a millisecond. */
static enum status slow(struct work *w)
{
    for (w->done = 0; w->done < 10; w->done++) {
        if (arena_spend(&w->arena, LIMIT_STEP_LOOK) != ST_OK)
            return ST_NOMEM;
        time_us += 1000;
    }
    return ST_OK;
}

static void strand_pauses_when_a_step_takes_long(void **state)
{
    (void)state;
    strand_use_clock(clock_that_stands);
    begin(slow);
    assert_false(strand_go_on(work.strand)); // more than 4 of them
    assert_int_equal(work.done, 5);
    time_us += 100 * LIMIT_STEP_US; // outside: does not count
    assert_true(strand_go_on(work.strand));
    assert_int_equal(work.done, 10);
    strand_use_clock(NULL);
    assert_ok(work.status);
}

static enum status slow_inside(struct work *w)
{
    struct work inner = {.run = slow};
    int steps = 0;

    inner.strand = strand_new(run, &inner);
    if (!inner.strand)
        return ST_NOMEM;
    inner.arena.strand = inner.strand;
    time_us += LIMIT_STEP_US; // the step of the outer one is nearly over
    for (; !strand_go_on(inner.strand); steps++)
        w->done = inner.done;
    strand_free(inner.strand);
    return inner.status != ST_OK || steps > 0 ? inner.status : ST_INVALID;
}

static void strand_inside_of_another_has_the_same_time(void **state)
{
    (void)state;
    strand_use_clock(clock_that_stands);
    begin(slow_inside);
    assert_true(strand_go_on(work.strand));
    strand_use_clock(NULL);
    assert_ok(work.status);
    assert_int_equal(work.done, 9);
}

/* All of the stack but a page can be used, with the frame of what began it. */
static enum status use_stack(struct work *w)
{
    volatile char room[LIMIT_STRAND_STACK - 4096];

    for (size_t i = 0; i < sizeof room; i++)
        room[i] = (char)i;
    if (arena_spend(&w->arena, LIMIT_STEP) != ST_OK)
        return ST_NOMEM;
    for (size_t i = 0; i < sizeof room; i++)
        w->done += room[i] == (char)i;
    return ST_OK;
}

static void strand_has_its_stack(void **state)
{
    (void)state;
    begin(use_stack);
    assert_false(strand_go_on(work.strand));
    assert_true(strand_go_on(work.strand));
    assert_ok(work.status);
    assert_int_equal(work.done, LIMIT_STRAND_STACK - 4096);
}

/* What may recur does so as deep as its limits let it, and takes a part of the
   stack of a strand: on less than half of it, where there is a guard page, it
   runs, too. */
static void *recur(void *context)
{
    struct work *w = context;
    struct diff diff;
    struct regex regex;
    struct str why;
    bool found;
    size_t at;

    w->status = diff_make(&w->arena, w->text,
                          str_make(w->text.p + 2, w->text.n - 2), &diff);
    for (size_t i = 0; w->status == ST_OK && i < 2; i++) {
        char nested[2 * LIMIT_REGEX_DEPTH + 3] = "";
        size_t depth = LIMIT_REGEX_DEPTH + i;

        memset(nested, '(', depth);
        nested[depth] = 'x';
        memset(nested + depth + 1, ')', depth);
        enum status status = regex_init(&regex, &w->arena,
                                        str_make(nested, 2 * depth + 1), &why);
        if (status == ST_OK && i == 0)
            status = regex_search(&regex, &w->arena, STR("yx"), &found, &at);
        w->done += status == (i == 0 ? ST_OK : ST_INVALID);
        if (status == ST_NOMEM)
            w->status = ST_NOMEM;
    }
    return NULL;
}

static void work_takes_a_part_of_the_stack(void **state)
{
    pthread_attr_t attributes;
    pthread_t thread;
    unsigned random = 1;

    (void)state;
    for (int i = 0; i < 2000; i++) { // lines that match in many ways
        random = random * 1103515245u + 12345u;
        buf_printf(&text, "%u\n", random >> 16 & 3);
    }
    assert_memory(!buf_failed(&text));
    work.text = buf_view(&text);
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(
        pthread_attr_setstacksize(&attributes, LIMIT_STRAND_STACK / 2), 0);
    assert_int_equal(pthread_create(&thread, &attributes, recur, &work), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(pthread_attr_destroy(&attributes), 0);
    assert_ok(work.status);
    assert_int_equal(work.done, 2);
}

/* Numbers that are in registers, as far as there are enough, while it pauses.
 */
static enum status sums(struct work *w)
{
    long a = w->done;
    long b = a + 1;
    long c = a + 2;
    long d = a + 3;
    long e = a + 4;
    long f = a + 5;
    double x = (double)a + 0.5;

    for (int i = 0; i < 100; i++) {
        if (arena_spend(&w->arena, LIMIT_STEP - 1) != ST_OK)
            return ST_NOMEM;
        a += b;
        b += c;
        c += d;
        d += e;
        e += f;
        f += 1;
        x *= 1.5;
    }
    w->done = (int)(a + b + c + d + e + f) + (int)(x / 1e17);
    return ST_OK;
}

static void strand_keeps_what_is_in_registers(void **state)
{
    struct work other = {.run = sums};
    struct arena none = {0};
    struct work plain = {.arena = none};
    int steps = 0;
    bool ended = false;

    (void)state;
    assert_ok(sums(&plain)); // in no strand, and never pauses
    begin(sums);
    other.strand = strand_new(run, &other);
    assert_memory(other.strand != NULL);
    other.arena.strand = other.strand;
    while (!strand_go_on(work.strand)) {
        ended = ended || strand_go_on(other.strand); // in turns
        steps++;
    }
    while (!ended)
        ended = strand_go_on(other.strand);
    strand_free(other.strand);
    assert_in_range(steps, 10, 200);
    assert_int_equal(work.done, plain.done);
    assert_int_equal(other.done, plain.done);
}

static void begin_nothing(void)
{
}

static bool is_quick(void)
{
    static struct stacks_place place;
    static char stack[4096];

    stacks_prepare(&place, begin_nothing, stack, sizeof stack);
    return place.top != NULL;
}

/* In a process that may read, write and nothing else. Writes to OUT what it has
   done, if it lives as long; 0: it was not confined. */
static void run_confined(int out)
{
    char done = 0;

    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) == 0) {
        while (!strand_go_on(work.strand))
            continue;
        done = (char)work.done;
    }
    (void)!write(out, &done, 1); // the reader sees what is missing
    _exit(0);                    // which ends it in any case
}

static void strand_makes_no_system_call(void **state)
{
    int ends[2];
    char done = -1;

    (void)state;
    if (!is_quick())
        skip(); // then the C library makes one, on purpose
    begin(three_steps);
    assert_return_code(pipe(ends), 0);
    pid_t pid = fork();
    assert_return_code(pid, 0);
    if (pid == 0)
        run_confined(ends[1]);
    (void)close(ends[1]);
    ssize_t n = read(ends[0], &done, 1);
    (void)close(ends[0]);
    (void)waitpid(pid, NULL, 0);
    if (n == 1 && done == 0)
        skip(); // a system without seccomp
    assert_int_equal(n, 1);
    assert_int_equal(done, 3);
}

#define TEST(function) cmocka_unit_test_teardown(function, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(strand_pauses_when_a_step_is_full),
        TEST(strand_ends_when_it_is_freed),
        TEST(strand_gives_no_memory_once_it_is_stopped),
        TEST(strand_goes_on_inside_of_another),
        TEST(strand_pauses_in_all_long_work),
        TEST(strand_waits_for_what_is_outside),
        TEST(strand_pauses_when_a_step_takes_long),
        TEST(strand_inside_of_another_has_the_same_time),
        TEST(strand_has_its_stack),
        TEST(work_takes_a_part_of_the_stack),
        TEST(strand_keeps_what_is_in_registers),
        TEST(strand_makes_no_system_call),
    };
    return RUN_TESTS("strand", tests);
}
