/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench.c: measures the server against references on the same machine, in one
   run, both in turns, and prints values, ratios and goals:
     bench SERVER ECHO FLOOR CLIENT TURNS SPEED [PART]
   ECHO is the program of echo.c, FLOOR that of floor.c, CLIENT is client.mjs,
   TURNS is turns.mjs, SPEED is speed.lisp; the commands `ecl` and `node` are
   searched for in PATH. With PART, the name of a part (PARTS), only that is
   measured.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/caller.h"
#include "bench/errors.h"
#include "bench/growth.h"
#include "bench/life.h"
#include "bench/memory.h"
#include "bench/peer.h"
#include "bench/place.h"
#include "bench/sandbox.h"
#include "bench/speed.h"
#include "bench/table.h"
#include "bench/tier.h"

enum {
    STARTS = 15,       /* of each program */
    WARM_UP = 200,     /* calls before calls are measured */
    ROUNDS = 10,       /* of calls one after the other, */
    CALLS = 500,       /* in each round */
    PIPELINED = 30000, /* calls sent ahead, */
    WINDOW = 64,       /* of them at a time, */
    AT_ONCE = 1000,    /* or so many */
    DAY = 2000,        /* calls before memory is measured, */
    SOME_CALLS = 900,  /* some with pauses */
    SHORT_MS = 25,     /* that are short, */
    FEW_CALLS = 24,    /* and a few with others */
    LONG_MS = 200,
    BIG_CODE = 10000000,   /* bytes of the long argument */
    OUTPUT_LINES = 1000000 /* of 100 bytes each */
};

/* The commands that are measured, and the files of the rest. */
struct commands {
    const char *server[2];
    const char *plain[4]; /* the same, where there is no system */
    const char *echo[2];
    const char *two[3];
    const char *floor[3];
    const char *all[4];
    const char *client[7];
    const char *turns[4];
    const char *speed;
};

static const char *const ECL_QUIT[] = {"ecl", "--norc", "--eval", "(ext:quit)",
                                       NULL};
static const char *const ECL_PROMPT[] = {"ecl", NULL};

/* Prints a million lines of 99 characters. */
static const char PRINT_FORM[] =
    "(dotimes (i 1000000) (write-line (load-time-value"
    " (make-string 99 :initial-element (code-char 120)))))";
static const char *const ECL_PRINT[] = {
    "ecl", "--norc", "--eval", PRINT_FORM, "--eval", "(ext:quit)", NULL};

static double command_time(const char *const *command)
{
    struct peer peer;
    double start = peer_now();

    peer_start(&peer, command);
    peer_stop(&peer);
    return peer_now() - start;
}

static double prompt_time(void)
{
    struct peer peer;
    double start = peer_now();

    peer_start(&peer, ECL_PROMPT);
    peer_expect(&peer, "> ");
    start = peer_now() - start;
    peer_stop(&peer);
    return start;
}

/* From the start to the answers to initialize and to the first evaluation. */
static void start_times(const char *const *server, double *initialized,
                        double *evaluated)
{
    struct peer peer;
    double start = peer_now();

    peer_start(&peer, server);
    caller_initialize(&peer);
    *initialized = peer_now() - start;
    (void)caller_evaluate(&peer, "(+ 1 2)", "=> 3");
    *evaluated = peer_now() - start;
    peer_stop(&peer);
}

static void bench_start(const char *const *server)
{
    double quit[STARTS];
    double prompt[STARTS];
    double initialized[STARTS];
    double evaluated[STARTS];
    int i;

    for (i = 0; i < STARTS; i++) {
        quit[i] = command_time(ECL_QUIT);
        start_times(server, &initialized[i], &evaluated[i]);
        prompt[i] = prompt_time();
    }
    table_times("start to initialize reply", table_median(initialized, STARTS),
                "ecl quit", table_median(quit, STARTS), 0.1);
    table_time("the same", table_median(initialized, STARTS), 1.5);
    table_times("start to first evaluation reply",
                table_median(evaluated, STARTS), "ecl quit",
                table_median(quit, STARTS), 1.1);
    table_times("first evaluation", table_median(evaluated, STARTS),
                "ecl prompt", table_median(prompt, STARTS), 0);
}

/* What a lone call takes against an echo of the same shape and the floor. */
static void compare_calls(const char *what, double ours, double two,
                          double floor)
{
    table_times(what, ours, "two-process echo", two, 0);
    table_floor("the same", ours, 1.5 * two, "what it needs", floor);
}

/* Calls one after the other from client.mjs. Real clients are like it: they
   have an event loop and parse JSON, which takes as long in each of the three
   rows. An echo by one process would say nothing of us: two switches of
   processes and hardly any work. */
