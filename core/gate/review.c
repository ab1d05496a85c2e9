/* SPDX-License-Identifier: GPL-3.0-or-later */
/* review.c: reads the file, compares, and words the question; the gate asks. */
#include "gate/review.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "gate/place.h"
#include "json/jsonw.h"

enum status review_fail(struct arena *arena, struct tool_answer *answer,
                        const char *state, const char *format, ...)
{
    struct buf text = BUF_EMPTY;
    va_list args;

    buf_printf(&text, "%s\n", state);
    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    answer->state = TOOL_FAILED;
    return arena_take(arena, &text, &answer->text);
}

enum status review_fail_files(struct arena *arena, enum files_result result,
                              struct str problem, struct tool_answer *answer)
{
    if (result == FILES_NOMEM)
        return ST_NOMEM;
    if (result == FILES_CHANGED)
        return review_fail(arena, answer, "STALE",
                           "%.*s Nothing was written. Read the file again, "
                           "then propose the change again.",
                           STR_ARG(problem));
    return review_fail(arena, answer, "ERROR", "%.*s Nothing was written.",
                       STR_ARG(problem));
}

enum status review_fail_size(struct arena *arena, const struct review *review,
                             const char *state, struct tool_answer *answer)
{
    return review_fail(arena, answer, state,
                       "%.*s has, or would have, more than %u bytes or %d "
                       "lines, the limits of a review. Nothing was written.",
                       STR_ARG(review->name), LIMIT_DIFF_TEXT,
                       LIMIT_DIFF_LINES);
}

void review_write_path(struct buf *out, const struct review *review)
{
    buf_printf(out, "%s%s%.*s", review->root,
               strcmp(review->root, "/") == 0 ? "" : "/",
               STR_ARG(review->base.name));
}

static void review_free(struct tool_plan *plan)
{
    struct review *review = (struct review *)plan;

    arena_release(&review->arena);
    free(review);
}

/* Makes NAME visible, so that it cannot pass for a line of its own. */
static enum status make_visible(struct arena *arena, struct str name,
                                struct str *out)
{
    struct buf text = BUF_EMPTY;

    utf8_append_visible(&text, name);
    return arena_take(arena, &text, out);
}

/* The text before is that of BUFFER. The model writes line ends as it has read
   them from the file. */
static void take_buffer(const struct tool_buffer *buffer, struct text *before)
{
    struct str text = buf_view(&buffer->text);

    before->text = text;
    if (text.n > 0 && memchr(text.p, '\r', text.n))
        before->ends = TEXT_MIXED;
}

/* The text before the change; ST_INVALID: it is not a text. ST_LIMIT: it is too
   long. */
static enum status decode(const struct tool_buffer *buffer,
                          struct review *review)
{
    struct str bytes = review->base.bytes;
    struct text *before = &review->before;
    enum status status =
        text_decode(&review->arena, bytes, LIMIT_DIFF_TEXT, before);
    struct str text = buf_view(&buffer->text);

    if (!buffer->exists || status == ST_NOMEM)
        return status;
    take_buffer(buffer, before);
    return text.n > 0 && memchr(text.p, '\0', text.n) ? ST_INVALID : ST_OK;
}

/* Whether BYTES are not shown in full before they go. */
static bool is_bulk(struct str bytes)
{
    return bytes.n > LIMIT_PATCH ||
           (bytes.n > 0 && memchr(bytes.p, 0, bytes.n));
}

/* Reads the file. Its bytes live in BYTES, everything else in the review's
   arena. */
static enum files_result read_base(const struct tool_request *request,
                                   struct review *review, struct arena *bytes,
                                   struct str *problem)
{
    struct files_content *base = &review->base;
    enum files_result result =
        place_read(request, bytes, LIMIT_FILE, base, problem);

    if (arena_str(&review->arena, base->name, &base->name) != ST_OK ||
        arena_str(&review->arena, *problem, problem) != ST_OK)
        return FILES_NOMEM;
    return result;
}

