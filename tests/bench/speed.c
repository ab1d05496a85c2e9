/* SPDX-License-Identifier: GPL-3.0-or-later */
/* speed.c: see speed.h. */
#include "bench/speed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench/caller.h"
#include "bench/peer.h"
#include "bench/reference.h"
#include "bench/table.h"

enum { TURNS = 2 };

/* The calls in the file, in its order. */
enum call { FIB, TAK, CLOSURES, SIEVE, FORMATS, CLASSES, CALLS };

static const char *const names[CALLS] = {
    "fib 27", "tak 18 12 6",   "closures",
    "sieve",  "20,000 format", "100,000 generic calls"};

/* The milliseconds of each call that COMMAND prints. */
static void times_of(const char *const *command, double times[CALLS])
{
    struct peer peer;

    peer_start(&peer, command);
    for (int i = 0; i < CALLS; i++) {
        times[i] = strtod(peer_line(&peer).p, NULL);
        if (!(times[i] > 0))
            peer_fail(&peer, "measured nothing");
    }
    peer_stop(&peer);
}

/* The times that a call prints in an answer, in which lines are parted by \\n.
 */
static void times_in_answer(struct peer *peer, double times[CALLS])
{
    int id = caller_send(peer, "evaluate-lisp",
                         "\"code\":\"(ecl-mcp-bench:print-times)\"");
    const char *at = strstr(caller_take(peer, id, "=> "), "[stdout]\\n");

    for (int i = 0; i < CALLS; i++) {
        at = at ? strstr(at, "\\n") : NULL;
        times[i] = at ? strtod(at += 2, NULL) : 0;
        if (!(times[i] > 0))
            peer_fail(peer, "measured nothing");
    }
}

/* The same in the server with --native VALUE, half a second after it has loaded
   SOURCE. */
static void times_of_server(const char *const *command, const char *value,
                            const char *source, double times[CALLS])
{
    const char *with[] = {command[0], "--native", value, NULL};
    struct timespec half = {0, 500000000};
    char path[256];
    struct peer peer;

    (void)snprintf(path, sizeof path, "\"path\":\"%s\"", source);
    peer_start(&peer, with);
    caller_initialize(&peer);
    (void)caller_call(&peer, "load-file", path, "Loaded");
    (void)nanosleep(&half, NULL);
    times_in_answer(&peer, times);
    peer_stop(&peer);
}

/* Keeps in TIMES the lesser one of each time in TIMES and MORE. */
static void keep_least(double times[CALLS], const double more[CALLS])
{
    for (int i = 0; i < CALLS; i++)
        if (times[i] == 0 || more[i] < times[i])
            times[i] = more[i];
}

/* Rows of what has become native half a second after it was loaded. Server and
   SBCL take turns: what disturbs the machine disturbs both. */
static void bench_native(const char *const *command, const char *source,
                         const double ecl[CALLS])
{
    // largest ratios to plain ECL's interpreter, and to SBCL; 0 is no goal
    static const double most[CALLS] = {0.2, 0.1, 0.25, 0.4, 0, 0};
    static const double most_sbcl[CALLS] = {2, 3, 3, 3, 4, 0};
    const char *sbcl[] = {"sbcl",
                          "--noinform",
                          "--no-userinit",
                          "--load",
                          source,
                          "--eval",
                          "(ecl-mcp-bench:print-times)",
                          "--quit",
                          NULL};
    bool beside = reference_is_installed("sbcl");
    double native[CALLS] = {0};
    double theirs[CALLS] = {0};
    double times[CALLS];
    char what[64];

    for (int turn = 0; turn < TURNS; turn++) {
        times_of_server(command, "on", source, times);
        keep_least(native, times);
        if (!beside)
            continue;
        times_of(sbcl, times);
        keep_least(theirs, times);
    }
    for (int i = 0; i < CALLS; i++) {
        (void)snprintf(what, sizeof what, "%s, --native on", names[i]);
        table_times(what, native[i], "ecl", ecl[i], most[i]);
    }
    for (int i = 0; beside && i < CALLS; i++) {
        (void)snprintf(what, sizeof what, "%s, --native on", names[i]);
        table_times(what, native[i], "sbcl", theirs[i], most_sbcl[i]);
    }
}

/* A library that is compiled into an empty cache. */
static void bench_cold_load(const char *const *command)
{
    char cache[] = "/tmp/ecl-mcp-bench-XXXXXX";
    char remove[sizeof cache + 16];
    struct peer peer;

    if (!mkdtemp(cache) || setenv("XDG_CACHE_HOME", cache, 1) < 0)
        return;
    peer_start(&peer, command);
    caller_initialize(&peer);
    (void)caller_evaluate(&peer, "1", "=> 1");
    table_most("alexandria, not compiled yet",
               caller_call(&peer, "load-system", "\"system\":\"alexandria\"",
                           "Loaded"),
               "ms", 5500);
    peer_stop(&peer);
    (void)unsetenv("XDG_CACHE_HOME");
    (void)snprintf(remove, sizeof remove, "rm -rf %s", cache);
    if (system(remove) != 0) // NOLINT(cert-env33-c): a fixed command
        perror("bench: rm");
}

void bench_speed(const char *const *command, const char *source)
{
    char load[256];
    const char *plain[] = {
        "ecl",    "--norc",     "--eval",
        load,     "--eval",     "(ecl-mcp-bench:print-times)",
        "--eval", "(ext:quit)", NULL};
    double ours[CALLS];
    double ecl[CALLS];

    (void)snprintf(load, sizeof load, "(load \"%s\" :verbose nil)", source);
    times_of(plain, ecl);
    times_of_server(command, "off", source, ours);
    // the environment is at hand; see image/thread_env.c
    for (int i = 0; i < CALLS; i++)
        table_times(names[i], ours[i], "ecl", ecl[i],
                    i == FORMATS ? 0.9 : 1.05);
    bench_native(command, source, ecl);
    bench_cold_load(command);
}
