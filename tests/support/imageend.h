/* SPDX-License-Identifier: GPL-3.0-or-later */
/* imageend.h: a session whose image is the test: it has the other ends of the
   socket and the pipes, which are real. */
#ifndef TESTS_SUPPORT_IMAGEEND_H
#define TESTS_SUPPORT_IMAGEEND_H

#include <stdint.h>

#include "supervisor/session.h"

extern struct session session;

/* The ends of the image. */
extern int image_socket;
extern int image_pipes[CAPTURE_PIPES];

/* Before and after each test. */
int image_set_up(void **state);
int image_tear_down(void **state);

/* Gives the session a call with ID, to be sent to the image. */
void image_add_call(uint64_t id);

/* The image writes N BYTES to pipe I, its mark behind call ID to both, a REPLY
   with TEXT, or the head of a frame, and no more. */
void image_writes(int i, const char *bytes, size_t n);
void image_marks(uint64_t id);
void image_replies(uint64_t id, const char *text);
void image_heads(unsigned kind, uint64_t id, uint32_t size);

/* The session reads what is in its pipes. */
void image_read_pipes(void);

/* Checks that the next finished call has ID and printed OUT. */
void image_expect_call(uint64_t id, const char *out);

#endif
