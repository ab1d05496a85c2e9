/* SPDX-License-Identifier: GPL-3.0-or-later */
/* source.h: checks Common Lisp source text without reading it: nothing is
   evaluated, no symbol is made, depth and length do not matter. It knows the
   standard syntax and how ECL's reader interprets it. A form after #+ or #- may
   be for another Lisp, so only its parentheses, strings and comments are
   checked. */
#ifndef SOURCE_SOURCE_H
#define SOURCE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/status.h"
#include "base/str.h"
#include "base/strand.h"
#include "source/token.h"

struct source_place {
    size_t offset;   /* bytes from the start of the text */
    uint32_t line;   /* from 1 */
    uint32_t column; /* in characters, from 0 */
};

/* A list that is open. */
struct source_open {
    struct source_place place;
    struct str text; /* how it begins: a view of the text checked */
};

/* A problem. */
struct source_problem {
    enum token_fault fault;
    struct source_place place; /* where it is, or where the unclosed object
                                  begins */
    struct str text;           /* at that place: a view of the text checked */
    size_t count; /* for TOKEN_UNCLOSED and TOKEN_EXTRA: of parentheses */

    /* The lists that are open there, the innermost last. */
    struct source_open open[LIMIT_SOURCE_OPEN]; /* the outermost, and the
                                                   innermost ones */
    size_t open_kept;
    size_t open_count; /* of all */

    /* Where parentheses or a quotation mark are most likely missing, or too
       many, judging by the line GUESS_LINE, or by the end of the text (0). */
    bool guessed;
    struct source_place guess;
    uint32_t guess_line;
};

struct source_report {
    struct str text; /* that was checked */
    struct source_problem problems[LIMIT_SOURCE_PROBLEMS]; /* the first ones */
    size_t kept;
    size_t count;   /* of all problems */
    size_t certain; /* of these, without unknown reader macros and character
                       names, which another readtable or Lisp may accept */
    size_t forms;   /* at the top level */
    struct source_problem swallowed; /* when there is no problem: the first
                                        definition in column 0 that is inside
                                        another one; else its fault is
                                        TOKEN_FINE */
};

/* Checks TEXT, which the report refers to, in the STRAND, or NULL. *OUT is
   written on success only, and means nothing once the strand is stopped. */
enum status MUST_CHECK source_check(struct strand *strand, struct str text,
                                    struct source_report *out);

/* Whether FAULT may be right with another readtable or Lisp. */
bool source_is_doubtful(enum token_fault fault);

/* REPORT in words, without a line break at its end: "Syntax OK: 3 forms.", or
   each problem with its place, the lists that are open there, the guess, and
   the line in question with a mark. Empty when memory ran out. */
struct str source_describe(struct arena *arena,
                           const struct source_report *report);

/* The first certain problem of REPORT in one line: "line 3, column 0: …"; empty
   when there is none, or when memory ran out. */
struct str source_describe_first(struct arena *arena,
                                 const struct source_report *report);

#endif
