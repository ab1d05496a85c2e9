/* SPDX-License-Identifier: GPL-3.0-or-later */
/* linereader.h: cuts a byte stream into lines. On MCP's stdio transport each
   message is a line of UTF-8 that ends with LF; a CR before the LF, and a byte
   order mark at the start of the stream, are tolerated. */
#ifndef JSON_LINEREADER_H
#define JSON_LINEREADER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

struct linereader {
    struct buf line; /* bytes since the last line end */
    size_t scanned;  /* how many bytes of line are known to have no LF */
    size_t done;     /* how many bytes of line were handed out already */
    size_t max;      /* bytes of the longest line, without its end */
    bool skipping;   /* inside a line that was too long */
    bool started;    /* past the place of the byte order mark */
};

void linereader_init(struct linereader *reader, size_t max);

/* Drops everything; the reader can be used again. Accepts a zeroed one. */
void linereader_release(struct linereader *reader);

/* Adds N bytes. Memory stays below MAX plus one chunk, whatever comes in: bytes
   of a line that is too long already are dropped. ST_NOMEM: these bytes and the
   rest of their line are lost. */
enum status MUST_CHECK linereader_feed(struct linereader *reader, const void *p,
                                       size_t n);

/* Whether linereader_next may have more to say than ST_MISSING. */
bool linereader_has_line(struct linereader *reader);

/* Takes the next complete line, without its end; skips blank lines. ST_OK:
   *LINE is valid until the next call of any function here. ST_MISSING: there is
   no complete line yet. ST_LIMIT: the next line was longer than MAX; reported
   once for that line. */
enum status MUST_CHECK linereader_next(struct linereader *reader,
                                       struct str *line);

/* The input has ended: a last line without LF becomes complete. */
void linereader_finish(struct linereader *reader);

#endif
