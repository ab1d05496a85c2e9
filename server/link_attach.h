/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_attach.h: a link to a supervisor behind a Unix socket. It connects when
   a call wants Lisp, and again when the connection was lost. */
#ifndef SERVER_LINK_ATTACH_H
#define SERVER_LINK_ATTACH_H

#include "base/log.h"
#include "server/link.h"

/* A link to the supervisor behind the socket PATH, which address_fill takes;
   NULL when memory runs out. PATH and LOG must outlive it. */
struct link *link_attach_new(const char *path, const struct log *log);

#endif
