/* SPDX-License-Identifier: GPL-3.0-or-later */
/* front.h: one of those whose calls a supervisor serves, and what is said to
   it; what it says goes into intake.h. The host carries the frames (wire.h),
   whatever way. All fronts share the sessions; each numbers its own calls,
   stops only those (the owner those of all others, too), and gets what belongs
   to them. */
#ifndef SUPERVISOR_FRONT_H
#define SUPERVISOR_FRONT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct call;
struct front;
struct supervisor;

/* --- For hosts ---------------------------------------------------------- */

/* A new front of SUPERVISOR; NULL when memory runs out. The images end when an
   OWNER says so (WIRE_FINISH); what others say ends their own calls. Its end
   is intake_close; fronts that are open when the supervisor is freed go with
   it. */
struct front *front_open(struct supervisor *supervisor, bool owner);

/* Frames for the front; the host removes what it has passed on. */
struct buf *front_output(struct front *front);

/* Whether it has said HELLO. */
bool front_is_greeted(const struct front *front);

/* Appends to OUT what is said to a front that is refused before it becomes one:
   WHY is part of a sentence. */
void front_put_refusal(struct buf *out, struct str why);

/* --- For the supervisor ------------------------------------------------- */

/* Takes FRONT out of its supervisor and frees it. It has no calls. */
void front_free(struct front *front);

/* The answer to its HELLO, which the supervisor accepts. */
void front_welcome(struct front *front);

/* Answers call ID of FRONT. FLAGS are those of WIRE_REPLY. */
void front_reply(struct front *front, uint64_t id, unsigned flags,
                 struct str text);

/* Output of that call, while it runs. */
void front_tell(struct front *front, uint64_t id, struct str text);

/* Whether there is no room for a call with N bytes of arguments; appends to
   TEXT what is said then. One call alone may be as large as the message that
   brought it. */
bool front_is_full(const struct front *front, size_t n, struct buf *text);

/* CALL is call ID of FRONT; it counts until it is answered, or FRONT is
   gone. */
void front_add_call(struct front *front, struct call *call, uint64_t id);
void front_end_call(struct call *call);

#endif
