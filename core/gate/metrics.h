/* SPDX-License-Identifier: GPL-3.0-or-later */
/* metrics.h: counts and times of the calls of each tool since the start. */
#ifndef GATE_METRICS_H
#define GATE_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "gate/gate.h"
#include "gate/tool.h"
#include "json/jsonw.h"

struct metrics {
    struct metrics_tool {
        char name[LIMIT_TOOL_NAME + 1]; /* of the tool, which may vanish */
        enum tool_level level;
        uint64_t calls;   /* that are over */
        uint64_t errors;  /* calls that ran and failed */
        uint64_t refused; /* calls that did not run */
        uint64_t argument_bytes;
        uint64_t answer_bytes;
        int64_t decision_ms; /* of all calls, until the decision */
        int64_t run_ms;      /* of all calls, from there to the answer */
        int64_t longest_ms;  /* the longest RUN_MS of one call */
    } tools[LIMIT_METRICS];  /* in the order of their first calls */
    size_t count;
    struct metrics_tool others; /* all further tools together, without a name */

    /* Of the host's loop, which everybody else waits for (metrics_turn). */
    uint64_t turns;
    int64_t longest_turn_us;
    int64_t longest_turn_cpu_us;
};

/* The hook of the gate, with metrics (zeroed at first) as its context. */
void metrics_event(void *context, const struct gate_event *event);

/* A turn of the host's loop has taken so many microseconds, and so many of the
   processor's time, which others on the same machine do not make longer. */
void metrics_turn(struct metrics *metrics, int64_t us, int64_t cpu_us);

/* Writes METRICS as a JSON object, with the grants, rules and limits of GATE.
   WAITING: the number of calls without an answer yet. */
void metrics_write(struct jsonw *w, const struct metrics *metrics,
                   const struct gate *gate, size_t waiting);

#endif