/* Reads and decodes the file, whose bytes live in BYTES; sets ANSWER when that
   is not possible. */
static enum status load(const struct tool_request *request, bool may_miss,
                        struct review *review, struct arena *bytes,
                        struct tool_answer *answer)
{
    struct arena *arena = request->arena;
    const struct tool_buffer *buffer = &request->call->buffer;
    struct str problem = STR("");
    enum files_result result = read_base(request, review, bytes, &problem);

    if (result == FILES_MISSING && (may_miss || buffer->exists) &&
        review->base.name.n > 0)
        result = FILES_OK;
    if (result != FILES_OK) // PROBLEM lives in the review
        return review_fail_files(arena, result, problem, answer);
    const struct files_content *base = &review->base;
    if (make_visible(&review->arena, base->name, &review->name) != ST_OK)
        return ST_NOMEM;
    if (seen_differs(request->seen, base->name, base->hash))
        return review_fail(
            arena, answer, "STALE",
            "%.*s has changed since you read it. Nothing was written, and "
            "the user was not asked. Read it again with read-file.",
            STR_ARG(review->name));
    review->bulk = request->call->removes && is_bulk(base->bytes);
    review->before.text = STR("");
    if (review->bulk)
        return ST_OK;
    enum status status = decode(buffer, review);
    if (status == ST_INVALID)
        return review_fail(
            arena, answer, "ERROR",
            "%.*s has NUL bytes, so it is not a text file. Nothing "
            "was written.",
            STR_ARG(review->name));
    if (status == ST_LIMIT)
        return review_fail_size(arena, review, "ERROR", answer);
    return status;
}

/* Whether TEXT lies in BYTES. */
static bool is_view(struct str text, struct str bytes)
{
    return text.n > 0 && text.p >= bytes.p && text.p < bytes.p + bytes.n;
}

/* What was read is kept as long as somebody looks at it: when it was decoded to
   another text, it only takes room. */
static void keep_bytes(struct review *review, struct arena *bytes)
{
    if (review->bulk || is_view(review->before.text, review->base.bytes)) {
        arena_join(&review->arena, bytes);
        return;
    }
    review->base.bytes = STR("");
    arena_release(bytes);
}

enum status review_open(const struct tool_request *request, bool may_miss,
                        struct review **out, struct tool_answer *answer)
{
    *out = NULL;
    if (!tool_has_files(request, answer))
        return ST_OK;
    struct review *review = calloc(1, sizeof *review);
    if (!review)
        return ST_NOMEM;
    review->plan = (struct tool_plan){review_free, &review->arena};
    review->arena.strand = request->arena->strand;
    review->root = request->files->root;
    review->asks_editor = request->call->editor;
    review->buffer = request->call->buffer.exists;
    if (request->call->plan) // that of arguments before the human changed them
        request->call->plan->free(request->call->plan);
    request->call->plan = &review->plan;
    struct arena bytes = {.strand = request->arena->strand};
    enum status status = load(request, may_miss, review, &bytes, answer);
    keep_bytes(review, &bytes);
    if (status == ST_OK && answer->state == TOOL_ASKS)
        *out = review;
    return status;
}

void review_write_diff(struct buf *out, const struct review *review,
                       bool by_hunk)
{
    const struct diff *diff = &review->diff;
    struct str name = review->name;
    size_t n = diff->hunk_count;
    size_t total = review->total > 0 ? review->total : n;

    buf_printf(out, "--- a/%.*s\n+++ b/%.*s\n", STR_ARG(name), STR_ARG(name));
    // a longer question is put to nobody
    for (size_t i = 0; i < n && out->n <= LIMIT_QUESTION; i++) {
        if (by_hunk)
            buf_printf(out, "Hunk %zu of %zu\n", review->first + i + 1, total);
        diff_write_hunk(out, diff, i, LIMIT_QUESTION);
    }
}

