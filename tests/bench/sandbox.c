/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sandbox.c: see sandbox.h. */
#include "bench/sandbox.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/caller.h"
#include "bench/peer.h"
#include "bench/table.h"

enum {
    STARTS = 31, /* of each kind */
    WARM_UP = 200,
    ROUNDS = 20,
    CALLS = 200, /* in each round */
    FEW = 50,    /* entries of a home folder */
    SOME = 5000,
    MANY = 100000,
    HOMES = 3,
    SETTLED = 4,     /* seconds after which a home is remembered */
    SESSIONS = 15,   /* opened with each home folder */
    PATH_ROOM = 4096 /* bytes of a path */
};

/* What the sandbox may cost of a start in processor time: a thread beside the
   boot makes a rule for each neighbour of a secret, which nobody waits for.
   What one waits for is held to 1.05. */
#define MOST_USED 1.1

/* And what 5,000 entries of a home may, against 50: the rules of 78 more plain
   files, and what one run differs from another. */
#define MOST_OF_SOME 1.02

/* Milliseconds of one start; of the processor up to the end. */
struct start {
    double initialized;
    double evaluated;
    double used;
};

static struct start start_once(const char *const *command)
{
    struct peer peer;
    struct start times;
    double used = peer_used();
    double start = peer_now();

    peer_start(&peer, command);
    caller_initialize(&peer);
    times.initialized = peer_now() - start;
    (void)caller_evaluate(&peer, "(+ 1 2)", "=> 3");
    times.evaluated = peer_now() - start;
    peer_stop(&peer);
    times.used = peer_used() - used;
    return times;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return x < y ? -1 : x > y;
}

/* The lower quartile of N times: what other programs do on the machine makes
   the processor's time longer, too. */
static double quartile(double *times, size_t n)
{
    qsort(times, n, sizeof *times, compare);
    return times[n / 4];
}

static void bench_starts(const char *const *on, const char *const *off)
{
    static double initialized[2][STARTS];
    static double evaluated[2][STARTS];
    static double used[2][STARTS];

    for (int i = 0; i < STARTS; i++) {
        struct start with = start_once(on);
        struct start without = start_once(off);

        initialized[0][i] = with.initialized;
        initialized[1][i] = without.initialized;
        evaluated[0][i] = with.evaluated;
        evaluated[1][i] = without.evaluated;
        used[0][i] = with.used;
        used[1][i] = without.used;
    }
    table_times("start to initialize reply, sandbox",
                table_median(initialized[0], STARTS), "off",
                table_median(initialized[1], STARTS), 1.05);
    table_times("start to first evaluation, sandbox",
                table_median(evaluated[0], STARTS), "off",
                table_median(evaluated[1], STARTS), 1.05);
    table_times("the same to its end, processor, sandbox",
                quartile(used[0], STARTS), "off", quartile(used[1], STARTS),
                MOST_USED);
}

static void bench_calls(const char *const *on, const char *const *off)
{
    static double times[2][ROUNDS * CALLS];
    struct peer peers[2];
    size_t n = 0;

    peer_start(&peers[0], on);
    peer_start(&peers[1], off);
    for (int k = 0; k < 2; k++) {
        caller_initialize(&peers[k]);
        for (int i = 0; i < WARM_UP; i++)
            (void)caller_evaluate(&peers[k], "(+ 1 2)", "=> 3");
    }
    for (int round = 0; round < ROUNDS; round++) {
        for (int k = 0; k < 2; k++)
            for (size_t i = 0; i < CALLS; i++)
                times[k][n + i] = caller_evaluate(&peers[k], "(+ 1 2)", "=> 3");
        n += CALLS;
    }
    table_times("lone call, sandbox, p50", table_median(times[0], n), "off",
                table_median(times[1], n), 1.05);
    peer_stop(&peers[0]);
    peer_stop(&peers[1]);
}

/* Makes a home folder at PATH with N entries. */
static void make_home(const char *path, int n)
{
    char name[4 * PATH_ROOM];

    if (mkdir(path, 0700) < 0)
        perror(path);
    for (int i = 0; i < n; i++) {
        int fd;

        (void)snprintf(name, sizeof name, "%s/entry-%d", path, i);
        fd = open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        if (fd < 0)
            perror(name);
        else
            (void)close(fd); // it is empty
    }
}

