/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frames.h: helpers for tests that read the frames of a core. */
#ifndef TESTS_SUPPORT_FRAMES_H
#define TESTS_SUPPORT_FRAMES_H

#include "base/buf.h"

/* Removes the HELLO at the beginning of OUT, if there is one. */
void frames_skip_hello(struct buf *out);

#endif
