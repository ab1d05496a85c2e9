/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outputs.c: see outputs.h. */
#include "supervisor/outputs.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

void outputs_release(struct outputs *outputs)
{
    for (size_t i = 0; i < outputs->n; i++)
        buf_release(&outputs->list[i].text);
    memset(outputs, 0, sizeof *outputs);
}

static void drop_oldest(struct outputs *outputs)
{
    outputs->bytes -= outputs->list[0].text.n;
    buf_release(&outputs->list[0].text);
    outputs->n--;
    memmove(outputs->list, outputs->list + 1,
            outputs->n * sizeof outputs->list[0]);
}

void outputs_add(struct outputs *outputs, const char *session, struct buf *text)
{
    struct output *slot;

    while (outputs->n > 0 && (outputs->n == LIMIT_OUTPUTS ||
                              outputs->bytes + text->n > LIMIT_OUTPUTS_BYTES))
        drop_oldest(outputs);
    slot = &outputs->list[outputs->n++];
    slot->id = ++outputs->last_id;
    (void)snprintf(slot->session, sizeof slot->session, "%s", session);
    slot->text = *text;
    slot->chars = 0;
    outputs->bytes += text->n;
    *text = BUF_EMPTY;
}

/* The index of text ID; outputs->n: there is none. */
static size_t find(const struct outputs *outputs, uint64_t id)
{
    size_t i = 0;

    while (i < outputs->n && outputs->list[i].id != id)
        i++;
    return i;
}

/* The text ID as a view, *TOTAL characters long. False when there is none, or
   nothing in it at OFFSET: OUT then says so. */
static bool look_up(struct outputs *outputs, uint64_t id, uint64_t offset,
                    struct str *text, size_t *total, struct buf *out)
{
    size_t i = find(outputs, id);
    struct output *found = i < outputs->n ? &outputs->list[i] : NULL;

    if (!found) {
        buf_printf(out,
                   "Output %llu not found: outputs are numbered in the answers "
                   "that cut them, "
                   "and the %d newest are kept (now %zu).",
                   (unsigned long long)id, LIMIT_OUTPUTS, outputs->n);
        return false;
    }
    *text = buf_view(&found->text);
    if (found->chars == 0)
        found->chars = utf8_starts(*text);
    *total = found->chars;
    if (offset < *total)
        return true;
    buf_printf(
        out, "Output %llu has %zu characters; there is nothing at offset %llu.",
        (unsigned long long)id, *total, (unsigned long long)offset);
    return false;
}

bool outputs_read(struct outputs *outputs, uint64_t id, uint64_t offset,
                  uint64_t limit, struct buf *out)
{
    struct str text;
    struct str part;
    size_t total;

    if (!look_up(outputs, id, offset, &text, &total, out))
        return false;
    part = utf8_valid_head(text, (size_t)offset);
    text.p += part.n;
    text.n -= part.n;
    part = utf8_valid_head(text, limit < total ? (size_t)limit : total);
    buf_str(out, part);
    buf_printf(out, "\n[characters %llu to %llu of %zu]",
               (unsigned long long)offset,
               (unsigned long long)(offset + utf8_starts(part)), total);
    return true;
}

bool outputs_has(const struct outputs *outputs, uint64_t id)
{
    return find(outputs, id) < outputs->n;
}

uint64_t outputs_number(const struct outputs *outputs, struct str text)
{
    for (size_t i = 0; i < outputs->n; i++)
        if (outputs->list[i].text.p == text.p)
            return outputs->list[i].id;
    return 0;
}

bool outputs_find(struct outputs *outputs, uint64_t id, uint64_t offset,
                  struct str *text, struct buf *out)
{
    size_t total;

    return look_up(outputs, id, offset, text, &total, out);
}

bool outputs_show(const struct outputs *outputs, uint64_t id,
                  struct str session, struct str *text, struct buf *out)
{
    size_t i = find(outputs, id);
    const struct output *found = i < outputs->n ? &outputs->list[i] : NULL;

    if (found && str_eq(str_from(found->session), session)) {
        *text = buf_view(&found->text);
        return true;
    }
    buf_printf(out,
               "Output %llu of session %.*s not found: the %d newest outputs "
               "that were too long for their answers are kept.",
               (unsigned long long)id, STR_ARG(session), LIMIT_OUTPUTS);
    return false;
}
