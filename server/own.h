/* SPDX-License-Identifier: GPL-3.0-or-later */
/* own.h: a link to a supervisor in this process. */
#ifndef SERVER_OWN_H
#define SERVER_OWN_H

#include "link.h"
#include "supervisor.h"

/* Starts the supervisor; NULL when memory runs out. The strings of CONFIG must
   outlive it. */
struct link *own_new(const struct supervisor_config *config, int64_t now_ms);

#endif
