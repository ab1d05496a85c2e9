/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rename.h: where source text names a certain symbol, as the reader would find
   it: by the packages that the texts define, by in-package, and by prefixes.
   Nothing is read as Lisp reads it; what is not certain is said to be so. First
   it learns from all texts, then it looks through each. */
#ifndef SOURCE_RENAME_H
#define SOURCE_RENAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "source/package.h"
#include "source/structure.h"

struct rename_bucket;
struct rename_fact;
struct rename_facts;
struct rename_structure;
struct rename_target;

/* Names without a suffix are as the reader has them, in upper case. */
struct rename {
    struct arena *arena; /* of what it learns */
    struct str name;
    struct str name_text; /* as it was asked for, without package */
    struct str to;
    struct str to_text;
    struct str package; /* the home of the symbol, once rename_settle knows */
    struct rename_fact *facts;   /* about packages, the newest first */
    size_t package_facts;        /* how many these are */
    struct rename_facts *named;  /* those about names, by their hash */
    size_t fact_count;           /* all, with structures and their slots */
    struct rename_bucket *names; /* those of targets and of makers, by hash */
    struct rename_structure *structures; /* that may have to do with it */
    struct rename_target *targets;       /* the symbol, then what is derived */
    struct rename_target *last_target;
    bool is_slot;              /* of a structure */
    struct rename_target *odd; /* those with characters that few names have */
    size_t odd_count;
};

enum rename_kind {
    RENAME_SURE,    /* it is the symbol: TEXT replaces START to END */
    RENAME_UNSURE,  /* it may be: its package is not known */
    RENAME_MENTION, /* a comment or string has the name */
    RENAME_OPTIONS, /* a slot of a class, whose options keep their names */
    RENAME_TAKEN    /* the new name is in use in the package already */
};

struct rename_place {
    enum rename_kind kind;
    size_t start;
    size_t end;
    uint32_t line;
    struct str text;
};

/* Gets the places in order; another status than ST_OK ends the search. */
typedef enum status rename_visit(void *context,
                                 const struct rename_place *place);

/* SYMBOL, maybe with its package, is to become TO. ST_INVALID: *WHY says what
   is wrong with them. */
enum status MUST_CHECK rename_init(struct rename *rename, struct arena *arena,
                                   struct str symbol, struct str to,
                                   const char **why);

/* Learns which packages TEXT defines, and where the symbol is defined.
   ST_LIMIT: there are more than LIMIT_RENAME_FACTS. */
enum status MUST_CHECK rename_learn(struct rename *rename, struct str text);

/* Everything is learned: finds the home of the symbol, from PACKAGE if that is
   not empty. ST_INVALID: it is not clear, or a structure makes the name of
   others, as *WHY, in the arena, says. */
enum status MUST_CHECK rename_settle(struct rename *rename, struct str package,
                                     struct str *why);

/* Looks through TEXT in the steps of ARENA's strand. */
enum status MUST_CHECK rename_scan(const struct rename *rename,
                                   struct arena *arena, struct str text,
                                   rename_visit *visit, void *context);

/* --- For its parts: the facts (rename.c), the names that defstruct derives
   (rename_derive.c), the search (rename_scan.c), and what that finds out about
   a whole list (rename_ahead.c) -------------------------------------------- */

/* Lists of names with the same hash. */
#define RENAME_BUCKETS 4096

enum rename_verdict { RENAME_NO, RENAME_YES, RENAME_UNKNOWN };

struct rename_structure {
    struct rename_structure *next;
    struct str package; /* as in-package names it */
    struct structure structure;
    bool named;               /* it has the name, */
    bool slotted;             /* or a slot of it has */
    bool done;                /* its accessor is a target */
    enum structure_part part; /* what the name is of those that it makes, */
    struct str slot;          /* and what follows the prefix in an accessor's */
    struct str home;          /* of its name, */
    struct str include_home;  /* and of that of the structure that it extends */
    struct rename_structure *next_done;
    struct rename_structure *next_like; /* with such an include */
};

/* Makes structures that have the slot which is renamed. */
struct rename_maker {
    struct str name; /* as the reader has it */
    struct str name_text;
    struct str package; /* its home */
    size_t first;       /* the place in a call from which on keywords are */
    bool literal;       /* after #S, not a function */
};

/* What has a certain name, or will have it. */
struct rename_entry {
    struct rename_entry *next;
    struct rename_target *target; /* or else: */
    const struct rename_maker *maker;
    bool is_new;
};

struct rename_bucket {
    struct rename_entry *first;
    struct rename_entry *last;
};

/* Words that are found to be the symbol before the search has come to them, in
   order. */
struct rename_mark {
    struct rename_mark *next;
    size_t start;
};

/* A symbol that changes its name. */
struct rename_target {
    struct rename_target *next;
    struct str name;
    struct str name_text;
    struct str to;
    struct str to_text;
    struct str package; /* its home */
    size_t offset;      /* in NAME_TEXT, of what is replaced */
    bool derived;
    bool sure;
    struct rename_target *next_odd;
};

bool rename_is_part_of_name(char c);

/* The hash of NAME as the reader has it, and that of WORD, a symbol as written
   without its package: which list it is in. */
size_t rename_hash(struct str name);
size_t rename_hash_word(struct str word);

/* The real name of the package that is written NAME in the package CURRENT. */
struct str rename_real_name(const struct rename *rename, struct str name,
                            struct str current);

/* The package in which the symbol is at home that NAME is in PACKAGE. */
struct str rename_home(const struct rename *rename, struct str package,
                       struct str name);

/* Whether NAME in PACKAGE, a real name or empty, is a symbol of HOME. */
enum rename_verdict rename_judge(const struct rename *rename, struct str home,
                                 struct str package, struct str name);

/* The verdict whether WORD, as written in code in the package CURRENT, which
   may be empty, is the symbol NAME of HOME, when it has that name. */
enum status MUST_CHECK rename_judge_word(const struct rename *rename,
                                         struct arena *arena,
                                         struct str current, struct str word,
                                         const struct rename_target *as,
                                         enum rename_verdict *out);

/* WALK is after the first word of a list: marks in it what is the symbol for
   certain, keywords in calls of makers, and tells VISIT about slots of classes.
   Marks go to ARENA. */
enum status MUST_CHECK rename_look_ahead(const struct rename *rename,
                                         struct arena *arena,
                                         const struct package_walk *walk,
                                         struct rename_mark **marks,
                                         rename_visit *visit, void *context);

/* The home is known: makes the targets. */
enum status MUST_CHECK rename_derive(struct rename *rename);

#endif
