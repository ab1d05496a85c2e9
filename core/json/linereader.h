/* SPDX-License-Identifier: GPL-3.0-or-later */
/* linereader.h: cuts a byte stream into lines (MCP stdio transport: one message
   a line, UTF-8, LF; a CR before it and a byte order mark at the start of the
   stream are tolerated). */
#ifndef JSON_LINEREADER_H
#define JSON_LINEREADER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

struct linereader {
    struct buf line; /* bytes since the last line end */
    size_t scanned;  /* of line: has no LF up to here */
    size_t done;     /* of line: bytes of lines already handed out */
    size_t max;      /* longest line, bytes without the line end */
    bool skipping;   /* inside a line that was too long */
    bool started;    /* the byte order mark was looked for */
};

void linereader_init(struct linereader *reader, size_t max);
void linereader_release(struct linereader *reader);

/* Adds N bytes. Memory stays below MAX plus one chunk, whatever comes: bytes
   of a line that is already too long are dropped. ST_NOMEM drops the bytes
   and the rest of their line. */
enum status MUST_CHECK linereader_feed(struct linereader *reader, const void *p,
                                       size_t n);

/* Takes the next complete line, without line end; blank lines are passed over.
   ST_OK: *LINE is valid until the next call of any function here.
   ST_MISSING: no complete line is there. ST_LIMIT: the next line was longer
   than MAX; reported once for that line. */
enum status MUST_CHECK linereader_next(struct linereader *reader,
                                       struct str *line);

/* End of input: a last line without LF becomes complete. */
void linereader_finish(struct linereader *reader);

#endif