/* The whole request as the human reads it. */
static void write_message(struct buf *out, const struct review *review,
                          struct str reason, bool by_hunk)
{
    struct str name = review->name;
    size_t n = review->diff.hunk_count;

    buf_printf(out, "%s %.*s", review->base.exists ? "Change" : "Create",
               STR_ARG(name));
    if (by_hunk)
        buf_printf(out, ": %zu hunk%s", n, n == 1 ? "" : "s");
    buf_byte(out, '\n');
    if (reason.n > 0) {
        buf_str(out, STR("Reason given: "));
        utf8_append_visible(out, reason); // on one line, whatever it says
        buf_byte(out, '\n');
    }
    buf_byte(out, '\n');
    review_write_diff(out, review, by_hunk);
}

/* Lines of such a file that are shown, and their characters. */
#define BULK_LINES 10
#define BULK_CHARS 1000

void review_write_bulk(struct buf *out, const struct review *review)
{
    struct str bytes = review->base.bytes;
    bool text = !memchr(bytes.p, 0, bytes.n);
    struct str head = text ? utf8_head(bytes, BULK_CHARS) : STR("");

    buf_printf(out,
               "It has %zu byte%s, %s. The log keeps no copy, so deleting "
               "it cannot be undone.",
               bytes.n, bytes.n == 1 ? "" : "s",
               text ? "too many to be shown" : "and is not text");
    for (int i = 0; i < BULK_LINES && head.n > 0; i++) {
        const char *end = memchr(head.p, '\n', head.n);
        size_t n = end ? (size_t)(end - head.p) : head.n;

        buf_str(out, STR("\n    "));
        utf8_append_visible(out, str_make(head.p, n));
        n += end != NULL;
        head = str_make(head.p + n, head.n - n);
    }
    buf_byte(out, '\n');
}

/* The range of a hunk's lines as diff(1) counts them. */
static void write_place(struct jsonw *w, const char *start_name, size_t start,
                        const char *count_name, size_t count)
{
    jsonw_member_int(w, start_name, (int64_t)(count == 0 ? start : start + 1));
    jsonw_member_int(w, count_name, (int64_t)count);
}

static void write_hunk(struct jsonw *w, const struct diff *diff, size_t index)
{
    const struct diff_range *range = &diff->hunks[index].range;
    struct buf text = BUF_EMPTY;

    jsonw_object(w);
    write_place(w, "old_start", range->old_start, "old_count",
                range->old_count);
    write_place(w, "new_start", range->new_start, "new_count",
                range->new_count);
    jsonw_name(w, "lines");
    jsonw_array(w);
    diff_write_hunk(&text, diff, index, SIZE_MAX);
    w->out->failed = w->out->failed || buf_failed(&text);
    const char *at = text.n > 0 ? memchr(text.p, '\n', text.n) : NULL;
    while (at && at + 1 < text.p + text.n) {
        const char *line = at + 1;
        at = memchr(line, '\n', (size_t)(text.p + text.n - line));
        jsonw_string(w, str_make(line, (size_t)(at - line)));
    }
    jsonw_end_array(w);
    jsonw_end_object(w);
    buf_release(&text);
}

void review_write_for_editor(struct buf *out, const struct review *review,
                             struct str reason)
{
    struct buf path = BUF_EMPTY;
    struct jsonw w;

    review_write_path(&path, review);
    jsonw_init(&w, out);
    jsonw_object(&w);
    jsonw_member(&w, "path", buf_view(&path));
    jsonw_member(&w, "name", review->base.name);
    jsonw_member(&w, "reason", reason);
    jsonw_member_bool(&w, "exists", review->base.exists);
    jsonw_member_bool(&w, "buffer", review->buffer);
    if (review->removes)
        jsonw_member_bool(&w, "removes", true);
    if (review->bulk) {
        buf_reset(&path);
        review_write_bulk(&path, review);
        jsonw_member(&w, "note", buf_view(&path));
    }
    jsonw_name(&w, "hunks");
    jsonw_array(&w);
    for (size_t i = 0; i < review->diff.hunk_count; i++)
        write_hunk(&w, &review->diff, i);
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    out->failed = out->failed || buf_failed(&path);
    buf_release(&path);
}

