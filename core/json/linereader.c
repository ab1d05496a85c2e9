/* SPDX-License-Identifier: GPL-3.0-or-later */
/* linereader.c: see linereader.h. */
#include "json/linereader.h"

#include "base/strand.h"

/* Bytes of storage that an idle reader holds on to: what common messages
   need. */
#define IDLE_STORAGE (64u * 1024)

/* Bytes between two looks at the strand. */
#define PIECE (64u * 1024)

void linereader_init(struct linereader *reader, size_t max)
{
    *reader = (struct linereader){.line = BUF_EMPTY, .max = max};
}

void linereader_release(struct linereader *reader)
{
    buf_release(&reader->line);
    linereader_init(reader, reader->max);
}

/* Forgets the lines that were handed out. Once nothing is left, storage that a
   long line needed is given back. */
static void drop_done(struct linereader *reader)
{
    buf_consume(&reader->line, reader->done);
    reader->scanned -= reader->done;
    reader->done = 0;
    if (reader->line.n == 0)
        buf_trim(&reader->line, IDLE_STORAGE);
}

/* Room for N more bytes and the LF that linereader_finish may add. A line that
   grows long gets in one step all the room that it may ever have, so that
   doubling does not exceed the bound. */
static char *make_room(struct linereader *reader, size_t n)
{
    struct buf *line = &reader->line;
    if (n + 1 > line->cap - line->n && line->cap > reader->max / 2 &&
        line->n <= reader->max)
        return buf_reserve_exact(line, reader->max - line->n + n + 2);
    return buf_reserve(line, n + 1);
}

/* Memory ran out: drops the N bytes at P and the line that they belong to. */
static void drop_fed(struct linereader *reader, const char *p, size_t n)
{
    struct buf *line = &reader->line;
    size_t end = line->n;
    while (end > reader->scanned && line->p[end - 1] != '\n')
        end--;
    buf_truncate(line, end);
    line->failed = false;
    reader->skipping = p[n - 1] != '\n';
}

enum status linereader_feed(struct linereader *reader, const void *p, size_t n)
{
    drop_done(reader);
    const char *from = p;
    if (reader->skipping && n > 0) {
        const char *lf = memchr(from, '\n', n);
        if (!lf)
            return ST_OK;
        reader->skipping = false;
        n -= (size_t)(lf + 1 - from);
        from = lf + 1;
    }
    if (n == 0)
        return ST_OK;
    char *to = make_room(reader, n);
    if (!to) {
        drop_fed(reader, from, n);
        return ST_NOMEM;
    }
    memcpy(to, from, n);
    reader->line.n += n;
    return ST_OK;
}

/* LINE without a CR at its end and, at the start of the stream, without a byte
   order mark. */
static struct str strip(struct linereader *reader, struct str line)
{
    const struct str bom = STR("\xef\xbb\xbf");
    if (!reader->started && str_starts(line, bom))
        line = str_make(line.p + bom.n, line.n - bom.n);
    reader->started = true;
    if (line.n > 0 && line.p[line.n - 1] == '\r')
        line.n--;
    return line;
}

static bool is_blank(struct str line)
{
    for (size_t i = 0; i < line.n; i++) {
        if (line.p[i] != ' ' && line.p[i] != '\t' && line.p[i] != '\r')
            return false;
        if (i % PIECE == PIECE - 1)
            (void)strand_pause(PIECE); // nothing is lost when it is stopped
    }
    return true;
}

/* Without an LF, the line is either incomplete or too long already. */
static enum status partial_line(struct linereader *reader)
{
    reader->scanned = reader->line.n;
    // One byte may be the CR of the line end, three a byte order mark.
    size_t slack = reader->started ? 1 : 4;
    if (reader->line.n <= slack || reader->line.n - slack <= reader->max)
        return ST_MISSING;
    reader->done = reader->line.n;
    reader->skipping = true;
    reader->started = true;
    drop_done(reader);
    return ST_LIMIT;
}

bool linereader_has_line(struct linereader *reader)
{
    const struct buf *line = &reader->line;
    size_t rest = line->n - reader->scanned;

    if (line->n > reader->max ||
        (rest > 0 && memchr(line->p + reader->scanned, '\n', rest)))
        return true;
    reader->scanned = line->n;
    return false;
}

enum status linereader_next(struct linereader *reader, struct str *line)
{
    for (;;) {
        drop_done(reader);
        struct str rest = buf_view(&reader->line);
        const char *lf = NULL;
        if (rest.n > reader->scanned)
            lf = memchr(rest.p + reader->scanned, '\n',
                        rest.n - reader->scanned);
        if (!lf)
            return partial_line(reader);
        size_t n = (size_t)(lf - rest.p);
        reader->scanned = reader->done = n + 1;
        struct str found = strip(reader, str_make(rest.p, n));
        if (found.n > reader->max)
            return ST_LIMIT;
        if (!is_blank(found)) {
            *line = found;
            return ST_OK;
        }
    }
}

void linereader_finish(struct linereader *reader)
{
    drop_done(reader);
    reader->skipping = false;
    // linereader_feed left room for it.
    if (reader->line.n > 0)
        buf_byte(&reader->line, '\n');
}
