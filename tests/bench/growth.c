/* SPDX-License-Identifier: GPL-3.0-or-later */
/* growth.c: see growth.h. */
#include "bench/growth.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/caller.h"
#include "bench/memory.h"
#include "bench/peer.h"
#include "bench/place.h"
#include "bench/reference.h"
#include "bench/table.h"

enum {
    FOREIGN = 1000, /* processes of nobody's session */
    PINGS = 500,
    PING_PAUSE_MS = 5,
    SESSIONS = 255,    /* besides main, */
    COPIES_MS = 60000, /* which have taken their copies by then */
    POLL_MS = 100,
    CALLS = 80,  /* in each round, */
    ROUNDS = 25, /* with and without the other sessions, in turns */
    DEFINITIONS = 100000,
    IDLE_MS = 1000, /* which is enough to load ASDF ahead */
    LOOKS = 5       /* at the definitions, and of the compiler at code */
};

static void pause_ms(long ms)
{
    struct timespec left = {ms / 1000, ms % 1000 * 1000000};

    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
}

static void start(struct peer *peer, const char *const *server)
{
    peer_start(peer, server);
    caller_initialize(peer);
    (void)caller_evaluate(peer, "(+ 1 2)", "=> 3");
}

static void stop(const pid_t *pids, int n)
{
    for (int i = 0; i < n; i++) {
        (void)kill(pids[i], SIGKILL); // it does nothing else
        (void)waitpid(pids[i], NULL, 0);
    }
}

static void bench_foreign(const char *const *server)
{
    static pid_t pids[FOREIGN];
    double times[PINGS];
    struct peer peer;
    int n = 0;

    start(&peer, server);
    for (; n < FOREIGN; n++) {
        pids[n] = fork();
        if (pids[n] < 0)
            break;
        if (pids[n] == 0)
            for (;;)
                (void)pause();
    }
    if (n < FOREIGN) {
        stop(pids, n);
        peer_fail(&peer, "no processes");
    }
    (void)caller_send(&peer, "evaluate-lisp",
                      "\"timeout\":600,\"code\":\"(sleep 600)\"");
    for (size_t i = 0; i < PINGS; i++) {
        pause_ms(PING_PAUSE_MS);
        times[i] = caller_ping(&peer);
    }
    stop(pids, n);
    (void)table_median(times, PINGS); // which sorts them
    table_time("ping beside 1,000 foreign processes, p99",
               times[PINGS * 99 / 100], 2);
    peer_stop(&peer);
}

static double call_time(struct peer *peer)
{
    double times[CALLS];

    for (size_t i = 0; i < CALLS; i++)
        times[i] = caller_evaluate(peer, "(+ 1 2)", "=> 3");
    return table_median(times, CALLS);
}

/* Where the system puts the processes decides most of what a call takes, and it
   changes: on one processor, or where it likes. */
static void bench_sessions(const char *const *server, bool pinned)
{
    double alone[ROUNDS];
    double beside[ROUNDS];
    char arguments[64];
    struct peer one;
    struct peer many;

    if (pinned)
        peer_pin(true);
    start(&one, server);
    start(&many, server);
    for (int i = 0; i < SESSIONS; i++) {
        (void)snprintf(arguments, sizeof arguments,
                       "\"session\":\"s%d\",\"code\":\"(+ 1 2)\"", i);
        (void)caller_call(&many, "evaluate-lisp", arguments, "=> 3");
    }
    // three processes for each: the keeper, the image and its copy
    for (double give_up = peer_now() + COPIES_MS;
         memory_processes(many.pid) < 3 * (SESSIONS + 1); pause_ms(POLL_MS))
        if (peer_now() > give_up)
            peer_fail(&many, "did not take checkpoints");
    for (size_t i = 0; i < ROUNDS; i++) {
        alone[i] = call_time(&one);
        beside[i] = call_time(&many);
    }
    table_times(pinned ? "the same, one processor"
                       : "lone call, 256 sessions open, p50",
                table_median(beside, ROUNDS), "one",
                table_median(alone, ROUNDS), pinned ? 1.1 : 1.2);
    peer_stop(&many);
    peer_stop(&one);
    if (pinned)
        peer_pin(false);
}

