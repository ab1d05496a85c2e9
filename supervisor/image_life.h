/* SPDX-License-Identifier: GPL-3.0-or-later */
/* image_life.h: the life of the image of a session: opened when it is needed,
   served, and buried with a reason when it dies; a checkpoint or a fresh image
   follows it. */
#ifndef SUPERVISOR_IMAGE_LIFE_H
#define SUPERVISOR_IMAGE_LIFE_H

#include <stdint.h>
#include <sys/types.h>

#include "supervisor/session.h"

struct supervisor;

/* Makes an image for a session that has none; its process is known when the
   zygote has said it (CONTROL_OPENED). What fails is logged, and tried again
   with the next call. */
void image_life_open(struct supervisor *s, struct session *session);

/* Does the calls that are the supervisor's turn, opens an image when one is
   needed, and sends what may be sent ahead. To be called whenever a call came,
   went or was stopped. */
void image_life_serve(struct supervisor *s, struct session *session,
                      int64_t now);

/* Reads from the image and answers the calls that are finished. */
void image_life_read(struct supervisor *s, struct session *session,
                     int64_t now);

/* Answers the calls that are finished. */
void image_life_answer(struct supervisor *s, struct session *session,
                       int64_t now);

/* The image is gone, or has broken the protocol and must go: kills it. It is
   buried when its cause of death is known: the zygote tells it, or
   supervisor_reap when its zygote is gone. */
void image_life_lost(struct session *session, int64_t now);

/* Wait(2) or the zygote has reported that process PID ended. */
void image_life_note_exit(struct supervisor *s, pid_t pid, int wait_status,
                          int64_t now);

/* Buries an image whose cause of death is known, or was waited for long
   enough. */
void image_life_tend(struct supervisor *s, struct session *session,
                     int64_t now);

/* When image_life_tend must be called again; -1: the image is not dying. */
int64_t image_life_deadline(const struct session *session);

#endif
