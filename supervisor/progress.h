/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress.h: tells a front what its running call prints while it runs: whole
   lines, now and then. A line without an end is told, too, when nothing
   follows it for a while: a prompt, or dots that count. */
#ifndef SUPERVISOR_PROGRESS_H
#define SUPERVISOR_PROGRESS_H

#include <stdint.h>

#include "supervisor/session.h"

/* Tells the front of the running call what is due. */
void progress_tend(struct session *session, int64_t now);

/* When progress_tend has to be called again; -1: not before more output
   comes. */
int64_t progress_deadline(const struct session *session);

#endif