/* A session is opened and used; the median. */
static double session_time(const char *const *command)
{
    double times[SESSIONS];
    char arguments[64];
    struct peer peer;

    peer_start(&peer, command);
    caller_initialize(&peer);
    (void)caller_evaluate(&peer, "(+ 1 2)", "=> 3");
    for (size_t i = 0; i < SESSIONS; i++) {
        double begun = peer_now();

        (void)snprintf(arguments, sizeof arguments,
                       "\"session\":\"s%zu\",\"code\":\"(+ 1 2)\"", i);
        (void)caller_call(&peer, "evaluate-lisp", arguments, "=> 3");
        times[i] = peer_now() - begun;
    }
    peer_stop(&peer);
    return table_median(times, SESSIONS);
}

/* Starts COMMAND once in each of HOMES, which then have all their folders, and
   waits until what they hold is remembered: that is, from the second start on,
   of a home that has not changed for some seconds. */
static void settle_homes(const char *const *command,
                         char homes[HOMES][PATH_ROOM + 8])
{
    for (int k = 0; k < HOMES; k++) {
        (void)setenv("HOME", homes[k], 1); // fails only without memory
        (void)start_once(command);
    }
    (void)sleep(SETTLED);
    for (int k = 0; k < HOMES; k++) {
        (void)setenv("HOME", homes[k], 1);
        (void)start_once(command);
    }
}

/* Neither a start nor a new session depends on how much lies in the home
   folder. */
static void bench_homes(const char *const *command)
{
    static const int entries[HOMES] = {FEW, SOME, MANY};
    static const char *const names[HOMES] = {"few", "some", "many"};
    static double evaluated[HOMES][STARTS];
    static double used[HOMES][STARTS];
    double opened[HOMES];
    const char *outer = getenv("HOME");
    char before[PATH_ROOM];
    char homes[HOMES][PATH_ROOM + 8];

    (void)snprintf(before, sizeof before, "%s", outer ? outer : "/tmp");
    for (int k = 0; k < HOMES; k++) {
        (void)snprintf(homes[k], sizeof homes[k], "%s/%s", before, names[k]);
        make_home(homes[k], entries[k]);
    }
    settle_homes(command, homes);
    for (int i = 0; i < STARTS; i++)
        for (int k = 0; k < HOMES; k++) {
            struct start times;

            (void)setenv("HOME", homes[k], 1); // fails only without memory
            times = start_once(command);
            evaluated[k][i] = times.evaluated;
            used[k][i] = times.used;
        }
    for (int k = 0; k < HOMES; k++) {
        (void)setenv("HOME", homes[k], 1);
        opened[k] = session_time(command);
    }
    (void)setenv("HOME", before, 1); // as it was
    table_times("start, 5,000 entries in the home, processor",
                quartile(used[1], STARTS), "50", quartile(used[0], STARTS),
                MOST_OF_SOME);
    table_times("start, 100,000 entries in the home folder",
                table_median(evaluated[2], STARTS), "50",
                table_median(evaluated[0], STARTS), 1.05);
    table_time("session opened, 100,000 entries, p50", opened[2], 3);
    table_time("session opened, 50 entries, p50", opened[0], 1.5);
}

/* Makes a workspace at PATH, as a user has one: a repository below the home. */
static void make_workspace(char path[PATH_ROOM])
{
    static const char *const folders[] = {"", "/.git", "/.git/hooks"};
    const char *home = getenv("HOME");
    char folder[PATH_ROOM + 32];

    (void)snprintf(path, PATH_ROOM, "%s/project", home ? home : "/tmp");
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        (void)snprintf(folder, sizeof folder, "%s%s", path, folders[i]);
        if (mkdir(folder, 0700) < 0)
            perror(folder);
    }
}

void bench_sandbox(const char *server)
{
    static char workspace[PATH_ROOM];
    const char *on[] = {server, "--workspace", workspace, NULL};
    const char *off[] = {server,      "--workspace", workspace,
                         "--sandbox", "off",         NULL};

    make_workspace(workspace);
    peer_adopt();
    bench_starts(on, off);
    bench_calls(on, off);
    bench_homes(on);
}
