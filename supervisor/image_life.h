/* SPDX-License-Identifier: GPL-3.0-or-later */
/* image_life.h: the life of a session's image: it is opened when it is needed,
   served, and buried with a reason when it dies; a checkpoint or a fresh image
   replaces it. */
#ifndef SUPERVISOR_IMAGE_LIFE_H
#define SUPERVISOR_IMAGE_LIFE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "image/control.h"
#include "supervisor/session.h"

struct supervisor;

/* Makes an image for a session that has none; its keeper will say which process
   it is (CONTROL_OPENED). A failure is logged; the next call tries again. */
void image_life_open(struct supervisor *s, struct session *session);

/* Does the calls that are next and the supervisor's own, opens an image when
   one is needed, and sends what may be sent ahead. Must be called whenever a
   call has come, gone or been stopped. */
void image_life_serve(struct supervisor *s, struct session *session,
                      int64_t now);

/* Whether SESSION gets no calls because it has lost an image and there is too
   much to be closed: another one could send more. */
bool image_life_must_wait(const struct session *session);

/* Reads from the image and answers the calls that are finished. */
void image_life_read(struct supervisor *s, struct session *session,
                     int64_t now);

/* Reads from the keeper. */
void image_life_read_keeper(struct supervisor *s, struct session *session,
                            int64_t now);

/* The keeper was killed: nobody else adopts and counts what the session starts.
   The zygote, or this process, ends what it had. */
void image_life_lose_keeper(struct supervisor *s, struct session *session,
                            int64_t now);

/* Keeper or zygote has said which process the image is, or that there is none
   (CONTROL_OPENED). */
void image_life_note_opened(struct supervisor *s, struct session *session,
                            const struct control_message *message, int64_t now);

/* Answers the calls that are finished. */
void image_life_answer(struct supervisor *s, struct session *session,
                       int64_t now);

/* The image is gone, or must go: kills it. It is buried as soon as its keeper
   has said how it ended. */
void image_life_lost(struct session *session, int64_t now);

/* Buries a dying image once its cause of death is known, or has not come in
   time, and no more is to be closed than may be; goes on when a copy that the
   session waits for is awake, or did not wake in time. */
void image_life_tend(struct supervisor *s, struct session *session,
                     int64_t now);

/* The image of SESSION is dying, and its calls will not go to another one:
   answers those that it has answered, and takes the one that it was running.
   NULL: none had begun. */
struct call *image_life_take_running(struct supervisor *s,
                                     struct session *session, int64_t now);

/* When image_life_tend must be called again; -1: the image is not dying, and no
   copy is waking. */
int64_t image_life_deadline(const struct session *session);

#endif
