/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frames.c: see frames.h. */
#include "support/frames.h"

#include "wire/wire.h"

void frames_skip_hello(struct buf *out)
{
    struct wire_head head;
    struct str body;

    if (wire_frame(buf_view(out), &head, &body) == ST_OK &&
        head.kind == WIRE_HELLO)
        buf_consume(out, WIRE_HEAD + head.size);
}