static void bench_client(const char *const *command)
{
    enum { TIMES = 3 };
    struct peer client;
    struct str line;
    double times[TIMES];
    char *end;

    peer_start(&client, command);
    line = peer_line(&client);
    for (int i = 0; i < TIMES; i++) {
        times[i] = strtod(i == 0 ? line.p : end, &end); // to the line's end
        if (!(times[i] > 0))
            peer_fail(&client, "measured nothing");
    }
    peer_stop(&client);
    compare_calls("lone call, client in Node, p50", times[0], times[1],
                  times[2]);
}

/* Calls one after the other from this program. */
static void bench_calls(struct peer *server, struct peer *echo)
{
    static double ours[ROUNDS * CALLS];
    static double theirs[ROUNDS * CALLS];
    size_t n = 0;
    int round;
    int i;

    for (i = 0; i < WARM_UP; i++) {
        (void)caller_evaluate(server, "(+ 1 2)", "=> 3");
        (void)caller_evaluate(echo, "(+ 1 2)", "=> 3");
    }
    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < CALLS; i++)
            ours[n + (size_t)i] = caller_evaluate(server, "(+ 1 2)", "=> 3");
        for (i = 0; i < CALLS; i++)
            theirs[n + (size_t)i] = caller_evaluate(echo, "(+ 1 2)", "=> 3");
        n += CALLS;
    }
    table_times("lone call, this client, p50", table_median(ours, n), "echo",
                table_median(theirs, n), 0);
    table_times("the same, p99", ours[n * 99 / 100], "echo",
                theirs[n * 99 / 100], 0);
}

/* The same calls against an echo through a second process, and against FLOOR,
   which does what no server of this kind can leave out, and ALL, which also
   makes the system calls that promises need. Where the system puts the
   processes decides most of it: on one processor, or where it likes. */
static void bench_two(const struct commands *commands, bool pinned)
{
    enum { SERVER, TWO, FLOOR, ALL, PEERS };
    const char *const *started[PEERS] = {commands->server, commands->two,
                                         commands->floor, commands->all};
    static double times[PEERS][ROUNDS * CALLS];
    struct peer peers[PEERS];
    double medians[PEERS];

    if (pinned)
        peer_pin(true);
    for (size_t k = 0; k < PEERS; k++) {
        peer_start(&peers[k], started[k]);
        caller_initialize(&peers[k]);
        for (int i = 0; i < WARM_UP; i++)
            (void)caller_evaluate(&peers[k], "(+ 1 2)", "=> 3");
    }
    for (size_t n = 0; n < ROUNDS * CALLS; n += CALLS)
        for (size_t k = 0; k < PEERS; k++)
            for (size_t i = 0; i < CALLS; i++)
                times[k][n + i] = caller_evaluate(&peers[k], "(+ 1 2)", "=> 3");
    for (size_t k = 0; k < PEERS; k++) {
        medians[k] = table_median(times[k], ROUNDS * CALLS);
        peer_stop(&peers[k]);
    }
    compare_calls(pinned ? "lone call, one processor, p50"
                         : "lone call, all processors, p50",
                  medians[SERVER], medians[TWO], medians[ALL]);
    table_times("floor of it: ECL and log", medians[FLOOR], "two-process echo",
                medians[TWO], 0);
    table_times("and the system calls that it needs", medians[ALL],
                "two-process echo", medians[TWO], 0);
    if (pinned)
        peer_pin(false);
}

/* Calls per second while OPEN of them are, or fewer. */
static double pipelined(struct peer *peer, int open)
{
    struct buf lines = BUF_EMPTY;
    double start = peer_now();
    int sent = 0;
    int got;

    for (got = 0; got < PIPELINED; got++) {
        // in halves of the window, like a client that collects its writes
        if (sent - got <= open / 2 && sent < PIPELINED) {
            buf_reset(&lines);
            while (sent < PIPELINED && sent - got < open)
                caller_write(&lines, ++sent, "evaluate-lisp",
                             "\"code\":\"(+ 1 2)\"");
            peer_send(peer, buf_view(&lines));
        }
        (void)caller_take(peer, got + 1, "=> 3");
    }
    buf_release(&lines);
    return (double)PIPELINED / (peer_now() - start) * 1e3;
}

static void bench_pipelined(struct peer *server, struct peer *echo)
{
    static const int open[] = {WINDOW, AT_ONCE};

    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++) {
        double ours = pipelined(server, open[i]);
        double theirs = pipelined(echo, open[i]);
        char what[64];
        char value[32];
        char reference[64];

        (void)snprintf(what, sizeof what, "calls, %d at a time", open[i]);
        (void)snprintf(value, sizeof value, "%.0f /s", ours);
        (void)snprintf(reference, sizeof reference, "echo %.0f /s", theirs);
        table_row(what, value, reference, ours / theirs, ">= 60000 /s",
                  ours >= 60000);
    }
}

