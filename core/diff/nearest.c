/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nearest.c: a place where both are the same when folded (fold.h); or where the
   most lines are; or the line that is most like the longest of the part. */
#include "diff/nearest.h"

#include <stdlib.h>

#include "base/fnv.h"
#include "base/likeness.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "diff/fold.h"

/* Bytes between two looks at the strand. */
#define PIECE 8192

/* How alike a line must be to be shown (likeness.h), and how much of it is
   compared and shown. */
#define NEAR 50
#define LONGEST 200

/* The most that a line counts, so that a long one does not decide alone. */
#define WEIGHT 20

/* --- Lines ---------------------------------------------------------------- */

/* Cuts the line at *AT off TEXT. */
static struct str next_line(struct str text, size_t *at)
{
    const char *feed = memchr(text.p + *at, '\n', text.n - *at);
    size_t end = feed ? (size_t)(feed - text.p) : text.n;
    struct str line = str_make(text.p + *at, end - *at);

    *at = feed ? end + 1 : text.n;
    return line;
}

static size_t count_lines(struct str text)
{
    size_t n = 0;

    for (size_t at = 0; at < text.n; n++)
        (void)next_line(text, &at);
    return n;
}

/* The number of the line that has the byte AT. */
static size_t line_at(struct str text, size_t at)
{
    size_t line = 1;

    for (size_t i = 0; i < at; i++)
        line += text.p[i] == '\n';
    return line;
}

/* The line of TEXT that has the byte AT, from AT on, or from its start. */
static struct str line_around(struct str text, size_t at, bool whole)
{
    size_t end = at;

    while (whole && at > 0 && text.p[at - 1] != '\n')
        at--;
    while (end < text.n && text.p[end] != '\n')
        end++;
    return str_make(text.p + at, end - at);
}

/* --- Folded --------------------------------------------------------------- */

/* *START is where the folded text has its character number INDEX. */
static enum status find_offset(const struct arena *scratch, struct str text,
                               size_t index, size_t *start)
{
    struct fold fold = {.text = text};
    enum status status = ST_OK;

    *start = 0;
    for (size_t i = 0; i <= index && status == ST_OK; i++) {
        (void)fold_next(&fold, start);
        if (i % PIECE == 0)
            status = arena_spend(scratch, (size_t)PIECE * 4);
    }
    return status;
}

/* *OUT: for each length of PART that fits, how much still fits when the next
   byte does not (Knuth, Morris and Pratt). For a text that is not there as a
   whole. */
static enum status make_table(struct arena *scratch, struct str part,
                              uint32_t **out)
{
    uint32_t *again = arena_array(scratch, part.n, sizeof *again);
    uint32_t fits = 0;

    if (!again)
        return ST_NOMEM;
    for (size_t i = 1; i < part.n; i++) {
        while (fits > 0 && part.p[i] != part.p[fits])
            fits = again[fits - 1];
        fits += part.p[i] == part.p[fits];
        again[i] = fits;
        if (i % PIECE == 0 && arena_spend(scratch, (size_t)PIECE * 2) != ST_OK)
            return ST_NOMEM;
    }
    *out = again;
    return ST_OK;
}

/* *START and *END are where TEXT has PART when both are folded; *FOUND. */
static enum status find_folded(struct arena *scratch, struct str text,
                               struct str part, size_t *start, size_t *end,
                               bool *found)
{
    struct fold fold = {.text = part};
    uint32_t *again = NULL;
    struct buf folded = BUF_EMPTY;
    struct str pattern;
    size_t at = 0;
    size_t paid = 0;
    uint32_t fits = 0;

    *found = false;
    for (int c = fold_next(&fold, &at); c >= 0; c = fold_next(&fold, &at))
        buf_byte(&folded, (char)c);
    enum status status = arena_take(scratch, &folded, &pattern);
    if (status != ST_OK || pattern.n == 0)
        return status;
    status = make_table(scratch, pattern, &again);
    fold = (struct fold){.text = text};
    for (size_t index = 0; status == ST_OK; index++) {
        int c = fold_next(&fold, &at);

        if (c < 0)
            return ST_OK;
        while (fits > 0 && (char)c != pattern.p[fits])
            fits = again[fits - 1];
        fits += (char)c == pattern.p[fits];
        if (fits == pattern.n) {
            *end = fold.at;
            *found = true;
            return find_offset(scratch, text, index + 1 - pattern.n, start);
        }
        if (fold.at - paid >= PIECE) {
            status = arena_spend(scratch, (fold.at - paid) * 4);
            paid = fold.at;
        }
    }
    return status;
}

