/* SPDX-License-Identifier: GPL-3.0-or-later */
/* link_attach.h: a link to a supervisor at a Unix socket. It connects when a
   call needs Lisp, and again after the connection was lost. */
#ifndef SERVER_LINK_ATTACH_H
#define SERVER_LINK_ATTACH_H

#include "base/log.h"
#include "server/link.h"

/* A link to the supervisor at the socket PATH, which address_fill accepts; NULL
   when memory runs out. PATH and LOG must outlive it. */
struct link *link_attach_new(const char *path, const struct log *log);

#endif