/* What an agent does: calls with pauses, in which copies are taken. */
static void calls_with_pauses(struct peer *server, int calls, long ms)
{
    struct timespec pause = {ms / 1000, ms % 1000 * 1000000};

    for (int i = 0; i < calls; i++) {
        (void)caller_evaluate(server, "(+ 1 2)", "=> 3");
        (void)nanosleep(&pause, NULL); // nothing depends on its length
    }
}

/* The memory of all images: with one session that was used once, and after so
   many calls as an agent makes in a day. */
static void bench_memory(struct peer *server)
{
    (void)caller_call(server, "checkpoint-session", "\"name\":\"bench\"",
                      "taken");
    table_most("server, resident", memory_of(server->pid, "VmRSS"), "MB", 4);
    table_most("images, PSS, idle", memory_below(server->pid), "MB", 12);
    for (int i = 0; i < DAY; i++)
        (void)caller_evaluate(server, "(+ 1 2)", "=> 3");
    (void)caller_call(server, "checkpoint-session", "\"name\":\"bench\"",
                      "taken");
    table_most("images, PSS, after 2,000 calls", memory_below(server->pid),
               "MB", 15);
}

/* The same in a server whose calls have pauses, as those of agents. */
static void bench_calm(const char *const *command)
{
    struct peer server;

    peer_start(&server, command);
    caller_initialize(&server);
    calls_with_pauses(&server, SOME_CALLS, SHORT_MS);
    table_most("the same, 900 calls with pauses of 25 ms",
               memory_below(server.pid), "MB", 15);
    peer_stop(&server);
}

/* A call with a string of BIG_CODE bytes. */
static void bench_big(struct peer *server)
{
    char *code = malloc(BIG_CODE + 32);
    char answer[32];
    int n;
    double time;

    if (!code)
        peer_fail(server, "out of memory");
    n = snprintf(code, 32, "(length \\\"");
    memset(code + n, 'x', BIG_CODE);
    (void)snprintf(code + n + BIG_CODE, 8, "\\\")");
    (void)snprintf(answer, sizeof answer, "=> %d", BIG_CODE);
    time = caller_evaluate(server, code, answer);
    free(code);
    table_most("10 MB of code", time, "ms", 150);
    table_most("images, PSS after it", memory_below(server->pid), "MB", 0);
}

static void bench_output(struct peer *server)
{
    double theirs = command_time(ECL_PRINT);
    double ours = caller_evaluate(server, PRINT_FORM, "=> NIL");

    table_times("100 MB of output", ours, "ecl", theirs, 0);
    table_most("server, most it ever held", memory_of(server->pid, "VmHWM"),
               "MB", 0);
    table_most("images, PSS, after all of this", memory_below(server->pid),
               "MB", 0);
    calls_with_pauses(server, FEW_CALLS, LONG_MS);
    table_most("the same, 24 calls with pauses of 200 ms",
               memory_below(server->pid), "MB", 25);
    table_most("image, most one ever held", memory_peak_below(server->pid),
               "MB", 0);
}

/* The field of LINE after the tab number TAB, up to the next one. */
static struct str field_of(struct str line, int tab)
{
    const char *end;

    for (; tab > 0 && (end = memchr(line.p, '\t', line.n)); tab--)
        line = str_make(end + 1, line.n - (size_t)(end + 1 - line.p));
    end = memchr(line.p, '\t', line.n);
    return end ? str_make(line.p, (size_t)(end - line.p)) : line;
}

/* The most that some kind of call has taken. */
struct worst {
    double most;
    char kind[80];
};

static void note_kind(struct worst *worst, double figure, struct str kind)
{
    if (figure < worst->most)
        return;
    worst->most = figure;
    (void)snprintf(worst->kind, sizeof worst->kind, "%.*s", STR_ARG(kind));
}

/* One row of turns.mjs: the WORST kind of FAMILY, which may take LIMIT. */
static void row_of_turn(const char *what, const char *family,
                        const struct worst *worst, const char *unit, int limit)
{
    char title[200];
    char value[32];
    char bound[32];

    (void)snprintf(title, sizeof title, "%s, %s", what, family);
    (void)snprintf(value, sizeof value, "%.1f %s", worst->most, unit);
    (void)snprintf(bound, sizeof bound, "<= %d %s", limit, unit);
    table_row(title, value, worst->kind, 0, bound, worst->most <= limit);
}

static void rows_of_turns(const char *family, const struct worst *turn,
                          const struct worst *memory)
{
    row_of_turn("longest turn", family, turn, "ms", 20);
    row_of_turn("memory beyond the text", family, memory, "MB", 64);
}

/* What one call may take of the loop, in time of the processor, and of memory:
   for each family of calls at full size the worst one. */
