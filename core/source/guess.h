/* SPDX-License-Identifier: GPL-3.0-or-later */
/* guess.h: where closing parentheses are missing, or too many, judging by the
   indentation: the contents of a list are to the right of its parenthesis. */
#ifndef SOURCE_GUESS_H
#define SOURCE_GUESS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/limits.h"
#include "base/status.h"
#include "base/str.h"
#include "source/nesting.h"
#include "source/token.h"

/* Parentheses missing at one place. */
struct guess_fix {
    size_t before; /* where the next token begins, or the end of the text */
    size_t lists;  /* that should have been closed there */
};

struct guess {
    struct guess_fix fixes[LIMIT_SOURCE_PROBLEMS]; /* in the order of the
                                                      text */
    size_t count;
};

/* Finds the missing parentheses of TEXT after FROM, the outermost list that is
   not closed: all of them, or the first of very many. In a text without
   indentation they count as missing at the end of each form. STRAND as in
   source.h. ST_NOMEM, ST_LIMIT
   as nesting_take. */
enum status MUST_CHECK guess_missing(struct strand *strand, struct str text,
                                     const struct nesting_frame *from,
                                     struct guess *out);

/* Whether TOKEN begins a form in column 0 that is probably meant for the top
   level: a definition, or a form after an empty line. */
bool guess_is_form(struct str text, struct token token);

/* Whether the operator of the list that begins at START looks like one of a
   definition. */
bool guess_is_definition(struct str text, size_t start);

/* A closing parenthesis and the list that it closed. */
struct guess_closed {
    struct token token;
    struct nesting_frame list;
};

/* The last closing parentheses at the end of a line, in a ring. */
#define GUESS_CLOSED 32
struct guess_run {
    struct guess_closed closed[GUESS_CLOSED];
    size_t count; /* of all that there were */
};

/* Takes TOKEN, which did STEP. */
void guess_follow(struct guess_run *run, struct token token,
                  const struct nesting_step *step);

/* The list that RUN has closed although TOKEN begins a line that is indented as
   if it belonged to it; NULL when there is none. To be called before
   guess_follow. */
const struct guess_closed *guess_too_early(const struct guess_run *run,
                                           struct token token);

#endif
