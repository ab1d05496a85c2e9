/* SPDX-License-Identifier: GPL-3.0-or-later */
/* peer.h: a program under measurement, started with pipes. Any failure ends the
   bench with a message, so that no number is printed that was not measured. */
#ifndef TESTS_BENCH_PEER_H
#define TESTS_BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

struct peer {
    const char *name; /* the program's, for messages */
    pid_t pid;
    int in;  /* its standard input */
    int out; /* its standard output */
    struct buf buf;
    size_t taken; /* bytes of buf that were handed out */
};

/* Milliseconds of the monotonic clock. */
double peer_now(void);

/* Starts COMMAND, which ends with NULL, in the current folder. Its standard
   error goes to /dev/null. */
void peer_start(struct peer *peer, const char *const *command);

/* Sends all of BYTES and reads what comes meanwhile, so that neither side
   blocks. */
void peer_send(struct peer *peer, struct str bytes);

/* The next line without its end, valid until the next call. */
struct str peer_line(struct peer *peer);

/* Waits until TEXT is in the output, whatever else is. */
void peer_expect(struct peer *peer, const char *text);

/* Closes the peer's input, drops the rest of its output, and waits for its
   end. */
void peer_stop(struct peer *peer);

/* From now on what a peer leaves behind ends as a child of this program. */
void peer_adopt(void);

/* Waits for all children, and returns the milliseconds of the processor that
   they, and what they have waited for themselves, have used so far. No peer
   runs. */
double peer_used(void);

/* Keeps this program, and what it starts from now on, on one processor, or lets
   it use all of them again. */
void peer_pin(bool one);

/* Ends the bench with a message. */
NO_RETURN void peer_fail(const struct peer *peer, const char *what);

#endif
