/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sessions.h: the Lisp sessions in which calls of this server have run. */
#ifndef GATE_SESSIONS_H
#define GATE_SESSIONS_H

#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/str.h"
#include "gate/gate.h"

struct sessions {
    struct sessions_entry {
        uint64_t serial; /* rising; never given twice */
        char name[LIMIT_SESSION_NAME + 1];
    } entries[LIMIT_SESSIONS]; /* oldest first */
    size_t count;
    uint64_t last_serial;
};

/* Starts with the session main alone, whose serial is 1. */
void sessions_init(struct sessions *sessions);

/* The hook of the gate, with struct sessions as its context. */
void sessions_event(void *context, const struct gate_event *event);

#endif
