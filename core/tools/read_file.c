/* SPDX-License-Identifier: GPL-3.0-or-later */
/* read_file.c: shows lines of a text file, or its definitions in short. */
#include <inttypes.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "files/seen.h"
#include "files/text.h"
#include "gate/place.h"
#include "source/outline.h"
#include "tools/fields.h"
#include "tools/sets.h"

enum { PATH, OFFSET, LIMIT, SHOW };

static const char *const views[] = {"text", "numbered", "outline", NULL};

static const struct schema_field fields[] = {
    [PATH] = FIELD_PATH,
    [OFFSET] =
        {
            .name = "offset",
            .kind = SCHEMA_INTEGER,
            .min = 1,
            .max = INT32_MAX,
            .help = "First line.",
        },
    [LIMIT] =
        {
            .name = "limit",
            .kind = SCHEMA_INTEGER,
            .min = 1,
            .max = INT32_MAX,
            .help = "Lines.",
        },
    [SHOW] =
        {
            .name = "show",
            .kind = SCHEMA_CHOICE,
            .choices = views,
            .fallback = "\"text\"",
        },
    {0},
};

/* Lines that are passed between two looks at the strand. */
#define LINES 4096u

/* The lines of a page. */
struct page {
    size_t start; /* bytes */
    size_t end;
    size_t last;  /* line; the one before the first when there is none */
    size_t lines; /* of the whole text */
    bool cut;     /* its only line is longer than the page */
};

/* Where the line ends that starts at AT. */
static size_t line_end(struct str text, size_t at)
{
    const char *feed = memchr(text.p + at, '\n', text.n - at);

    return feed ? (size_t)(feed - text.p) + 1 : text.n;
}

static enum status find_page(const struct arena *arena, struct str text,
                             size_t first, size_t limit, size_t chars,
                             struct page *out)
{
    struct page page = {.start = text.n, .end = text.n, .last = first - 1};
    bool full = false;
    size_t paid = 0;

    for (size_t at = 0; at < text.n; page.lines++) {
        size_t end = line_end(text, at);

        if (page.lines % LINES == 0) {
            if (arena_spend(arena, LINES + (at - paid) / 8) != ST_OK)
                return ST_NOMEM;
            paid = at;
        }

        if (page.lines + 1 == first)
            page.start = page.end = at;
        if (page.lines + 1 >= first && !full) {
            full = page.last - (first - 1) == limit ||
                   (end - page.start > chars && page.end > page.start);
            if (!full) {
                page.end = end;
                page.last++;
            }
        }
        at = end;
    }
    if (page.end - page.start > chars) { // one long line
        struct str line = str_make(text.p + page.start, page.end - page.start);
        struct str head = utf8_head(line, chars);

        page.cut = head.n < line.n;
        page.end = page.start + head.n;
    }
    *out = page;
    return ST_OK;
}

static struct str show(struct arena *arena, const struct files_content *file,
                       const struct text *text, size_t first,
                       const struct page *page, struct str body)
{
    struct str more = text_describe(arena, text);
    struct str rest = STR("");
    struct buf name = BUF_EMPTY;
    struct str out;

    if (page->last < page->lines)
        rest =
            arena_printf(arena, "; continue with offset %zu", page->last + 1);
    utf8_append_visible(&name, file->name);
    if (page->lines == 0)
        out = arena_printf(arena, "%.*s: empty", (int)name.n, name.p);
    else if (page->last < first)
        out = arena_printf(arena, "%.*s: there is no line %zu; the last is %zu",
                           (int)name.n, name.p, first, page->lines);
    else
        out = arena_printf(
            arena, "%.*s: lines %zu-%zu of %zu, %zu bytes%.*s%s%.*s\n%.*s",
            (int)name.n, name.p, first, page->last, page->lines, file->bytes.n,
            STR_ARG(more), page->cut ? "; the line is cut" : "", STR_ARG(rest),
            STR_ARG(body));
    buf_release(&name);
    return out;
}

