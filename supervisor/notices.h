/* SPDX-License-Identifier: GPL-3.0-or-later */
/* notices.h: what the fronts of a session must know about it, because another
   front did it or the image died. Each front is told once, with its next
   answer. */
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

/* FRONT uses the session: it must know what happens from now on. Without memory
   it is not told. */
void notices_join(struct notices *notices, const struct front *front);

/* FRONT is gone, if it ever came. */
void notices_leave(struct notices *notices, const struct front *front);

/* Adds the notice TEXT. KNOWS, unless NULL, is the front that knows it
   already. */
void notices_add(struct notices *notices, const struct front *knows,
                 struct str text);

/* The same: KNOWS has called OPERATION, which changes the session for all who
   share it; TEXT says how. */
void notices_tell(struct notices *notices, const struct front *knows,
                  const char *operation, struct str text);

/* Appends to OUT the notices that FRONT has not been told, if any, after a line
   end; they count as told then. */
void notices_read(struct notices *notices, const struct front *front,
                  struct buf *out);

#endif
