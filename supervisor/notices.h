/* SPDX-License-Identifier: GPL-3.0-or-later */
/* notices.h: what has happened to a session that its fronts must know: each
   reads it with its next answer, once. */
#ifndef SUPERVISOR_NOTICES_H
#define SUPERVISOR_NOTICES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct front;
struct notices_reader;

/* A zeroed struct has no notice and no reader. */
struct notices {
    struct buf newest;
    uint64_t n;                     /* notices so far */
    struct notices_reader *readers; /* owned */
};

void notices_release(struct notices *notices);

/* FRONT uses the session: it reads what happens from now on. Without memory it
   reads nothing. */
void notices_join(struct notices *notices, const struct front *front);

/* FRONT is gone. */
void notices_leave(struct notices *notices, const struct front *front);

/* TEXT has happened. KNOWS, if not NULL, is the front that knows it already. */
void notices_add(struct notices *notices, const struct front *knows,
                 struct str text);

/* Appends to OUT, after a line end, what FRONT has not read; it has then. */
void notices_read(struct notices *notices, const struct front *front,
                  struct buf *out);

#endif
