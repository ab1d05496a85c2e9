/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ticket.h: what a client hands back together with a human's answer, so that
   the server need not remember what it asked. A ticket is signed, and good for
   one use and for a time. What a client hands back counts only when the
   signature is ours. */
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

/* The tickets of one server, which knows which of them were used. */
struct tickets {
    unsigned char key[TICKET_KEY]; /* random bytes, set by the owner */
    uint64_t last;
    uint64_t used[LIMIT_TICKETS]; /* a ring of numbers */
    size_t used_count;
    size_t used_next;
    uint64_t forgotten; /* numbers up to this one count as used */
};

/* The SHA-256 of N texts and the length of each. */
void ticket_hash(const struct str *texts, size_t n,
                 unsigned char out[TICKET_HASH]);

/* Gives TICKET a number and writes it as text (letters, digits, "-" and "_")
   into ARENA. ST_LIMIT when there are too many extra bytes. */
enum status MUST_CHECK ticket_write(struct tickets *tickets,
                                    struct arena *arena, struct ticket *ticket,
                                    struct str *out);

/* Reads what ticket_write has written; the extra bytes are in ARENA. ST_INVALID
   when TEXT was not written with this key. */
enum status MUST_CHECK ticket_read(const struct tickets *tickets,
                                   struct arena *arena, struct str text,
                                   struct ticket *out);

/* Marks the ticket NUMBER as used; false when it already was, or was never
   given out. A ticket so old that this is forgotten counts as used. */
bool ticket_use(struct tickets *tickets, uint64_t number);

#endif
