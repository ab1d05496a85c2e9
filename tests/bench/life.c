/* SPDX-License-Identifier: GPL-3.0-or-later */
/* life.c: see life.h. */
#include "bench/life.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/caller.h"
#include "bench/memory.h"
#include "bench/peer.h"
#include "bench/reference.h"
#include "bench/table.h"

enum {
    SESSIONS = 200,   /* besides main */
    KILLS = 15,       /* of each kind */
    RUN_MS = 30,      /* of an evaluation before its image is killed */
    CHECKPOINTS = 30, /* one after the other */
    CALLS = 20,       /* pairs of them, */
    THINK_MS = 200,   /* with this pause before each, as agents make it */
    STOPS = 15,       /* evaluations that reach their limit, */
    LIMIT_MS = 100,   /* which is this */
    POLL_MS = 10,
    PINGS = 1000, /* while all sessions run, */
    PING_PAUSE_MS = 5,
    PROGRAMS = 20,   /* and each of some has so many programs running */
    HEAVY_ROUNDS = 3 /* of evaluations that allocate much */
};

/* A million conses and 80 MB of arrays: 100 MB of live data. */
#define LIVE_DATA                                                              \
    "(defvar *data* (list (make-list 1000000) (loop repeat 800 collect"        \
    " (make-array 12500))))"

/* What an evaluation after a pause may take, in calls of the echo through two
   processes after the same pause: that is what the system needs to wake up. */
#define LONE_RATIO 1.8

/* Another 400 MB of live data. */
#define MORE_DATA                                                              \
    "(defvar *more* (loop repeat 4000 collect (make-array 12500)))"

/* 1 GB of live data, and the heap that it needs while it is made. */
#define GREAT_DATA                                                             \
    "(defvar *great* (loop repeat 10000 collect (make-array 12500)))"
#define GREAT_HEAP "4G"

/* Allocates 400 MB of conses and vectors, most of them garbage; returns the
   milliseconds. */
#define HEAVY                                                                  \
    "(let ((start (get-internal-real-time)) (kept nil)) (dotimes (i 200)"      \
    " (setf kept (list (make-list 50000) (make-array 150000))))"               \
    " (values (floor (* 1000 (- (get-internal-real-time) start))"              \
    " internal-time-units-per-second) (length kept)))"

static void start(struct peer *peer, const char *const *server)
{
    peer_start(peer, server);
    caller_initialize(peer);
}

/* The number after the first "=> " of an answer. */
static long number(const char *answer)
{
    return strtol(strstr(answer, "=> ") + 3, NULL, 10);
}

/* The value of a form, a number. */
static long value(struct peer *peer, const char *session, const char *code)
{
    char arguments[1024];

    (void)snprintf(arguments, sizeof arguments,
                   "\"session\":\"%s\",\"code\":\"%s\"", session, code);
    return number(caller_take(
        peer, caller_send(peer, "evaluate-lisp", arguments), "=> "));
}

/* Takes a checkpoint of session main and waits for it. */
static double checkpoint(struct peer *peer)
{
    return caller_call(peer, "checkpoint-session", "\"name\":\"bench\"",
                       "taken");
}

static void pause_ms(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};

    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
}

/* Opens sessions by their first evaluation, and measures the memory that they
   hold when each has its checkpoint. */
static void bench_sessions(const char *const *server)
{
    double times[SESSIONS];
    double before;
    double give_up;
    struct peer peer;
    size_t i;

    start(&peer, server);
    (void)caller_evaluate(&peer, "(+ 1 2)", "=> 3");
    (void)checkpoint(&peer);
    before = memory_below(peer.pid);
    for (i = 0; i < SESSIONS; i++) {
        char arguments[64];

        (void)snprintf(arguments, sizeof arguments,
                       "\"session\":\"s%zu\",\"code\":\"(+ 1 2)\"", i);
        times[i] = caller_call(&peer, "evaluate-lisp", arguments, "=> 3");
    }
    // three processes for each: the keeper, the image and its copy
    for (give_up = peer_now() + 10000;
         memory_processes(peer.pid) < 3 * SESSIONS; pause_ms(POLL_MS))
        if (peer_now() > give_up)
            peer_fail(&peer, "did not take checkpoints");
    table_most("session opened and used, p50", table_median(times, SESSIONS),
               "ms", 0);
    table_most("PSS of an idle session of 200",
               (memory_below(peer.pid) - before) / SESSIONS, "MB", 3);
    table_most("server, resident with 200 sessions",
               memory_of(peer.pid, "VmRSS"), "MB", 0);
    peer_stop(&peer);
}

