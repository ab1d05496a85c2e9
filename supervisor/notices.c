/* SPDX-License-Identifier: GPL-3.0-or-later */
/* notices.c: see notices.h. */
#include "supervisor/notices.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/limits.h"
#include "base/utf8.h"

struct notices_reader {
    struct notices_reader *next;
    const struct front *front;
    uint64_t read; /* how many of the notices so far it knows */
};

void notices_release(struct notices *notices)
{
    while (notices->readers)
        notices_leave(notices, notices->readers->front);
    buf_release(&notices->newest);
}

/* The reader FRONT, made if need be: a new one need not know what happened
   before. NULL without memory. */
static struct notices_reader *find(struct notices *notices,
                                   const struct front *front)
{
    struct notices_reader *reader = notices->readers;

    while (reader && reader->front != front)
        reader = reader->next;
    if (reader)
        return reader;
    reader = calloc(1, sizeof *reader);
    if (!reader)
        return NULL;
    reader->front = front;
    reader->read = notices->n;
    reader->next = notices->readers;
    notices->readers = reader;
    return reader;
}

void notices_join(struct notices *notices, const struct front *front)
{
    (void)find(notices, front); // which adds it
}

void notices_leave(struct notices *notices, const struct front *front)
{
    struct notices_reader **link = &notices->readers;
    struct notices_reader *reader;

    while (*link && (*link)->front != front)
        link = &(*link)->next;
    reader = *link;
    if (!reader)
        return;
    *link = reader->next;
    free(reader);
}

void notices_add(struct notices *notices, const struct front *knows,
                 struct str text)
{
    struct notices_reader *reader = knows ? find(notices, knows) : NULL;

    notices->n++;
    buf_reset(&notices->newest);
    buf_str(&notices->newest, text);
    if (reader)
        reader->read = notices->n;
}

void notices_tell(struct notices *notices, const struct front *knows,
                  const char *operation, struct str text)
{
    struct buf notice = BUF_EMPTY;

    buf_printf(&notice, "Someone who shares this session has called %s:\n%.*s",
               operation, STR_ARG(utf8_head(text, LIMIT_NOTICE)));
    notices_add(notices, knows, buf_view(&notice));
    buf_release(&notice);
}

void notices_read(struct notices *notices, const struct front *front,
                  struct buf *out)
{
    struct notices_reader *reader = find(notices, front);

    if (!reader || reader->read == notices->n)
        return;
    if (reader->read + 1 < notices->n)
        buf_printf(out,
                   "\nSince the last answer this has happened %llu times; "
                   "the last time:",
                   (unsigned long long)(notices->n - reader->read));
    buf_printf(out, "\n%.*s", STR_ARG(buf_view(&notices->newest)));
    reader->read = notices->n;
}
