/* SPDX-License-Identifier: GPL-3.0-or-later */
/* front.h: a front, for which the supervisor serves calls: what it owns, and
   what is said to it. Its own frames go to intake.h. The host carries frames
   (wire.h) both ways. All fronts share the sessions; each numbers its own
   calls, gets their answers, and stops only those (the owner those of all
   others, too). */
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
   is intake_close; supervisor_free frees the fronts that are still open. */
struct front *front_open(struct supervisor *supervisor, bool owner);

/* Frames to FRONT; the host removes what it has passed on. */
struct buf *front_output(struct front *front);

/* Whether FRONT has said HELLO. */
bool front_is_greeted(const struct front *front);

/* Whether FRONT has sent more than is done at once: what follows can wait. */
bool front_is_busy(const struct front *front);

/* Appends to OUT the frame that refuses a front before it is opened. WHY is
   part of a sentence. */
void front_put_refusal(struct buf *out, struct str why);

/* --- For the supervisor ------------------------------------------------- */

/* Takes FRONT, which has no calls left and reads nothing, out of its supervisor
   and frees it. */
void front_free(struct front *front);

/* Answers the HELLO of FRONT: the supervisor accepts it. */
void front_welcome(struct front *front);

/* Answers call ID of FRONT. FLAGS are those of WIRE_REPLY. */
void front_reply(struct front *front, uint64_t id, unsigned flags,
                 struct str text);

/* The same with the whole FRAME, a REPLY, which is taken over or copied. */
void front_pass(struct front *front, struct buf *frame);

/* Passes on output of that call while it runs. */
void front_tell(struct front *front, uint64_t id, struct str text);

/* The code of that call waits for a line. */
void front_want(struct front *front, uint64_t id);

/* Whether there is no room for another call with N bytes of arguments; if so,
   appends to TEXT what is answered. A lone call may be as large as the message
   that brought it. */
bool front_is_full(const struct front *front, size_t n, struct buf *text);

/* CALL is call ID of FRONT and counts among its calls, until it is answered or
   FRONT is gone. */
void front_add_call(struct front *front, struct call *call, uint64_t id);
void front_end_call(struct call *call);

#endif
