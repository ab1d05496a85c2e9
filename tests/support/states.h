/* SPDX-License-Identifier: GPL-3.0-or-later */
/* states.h: the drawing in mcp/pending.h as a table, and the lines of the log
   that say along which arrows calls went. */
#ifndef TESTS_SUPPORT_STATES_H
#define TESTS_SUPPORT_STATES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"
#include "mcp/pending.h"

/* The arrows, and those from every state straight to over. */
struct states_arrow {
    enum pending_state from;
    enum pending_state to;
    const char *text; /* "new -> in-image" */
};
extern const struct states_arrow states_arrows[];
extern const size_t states_arrow_count;

/* If LINE is about a state, appends "ID: from -> to" and a line end to OUT. */
void states_keep(struct buf *out, struct str line);

/* Whether the lines that states_keep has kept lead each call, by its ID, along
   arrows from new to over. */
bool states_are_sound(struct str lines);

#endif