/* Pings of the server while sessions run CODE, N of them. */
static void bench_pings(const char *const *server, const char *what,
                        const char *code, size_t n)
{
    double times[PINGS];
    char arguments[256];
    char row[64];
    struct peer peer;
    size_t i;

    start(&peer, server);
    (void)caller_evaluate(&peer, "(+ 1 2)", "=> 3");
    for (i = 0; i < n; i++) {
        (void)snprintf(arguments, sizeof arguments,
                       "\"session\":\"s%zu\",\"code\":\"(+ 1 2)\"", i);
        (void)caller_call(&peer, "evaluate-lisp", arguments, "=> 3");
    }
    for (i = 0; i < n; i++) {
        (void)snprintf(arguments, sizeof arguments,
                       "\"session\":\"s%zu\",\"timeout\":600,\"code\":\"%s\"",
                       i, code);
        (void)caller_send(&peer, "evaluate-lisp", arguments);
    }
    for (i = 0; i < PINGS; i++) {
        pause_ms(PING_PAUSE_MS);
        times[i] = caller_ping(&peer);
    }
    (void)snprintf(row, sizeof row, "ping beside %s, p50", what);
    table_most(row, table_median(times, PINGS), "ms", 0);
    (void)snprintf(row, sizeof row, "the same, p99");
    table_most(row, times[PINGS * 99 / 100], "ms", 50);
    peer_stop(&peer);
}

static void bench_busy(const char *const *server)
{
    char code[160];

    bench_pings(server, "200 running sessions", "(sleep 600)", SESSIONS);
    (void)snprintf(code, sizeof code,
                   "(ext:system \\\"i=0; while [ $i -lt %d ]; do sleep 600 & "
                   "i=$((i+1)); done; wait\\\")",
                   PROGRAMS);
    bench_pings(server, "20 with 20 programs each", code, SESSIONS / 10);
}

/* From the death of the image to the answer: that of the next call, and that of
   the call that was running. */
static void bench_restore(const char *const *server)
{
    double idle[KILLS];
    double running[KILLS];
    double next[KILLS];
    struct peer peer;
    size_t i;

    start(&peer, server);
    (void)caller_evaluate(&peer, "(defun sq (x) (* x x))", "=> SQ");
    for (i = 0; i < KILLS; i++) {
        pid_t pid = (pid_t)value(&peer, "main", "(si:getpid)");
        double time;
        int id;

        (void)checkpoint(&peer);
        time = peer_now();
        (void)kill(pid, SIGKILL); // if that fails, no answer mentions it
        (void)caller_evaluate(&peer, "(sq 12)", "=> 144");
        idle[i] = peer_now() - time;
        pid = (pid_t)value(&peer, "main", "(si:getpid)");
        (void)checkpoint(&peer);
        id = caller_send(&peer, "evaluate-lisp", "\"code\":\"(loop)\"");
        pause_ms(RUN_MS);
        time = peer_now();
        (void)kill(pid, SIGKILL);
        (void)caller_take(&peer, id, "continues from");
        running[i] = peer_now() - time;
        next[i] = caller_evaluate(&peer, "(sq 12)", "=> 144");
    }
    table_most("kill -9 when idle to the next answer, p50",
               table_median(idle, KILLS), "ms", 10);
    table_most("kill -9 to the answer of the call, p50",
               table_median(running, KILLS), "ms", 10);
    table_most("the call after that, p50", table_median(next, KILLS), "ms", 0);
    peer_stop(&peer);
}