/* The white space before AT belongs to what begins at AT. */
static size_t skip_back(struct str text, size_t at)
{
    while (at > 0 && (text.p[at - 1] == ' ' || text.p[at - 1] == '\t'))
        at--;
    return at;
}

static bool is_space_at(struct str text, size_t at)
{
    return at == text.n || str_is_space(text.p[at]);
}

/* Fills OUT for the place from START to END. Both begin to differ where their
   bytes do. */
static void compare_folded(struct str text, struct str part, size_t start,
                           size_t end, struct nearest *out)
{
    size_t i = start;
    size_t j = 0;

    // what PART has before its first character may differ, too
    while (j < part.n && (part.p[j] == ' ' || part.p[j] == '\t'))
        j++;
    if (j > 0)
        i = skip_back(text, start);
    if (j > 0 && start - i >= j && memcmp(text.p + start - j, part.p, j) == 0)
        i = start - j;
    for (j = 0; i < text.n && j < part.n && text.p[i] == part.p[j]; j++)
        i++;
    // not in the middle of a character
    while (i > 0 && j > 0 && i < text.n && (text.p[i] & 0xC0) == 0x80) {
        i--;
        j--;
    }
    // a run of white space begins before the place where it differs
    bool space = is_space_at(text, i) || is_space_at(part, j);
    while (space && j > 0 && i > 0 &&
           (part.p[j - 1] == ' ' || part.p[j - 1] == '\t')) {
        i--;
        j--;
    }
    out->folds = true;
    out->first = line_at(text, start);
    out->last = line_at(text, end > start ? end - 1 : end);
    out->line = line_at(text, i);
    out->text = str_make(text.p + i, text.n - i);
    out->part = str_make(part.p + j, part.n - j);
    out->whole = line_around(text, i, true);
}

/* --- By lines ------------------------------------------------------------- */

/* The lines of the part, by what they are folded; 0 for an empty one. */
struct lines {
    uint32_t *hashes;
    struct str *lines;
    uint32_t *slots; /* numbers from 1, by hash */
    size_t n;
    size_t mask;
};

static uint32_t hash_line(struct str line, size_t *chars)
{
    struct fold fold = {.text = line};
    uint32_t hash = FNV_START;
    size_t start;

    *chars = 0;
    for (int c = fold_next(&fold, &start); c >= 0;
         c = fold_next(&fold, &start)) {
        hash = fnv_add(hash, (uint32_t)c);
        ++*chars;
    }
    return *chars > 0 ? hash | 1 : 0;
}

static enum status read_lines(struct arena *scratch, struct str part,
                              struct lines *out)
{
    size_t n = count_lines(part);
    size_t slots = 8;
    size_t at = 0;
    size_t chars;

    while (slots < 2 * n)
        slots *= 2;
    *out = (struct lines){
        .hashes = arena_array(scratch, n + 1, sizeof *out->hashes),
        .lines = arena_array(scratch, n + 1, sizeof *out->lines),
        .slots = arena_array(scratch, slots, sizeof *out->slots),
        .n = n,
        .mask = slots - 1};
    if (!out->hashes || !out->lines || !out->slots)
        return ST_NOMEM;
    for (size_t i = 0; i < n; i++) {
        out->lines[i] = next_line(part, &at);
        out->hashes[i] = hash_line(out->lines[i], &chars);
        size_t slot = out->hashes[i] & out->mask;
        while (out->slots[slot] > 0 &&
               out->hashes[out->slots[slot] - 1] != out->hashes[i])
            slot = (slot + 1) & out->mask;
        if (out->hashes[i] != 0 && out->slots[slot] == 0)
            out->slots[slot] = (uint32_t)(i + 1);
    }
    return arena_spend(scratch, part.n * 4);
}

