/* SPDX-License-Identifier: GPL-3.0-or-later */
/* caller.h: an MCP client of a peer, as far as the bench needs one. An answer
   without the expected text ends the bench. */
#ifndef TESTS_BENCH_CALLER_H
#define TESTS_BENCH_CALLER_H

#include "bench/peer.h"

/* The first exchange with a server. */
void caller_initialize(struct peer *peer);

/* Appends a call of TOOL; ARGUMENTS are the inside of a JSON object. */
void caller_write(struct buf *out, int id, const char *tool,
                  const char *arguments);

/* Takes the answer to call ID, which must contain TEXT. It is valid until the
   next one. */
const char *caller_take(struct peer *peer, int id, const char *text);

/* Sends a call and returns its id. */
int caller_send(struct peer *peer, const char *tool, const char *arguments);

/* Makes one call and returns the milliseconds that it took. */
double caller_call(struct peer *peer, const char *tool, const char *arguments,
                   const char *text);

/* The milliseconds from a ping to its answer. */
double caller_ping(struct peer *peer);

/* The same as caller_call with evaluate-lisp in session main; CODE is the
   inside of a JSON string. */
double caller_evaluate(struct peer *peer, const char *code, const char *text);

#endif