/* Evaluations in pairs after a pause: the first is what a client that thinks
   sees, with a checkpoint since the last pair; the second comes right behind
   it, and the checkpoint between them. */
struct pairs {
    double lone[CALLS];
    double behind[CALLS];
    double echo[CALLS]; /* of other programs, after the same pause */
    double floor[CALLS];
};

static double after_pause(struct peer *peer)
{
    pause_ms(THINK_MS);
    return caller_evaluate(peer, "(+ 1 2)", "=> 3");
}

/* Measures them, beside TWO and FLOOR, if there are any. */
static void measure_pairs(struct pairs *pairs, struct peer *peer,
                          struct peer *two, struct peer *floor)
{
    for (size_t i = 0; i < CALLS; i++) {
        if (two)
            pairs->echo[i] = after_pause(two);
        if (floor)
            pairs->floor[i] = after_pause(floor);
        pairs->lone[i] = after_pause(peer);
        pairs->behind[i] = caller_evaluate(peer, "(+ 1 2)", "=> 3");
    }
}

/* The second may take MOST milliseconds. */
static void bench_pairs(struct peer *peer, const char *heap, double most)
{
    struct pairs pairs;
    char row[64];

    measure_pairs(&pairs, peer, NULL, NULL);
    (void)snprintf(row, sizeof row, "evaluation after %d ms, heap %s, p50",
                   THINK_MS, heap);
    table_time(row, table_median(pairs.lone, CALLS), 0);
    (void)snprintf(row, sizeof row, "right behind it, heap %s, p50", heap);
    table_time(row, table_median(pairs.behind, CALLS), most);
}

/* The same with a small heap, beside both programs. */
static void compare_pairs(struct peer *peer, const char *const *two_command,
                          const char *const *floor_command)
{
    struct pairs pairs;
    struct peer two;
    struct peer floor;
    double lone;
    double echo;

    peer_start(&two, two_command);
    peer_start(&floor, floor_command);
    (void)caller_evaluate(&floor, "(+ 1 2)", "=> 3");
    measure_pairs(&pairs, peer, &two, &floor);
    peer_stop(&floor);
    peer_stop(&two);
    lone = table_median(pairs.lone, CALLS);
    echo = table_median(pairs.echo, CALLS);
    table_times("evaluation after 200 ms, heap 10 MB, p50", lone,
                "two-process echo", echo, 0);
    table_floor("the same", lone, LONE_RATIO * echo, "what it needs",
                table_median(pairs.floor, CALLS));
    table_times("right behind it, heap 10 MB, p50",
                table_median(pairs.behind, CALLS), "the lone one", lone, 1.0);
}

static void bench_checkpoints(const char *const *server, const char *const *two,
                              const char *const *floor)
{
    double times[CHECKPOINTS];
    struct peer peer;
    size_t i;

    start(&peer, server);
    (void)caller_evaluate(&peer, "(+ 1 2)", "=> 3");
    for (i = 0; i < CHECKPOINTS; i++)
        times[i] = checkpoint(&peer);
    table_most("checkpoint, p50", table_median(times, CHECKPOINTS), "ms", 0);
    compare_pairs(&peer, two, floor);
    (void)caller_evaluate(&peer, LIVE_DATA, "=> *DATA*");
    for (i = 0; i < CHECKPOINTS; i++)
        times[i] = checkpoint(&peer);
    table_most("checkpoint of 100 MB, p50", table_median(times, CHECKPOINTS),
               "ms", 0);
    bench_pairs(&peer, "100 MB", 1);
    (void)caller_evaluate(&peer, MORE_DATA, "=> *MORE*");
    (void)checkpoint(&peer);
    bench_pairs(&peer, "500 MB", 3);
    peer_stop(&peer);
}

static void bench_great(const char *const *server)
{
    const char *command[] = {server[0], "--memory", GREAT_HEAP, NULL};
    struct peer peer;

    start(&peer, command);
    (void)caller_evaluate(&peer, GREAT_DATA, "=> *GREAT*");
    (void)checkpoint(&peer);
    bench_pairs(&peer, "1 GB", 3);
    peer_stop(&peer);
}

