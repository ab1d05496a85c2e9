/* SPDX-License-Identifier: GPL-3.0-or-later */
/* approval.h: the decision about a call as data: what a human said, through
   the form of a client (approval_form.h) or in an editor (approval_editor.h),
   and the names of all who can decide. */
#ifndef GATE_APPROVAL_H
#define GATE_APPROVAL_H

#include <stdbool.h>

#include "base/str.h"

/* Who decided, for the log and the audit (docs/audit.md). */
#define APPROVAL_BY_LEVEL "level"
#define APPROVAL_BY_POLICY "policy"
#define APPROVAL_BY_GRANT "grant"
#define APPROVAL_BY_HUMAN "human"
#define APPROVAL_BY_EDITOR "human in the editor"
#define APPROVAL_BY_EDITOR_RULE "rule in the editor"
#define APPROVAL_BY_PREPARATION "preparation" /* there was nothing to do */

/* The same of what is refused although nobody denied it. */
#define APPROVAL_BY_NOBODY "no approver"
#define APPROVAL_BY_NO_DECISION "no decision"
#define APPROVAL_BY_BAD_ARGUMENTS "human, with bad arguments"
#define APPROVAL_BY_BROKEN_POLICY "broken policy"
#define APPROVAL_BY_LIMIT "limit"
#define APPROVAL_BY_STALE "stale question"

/* What the human said. */
enum approval_consent {
    APPROVAL_NO_DECISION, /* timed out, cancelled, went away: refused */
    APPROVAL_DENIED,
    APPROVAL_STOPPED, /* denied, and the agent must make no further calls */
    APPROVAL_APPROVED
};

/* About one hunk of a review, in an editor. */
struct approval_hunk {
    bool accepted;
    bool edited;       /* TEXT replaces its old lines: edited, */
    bool part;         /* or, also true, a part of what was proposed */
    struct str text;   /* lines with their ends, except maybe the last */
    struct str reason; /* may be empty */
};

/* A change that an editor has made in a buffer. */
struct approval_applied {
    struct str before; /* the whole texts */
    struct str after;
    bool saved;
    struct str sha256; /* of the bytes that were saved, in hexadecimal digits;
                          may be empty */
    struct str note;   /* why it was not saved */
    const bool *stale; /* one for each hunk: accepted, but it had no place */
};

/* What an editor did with one of the files of a change. */
struct approval_file {
    const struct approval_applied *applied; /* NULL: nothing */
    struct str failed; /* why it could not change it; else empty */
};

/* The part of an approval that a tool with prepare gets. */
struct approval_decision {
    enum approval_consent consent;
    struct str reason;  /* the human's words, or why there is no decision; may
                           be empty */
    const bool *chosen; /* of a review: one for each hunk; NULL: all */
    const struct approval_hunk *hunks;      /* the same with more about each, or
                                               NULL */
    const struct approval_applied *applied; /* the editor made the change; NULL:
                                               it did not */
    struct str failed; /* why the editor could not make it; empty: it did not
                          try, or did it */
    const struct approval_file *files; /* the same of several files, one for
                                          each part of the call; or NULL */
};

/* All of it. The texts live in the arena, or in the document, from which it was
   read. */
struct approval {
    struct approval_decision decision;
    bool remember;        /* it holds for later calls of the tool, too */
    struct str arguments; /* the human's, JSON text, not checked; empty: as
                             asked */
    const char *by;       /* who decided: an APPROVAL_BY_…; static */
    struct str rule;      /* the editor's, when that decided; else empty */
};

#endif
