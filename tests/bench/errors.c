/* SPDX-License-Identifier: GPL-3.0-or-later */
/* errors.c: see errors.h. */
#include "bench/errors.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "bench/caller.h"
#include "bench/peer.h"
#include "bench/table.h"

enum {
    ROUNDS = 31,
    PAUSE_MS = 150 /* until the copy of the session is taken: the next call does
                      not wait for it */
};

/* An error of which there is a copy, one of which there is none, and no error.
 */
static const char FROZEN[] = "(car 1)";
static const char PLAIN[] = "(let ((ecl-mcp::*freezes* nil)) (car 1))";
static const char NONE[] = "(list 1)";

static double timed(struct peer *peer, const char *code, const char *text)
{
    struct timespec left = {0, PAUSE_MS * 1000000};

    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
    return caller_evaluate(peer, code, text);
}

/* Rows for a heap with MB of data. Errors with and without a copy take turns,
   and so do calls with and without frozen errors before them. */
static void bench_heap(const char *const *server, int mb, double most)
{
    struct peer errors;
    struct peer quiet;
    double frozen[ROUNDS];
    double plain[ROUNDS];
    double behind[ROUNDS];
    double alone[ROUNDS];
    char fill[128];
    char what[64];

    (void)snprintf(fill, sizeof fill,
                   "(defvar *data* (loop repeat %d collect (make-array 131072 "
                   ":initial-element 0)))",
                   mb);
    peer_start(&errors, server);
    peer_start(&quiet, server);
    caller_initialize(&errors);
    caller_initialize(&quiet);
    (void)caller_evaluate(&errors, fill, "=> *DATA*");
    (void)caller_evaluate(&quiet, fill, "=> *DATA*");
    for (size_t i = 0; i < ROUNDS; i++) {
        plain[i] = timed(&errors, PLAIN, "is not of the expected type");
        frozen[i] = timed(&errors, FROZEN, "Frozen as error");
        behind[i] = timed(&errors, NONE, "=> (1)");
        alone[i] = timed(&quiet, NONE, "=> (1)");
    }
    (void)snprintf(what, sizeof what, "error, %d MB: later by its copy, p50",
                   mb);
    table_most(what, table_median(frozen, ROUNDS) - table_median(plain, ROUNDS),
               "ms", most);
    (void)snprintf(what, sizeof what, "call, %d MB, 3 errors frozen, p50", mb);
    table_times(what, table_median(behind, ROUNDS), "none frozen",
                table_median(alone, ROUNDS), 1.3);
    peer_stop(&quiet);
    peer_stop(&errors);
}

void bench_errors(const char *const *server)
{
    bench_heap(server, 10, 3);
    bench_heap(server, 200, 15);
}
