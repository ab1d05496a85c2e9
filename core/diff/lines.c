/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lines.c: see lines.h. */
#include "diff/lines.h"

#include <string.h>

#include "base/limits.h"

enum status lines_cut(struct arena *arena, struct str text, struct lines *out)
{
    size_t lines = 0;
    const char *p = text.p;
    const char *end = text.p + text.n;

    if (text.n > LIMIT_DIFF_TEXT)
        return ST_LIMIT;
    while (p && p < end) {
        const char *feed = memchr(p, '\n', (size_t)(end - p));

        p = feed ? feed + 1 : end;
        lines++;
    }
    if (lines > LIMIT_DIFF_LINES)
        return ST_LIMIT;
    *out = (struct lines){
        .text = text,
        .starts = arena_alloc(arena, (lines + 1) * sizeof *out->starts),
        .n = lines,
    };
    if (!out->starts)
        return ST_NOMEM;
    p = text.p;
    for (size_t i = 0; i < lines; i++) {
        const char *feed = memchr(p, '\n', (size_t)(end - p));

        out->starts[i] = (size_t)(p - text.p);
        p = feed ? feed + 1 : end;
    }
    out->starts[lines] = text.n;
    return ST_OK;
}

struct str lines_view(const struct lines *text, size_t start, size_t count)
{
    size_t from = text->starts[start];

    // no pointer is formed from that of an empty text, which may be NULL
    if (count == 0)
        return STR("");
    return str_make(text->text.p + from, text->starts[start + count] - from);
}

/* A hash table of lines, all different. */
struct table {
    struct slot {
        uint32_t hash;
        uint32_t id; /* plus 1; 0: free */
    } * slots;
    struct str *lines; /* by id */
    size_t mask;
    uint32_t count;
};

static uint32_t hash_of(struct str line)
{
    uint64_t hash = 0xcbf29ce484222325u; // FNV-1a

    for (size_t i = 0; i < line.n; i++)
        hash = (hash ^ (unsigned char)line.p[i]) * 0x100000001b3u;
    return (uint32_t)(hash ^ (hash >> 32));
}

static uint32_t number_line(struct table *table, struct str line)
{
    uint32_t hash = hash_of(line);
    size_t i = hash & table->mask;

    for (; table->slots[i].id != 0; i = (i + 1) & table->mask)
        if (table->slots[i].hash == hash &&
            str_eq(table->lines[table->slots[i].id - 1], line))
            return table->slots[i].id - 1;
    table->lines[table->count] = line;
    table->slots[i] = (struct slot){hash, ++table->count};
    return table->count - 1;
}

enum status lines_number(struct arena *arena, const struct lines *before,
                         const struct lines *after, uint32_t **before_ids,
                         uint32_t **after_ids)
{
    size_t all = before->n + after->n;
    size_t size = 4;
    struct table table = {0};
    uint32_t *ids = arena_alloc(arena, (all + 1) * sizeof *ids);

    while (size < 2 * all)
        size *= 2;
    table.slots = arena_array(arena, size, sizeof *table.slots);
    table.lines = arena_alloc(arena, (all + 1) * sizeof *table.lines);
    table.mask = size - 1;
    if (!ids || !table.slots || !table.lines)
        return ST_NOMEM;
    *before_ids = ids;
    *after_ids = ids + before->n;
    for (size_t i = 0; i < before->n; i++)
        ids[i] = number_line(&table, lines_view(before, i, 1));
    for (size_t i = 0; i < after->n; i++)
        (*after_ids)[i] = number_line(&table, lines_view(after, i, 1));
    return ST_OK;
}
