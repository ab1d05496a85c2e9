/* SPDX-License-Identifier: GPL-3.0-or-later */
/* progress.h: passes on what a call prints while it runs: whole lines, now and
   then. An unfinished line (a prompt, a row of dots) is passed on, too, when
   nothing follows it for a while. */
#ifndef SUPERVISOR_PROGRESS_H
#define SUPERVISOR_PROGRESS_H

#include <stdint.h>

#include "supervisor/session.h"

/* Passes on what is due. */
void progress_tend(struct session *session, int64_t now);

/* Passes on everything that the running call has printed. */
void progress_flush(struct session *session, int64_t now);

/* When progress_tend has to be called again; -1: not before more output
   comes. */
int64_t progress_deadline(const struct session *session);

#endif
