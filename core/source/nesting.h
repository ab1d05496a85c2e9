/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nesting.h: what is open at a place in source text: lists, and quotes and
   other prefixes that wait for their object. It grows with the depth, not with
   the text, and does not recur. */
#ifndef SOURCE_NESTING_H
#define SOURCE_NESTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "source/token.h"

/* Something open. START, LINE, COLUMN, INDENT and MARK are its token's. */
struct nesting_frame {
    size_t start;
    uint32_t line;
    uint32_t column;
    uint32_t indent;
    uint32_t list; /* index plus 1 of the innermost list, itself included; 0
                      outside all lists */
    char mark;
    bool is_list;    /* or vector; else a prefix */
    bool counted;    /* a backquote, or a comma that belongs to one */
    uint8_t objects; /* so far, counted up to 2 */
    uint8_t dot;     /* of nesting.c */
};

struct nesting {
    struct nesting_frame *frames; /* owned; the innermost is the last */
    size_t depth;                 /* number of frames */
    size_t room;
    size_t lists;    /* number of frames that are lists */
    size_t deepest;  /* the most lists that were open at a time */
    size_t commas;   /* that may follow: open backquotes, minus open commas */
    size_t features; /* forms after #+ and #- in which we are */
};

/* The effect of a token. */
struct nesting_step {
    enum token_fault fault; /* the token's own, or that of its place */
    bool complete;          /* an object of the top level ends with it */
    bool closes;            /* it ends a list, which is CLOSED */
    struct nesting_frame closed;
    struct nesting_frame waiting; /* for TOKEN_NOTHING: the prefix that got no
                                     object */
};

/* Frees what NESTING holds. Accepts a zeroed one. */
void nesting_release(struct nesting *nesting);

/* Takes TOKEN, which is not TOKEN_END. ST_NOMEM; ST_LIMIT when more than
   LIMIT_SOURCE_DEPTH would be open. *STEP is written on success only. */
enum status MUST_CHECK nesting_take(struct nesting *nesting, struct token token,
                                    struct nesting_step *step);

/* The innermost list that is open, or NULL. */
const struct nesting_frame *nesting_list(const struct nesting *nesting);

/* Whether a quote or other prefix waits for the next object. */
bool nesting_waits(const struct nesting *nesting);

/* Forgets everything that is open; keeps the storage. */
void nesting_reset(struct nesting *nesting);

/* Closes the innermost list, if there is one, as a closing parenthesis would;
   prefixes that wait in it are forgotten. */
void nesting_close(struct nesting *nesting);

#endif
