/* SPDX-License-Identifier: GPL-3.0-or-later */
/* token.h: cuts Common Lisp source text into tokens, by the standard syntax and
   what ECL's reader adds to it. Nothing is read as Lisp reads it: no symbol is
   made, nothing is evaluated, features are unknown. */
#ifndef SOURCE_TOKEN_H
#define SOURCE_TOKEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "base/strand.h"

/* What can be wrong with source text. */
enum token_fault {
    TOKEN_FINE,
    /* Found by tokens_next, in the token itself. */
    TOKEN_OPEN_STRING,   /* the text ends in a string, */
    TOKEN_OPEN_COMMENT,  /* in a comment between bars, */
    TOKEN_OPEN_SYMBOL,   /* between the bars of a symbol, */
    TOKEN_OPEN_ESCAPE,   /* after a backslash, */
    TOKEN_OPEN_DISPATCH, /* or after # and digits */
    TOKEN_UNREADABLE,    /* #< */
    TOKEN_BARE_SHARP,    /* # before a blank or a closing parenthesis */
    TOKEN_NO_DISPATCH,   /* # before a character without a reader macro */
    TOKEN_NUMBER_NEEDED, /* #= ## #r without their number */
    TOKEN_NO_NUMBER,     /* a number between # and + or - */
    TOKEN_NO_RADIX,      /* of #r, other than 2 to 36 */
    TOKEN_DIGITS,        /* not a rational in the radix of #b #o #x #r */
    TOKEN_BITS,          /* #* with digits other than 0 and 1 */
    TOKEN_CHARACTER,     /* #\ with a name that ECL does not know */
    TOKEN_MARKER,        /* colons where no package prefix can be */
    TOKEN_DOTS,          /* a symbol of dots */
    /* Found between tokens. */
    TOKEN_UNCLOSED,     /* ( without ) */
    TOKEN_EXTRA,        /* ) without ( */
    TOKEN_NOTHING,      /* a quote or other prefix without an object */
    TOKEN_COMMA,        /* outside a backquote */
    TOKEN_DOT,          /* a dot where none can be */
    TOKEN_DOT_NOTHING,  /* nothing after the dot */
    TOKEN_DOT_TOO_MUCH, /* more than one object after the dot */
    TOKEN_TOO_DEEP,     /* more is open than LIMIT_SOURCE_DEPTH */
    TOKEN_SWALLOWED     /* ( in column 0 inside a form: not wrong, but odd */
};

enum token_kind {
    TOKEN_END,    /* of the text */
    TOKEN_OPEN,   /* begins a list or vector */
    TOKEN_CLOSE,  /* ends it */
    TOKEN_PREFIX, /* belongs to the object after it; #+ and #- to two */
    TOKEN_ATOM    /* an object, or a lone dot */
};

/* The MARK of a symbol or number, which no character marks. */
#define TOKEN_WORD 'a'

struct token {
    enum token_kind kind;
    char mark;  /* the character that shows what it is: ( or, for a vector, v;
                   the prefix itself (' ` ,) or what follows its #, in lower
                   case; for an atom " or \ (character) or : (uninterned) or
                   # or * or . or TOKEN_WORD */
    bool first; /* nothing but blanks before it on its line */
    enum token_fault fault;
    size_t start;    /* bytes from the start of the text */
    size_t end;      /* after its last byte; that of the text when it is not
                        finished */
    uint32_t line;   /* of its start, from 1 */
    uint32_t column; /* of its start, in characters, from 0 */
    uint32_t indent; /* the same with tabs as an editor shows them */
};

/* A place in the text. After a token, LINE and COLUMN are those of its end. */
struct tokens {
    struct str text; /* borrowed */
    size_t at;
    size_t measured; /* LINE, COLUMN and INDENT count up to here */
    uint32_t line;
    uint32_t column;
    uint32_t indent;
    bool blank; /* only blanks on this line so far */

    /* In which the text is scanned, set by the caller, or NULL. Once it is
       stopped, the text ends. */
    struct strand *strand;
    size_t work; /* done since it heard of it */
};

/* Starts at the beginning of TEXT, which must outlive TOKENS. */
void tokens_init(struct tokens *tokens, struct str text);

/* Starts in the middle of TEXT, with the token at AT, whose place is LINE,
   COLUMN and INDENT. */
void tokens_resume(struct tokens *tokens, struct str text, size_t at,
                   uint32_t line, uint32_t column, uint32_t indent);

/* The next token; blanks and comments are skipped. After the last one always
   TOKEN_END. Takes time in proportion to the bytes passed. */
struct token tokens_next(struct tokens *tokens);

/* The text of TOKEN. */
struct str tokens_text(const struct tokens *tokens, struct token token);

/* The parts of a symbol as it is written: "cl" and "car" of "cl:car". PACKAGE
   is empty when there is none, or for a keyword. */
struct token_name {
    struct str package;
    struct str name;
};

/* Cuts the text of a TOKEN_WORD, or that of an uninterned symbol. */
struct token_name token_split(struct str word);

/* How the reader spells a word: without escapes, and in upper case where it
   makes it so. Begins as {.text = WORD}. */
struct token_spelling {
    struct str text;
    size_t at;
    bool bars; /* between bars */
};

/* The next byte of the spelling, or -1 at the end. *PLAIN: it was not escaped.
 */
int token_spelling_next(struct token_spelling *s, bool *plain);

/* Whether A and B, as written and without a package, name the same symbol: the
   reader turns letters without an escape into upper case. */
bool token_same_name(struct str a, struct str b);

/* Whether the contents of STRING, a literal with its quotes, are the name that
   WORD spells, in upper or lower case. */
bool token_string_names(struct str string, struct str word);

#endif
