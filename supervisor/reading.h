/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reading.h: what a front reads of a long output (WIRE_READ, show-output). A
   part of one is read at once; looking for lines, and showing all of it, goes
   in steps, and what the front sends meanwhile waits for its end. */
#ifndef SUPERVISOR_READING_H
#define SUPERVISOR_READING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

struct front;
struct reading;

/* Answers READ ID of FRONT, whose body is BODY, now or in later steps:
   front->reading is there then. ST_INVALID: BODY is not what it should be. */
enum status MUST_CHECK reading_begin(struct front *front, uint64_t id,
                                     struct str body);

/* Answers call ID of FRONT with all of TEXT, a view of an output, in the same
   way. */
void reading_show(struct front *front, uint64_t id, struct str text);

/* The next step of what FRONT reads. False: there is nothing to do, or no more,
   and its frames can be taken again. */
bool reading_go_on(struct front *front);

/* Ends what FRONT reads, if it does, without an answer. */
void reading_end(struct front *front);

#endif
