/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nesting.h: what is open at a place in source text: lists, and the quotes and
   other prefixes that wait for their object. Grows with the depth, not with
   the text, and never calls itself. */
#ifndef SOURCE_NESTING_H
#define SOURCE_NESTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "source/token.h"

/* Something open. The first five members are as in its token. */
struct nesting_frame {
    size_t start;
    uint32_t line;
    uint32_t column;
    uint32_t indent;
    uint32_t list; /* index plus 1 of the innermost list, itself counted; 0
                      outside of all */
    char mark;
    bool is_list;    /* or vector; else a prefix */
    bool counted;    /* a backquote, or a comma that belongs to one */
    uint8_t objects; /* had so far, counted up to 2 */
    uint8_t dot;     /* of nesting.c */
};

struct nesting {
    struct nesting_frame *frames; /* owned; the innermost is the last */
    size_t depth;                 /* number of frames */
    size_t room;
    size_t lists;    /* of these, how many are lists */
    size_t deepest;  /* most lists that were open */
    size_t commas;   /* how many may follow: backquotes that are open, less the
                        commas that are */
    size_t features; /* forms behind #+ and #- that we are in */
};

/* What a token did. */
struct nesting_step {
    enum token_fault fault; /* the token's own, or what is wrong with its
                               place */
    bool complete;          /* an object of the top level ends with it */
    bool closes;            /* it ends a list, which is CLOSED */
    struct nesting_frame closed;
    struct nesting_frame waiting; /* of TOKEN_NOTHING: the prefix that got
                                     none */
};

/* Frees what NESTING holds. Accepts a zeroed one. */
void nesting_release(struct nesting *nesting);

/* Follows TOKEN, which is not TOKEN_END. ST_NOMEM; ST_LIMIT when more than
   LIMIT_SOURCE_DEPTH would be open. *STEP is written on success only. */
enum status MUST_CHECK nesting_take(struct nesting *nesting, struct token token,
                                    struct nesting_step *step);

/* The innermost list that is open, or NULL. */
const struct nesting_frame *nesting_list(const struct nesting *nesting);

/* Whether a quote or other prefix waits for the object that comes next. */
bool nesting_waits(const struct nesting *nesting);

/* Forgets all that is open; keeps the storage. */
void nesting_reset(struct nesting *nesting);

/* Closes the innermost list, if there is one, as a closing parenthesis would;
   prefixes that wait in it are forgotten. */
void nesting_close(struct nesting *nesting);

#endif
