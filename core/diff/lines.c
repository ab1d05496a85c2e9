/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lines.c: see lines.h. */
#include "diff/lines.h"

#include <string.h>

#include "base/limits.h"

/* Bytes that are scanned between two looks at the strand. */
#define PIECE (64u * 1024)

/* Places of a hash table that are looked at for one line, at most. */
#define PROBES 256

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* *OUT is the number of lines of TEXT. With STARTS, fills it. A line is looked
   through in pieces, as one may be all of the text. */
static enum status find_lines(const struct arena *arena, struct str text,
                              uint32_t *starts, size_t *out)
{
    size_t lines = 0;
    size_t unpaid = 0;
    bool in_line = false;

    for (size_t at = 0; at < text.n;) {
        size_t n = least(text.n - at, PIECE);
        const char *feed = memchr(text.p + at, '\n', n);

        if (!in_line && starts)
            starts[lines] = (uint32_t)at;
        lines += !in_line;
        in_line = !feed;
        if (feed)
            n = (size_t)(feed - text.p) + 1 - at;
        at += n;
        unpaid += 1 + n / 8;
        if (unpaid < PIECE / 8)
            continue;
        if (arena_spend(arena, unpaid) != ST_OK)
            return ST_NOMEM;
        unpaid = 0;
    }
    *out = lines;
    return ST_OK;
}

enum status lines_cut(struct arena *arena, struct str text, struct lines *out)
{
    size_t lines = 0;

    if (text.n > LIMIT_DIFF_TEXT)
        return ST_LIMIT;
    enum status status = find_lines(arena, text, NULL, &lines);
    if (status == ST_OK && lines > LIMIT_DIFF_LINES)
        status = ST_LIMIT;
    if (status != ST_OK)
        return status;
    *out = (struct lines){
        .text = text,
        .starts = arena_alloc(arena, (lines + 1) * sizeof *out->starts),
        .n = lines,
    };
    if (!out->starts)
        return ST_NOMEM;
    out->starts[lines] = (uint32_t)text.n;
    return find_lines(arena, text, out->starts, &lines);
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
    const struct arena *arena;
    const struct lines *before;
    const struct lines *after;
    struct slot {
        uint32_t hash;
        uint32_t id; /* plus 1; 0: free */
    } * slots;
    uint32_t *first; /* by id: the first such line, those of AFTER behind those
                        of BEFORE */
    size_t mask;
    uint32_t count;
};

static enum status hash_of(const struct arena *arena, struct str line,
                           uint32_t *out)
{
    uint64_t hash = 0xcbf29ce484222325u; // FNV-1a

    for (size_t done = 0; done < line.n;) {
        size_t end = done + least(line.n - done, PIECE);

        if (arena_spend(arena, end - done) != ST_OK)
            return ST_NOMEM;
        for (; done < end; done++)
            hash = (hash ^ (unsigned char)line.p[done]) * 0x100000001b3u;
    }
    *out = (uint32_t)(hash ^ (hash >> 32));
    return ST_OK;
}

static struct str line_at(const struct table *table, size_t index)
{
    if (index < table->before->n)
        return lines_view(table->before, index, 1);
    return lines_view(table->after, index - table->before->n, 1);
}

/* *SAME: whether A and B are equal. */
static enum status compare(const struct arena *arena, struct str a,
                           struct str b, bool *same)
{
    *same = a.n == b.n;
    for (size_t done = 0; *same && done < a.n;) {
        size_t n = least(a.n - done, PIECE);

        *same = memcmp(a.p + done, b.p + done, n) == 0;
        done += n;
        if (n == PIECE && arena_spend(arena, PIECE / 8) != ST_OK)
            return ST_NOMEM;
    }
    return ST_OK;
}

/* The number of line INDEX. When too many other lines have its hash, it gets
   one of its own: a diff is right all the same. */
static enum status number_line(struct table *table, size_t index, uint32_t *out)
{
    struct str line = line_at(table, index);
    uint32_t hash = 0;
    int probes = 0;
    enum status status = hash_of(table->arena, line, &hash);
    size_t i = hash & table->mask;

    for (; table->slots[i].id != 0 && probes < PROBES;
         i = (i + 1) & table->mask, probes++) {
        bool same = false;

        *out = table->slots[i].id - 1;
        if (status == ST_OK && table->slots[i].hash == hash)
            status = compare(table->arena, line,
                             line_at(table, table->first[*out]), &same);
        if (same)
            return status;
    }
    *out = table->count;
    table->first[table->count++] = (uint32_t)index;
    if (probes < PROBES)
        table->slots[i] = (struct slot){hash, table->count};
    return status == ST_OK ? arena_spend(table->arena, 4 + (size_t)probes)
                           : status;
}

/* Numbers all lines into IDS, with a table in SCRATCH. */
static enum status number_all(struct arena *scratch, const struct lines *before,
                              const struct lines *after, uint32_t *ids)
{
    size_t all = before->n + after->n;
    size_t size = 4;
    struct table table = {.arena = scratch, .before = before, .after = after};
    enum status status = ST_OK;

    while (size < all + all / 2)
        size *= 2;
    table.slots = arena_array(scratch, size, sizeof *table.slots);
    table.first = arena_alloc(scratch, (all + 1) * sizeof *table.first);
    table.mask = size - 1;
    if (!table.slots || !table.first)
        return ST_NOMEM;
    for (size_t i = 0; i < all && status == ST_OK; i++)
        status = number_line(&table, i, &ids[i]);
    return status;
}

enum status lines_number(struct arena *arena, const struct lines *before,
                         const struct lines *after, uint32_t **before_ids,
                         uint32_t **after_ids)
{
    struct arena scratch = {.strand = arena->strand};
    size_t all = before->n + after->n;
    uint32_t *ids = arena_alloc(arena, (all + 1) * sizeof *ids);

    if (!ids)
        return ST_NOMEM;
    enum status status = number_all(&scratch, before, after, ids);
    arena_release(&scratch);
    *before_ids = ids;
    *after_ids = ids + before->n;
    return status;
}
