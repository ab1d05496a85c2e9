/* SPDX-License-Identifier: GPL-3.0-or-later */
/* package.h: walks through source text with the package in which each word
   would be read, and tells the words that defpackage has from all others. */
#ifndef SOURCE_PACKAGE_H
#define SOURCE_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "source/token.h"

/* Lists that are followed; what is nested deeper is code. */
#define PACKAGE_DEPTH 16

/* The prefix that hides a form from every Lisp: #+nil or #+(or). */
#define PACKAGE_NEVER '0'

/* What a word is. */
enum package_role {
    PACKAGE_CODE,    /* read in the package */
    PACKAGE_STRING,  /* a literal in code */
    PACKAGE_NAME,    /* the name of a package that is defined */
    PACKAGE_DEFINED, /* the second word of a form that begins with def */
    /* In an option of defpackage: */
    PACKAGE_NICKNAME,
    PACKAGE_USED,
    PACKAGE_EXPORTED,
    PACKAGE_SOURCE, /* from which symbols are imported */
    PACKAGE_IMPORTED,
    PACKAGE_SHADOWED,
    PACKAGE_LOCAL, /* a local nickname, */
    PACKAGE_REAL,  /* and what it stands for */
    PACKAGE_OTHER  /* anything else in there */
};

struct package_list {
    int kind;     /* of its first word, as package.c knows it */
    size_t index; /* elements so far */
    char prefix;  /* before it, as below */
    bool quoted;  /* it is data, or in such a list */
};

struct package_walk {
    struct tokens tokens;
    struct arena *arena; /* of the names below */
    size_t depth;
    char prefix; /* the mark of the last token, if it is a prefix; ' is a quote,
                    f what is written #', or PACKAGE_NEVER */
    struct package_list lists[PACKAGE_DEPTH];
    struct str current; /* the package that in-package names; empty: none did */
    struct str defined; /* the one that defpackage defines, around here */
    struct str source;  /* from which it imports, in this option */
    struct token token; /* a word or a literal string */
    enum package_role role;
};

/* Starts with TEXT; names go to ARENA, whose strand has the steps. */
void package_walk_init(struct package_walk *walk, struct arena *arena,
                       struct str text);

/* The next word or literal string. ST_MISSING at the end; ST_NOMEM. */
enum status MUST_CHECK package_walk_next(struct package_walk *walk);

/* *OUT is the name that WORD, a symbol without its package, has for the reader:
   in upper case, without escapes. */
enum status MUST_CHECK package_spell(struct arena *arena, struct str word,
                                     struct str *out);

/* *OUT is the name that a designator stands for: a symbol, a keyword or a
   literal string. */
enum status MUST_CHECK package_designate(struct arena *arena, struct str text,
                                         struct str *out);

#endif
