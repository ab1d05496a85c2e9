/* SPDX-License-Identifier: GPL-3.0-or-later */
/* check.c: assertions, and test runs in which allocations fail. */
#include "support/check.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

/* The linker's names for the wrapped functions; weak, because they exist only
   in programs that are linked with --wrap. */
void *__real_malloc(size_t n) __attribute__((weak));
void *__real_calloc(size_t n, size_t size) __attribute__((weak));
void *__real_realloc(void *p, size_t n) __attribute__((weak));
void __real_free(void *p) __attribute__((weak));
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);

/* The address sanitizer's hook: a huge allocation fails, as it does without
   the sanitizer. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* The most tests of one program. */
#define MAX_TESTS 200

/* Up to this number, each allocation fails once. Of later ones only a sample
   fails, so that a test with many allocations stays fast. */
#define EVERY_ONE 300

static struct {
    bool active;      /* allocations are counted and may fail */
    size_t fail_at;   /* number of the allocation that fails */
    bool for_good;    /* all later ones fail, too */
    size_t count;     /* allocations of this run */
    bool failed;      /* one of them was made to fail */
    atomic_long live; /* allocated and not freed, in the whole program: threads
                         free, too */
    jmp_buf end;      /* of the run */
    struct CMUnitTest tests[MAX_TESTS];
} oom;

static bool fails(void)
{
    if (!oom.active)
        return false;
    oom.count++;
    bool now =
        oom.count == oom.fail_at || (oom.for_good && oom.count > oom.fail_at);
    oom.failed = oom.failed || now;
    return now;
}

static void *counted(void *p)
{
    oom.live += p != NULL;
    return p;
}

void *__wrap_malloc(size_t n)
{
    return fails() ? NULL : counted(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails() ? NULL : counted(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t n)
{
    if (fails())
        return NULL;
    return !p ? counted(__real_malloc(n)) : __real_realloc(p, n);
}

void __wrap_free(void *p)
{
    oom.live -= p != NULL;
    __real_free(p);
}

bool check_memory_is_back(void)
{
    oom.active = false;
    return oom.failed;
}

/* Runs TEST once; returns whether an allocation was made to fail. */
static bool run_once(const struct CMUnitTest *test, size_t fail_at,
                     bool for_good)
{
    void *state = test->initial_state;
    long live = oom.live;
    if (test->setup_func)
        assert_int_equal(test->setup_func(&state), 0);
    oom.count = 0;
    oom.failed = false;
    oom.for_good = for_good;
    oom.fail_at = fail_at;
    oom.active = true;
    if (setjmp(oom.end) == 0)
        test->test_func(&state);
    bool failed = check_memory_is_back();
    if (test->teardown_func)
        assert_int_equal(test->teardown_func(&state), 0);
    if (oom.live != live)
        fail_msg("%ld allocations leaked", oom.live - live);
    return failed;
}

/* The body of each test when allocations fail; STATE is the test proper. */
static void run_failing(void **state)
{
    const struct CMUnitTest *test = *state;
    size_t n = 1;
    while (run_once(test, n, false) && run_once(test, n, true))
        n += n < EVERY_ONE ? 1 : n / 4;
    *state = NULL;
}

static int report_failure(void **state)
{
    oom.active = false;
    if (*state)
        print_error("allocation %zu%s had failed\n", oom.fail_at,
                    oom.for_good ? " and all after it" : "");
    return 0;
}

int check_run(const char *name, const struct CMUnitTest *tests, size_t n)
{
    if (!__real_malloc)
        return _cmocka_run_group_tests(name, tests, n, NULL, NULL);
    static struct CMUnitTest failing[MAX_TESTS];
    if (n > MAX_TESTS) {
        fprintf(stderr, "%s: more than %d tests\n", name, MAX_TESTS);
        return 1;
    }
    for (size_t i = 0; i < n; i++) {
        oom.tests[i] = tests[i];
        failing[i] = (struct CMUnitTest){
            .name = tests[i].name,
            .test_func = run_failing,
            .teardown_func = report_failure,
            .initial_state = &oom.tests[i],
        };
    }
    return _cmocka_run_group_tests(name, failing, n, NULL, NULL);
}

void check_status(enum status status, enum status wanted, const char *file,
                  int line)
{
    if (status == ST_NOMEM && oom.failed)
        longjmp(oom.end, 1);
    _assert_int_equal(status, wanted, file, line);
}

void check_memory(bool there, const char *file, int line)
{
    if (!there && oom.failed)
        longjmp(oom.end, 1);
    _assert_true(there, "memory", file, line);
}

void check_text(struct str s, struct str wanted, const char *file, int line)
{
    if (str_eq(s, wanted))
        return;
    print_error("got \"%.*s\"\nnot \"%.*s\"\n", STR_ARG(s), STR_ARG(wanted));
    _fail(file, line);
}

int check_wait(pid_t pid)
{
    int status = -1;

    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}