/* Whether the file's coding has all characters of AFTER; else sets ANSWER. */
static enum status check_coding(struct review *review, struct str after,
                                struct tool_answer *answer)
{
    struct str problem = STR("");
    enum status status =
        text_check(&review->arena, &review->before, after, &problem);

    if (status == ST_INVALID)
        return review_fail(&review->arena, answer, "ERROR",
                           "%.*s: %.*s. Nothing was written.",
                           STR_ARG(review->name), STR_ARG(problem));
    return status;
}

/* A text with a NUL could not be read again. */
static enum status refuse_nul(struct review *review, struct str after,
                              const char *nul, struct tool_answer *answer)
{
    size_t line = 1;

    for (const char *p = after.p; p < nul; p++)
        line += *p == '\n';
    return review_fail(&review->arena, answer, "ERROR",
                       "%.*s: line %zu of the new text has a NUL character, "
                       "which no text file has. Nothing was written.",
                       STR_ARG(review->name), line);
}

enum status review_compare(struct review *review, struct str after,
                           struct tool_answer *answer)
{
    struct arena *arena = &review->arena;
    enum status status = ST_OK;
    const char *nul = after.n > 0 ? memchr(after.p, '\0', after.n) : NULL;

    if (nul)
        return refuse_nul(review, after, nul, answer);
    if (!review->buffer) // else the editor's business
        status = check_coding(review, after, answer);
    if (status != ST_OK || answer->state == TOOL_FAILED)
        return status;
    status = diff_make(arena, review->before.text, after, &review->diff);
    if (status == ST_LIMIT)
        return review_fail_size(arena, review, "ERROR", answer);
    if (status != ST_OK)
        return status;
    if (review->removes || review->diff.hunk_count > 0 ||
        !(review->base.exists || review->buffer))
        return ST_OK;
    answer->state = TOOL_ANSWERED;
    answer->text = arena_printf(arena, "No change: %.*s already has this text.",
                                STR_ARG(review->name));
    return answer->text.n > 0 ? ST_OK : ST_NOMEM;
}

void review_write_substance(struct buf *out, const struct review *review)
{
    buf_append(out, review->base.hash, FILES_HASH);
    buf_byte(out, review->base.exists ? '+' : '-');
    buf_str(out, review->base.name); // as it is, not as shown
}

/* The change that nobody is asked about. */
static enum status show(struct review *review, struct tool_answer *answer)
{
    struct buf out = BUF_EMPTY;
    size_t n = review->diff.hunk_count;

    buf_printf(&out, "DRY RUN: %zu hunk%s; nothing was written.\n\n", n,
               n == 1 ? "" : "s");
    diff_write(&out, &review->diff, review->name, LIMIT_OUTPUT);
    answer->state = TOOL_ANSWERED;
    return arena_take(&review->arena, &out, &answer->text);
}

enum status review_propose(struct review *review, struct str after,
                           struct str reason, bool by_hunk,
                           struct tool_question *question,
                           struct tool_answer *answer)
{
    enum status status = review_compare(review, after, answer);

    if (status != ST_OK || answer->state != TOOL_ASKS)
        return status;
    if (review->dry)
        return show(review, answer);
    write_message(&question->message, review, reason, by_hunk);
    if (review->asks_editor && question->message.n <= LIMIT_QUESTION)
        review_write_for_editor(&question->review, review, reason);
    question->changes = review->diff.hunk_count;
    question->hunks = by_hunk ? review->diff.hunk_count : 0;
    review_write_substance(&question->substance, review);
    return ST_OK;
}
