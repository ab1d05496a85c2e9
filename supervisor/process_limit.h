/* SPDX-License-Identifier: GPL-3.0-or-later */
/* process_limit.h: bounds the number of processes that the code of a session
   has running. Their keeper counts them (image/keeper.h), since no limit of the
   system holds for root: often while a call runs, and as long as there are some
   afterwards. It stops them when there are more than LIMIT_PROCESSES. */
#ifndef SUPERVISOR_PROCESS_LIMIT_H
#define SUPERVISOR_PROCESS_LIMIT_H

#include <stdint.h>

#include "supervisor/session.h"

/* Has the processes counted when that is due. */
void process_limit_tend(struct session *session, int64_t now);

/* When process_limit_tend must be called again; -1: not before a call runs. */
int64_t process_limit_deadline(const struct session *session);

/* Tells the keeper which processes are sleeping copies; they have changed. */
void process_limit_note_copies(const struct session *session);

/* A copy was woken and is the image from now on: has everything ended that an
   earlier image has left. The image is unsettled until that is done. */
void process_limit_begin_anew(struct session *session);

/* Kills the programs that were started since CALL, which is stopped, began. */
void process_limit_end_programs(const struct session *session,
                                const struct call *call);

/* Kills those that were started before CALL began. */
void process_limit_end_earlier(const struct session *session,
                               const struct call *call);

#endif
