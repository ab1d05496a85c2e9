/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit.h: what happened to each call, as a line of a permanent log. The
   members of a line: docs/audit.md. */
#ifndef GATE_AUDIT_H
#define GATE_AUDIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/str.h"
#include "gate/gate.h"
#include "json/jsonw.h"

/* Where the lines go: a function of the host. */
struct audit_sink {
    /* MEMBERS, which end with "}", are those of a JSON object about a call that
       began AGE_MS ago. The host writes "{", its own members, which say when
       and in which process, a comma, and MEMBERS. LASTING: the answer waits
       until the line is on the disk. Returns a number by which that is asked
       for, larger than those before; 0: nothing is to be waited for. NULL:
       there is no log. */
    uint64_t (*append)(void *context, int64_t age_ms, struct str members,
                       bool lasting);

    /* Whether the lines up to LINE are on the disk, or never will be. NULL:
       append returns 0 only. */
    bool (*settled)(void *context, uint64_t line);
    void *context; /* borrowed, handed to both */
};

struct audit {
    const struct log *log; /* borrowed */
    struct audit_sink sink;
    struct buf line;
    struct buf later; /* lines without their digests, of calls that are over */
    uint64_t lasting; /* the last line for which an answer waits; 0: none */
};

void audit_init(struct audit *audit, const struct log *log,
                const struct audit_sink *sink);

/* Accepts a zeroed one. */
void audit_release(struct audit *audit);

/* The hook of the gate, with an audit as its context. The line of a dangerous
   call, or of one that has changed a file, is appended at once. Any other waits
   for audit_catch_up, or for the next call. */
void audit_event(void *context, const struct gate_event *event);

/* Whether lines wait for audit_catch_up, */
bool audit_is_behind(const struct audit *audit);

/* which appends them: when answers are out. */
void audit_catch_up(struct audit *audit, int64_t now_ms);

/* The line on the disk for which the answer of the last call that is over
   waits; 0: none. */
uint64_t audit_unsettled(const struct audit *audit);

/* Whether that is so of LINE. */
bool audit_is_settled(const struct audit *audit, uint64_t line);

/* Writes the members of a line about a call that is over, into an object. */
void audit_write(struct jsonw *w, const struct gate_event *event);

/* What became of a call that is over: "ok", "error", or "refused" when it did
   not run. */
const char *audit_outcome(const struct gate_event *event);

#endif
