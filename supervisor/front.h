/* SPDX-License-Identifier: GPL-3.0-or-later */
/* front.h: one of those whose calls a supervisor serves: frames from it go in,
   frames for it come out (wire.h). The host carries them, whatever way. All
   fronts share the sessions; each has its own numbers of calls, stops its own
   calls only (the owner those of all others, too), and gets what belongs to
   them. */
#ifndef SUPERVISOR_FRONT_H
#define SUPERVISOR_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"
#include "supervisor/supervisor.h"

struct front;

/* A new front of SUPERVISOR; NULL when memory runs out. The images end when an
   OWNER says so (WIRE_FINISH); what others say ends their own calls. */
struct front *front_open(struct supervisor *supervisor, bool owner);

/* The front is gone: calls that run are stopped, the others withdrawn; nobody
   is answered. Sessions stay. Accepts NULL. What is still open when the
   supervisor is freed goes with it. */
void front_close(struct front *front, int64_t now_ms);

/* Frames from the front. ST_INVALID: they are none that it may send, and
   nothing after them can be understood; front_output may have the reason.
   ST_NOMEM likewise. The host passes on what is there and closes the front.
   Frames of a front that is no owner wait while LIMIT_OUTPUT_BACKLOG bytes of
   answers do: the host feeds 0 bytes when it has passed some on. */
enum status MUST_CHECK front_feed(struct front *front, const void *p, size_t n,
                                  int64_t now_ms);

/* Frames for the front; the host removes what it has passed on. */
struct buf *front_output(struct front *front);

/* Whether it has said HELLO. */
bool front_is_greeted(const struct front *front);

/* Appends to OUT what is said to a front that is refused before it becomes one:
   WHY is part of a sentence. */
void front_put_refusal(struct buf *out, struct str why);

#endif