/* The number of the first line of PART with HASH, from 1; 0: none. */
static size_t find_line(const struct lines *part, uint32_t hash)
{
    size_t slot = hash & part->mask;

    while (part->slots[slot] > 0 && part->hashes[part->slots[slot] - 1] != hash)
        slot = (slot + 1) & part->mask;
    return part->slots[slot];
}

/* *BEST is the line of TEXT, from 1, at which the part fits best: where most of
   its lines are; 0: none is. */
static enum status vote(struct arena *scratch, struct str text,
                        const struct lines *part, size_t n, size_t *best)
{
    uint32_t *votes = arena_array(scratch, n + 1, sizeof *votes);
    size_t at = 0;

    *best = 0;
    if (!votes)
        return ST_NOMEM;
    for (size_t i = 0; i < n; i++) {
        struct str line = next_line(text, &at);
        size_t chars;
        uint32_t hash = hash_line(line, &chars);
        size_t number = hash != 0 ? find_line(part, hash) : 0;

        if (arena_spend(scratch, line.n * 4 + 16) != ST_OK)
            return ST_NOMEM;
        if (number == 0 || number > i + 1)
            continue;
        size_t first = i + 2 - number;
        votes[first] += (uint32_t)(chars < WEIGHT ? chars : WEIGHT);
        if (votes[first] > votes[*best])
            *best = first;
    }
    return ST_OK;
}

/* The same by the line that is most like the longest one of the part. */
static enum status guess(struct arena *scratch, struct str text,
                         const struct lines *part, size_t n, size_t *best)
{
    struct likeness *likeness = arena_array(scratch, 1, sizeof *likeness);
    unsigned highest = NEAR - 1;
    size_t longest = 0;
    size_t at = 0;

    if (!likeness)
        return ST_NOMEM;
    for (size_t i = 1; i < part->n; i++)
        if (str_trim(part->lines[i]).n > str_trim(part->lines[longest]).n)
            longest = i;
    if (part->n > 0)
        likeness_init(likeness, utf8_head(part->lines[longest], LONGEST));
    for (size_t i = 0; i < n && part->n > 0; i++) {
        struct str line = next_line(text, &at);
        unsigned score = likeness_to(likeness, utf8_head(line, LONGEST));

        if (arena_spend(scratch, line.n / 8 + 1000) != ST_OK)
            return ST_NOMEM;
        if (score <= highest)
            continue;
        highest = score;
        *best = i + 1 > longest ? i + 1 - longest : 1;
    }
    return ST_OK;
}

/* Fills OUT for the place that begins at line FIRST of TEXT. */
static void compare_lines(struct str text, const struct lines *part,
                          size_t first, size_t n, struct nearest *out)
{
    size_t at = 0;
    bool differ = false;

    for (size_t i = 1; i < first; i++)
        (void)next_line(text, &at);
    out->first = first;
    out->last = first + part->n - 1 < n ? first + part->n - 1 : n;
    for (size_t i = 0; i < part->n && !differ; i++) {
        struct str line = at < text.n ? next_line(text, &at) : STR("");

        differ = !str_eq(str_trim(line), str_trim(part->lines[i]));
        out->line = first + i;
        out->text = line;
        out->whole = line;
        out->part = part->lines[i];
    }
}

static enum status find_by_lines(struct arena *scratch, struct str text,
                                 struct str part, struct nearest *out)
{
    size_t n = count_lines(text);
    size_t best = 0;
    struct lines lines;

    if (n > LIMIT_DIFF_LINES)
        return ST_OK;
    enum status status = read_lines(scratch, part, &lines);
    if (status == ST_OK)
        status = vote(scratch, text, &lines, n, &best);
    if (status == ST_OK && best == 0)
        status = guess(scratch, text, &lines, n, &best);
    if (status == ST_OK && best > 0)
        compare_lines(text, &lines, best, n, out);
    return status;
}

enum status nearest_find(const struct arena *arena, struct str text,
                         struct str part, struct nearest *out)
{
    struct arena scratch = {.strand = arena->strand};
    struct nearest nearest = {.first = 0};
    size_t start = 0;
    size_t end = 0;
    bool found = false;
    enum status status = ST_OK;

