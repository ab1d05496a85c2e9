/* SPDX-License-Identifier: GPL-3.0-or-later */
/* emacs.h: the socket to the user's Emacs, if one is running: finds it, and
   carries the lines of docs/editor-protocol.md between it and the core. Nothing
   here ever waits. */
#ifndef SERVER_EMACS_H
#define SERVER_EMACS_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/log.h"
#include "core/core.h"

struct emacs;

/* Whether an Emacs can ever connect: ECL_MCP_EMACS is not "off", and it or HOME
   leads to a socket. */
bool emacs_may_come(void);

/* Looks for Emacs at once. CORE and LOG are borrowed. NULL: no Emacs can
   connect, or memory ran out; all functions below accept that. */
struct emacs *emacs_new(struct core *core, const struct log *log,
                        int64_t now_ms);
void emacs_free(struct emacs *emacs);

/* Emacs may be needed soon: looks for it again, unless it has just done so. */
void emacs_want(struct emacs *emacs, int64_t now_ms);

/* What to poll; its fd is -1 while no Emacs is connected. */
struct pollfd emacs_fd(const struct emacs *emacs);

/* Reads and writes what the socket allows. FD is from emacs_fd; after poll(2)
   failed, its revents are 0. */
void emacs_run(struct emacs *emacs, const struct pollfd *fd, int64_t now_ms);

/* The time at which emacs_run has something to do; -1: never. */
int64_t emacs_deadline(const struct emacs *emacs);

#endif
