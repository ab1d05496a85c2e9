/* SPDX-License-Identifier: GPL-3.0-or-later */
/* loop.h: the poll(2) loop that joins standard input and output, the core and
   the link to the Lisp images. */
#ifndef SERVER_LOOP_H
#define SERVER_LOOP_H

#include "core/core.h"
#include "server/emacs.h"
#include "server/link.h"

/* Serves until end of input, a signal, or the loss of the client, as RULINGS
   "end of input" says; answers every call before it returns the exit status.
   Without SESSION, standard input and output carry the frames of LINK. EMACS
   may be NULL. */
int loop_run(struct core *core, struct link *link, struct emacs *emacs);

/* Installs the handlers of SIGCHLD, SIGTERM, SIGINT and SIGHUP, ignores
   SIGPIPE, and opens /dev/null where a standard descriptor is closed. False
   with a message on standard error when the system refuses. To be called
   before the link is made. */
bool loop_prepare(void);

#endif
