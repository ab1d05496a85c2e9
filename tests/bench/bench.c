/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bench.c: measures the server against references on the same machine, in one
   run, ours and the reference in turns, and prints values, ratios and goals:
     bench SERVER ECHO
   ECHO is the program of echo.c; the command `ecl` is looked for in PATH. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "peer.h"

enum {
    STARTS = 15,           /* of each program */
    WARM_UP = 200,         /* calls before calls are measured */
    ROUNDS = 10,           /* of calls one after the other, */
    CALLS = 500,           /* so many in each */
    PIPELINED = 30000,     /* calls sent ahead, */
    WINDOW = 64,           /* so many at a time */
    BIG_CODE = 10000000,   /* bytes of the long argument */
    OUTPUT_LINES = 1000000 /* of 100 bytes each */
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

static int compare(const void *a, const void *b)
{
    const double *x = a;
    const double *y = b;

    return (*x > *y) - (*x < *y);
}

static double median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare);
    return values[n / 2];
}

static void initialize(struct peer *peer)
{
    peer_send(peer,
              STR("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\","
                  "\"params\":{\"protocolVersion\":\"2025-06-18\","
                  "\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\","
                  "\"version\":\"1\"}}}\n"));
    (void)peer_line(peer); // whether it works the calls will show
    peer_send(peer, STR("{\"jsonrpc\":\"2.0\",\"method\":"
                        "\"notifications/initialized\"}\n"));
}

static void write_call(struct buf *out, int id, const char *code)
{
    buf_printf(out,
               "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\","
               "\"params\":{\"name\":\"evaluate-lisp\",\"arguments\":"
               "{\"code\":\"%s\"}}}\n",
               id, code);
}

/* Takes the answer to call ID, which must hold TEXT. */
static void take_answer(struct peer *peer, int id, const char *text)
{
    struct str line = peer_line(peer);
    char *copy = malloc(line.n + 1);
    char wanted[32];
    bool right;

    if (!copy)
        peer_fail(peer, "out of memory");
    memcpy(copy, line.p, line.n);
    copy[line.n] = '\0';
    (void)snprintf(wanted, sizeof wanted, "\"id\":%d,", id);
    right = strstr(copy, wanted) && strstr(copy, text);
    free(copy);
    if (!right)
        peer_fail(peer, "gives a wrong answer");
}

/* One call; the milliseconds it took. */
static double call(struct peer *peer, const char *code, const char *text)
{
    static int id;
    struct buf line = BUF_EMPTY;
    double start;

    write_call(&line, ++id, code);
    start = peer_now();
    peer_send(peer, buf_view(&line));
    take_answer(peer, id, text);
    start = peer_now() - start;
    buf_release(&line);
    return start;
}

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
    initialize(&peer);
    *initialized = peer_now() - start;
    (void)call(&peer, "(+ 1 2)", "=> 3");
    *evaluated = peer_now() - start;
    peer_stop(&peer);
}

static void row(const char *what, const char *value, const char *reference,
                double ratio, const char *goal, bool met)
{
    char text[32] = "";

    if (ratio > 0)
        (void)snprintf(text, sizeof text, "%.2f", ratio);
    printf("%-38s %14s %22s %7s  %-14s %s\n", what, value, reference, text,
           goal,
           *goal == '\0' ? ""
           : met         ? "met"
                         : "MISSED");
}

/* A row of two times and the most that their ratio may be. */
static void row_times(const char *what, double ours, const char *name,
                      double theirs, double most)
{
    char value[32];
    char reference[64];
    char goal[32];

    (void)snprintf(value, sizeof value, "%.3f ms", ours);
    (void)snprintf(reference, sizeof reference, "%s %.3f ms", name, theirs);
    (void)snprintf(goal, sizeof goal, "ratio <= %.1f", most);
    row(what, value, reference, ours / theirs, most > 0 ? goal : "",
        ours / theirs <= most);
}

static void row_most(const char *what, double ours, const char *unit,
                     double most)
{
    char value[32];
    char goal[32];

    (void)snprintf(value, sizeof value, "%.1f %s", ours, unit);
    (void)snprintf(goal, sizeof goal, "<= %.0f %s", most, unit);
    row(what, value, "", 0, most > 0 ? goal : "", ours <= most);
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
    row_times("start to initialize reply", median(initialized, STARTS),
              "ecl quit", median(quit, STARTS), 0.1);
    row_times("start to first evaluation reply", median(evaluated, STARTS),
              "ecl quit", median(quit, STARTS), 1.1);
    row_times("the same", median(evaluated, STARTS), "ecl prompt",
              median(prompt, STARTS), 0);
}