    *out = nearest;
    if (text.n > LIMIT_NEAREST || part.n > text.n)
        return ST_OK;
    status = find_folded(&scratch, text, part, &start, &end, &found);
    if (status == ST_OK && found)
        compare_folded(text, part, start, end, &nearest);
    else if (status == ST_OK)
        status = find_by_lines(&scratch, text, part, &nearest);
    arena_release(&scratch);
    if (status == ST_OK)
        *out = nearest;
    return status;
}

/* --- Words ---------------------------------------------------------------- */

/* The white space at the start of TEXT, up to the end of its line. */
static struct str space_at(struct str text)
{
    size_t n = 0;

    while (n < text.n &&
           (text.p[n] == ' ' || text.p[n] == '\t' || text.p[n] == '\r'))
        n++;
    return str_make(text.p, n);
}

/* "a tab", "8 blanks", "2 tabs and 3 blanks". */
static void put_space(struct buf *out, struct str space)
{
    static const struct {
        char c;
        const char *one;
        const char *more;
    } kinds[] = {{'\t', "a tab", "tabs"},
                 {' ', "a blank", "blanks"},
                 {'\r', "a carriage return", "carriage returns"}};
    bool any = false;

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = 0;

        for (size_t j = 0; j < space.n; j++)
            n += space.p[j] == kinds[i].c;
        if (n == 0)
            continue;
        buf_str(out, any ? STR(" and ") : STR(""));
        if (n == 1)
            buf_str(out, str_from(kinds[i].one));
        else
            buf_printf(out, "%zu %s", n, kinds[i].more);
        any = true;
    }
}

/* The character at the start of TEXT, with the marks that combine with it, and
   their codes unless it is ASCII. */
static void put_character(struct buf *out, struct str text)
{
    struct buf codes = BUF_EMPTY;
    uint32_t code = 0;
    size_t n = 0;

    do {
        size_t more = utf8_decode(str_make(text.p + n, text.n - n), &code);

        buf_printf(&codes, "%sU+%04X", n > 0 ? " " : "", (unsigned)code);
        n += more > 0 ? more : 1;
        if (n == text.n ||
            utf8_decode(str_make(text.p + n, text.n - n), &code) == 0)
            break;
    } while (code >= 0x300 && code <= 0x36F);
    buf_byte(out, '"');
    utf8_append_visible(out, str_make(text.p, n));
    buf_byte(out, '"');
    if (n > 1)
        buf_printf(out, " (%.*s)", STR_ARG(buf_view(&codes)));
    out->failed = out->failed || buf_failed(&codes);
    buf_release(&codes);
}

/* What TEXT begins with: white space, the end of a line, or a character. */
static void put_start(struct buf *out, struct str text)
{
    struct str space = space_at(text);

    if (space.n > 0) {
        put_space(out, space);
        if (space.n == text.n || text.p[space.n] == '\n')
            buf_str(out, STR(" at its end"));
    } else if (text.n == 0 || text.p[0] == '\n') {
        buf_str(out, STR("a line end"));
    } else {
        put_character(out, text);
    }
}

static void put_quoted(struct buf *out, struct str line)
{
    struct str head = utf8_head(line, LONGEST);

    buf_byte(out, '"');
    utf8_append_visible(out, head);
    buf_str(out, head.n < line.n ? STR("\xE2\x80\xA6\"") : STR("\""));
}

static void put_lines(struct buf *out, const struct nearest *nearest)
{
    if (nearest->first == nearest->last)
        buf_printf(out, "line %zu", nearest->first);
    else
        buf_printf(out, "lines %zu-%zu", nearest->first, nearest->last);
}

void nearest_describe(struct buf *out, const struct nearest *nearest)
{
    if (nearest->first == 0)
        return;
    buf_str(out, STR("The nearest place is "));
    put_lines(out, nearest);
    if (nearest->folds) {
        buf_printf(out, "; line %zu has ", nearest->line);
        put_start(out, nearest->text);
        buf_str(out, STR(" where the text to replace has "));
        put_start(out, nearest->part);
    } else {
        buf_str(out, STR("; the text to replace has "));
        put_quoted(out, nearest->part);
        buf_str(out, STR(" where the file has"));
    }
    buf_printf(out, ":\n%6zu  ", nearest->line);
    put_quoted(out, nearest->whole);
}
