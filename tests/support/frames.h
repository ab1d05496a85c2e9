/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frames.h: what tests do with frames that the core has written. */
#ifndef TESTS_SUPPORT_FRAMES_H
#define TESTS_SUPPORT_FRAMES_H

#include "base/buf.h"

/* Removes the HELLO with which OUT begins, if it does. */
void frames_skip_hello(struct buf *out);

#endif