static void bench_calls(struct peer *server, struct peer *echo)
{
    static double ours[ROUNDS * CALLS];
    static double theirs[ROUNDS * CALLS];
    size_t n = 0;
    int round;
    int i;

    for (i = 0; i < WARM_UP; i++) {
        (void)call(server, "(+ 1 2)", "=> 3");
        (void)call(echo, "(+ 1 2)", "=> 3");
    }
    for (round = 0; round < ROUNDS; round++) {
        for (i = 0; i < CALLS; i++)
            ours[n + (size_t)i] = call(server, "(+ 1 2)", "=> 3");
        for (i = 0; i < CALLS; i++)
            theirs[n + (size_t)i] = call(echo, "(+ 1 2)", "=> 3");
        n += CALLS;
    }
    row_times("call, one after the other, p50", median(ours, n), "echo",
              median(theirs, n), 2.0);
    row_times("the same, p99", ours[n * 99 / 100], "echo", theirs[n * 99 / 100],
              0);
}

/* Calls a second with WINDOW of them under way. */
static double pipelined(struct peer *peer)
{
    struct buf lines = BUF_EMPTY;
    double start = peer_now();
    int sent = 0;
    int got;

    for (got = 0; got < PIPELINED; got++) {
        // in halves of the window, as a client that collects its writes
        if (sent - got <= WINDOW / 2 && sent < PIPELINED) {
            buf_reset(&lines);
            while (sent < PIPELINED && sent - got < WINDOW)
                write_call(&lines, ++sent, "(+ 1 2)");
            peer_send(peer, buf_view(&lines));
        }
        take_answer(peer, got + 1, "=> 3");
    }
    buf_release(&lines);
    return (double)PIPELINED / (peer_now() - start) * 1e3;
}

static void bench_pipelined(struct peer *server, struct peer *echo)
{
    double ours = pipelined(server);
    double theirs = pipelined(echo);
    char value[32];
    char reference[64];

    (void)snprintf(value, sizeof value, "%.0f /s", ours);
    (void)snprintf(reference, sizeof reference, "echo %.0f /s", theirs);
    row("calls, 64 under way", value, reference, ours / theirs, ">= 36000 /s",
        ours >= 36000);
}

static void bench_memory(struct peer *server)
{
    row_most("server, resident", memory_of(server->pid, "VmRSS"), "MB", 4);
    row_most("image and session, PSS", memory_below(server->pid), "MB", 20);
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
    time = call(server, code, answer);
    free(code);
    row_most("10 MB of code", time, "ms", 0);
}

static void bench_output(struct peer *server)
{
    double theirs = command_time(ECL_PRINT);
    double ours = call(server, PRINT_FORM, "=> NIL");

    row_times("100 MB of output", ours, "ecl", theirs, 0);
    row_most("server, most it ever held", memory_of(server->pid, "VmHWM"), "MB",
             0);
    row_most("image, most one ever held", memory_peak_below(server->pid), "MB",
             0);
}

int main(int argc, char **argv)
{
    const char *server_command[] = {argc > 1 ? argv[1] : NULL, NULL};
    const char *echo_command[] = {argc > 2 ? argv[2] : NULL, NULL};
    struct peer server;
    struct peer echo;

    if (argc != 3) {
        (void)fprintf(stderr, "usage: bench SERVER ECHO\n");
        return 2;
    }
    (void)signal(SIGPIPE, SIG_IGN); // write says so
    printf("%-38s %14s %22s %7s  %s\n", "measured", "value", "reference",
           "ratio", "goal");
    bench_start(server_command);
    peer_start(&server, server_command);
    peer_start(&echo, echo_command);
    initialize(&server);
    initialize(&echo);
    bench_calls(&server, &echo);
    bench_memory(&server);
    bench_pipelined(&server, &echo);
    bench_big(&server);
    bench_output(&server);
    peer_stop(&echo);
    peer_stop(&server);
    return 0;
}
