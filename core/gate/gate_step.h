/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gate_step.h: what the gate (gate.h) knows, and one step of a call. */
#ifndef GATE_GATE_STEP_H
#define GATE_GATE_STEP_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/status.h"
#include "base/str.h"
#include "gate/arguments.h"
#include "gate/grants.h"
#include "gate/schema.h"
#include "gate/tool.h"
#include "json/json.h"
#include "wire/image.h"

/* What happens to a call, for the hooks. Every call ends with exactly one of
   GATE_AFTER and GATE_ERROR, except one that asked and is dropped because the
   client makes it again. A call that is refused has no GATE_BEFORE. */
enum gate_phase {
    GATE_BEFORE, /* it is going to run */
    GATE_AFTER,  /* it succeeded */
    GATE_ERROR   /* it failed, was refused or was cancelled */
};

struct gate_event {
    enum gate_phase phase;
    const struct tool_call *call;
    struct str arguments; /* JSON text, as they ran or were refused */
    struct str text;      /* the answer; empty for GATE_BEFORE */
    int64_t now_ms;
};

typedef void gate_hook(void *context, const struct gate_event *event);

#define GATE_HOOKS 4

struct audit;
struct policy;

struct gate {
    const struct log *log; /* borrowed, as are the next four */
    struct image *image;
    const struct files *files;   /* NULL: none */
    const struct policy *policy; /* NULL: no rules */
    struct buf *notices;         /* of the host (core.h), or NULL */
    struct seen seen;            /* the files that the model knows */
    struct tool_limits limits;   /* changed by configure-limits */
    struct {
        gate_hook *hook;
        void *context;
    } hooks[GATE_HOOKS];
    size_t hook_count;
    const struct audit *audit; /* one of them, for which answers wait; borrowed,
                                  or NULL */
    struct grants grants;      /* what a human lets run without a question */
    size_t stints;             /* that have begun, and not ended (stint.h) */
    size_t stint_count;        /* with those that have not begun; */
    size_t stint_bytes;        /* and what they were given */
};

/* One step of a call. */
struct gate_step {
    /* What it works with, from the caller. */
    struct gate *gate;
    struct arena *arena; /* the answer may live in it */
    struct tool_call *call;
    int64_t now_ms;

    /* What came out of it; for gate_end, from the caller. */
    struct tool_answer answer;

    /* The gate's own: the arguments in force. */
    struct arguments arguments;
};

#endif