/* *OUT is BODY, whose first line is FIRST, with the number of each line. */
static enum status number_lines(struct arena *arena, struct str body,
                                size_t first, struct str *out)
{
    struct buf text = BUF_EMPTY;
    enum status status = ST_OK;

    for (size_t at = 0; at < body.n && status == ST_OK; first++) {
        size_t end = line_end(body, at);

        buf_printf(&text, "%zu\t", first);
        buf_append(&text, body.p + at, end - at);
        status = arena_spend(arena, end - at + 16);
        at = end;
    }
    if (status == ST_OK)
        return arena_take(arena, &text, out);
    buf_release(&text);
    return status;
}

/* Shows the forms of TEXT that begin in line FIRST or later. */
static enum status show_outline(const struct tool_request *request,
                                const struct files_content *file,
                                struct text *text, size_t first,
                                struct tool_answer *answer)
{
    struct arena *arena = request->arena;
    struct outline outline;
    struct buf out = BUF_EMPTY;
    enum status status = text_convert(arena, text, text->text, &text->text);

    if (status == ST_OK)
        status = outline_make(arena->strand, text->text, first,
                              request->limits->max_output, &outline);
    if (status == ST_LIMIT) {
        answer->text = arena_printf(arena, "%.*s is nested too deep.",
                                    STR_ARG(file->name));
        return answer->text.n > 0 ? ST_OK : ST_NOMEM;
    }
    if (status != ST_OK)
        return status;
    utf8_append_visible(&out, file->name);
    buf_printf(&out, ": %zu form%s", outline.forms,
               outline.forms == 1 ? "" : "s");
    if (outline.next > 0)
        buf_printf(&out, "; continue with offset %u", (unsigned)outline.next);
    buf_printf(&out, "\n%.*s", STR_ARG(buf_view(&outline.text)));
    buf_release(&outline.text);
    answer->state = TOOL_ANSWERED;
    return arena_take(arena, &out, &answer->text);
}

static enum status read_file(const struct tool_request *request,
                             struct tool_answer *answer)
{
    const struct schema_value *values = request->values;
    size_t first = values[OFFSET].given ? (size_t)values[OFFSET].integer : 1;
    size_t limit =
        values[LIMIT].given ? (size_t)values[LIMIT].integer : SIZE_MAX;
    struct files_content file;
    struct text text;

    if (!tool_has_files(request, answer))
        return ST_OK;
    enum files_result result =
        place_read(request, request->arena, LIMIT_FILE, &file, &answer->text);

    answer->state = TOOL_FAILED;
    if (result == FILES_NOMEM)
        return ST_NOMEM;
    if (result != FILES_OK)
        return ST_OK;
    enum status status = text_detect(request->arena, file.bytes, &text);
    if (status == ST_INVALID) {
        answer->text = arena_printf(
            request->arena, "not a text file: %zu bytes of binary data.",
            file.bytes.n);
        return answer->text.n > 0 ? ST_OK : ST_NOMEM;
    }
    if (status != ST_OK)
        return status;
    if (str_eq(values[SHOW].string, STR("outline")))
        return show_outline(request, &file, &text, first, answer);
    struct page page;
    status = find_page(request->arena, text.text, first, limit,
                       request->limits->max_output, &page);
    struct str body = STR("");
    if (status == ST_OK)
        status = text_convert(
            request->arena, &text,
            str_make(text.text.p + page.start, page.end - page.start), &body);
    if (status == ST_OK && str_eq(values[SHOW].string, STR("numbered")))
        status = number_lines(request->arena, body, first, &body);
    if (status != ST_OK)
        return status;
    answer->text = show(request->arena, &file, &text, first, &page, body);
    if (answer->text.n == 0)
        return ST_NOMEM;
    answer->state = TOOL_ANSWERED;
    seen_note(request->seen, file.name, file.hash);
    return ST_OK;
}

const struct tool tool_read_file = {
    .name = "read-file",
    .title = "Read file",
    .description = "Read a text file of the workspace.",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .in_steps = true,
    .handler = read_file,
};