/* 1 MB in pieces, and 10,000 lines by FORMAT. */
#define PIECES                                                                 \
    "(let ((s (make-string 100 :initial-element (code-char 97))))"             \
    " (dotimes (i 10000 :ok) (write-string s)))"
#define LINES "(dotimes (i 10000 :ok) (format t \"line ~d~%\" i))"
#define LINES_IN_JSON "(dotimes (i 10000 :ok) (format t \\\"line ~d~%\\\" i))"

/* The same output by another Lisp, to this program and without a server. */
static void compare_output(const char *what, double ours, const char *form)
{
    char row[80];

    (void)snprintf(row, sizeof row, "the same, %s", what);
    if (reference_is_installed("sbcl"))
        table_times(row, ours, "sbcl", reference_time("sbcl", form), 0);
}

/* Output of one evaluation. */
static void bench_output(const char *const *server)
{
    double pieces[STOPS];
    double lines[STOPS];
    struct peer peer;
    size_t i;

    start(&peer, server);
    (void)caller_evaluate(&peer, "(+ 1 2)", "=> 3");
    for (i = 0; i < STOPS; i++) {
        pieces[i] = caller_evaluate(&peer, PIECES, "=> :OK");
        lines[i] = caller_evaluate(&peer, LINES_IN_JSON, "=> :OK");
    }
    peer_stop(&peer);
    table_floor("1 MB printed, p50", table_median(pieces, STOPS), 4, "ecl",
                reference_time("ecl", PIECES));
    compare_output("1 MB printed, least", pieces[0], PIECES);
    table_floor("10,000 lines by FORMAT, p50", table_median(lines, STOPS), 20,
                "ecl", reference_time("ecl", LINES));
    compare_output("10,000 lines, least", lines[0], LINES);
}

/* From the end of the time limit to the answer. */
static void bench_stop(const char *const *server)
{
    double times[STOPS];
    char arguments[64];
    struct peer peer;
    size_t i;

    start(&peer, server);
    (void)caller_evaluate(&peer, "(+ 1 2)", "=> 3");
    (void)snprintf(arguments, sizeof arguments,
                   "\"code\":\"(loop)\",\"timeout\":%g", LIMIT_MS / 1000.0);
    for (i = 0; i < STOPS; i++)
        times[i] =
            caller_call(&peer, "evaluate-lisp", arguments, "limit") - LIMIT_MS;
    table_most("time limit to the answer of (loop), p50",
               table_median(times, STOPS), "ms", 50);
    peer_stop(&peer);
}

/* The same evaluation with 100 MB of live data: in the image that made the
   data, while there is no copy yet, and after checkpoints of the data. */
static void bench_heavy(const char *const *server)
{
    double with[HEAVY_ROUNDS];
    double without[HEAVY_ROUNDS];
    struct peer peer;
    size_t i;
    int k;

    for (i = 0; i < HEAVY_ROUNDS; i++) {
        start(&peer, server);
        without[i] = (double)value(&peer, "main", LIVE_DATA " " HEAVY);
        peer_stop(&peer);
        start(&peer, server);
        (void)caller_evaluate(&peer, LIVE_DATA, "=> *DATA*");
        for (k = 0; k < 4; k++)
            (void)checkpoint(&peer);
        with[i] = (double)value(&peer, "main", HEAVY);
        peer_stop(&peer);
    }
    table_times("400 MB allocated beside checkpoints",
                table_median(with, HEAVY_ROUNDS), "none",
                table_median(without, HEAVY_ROUNDS), 1.3);
}

void bench_life(const char *const *server, const char *const *two,
                const char *const *floor)
{
    bench_sessions(server);
    bench_busy(server);
    bench_restore(server);
    bench_checkpoints(server, two, floor);
    bench_great(server);
    bench_output(server);
    bench_stop(server);
    bench_heavy(server);
}
