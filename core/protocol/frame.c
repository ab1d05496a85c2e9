/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frame.c: cuts a byte stream into lines. */
#include "frame.h"

/* Storage that an idle frame keeps: what common messages need. */
#define KEPT (64u * 1024)

void frame_init(struct frame *frame, size_t max)
{
    *frame = (struct frame){.line = BUF_EMPTY, .max = max};
}

void frame_release(struct frame *frame)
{
    buf_release(&frame->line);
    frame_init(frame, frame->max);
}

/* Forgets the lines that were handed out; gives the storage of a large one
   back once it holds nothing more. */
static void drop_done(struct frame *frame)
{
    buf_consume(&frame->line, frame->done);
    frame->scanned -= frame->done;
    frame->done = 0;
    if (frame->line.n == 0)
        buf_trim(&frame->line, KEPT);
}

/* Room for N more bytes and the LF that frame_finish may add. A line that
   grows large gets at once all that it may have, so that doubling does not
   pass the bound. */
static char *make_room(struct frame *frame, size_t n)
{
    struct buf *line = &frame->line;
    if (n + 1 > line->cap - line->n && line->cap > frame->max / 2 &&
        line->n <= frame->max)
        return buf_reserve_exact(line, frame->max - line->n + n + 2);
    return buf_reserve(line, n + 1);
}

/* Memory ran out: drops the line that N more bytes at P belong to, and them. */
static void drop_fed(struct frame *frame, const char *p, size_t n)
{
    struct buf *line = &frame->line;
    size_t end = line->n;
    while (end > frame->scanned && line->p[end - 1] != '\n')
        end--;
    buf_truncate(line, end);
    line->failed = false;
    frame->skipping = p[n - 1] != '\n';
}

enum status frame_feed(struct frame *frame, const void *p, size_t n)
{
    drop_done(frame);
    const char *from = p;
    if (frame->skipping && n > 0) {
        const char *lf = memchr(from, '\n', n);
        if (lf == NULL)
            return ST_OK;
        frame->skipping = false;
        n -= (size_t)(lf + 1 - from);
        from = lf + 1;
    }
    if (n == 0)
        return ST_OK;
    char *to = make_room(frame, n);
    if (to == NULL) {
        drop_fed(frame, from, n);
        return ST_NOMEM;
    }
    memcpy(to, from, n);
    frame->line.n += n;
    return ST_OK;
}

/* LINE without a byte order mark at the start of the stream and a CR at the
   end. */
static struct str strip(struct frame *frame, struct str line)
{
    const struct str bom = STR("\xef\xbb\xbf");
    if (!frame->started && str_starts(line, bom))
        line = str_make(line.p + bom.n, line.n - bom.n);
    frame->started = true;
    if (line.n > 0 && line.p[line.n - 1] == '\r')
        line.n--;
    return line;
}

static bool is_blank(struct str line)
{
    for (size_t i = 0; i < line.n; i++)
        if (line.p[i] != ' ' && line.p[i] != '\t' && line.p[i] != '\r')
            return false;
    return true;
}

/* No LF is there: the line either is incomplete or already too long. */
static enum status partial_line(struct frame *frame)
{
    frame->scanned = frame->line.n;
    // One byte may be the CR of the line end, three a byte order mark.
    size_t slack = frame->started ? 1 : 4;
    if (frame->line.n <= slack || frame->line.n - slack <= frame->max)
        return ST_MISSING;
    frame->done = frame->line.n;
    frame->skipping = true;
    frame->started = true;
    drop_done(frame);
    return ST_LIMIT;
}

enum status frame_next(struct frame *frame, struct str *line)
{
    for (;;) {
        drop_done(frame);
        struct str rest = buf_view(&frame->line);
        const char *lf = NULL;
        if (rest.n > frame->scanned)
            lf = memchr(rest.p + frame->scanned, '\n', rest.n - frame->scanned);
        if (lf == NULL)
            return partial_line(frame);
        size_t n = (size_t)(lf - rest.p);
        frame->scanned = frame->done = n + 1;
        struct str found = strip(frame, str_make(rest.p, n));
        if (found.n > frame->max)
            return ST_LIMIT;
        if (!is_blank(found)) {
            *line = found;
            return ST_OK;
        }
    }
}

void frame_finish(struct frame *frame)
{
    drop_done(frame);
    frame->skipping = false;
    // frame_feed left room for it.
    if (frame->line.n > 0)
        buf_byte(&frame->line, '\n');
}
