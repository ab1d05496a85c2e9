/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tier.c: see tier.h. */
#include "bench/tier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/caller.h"
#include "bench/peer.h"
#include "bench/table.h"

enum {
    DEFINITIONS = 60,
    CALLS = 1500,
    CALLS_BETWEEN = 50,
    FUNCTIONS = 20,
    MIDDLE_RUNS = 5
};

static const char ask[] =
    "(count-if (lambda (name) (ecl-mcp::native-function-p (symbol-function "
    "name))) '(%s))";

static void wait_milliseconds(long n)
{
    struct timespec time = {n / 1000, n % 1000 * 1000000};

    (void)nanosleep(&time, NULL);
}

static void start(struct peer *peer, const char *const *command,
                  const char *value)
{
    const char *with[] = {command[0], "--native", value, NULL};

    peer_start(peer, with);
    caller_initialize(peer);
    (void)caller_evaluate(peer, "(list 1 2 3)", "=> (1 2 3)");
}

/* Defines function number I; returns the milliseconds of the call. */
static double define(struct peer *peer, int i)
{
    char code[160];

    (void)snprintf(code, sizeof code,
                   "(defun f%d (n) (if (< n 2) n (+ (f%d (- n 1)) (f%d (- n "
                   "2)))))",
                   i, i, i);
    return caller_evaluate(peer, code, "=> F");
}

/* The milliseconds until the functions with NAMES, N in number, are native. */
static double until_native(struct peer *peer, const char *names, int n)
{
    double start = peer_now();
    char code[1024];
    char text[16];

    (void)snprintf(code, sizeof code, ask, names);
    (void)snprintf(text, sizeof text, "=> %d\"", n);
    while (peer_now() - start < 30000) {
        struct buf arguments = BUF_EMPTY;
        const char *answer;

        wait_milliseconds(10);
        buf_printf(&arguments, "\"code\":\"%s\"", code);
        buf_byte(&arguments, '\0');
        if (buf_failed(&arguments))
            peer_fail(peer, "out of memory");
        answer = caller_take(
            peer, caller_send(peer, "evaluate-lisp", arguments.p), "=> ");
        buf_release(&arguments);
        if (strstr(answer, text))
            return peer_now() - start;
    }
    peer_fail(peer, "made nothing native");
}

/* How much later a definition is answered because it becomes native. */
static void bench_definitions(const char *const *command)
{
    static double times[2][DEFINITIONS];
    struct peer peers[2];

    start(&peers[0], command, "off");
    start(&peers[1], command, "on");
    for (int i = 0; i < DEFINITIONS; i++)
        for (int which = 0; which < 2; which++) {
            wait_milliseconds(30); // as long as a copy is taken after a call
            times[which][i] = define(&peers[which], i);
        }
    table_time("a definition, --native on, later by",
               table_median(times[1], DEFINITIONS) -
                   table_median(times[0], DEFINITIONS),
               0.15);
    peer_stop(&peers[0]);
    peer_stop(&peers[1]);
}

/* How much longer calls take while functions are compiled. */
static void bench_calls(const char *const *command)
{
    static double times[2][CALLS];
    struct peer peer;

    start(&peer, command, "on");
    for (int i = 0; i < CALLS; i++) // nothing is compiled
        times[0][i] = caller_evaluate(&peer, "(list 1 2 3)", "=> (1 2 3)");
    for (int i = 0; i < CALLS; i++) {
        if (i % CALLS_BETWEEN == 0) {
            (void)define(&peer, i);
            wait_milliseconds(30); // the job begins
        }
        times[1][i] = caller_evaluate(&peer, "(list 1 2 3)", "=> (1 2 3)");
    }
    table_time("a call during a job, p50, later by",
               table_median(times[1], CALLS) - table_median(times[0], CALLS),
               0.1);
    table_time("the same, p99",
               times[1][CALLS * 99 / 100] - times[0][CALLS * 99 / 100], 2);
    peer_stop(&peer);
}

/* How soon one function, in a home without compiled headers, and then 20 are
   native. */
static void bench_soon(const char *const *command)
{
    char cache[] = "/tmp/ecl-mcp-bench-XXXXXX";
    char remove[sizeof cache + 16];
    struct buf code = BUF_EMPTY;
    char names[256] = "";
    size_t n = 0;
    struct peer peer;

    if (!mkdtemp(cache) || setenv("XDG_CACHE_HOME", cache, 1) < 0)
        return;
    start(&peer, command, "on");
    (void)define(&peer, 0);
    table_most("first function in a fresh home, native after",
               until_native(&peer, "f0", 1), "ms", 500);
    wait_milliseconds(1000); // the header is made
    for (int i = 0; i < FUNCTIONS; i++) {
        buf_printf(&code,
                   "(defun g%d (n m) (let ((l (list n m))) (dolist (x l) (incf "
                   "n (* x %d))) (values n (g%d m n))))",
                   i, i, (i + 1) % FUNCTIONS);
        n += (size_t)snprintf(names + n, sizeof names - n, "g%d ", i);
    }
    buf_byte(&code, '\0');
    if (buf_failed(&code))
        peer_fail(&peer, "out of memory");
    (void)caller_evaluate(&peer, code.p, "=> G19");
    table_most("20 functions, native after",
               until_native(&peer, names, FUNCTIONS), "ms", 1000);
    buf_release(&code);
    peer_stop(&peer);
    (void)unsetenv("XDG_CACHE_HOME");
    (void)snprintf(remove, sizeof remove, "rm -rf %s", cache);
    if (system(remove) != 0) // NOLINT(cert-env33-c): a fixed command
        perror("bench: rm");
}

/* How much longer FIB of 35 takes in the evaluation that defines it than it
   does once it is native; the goal is 300 ms more. */
static void bench_middle(const char *const *command)
{
    static const char result[] = "=> 9227465";
    double native[MIDDLE_RUNS];
    double middle[MIDDLE_RUNS];
    struct peer peer;

    start(&peer, command, "on");
    (void)define(&peer, 0);
    (void)until_native(&peer, "f0", 1);
    for (int i = 0; i < MIDDLE_RUNS; i++) {
        char code[192];

        native[i] = caller_evaluate(&peer, "(f0 35)", result);
        (void)snprintf(
            code, sizeof code,
            "(defun g%d (n) (if (< n 2) n (+ (g%d (- n 1)) (g%d (- n "
            "2))))) (g%d 35)",
            i, i, i, i);
        middle[i] = caller_evaluate(&peer, code, result);
    }
    table_most("fib 35 in one call with its definition",
               table_median(middle, MIDDLE_RUNS), "ms",
               table_median(native, MIDDLE_RUNS) + 300);
    peer_stop(&peer);
}

void bench_tier(const char *const *command)
{
    bench_definitions(command);
    bench_calls(command);
    bench_soon(command);
    bench_middle(command);
}
