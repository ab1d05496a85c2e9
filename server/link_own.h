/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_own.h: a link to a supervisor in this process. */
#ifndef SERVER_LINK_OWN_H
#define SERVER_LINK_OWN_H

#include "server/link.h"
#include "server/listener.h"
#include "supervisor/supervisor.h"

/* Starts the supervisor, and also serves the fronts that connect to LISTENER,
   which may be NULL. NULL when memory runs out. Owns LISTENER in any case. The
   strings of CONFIG must outlive it. */
struct link *link_own_new(const struct supervisor_config *config,
                          struct listener *listener, int64_t now_ms);

#endif
