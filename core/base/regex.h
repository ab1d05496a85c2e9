/* SPDX-License-Identifier: GPL-3.0-or-later */
/* regex.h: regular expressions as most programs have them: . [] [^] | () (?:) *
   + ? {2,3} ^ $ \b \B \d \w \s \D \W \S, [[:alpha:]], and (?i) at the start for
   upper and lower case. No back references, nothing that looks around. The time
   of a search is bounded by the product of the lengths of expression and text,
   and all memory is taken when the expression is read. */
#ifndef BASE_REGEX_H
#define BASE_REGEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

enum regex_op {
    REGEX_CHARACTER, /* this one */
    REGEX_ANY,       /* any one */
    REGEX_SET,       /* one of a set */
    REGEX_SPLIT,     /* go on at X and at Y */
    REGEX_JUMP,      /* go on at X */
    REGEX_START,     /* of the text */
    REGEX_END,       /* of the text */
    REGEX_BOUNDARY,  /* of a word */
    REGEX_INSIDE,    /* no boundary of a word */
    REGEX_MATCH
};

struct regex_step {
    enum regex_op op;
    uint32_t code; /* of the character; or the index of the set */
    int x;         /* relative to this step */
    int y;
};

/* Characters from LOW to HIGH. */
struct regex_range {
    uint32_t low;
    uint32_t high;
};

struct regex_set {
    size_t first; /* of its ranges */
    size_t count;
    bool negated;
};

/* A state that is reached: a step, and where in the text its match begins. */
struct regex_thread {
    int step;
    size_t start;
};

struct regex_threads {
    struct regex_thread *all;
    size_t count;
};

struct regex {
    struct regex_step *steps;
    size_t count;
    struct regex_set *sets;
    size_t set_count;
    struct regex_range *ranges;
    size_t range_count;
    bool ignores_case;
    struct str literal; /* every match contains it; may be empty */

    /* For searches. */
    struct regex_threads now;
    struct regex_threads next;
    uint64_t *seen; /* for each step, when it was last reached */
    uint64_t round;
    int *stack;
    uint64_t work; /* instructions run so far, in all searches */
};

/* Reads PATTERN. Everything lives in ARENA. ST_INVALID: it is not an
   expression, or exceeds a limit, and *WHY says so; ST_NOMEM. */
enum status MUST_CHECK regex_init(struct regex *regex, struct arena *arena,
                                  struct str pattern, struct str *why);

/* *FOUND: whether TEXT, one line without its end, has a match, and *START where
   one begins. ST_NOMEM: the strand of ARENA is stopped. */
enum status MUST_CHECK regex_search(struct regex *regex,
                                    const struct arena *arena, struct str text,
                                    bool *found, size_t *start);

#endif
