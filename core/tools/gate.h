/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gate.h: the only place that decides whether a call runs, and the only one
   that runs it. */
#ifndef CORE_GATE_H
#define CORE_GATE_H

#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "image.h"
#include "log.h"
#include "schema.h"
#include "status.h"
#include "str.h"
#include "tool.h"

/* What a hook is told. Every call ends with exactly one of GATE_AFTER and
   GATE_ERROR; a call that is refused has no GATE_BEFORE. */
enum gate_phase {
    GATE_BEFORE, /* it is going to run */
    GATE_AFTER,  /* it succeeded */
    GATE_ERROR   /* it failed or was refused */
};

struct gate_event {
    enum gate_phase phase;
    const struct tool *tool;
    const struct schema_value *values; /* GATE_BEFORE only, else NULL */
    struct str text;                   /* the answer; empty for GATE_BEFORE */
    int64_t elapsed_ms;
};

typedef void gate_hook(void *context, const struct gate_event *event);

#define GATE_HOOKS 4

struct gate {
    const struct log *log; /* borrowed, as is the image */
    struct image *image;
    struct tool_limits limits; /* changed by configure-limits */
    struct {
        gate_hook *hook;
        void *context;
    } hooks[GATE_HOOKS];
    size_t hook_count;
};

void gate_init(struct gate *gate, const struct log *log, struct image *image,
               const struct tool_limits *limits);

/* HOOK sees every call from now on. ST_LIMIT when there are GATE_HOOKS. */
enum status MUST_CHECK gate_add_hook(struct gate *gate, gate_hook *hook,
                                     void *context);

/* Decides about CALL, whose tool and image.owner are set, and runs it if it
   may run. VALUES are checked. ANSWER->state tells whether the text is there or
   the call waits for the image; then CALL must stay where it is, and gate_end
   follows. ST_NOMEM: nothing runs. */
enum status MUST_CHECK gate_start(struct gate *gate, struct arena *arena,
                                  struct tool_call *call,
                                  const struct schema_value *values,
                                  int64_t now_ms, struct tool_answer *answer);

/* A call that was waiting has its ANSWER. */
void gate_end(struct gate *gate, const struct tool_call *call,
              const struct tool_answer *answer, int64_t now_ms);

#endif