static void bench_turns(const char *const *command)
{
    char family[40] = "";
    struct worst turn = {0};
    struct worst memory = {0};
    struct peer turns;

    peer_start(&turns, command);
    for (;;) {
        struct str line = peer_line(&turns);
        struct str name = field_of(line, 0);
        bool more = !str_eq(line, STR("end"));

        if (more && strtod(field_of(line, 1).p, NULL) == 0)
            peer_fail(&turns, "measured nothing");
        if (!more || !str_eq(name, str_from(family))) {
            if (*family != '\0')
                rows_of_turns(family, &turn, &memory);
            (void)snprintf(family, sizeof family, "%.*s", STR_ARG(name));
            turn.most = memory.most = 0;
        }
        if (!more)
            break;
        note_kind(&turn, strtod(field_of(line, 1).p, NULL), field_of(line, 5));
        note_kind(&memory, strtod(field_of(line, 4).p, NULL),
                  field_of(line, 5));
    }
    peer_stop(&turns);
}

static void bench_server(const struct commands *commands)
{
    struct peer server;
    struct peer echo;

    peer_start(&server, commands->plain);
    peer_start(&echo, commands->echo);
    caller_initialize(&server);
    caller_initialize(&echo);
    (void)caller_evaluate(&server, "(+ 1 2)", "=> 3");
    bench_memory(&server);
    bench_calm(commands->plain);
    bench_calls(&server, &echo);
    bench_pipelined(&server, &echo);
    bench_big(&server);
    bench_output(&server);
    peer_stop(&echo);
    peer_stop(&server);
}

static void part_start(const struct commands *commands)
{
    bench_start(commands->server);
}

static void part_calls(const struct commands *commands)
{
    bench_client(commands->client);
    bench_two(commands, true);
    bench_two(commands, false);
}

static void part_life(const struct commands *commands)
{
    bench_life(commands->plain, commands->two, commands->all);
}

static void part_growth(const struct commands *commands)
{
    bench_growth(commands->plain);
}

static void part_errors(const struct commands *commands)
{
    bench_errors(commands->server);
}

static void part_sandbox(const struct commands *commands)
{
    bench_sandbox(commands->server[0]);
}

static void part_speed(const struct commands *commands)
{
    bench_speed(commands->server, commands->speed);
}

static void part_tier(const struct commands *commands)
{
    bench_tier(commands->server);
}

static void part_turns(const struct commands *commands)
{
    bench_turns(commands->turns);
}

static const struct part {
    const char *name;
    void (*measure)(const struct commands *commands);
} PARTS[] = {
    {"start", part_start},     {"calls", part_calls},
    {"server", bench_server},  {"life", part_life},
    {"growth", part_growth},   {"errors", part_errors},
    {"sandbox", part_sandbox}, {"speed", part_speed},
    {"tier", part_tier},       {"turns", part_turns},
};

enum { PARTS_N = sizeof PARTS / sizeof *PARTS };

/* Measures the part NAME, or all; false: there is none of that name. */
static bool measure(const char *name, const struct commands *commands)
{
    bool found = false;

    for (int i = 0; i < PARTS_N; i++) {
        if (name && strcmp(name, PARTS[i].name) != 0)
            continue;
        if (!found)
            table_head();
        found = true;
        PARTS[i].measure(commands);
    }
    return found;
}

static int refuse(const char *name)
{
    (void)fprintf(stderr, "bench: there is no part \"%s\"; the parts are",
                  name);
    for (int i = 0; i < PARTS_N; i++)
        (void)fprintf(stderr, "%s %s", i > 0 ? "," : "", PARTS[i].name);
    (void)fputs("\n", stderr);
    return 2;
}

int main(int argc, char **argv)
{
    const char *const *file = (const char *const *)argv;
    const char *part = argc == 8 ? argv[7] : NULL;
    char log[1024];
    char plain[PLACE_ROOM];
    struct commands commands;

    if (argc != 7 && argc != 8) {
        (void)fprintf(stderr, "usage: bench SERVER ECHO FLOOR CLIENT TURNS "
                              "SPEED [PART]\n");
        return 2;
    }
    (void)snprintf(log, sizeof log, "%s.log", file[3]);
    place_make(plain, "plain", false);
    commands = (struct commands){
        .server = {file[1]},
        .plain = {file[1], "--workspace", plain},
        .echo = {file[2]},
        .two = {file[2], "two"},
        .floor = {file[3], log},
        .all = {file[3], log, "all"},
        .client = {"node", file[4], file[1], file[2], file[3], log},
        .turns = {"node", file[5], file[1]},
        .speed = file[6],
    };
    (void)signal(SIGPIPE, SIG_IGN); // write reports it
    return measure(part, &commands) ? 0 : refuse(part);
}
