/* SPDX-License-Identifier: GPL-3.0-or-later */
/* terminal.h: output that was written for a terminal, as a reader sees it: what
   a terminal would obey must not reach that of the client. Knows nothing of
   calls. */
#ifndef SUPERVISOR_TERMINAL_H
#define SUPERVISOR_TERMINAL_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

/* Whether TEXT, which is valid UTF-8, has nothing that a terminal obeys, other
   than tabs and line ends. */
bool terminal_is_plain(struct str text);

/* Whether TEXT, which may be anything, is ASCII and plain. */
bool terminal_is_plain_ascii(struct str text);

/* Appends TEXT without terminal sequences, and other controls as ^G. */
void terminal_append(struct buf *out, struct str text);

#endif
