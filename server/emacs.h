/* SPDX-License-Identifier: GPL-3.0-or-later */
/* emacs.h: the socket to the Emacs of the user, where there is one: finds it,
   and carries the lines of docs/editor-protocol.md between it and the core.
   Nothing here ever waits. */
#ifndef SERVER_EMACS_H
#define SERVER_EMACS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "core/core.h"

struct emacs;

/* Whether an Emacs may ever come: ECL_MCP_EMACS is not "off", and names a
   socket, or HOME does. */
bool emacs_may_come(void);

/* Looks for Emacs at once. SESSION and LOG are borrowed. NULL: no Emacs may
   come, or memory ran out; all functions below accept that. */
struct emacs *emacs_new(struct core *core, const struct log *log,
                        int64_t now_ms);
void emacs_free(struct emacs *emacs);

/* Somebody may want it soon: looks for it again, if the last time is long
   enough ago. */
void emacs_want(struct emacs *emacs, int64_t now_ms);

/* The descriptor to poll; its fd is -1 when there is none. */
struct pollfd emacs_fd(const struct emacs *emacs);

/* Reads and writes what can be; FD is from emacs_fd and was polled, or has no
   events. */
void emacs_run(struct emacs *emacs, const struct pollfd *fd, int64_t now_ms);

/* The time at which emacs_run has something to do; -1: never. */
int64_t emacs_deadline(const struct emacs *emacs);

#endif
