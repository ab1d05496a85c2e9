/* SPDX-License-Identifier: GPL-3.0-or-later */
/* loop.h: the poll(2) loop that joins standard input and output, the core and
   the link to the Lisp images. */
#ifndef SERVER_LOOP_H
#define SERVER_LOOP_H

#include "core/core.h"
#include "host/host.h"
#include "server/emacs.h"
#include "server/link.h"

/* Serves until the input ends, a signal arrives, or the client stops reading,
   and returns the exit status. At the end of input, running calls get
   LIMIT_GRACE_EOF_MS, after a signal LIMIT_GRACE_SIGNAL_MS, after a second
   signal nothing; then they are stopped, and every call is answered before
   this returns. With CORE NULL, standard input and output carry the frames of
   LINK. EMACS may be NULL. Begins LINK and the log of HOST when the
   first answer is out. */
int loop_run(struct core *core, struct link *link, struct emacs *emacs,
             struct host *host);

/* Installs the handlers of SIGCHLD, SIGTERM, SIGINT and SIGHUP, ignores SIGPIPE
   and SIGXFSZ, and opens /dev/null where a standard descriptor is closed. False
   with a message on standard error when the system refuses. Call it before the
   link is made. */
bool loop_prepare(void);

#endif
