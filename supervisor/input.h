/* SPDX-License-Identifier: GPL-3.0-or-later */
/* input.h: lines that evaluated code reads from the human whose call it is. The
   image says that it waits for one, the front is told, and its answer goes to
   the image. Fronts that supply nothing are not told, and their code finds no
   input. */
#ifndef SUPERVISOR_INPUT_H
#define SUPERVISOR_INPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "supervisor/session.h"

/* Tells the front of the running call, if its code waits for a line, after all
   that it has printed. */
void input_tend(struct session *session, int64_t now);

/* The front has sent LINE for CALL of SESSION; it is ignored unless the front
   was told. */
void input_take(struct session *session, struct call *call, struct str line,
                int64_t now);

/* When CALL, which runs, has waited for a line for too long; -1: it does not
   wait. */
int64_t input_deadline(const struct call *call);

#endif
