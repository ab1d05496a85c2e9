/* SPDX-License-Identifier: GPL-3.0-or-later */
/* process_limit.h: bounds the number of processes that the code of a session
   has running. They are counted, since no limit of the system holds for root:
   often while a call runs, and as long as there are some afterwards. */
#ifndef SUPERVISOR_PROCESS_LIMIT_H
#define SUPERVISOR_PROCESS_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "supervisor/session.h"

/* Counts the processes when that is due. True: there were more than
   LIMIT_PROCESSES, all were killed, and the image must end. */
bool MUST_CHECK process_limit_tend(struct session *session, int64_t now);

/* When process_limit_tend must be called again; -1: not before a call runs. */
int64_t process_limit_deadline(const struct session *session);

/* Kills the programs that were started since CALL, which is stopped, began. */
void process_limit_end_programs(const struct session *session,
                                const struct call *call);

#endif