static void bench_definitions(const char *const *server)
{
    double lists[LOOKS];
    double searches[LOOKS];
    char code[200];
    struct peer peer;

    start(&peer, server);
    (void)snprintf(code, sizeof code,
                   "(dotimes (i %d :ok) (eval (list 'defun (intern "
                   "(format nil \\\"F~d\\\" i)) nil i)))",
                   DEFINITIONS);
    (void)caller_evaluate(&peer, code, "=> :OK");
    for (size_t i = 0; i < LOOKS; i++) {
        lists[i] = caller_call(&peer, "list-definitions", "", "F");
        searches[i] =
            caller_call(&peer, "apropos-search", "\"pattern\":\"F\"", "F");
    }
    table_time("list-definitions, 100,000 of them, p50",
               table_median(lists, LOOKS), 60);
    table_time("apropos-search, 100,000 hits, p50",
               table_median(searches, LOOKS), 60);
    peer_stop(&peer);
}

/* What loads a part of ECL that is a file of its own. */
static void bench_parts(const char *const *server)
{
    double looks[LOOKS];
    double loads[LOOKS];
    char arguments[100];
    struct peer peer;

    start(&peer, server);
    (void)caller_call(&peer, "compile-form", "\"code\":\"1\"", "compiled");
    for (size_t i = 0; i < LOOKS; i++) {
        looks[i] =
            caller_call(&peer, "compile-form",
                        "\"code\":\"(defun f (x) (+ x 1))\"", "compiled");
        (void)snprintf(arguments, sizeof arguments,
                       "\"session\":\"a%zu\",\"code\":\"(+ 1 2)\"", i);
        (void)caller_call(&peer, "evaluate-lisp", arguments, "=> 3");
        (void)snprintf(arguments, sizeof arguments,
                       "\"session\":\"a%zu\",\"code\":"
                       "\"(progn (require :asdf) 1)\"",
                       i);
        loads[i] = caller_call(&peer, "evaluate-lisp", arguments, "=> 1");
    }
    table_time("compile-form, compiler loaded, p50", table_median(looks, LOOKS),
               20);
    table_floor("first load of ASDF in a session, p50",
                table_median(loads, LOOKS), 30, "ecl",
                reference_first("ecl", "(require :asdf)"));
    peer_stop(&peer);
}

/* The same in a workspace that has a system, when the session was used once and
   was idle then; the memory of both. */
static void bench_ahead(const char *const *server)
{
    static char workspace[PLACE_ROOM];
    const char *const other[] = {server[0], "--workspace", workspace, NULL};
    double loads[LOOKS];
    double with[LOOKS];
    double without[LOOKS];

    place_make(workspace, "systems", true);
    for (size_t i = 0; i < LOOKS; i++) {
        struct peer ahead;
        struct peer plain;

        start(&ahead, other);
        start(&plain, server);
        pause_ms(IDLE_MS);
        with[i] = memory_below(ahead.pid);
        without[i] = memory_below(plain.pid);
        loads[i] = caller_evaluate(&ahead, "(progn (require :asdf) 1)", "=> 1");
        peer_stop(&plain);
        peer_stop(&ahead);
    }
    table_time("the same, a system in the workspace, idle for 1 s",
               table_median(loads, LOOKS), 30);
    table_most("images, PSS, idle for 1 s in that workspace",
               table_median(with, LOOKS), "MB", 0);
    table_most("images, PSS, idle for 1 s in one without",
               table_median(without, LOOKS), "MB", 12);
}

void bench_growth(const char *const *server)
{
    bench_foreign(server);
    bench_sessions(server, false);
    bench_sessions(server, true);
    bench_definitions(server);
    bench_parts(server);
    bench_ahead(server);
}
