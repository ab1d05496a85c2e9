/* SPDX-License-Identifier: GPL-3.0-or-later */
/* roster.h: the sessions in which calls have run, as far as the front knows. */
#ifndef CORE_ROSTER_H
#define CORE_ROSTER_H

#include <stddef.h>
#include <stdint.h>

#include "gate.h"
#include "limits.h"
#include "str.h"

struct roster {
    struct roster_entry {
        uint64_t serial; /* rising; never given twice */
        char name[LIMIT_SESSION_NAME + 1];
    } entries[LIMIT_SESSIONS]; /* oldest first */
    size_t count;
    uint64_t last_serial;
};

/* It has the session main alone, whose serial is 1. */
void roster_init(struct roster *roster);

/* The hook of the gate, with a roster as its context. */
void roster_event(void *context, const struct gate_event *event);

#endif
