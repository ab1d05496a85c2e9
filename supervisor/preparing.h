/* SPDX-License-Identifier: GPL-3.0-or-later */
/* preparing.h: asks idle images to load ahead what their next calls will need
   (docs/adr/0033). What that is, Lisp decides. */
#ifndef SUPERVISOR_PREPARING_H
#define SUPERVISOR_PREPARING_H

#include <stdint.h>

struct session;
struct supervisor;

/* Asks the image of SESSION, if that is due and it is idle: once in the life of
   an image, and one image at a time. The answer, KEPT, comes with
   session_read. */
void preparing_tend(struct supervisor *s, struct session *session, int64_t now);

/* When preparing_tend must be called again; -1: nothing is due. */
int64_t preparing_deadline(const struct session *session);

/* KEPT has come (keeping.copy.arrived) for a PREPARE. If something was loaded,
   a new checkpoint with it replaces the newest one. */
void preparing_take(const struct supervisor *s, struct session *session,
                    int64_t now);

#endif
