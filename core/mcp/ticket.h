/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ticket.h: what a client hands back together with a human's answer, so that
   the server need not remember what it asked: signed, for one use, for a time.
   What comes back is from the client, and believed only when the signature is
   ours. */
#ifndef MCP_TICKET_H
#define MCP_TICKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/status.h"
#include "base/str.h"

#define TICKET_KEY 32
#define TICKET_HASH 32

struct ticket {
    uint64_t number; /* its own */
    int64_t expires_ms;
    unsigned char call[TICKET_HASH];     /* of the tool and its arguments */
    unsigned char question[TICKET_HASH]; /* of what the human was shown */
    struct str extra; /* further bytes, at most LIMIT_TICKET_EXTRA */
};

/* Gives out tickets and knows which were used. */
struct tickets {
    unsigned char key[TICKET_KEY]; /* random, set by the owner */
    uint64_t last;
    uint64_t used[LIMIT_TICKETS]; /* a ring of numbers */
    size_t used_count;
    size_t used_next;
    uint64_t forgotten; /* numbers up to this one count as used */
};

/* SHA-256 of N texts, the length of each being part of it. */
void ticket_hash(const struct str *texts, size_t n,
                 unsigned char out[TICKET_HASH]);

/* Gives TICKET a number and puts its text, letters, digits, "-" and "_", into
   ARENA. ST_LIMIT when the extra bytes are too many. */
enum status MUST_CHECK ticket_write(struct tickets *tickets,
                                    struct arena *arena, struct ticket *ticket,
                                    struct str *out);

/* ST_INVALID when TEXT was not written by ticket_write with this key. */
enum status MUST_CHECK ticket_read(const struct tickets *tickets,
                                   struct arena *arena, struct str text,
                                   struct ticket *out);

/* Marks the ticket NUMBER as used; false when it was already. */
bool ticket_use(struct tickets *tickets, uint64_t number);

#endif
