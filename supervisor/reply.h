/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reply.h: answers calls. Each function answers one call and frees it. When the
   front of the call is gone, nothing is answered, and the session's notices and
   earlier output wait for the next answer. */
#ifndef SUPERVISOR_REPLY_H
#define SUPERVISOR_REPLY_H

#include <stdbool.h>

#include "base/str.h"
#include "supervisor/call.h"
#include "supervisor/session.h"

struct supervisor;

#define REPLY_NO_MEMORY                                                        \
    "[ERROR] STORAGE-CONDITION\nThe server has not enough memory for this "    \
    "call."

/* Answers CALL, which was taken out of its session, with TEXT alone. */
void reply_text(struct call *call, bool error, struct str text);

/* Answers CALL, which was taken out of SESSION, with the notices that its front
   has not read, what was printed, and BODY, cut to what the call allows.
   Explains the sandbox when the system has refused something to the code: when
   what CALL printed to its standard error shows that, or the BODY of an ERROR.
   A call with WIRE_VIEW is answered with BODY alone; what it printed waits for
   the next answer. */
void reply_composed(struct supervisor *s, struct session *session,
                    struct call *call, bool error, struct str body);

/* Takes CALL, which has not been sent, out of SESSION and answers that it was
   not begun, and WHY: a clause. */
void reply_not_run(struct session *session, struct call *call, const char *why);

#endif
