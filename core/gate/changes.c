/* SPDX-License-Identifier: GPL-3.0-or-later */
/* changes.c: the question about several files. */
#include "gate/changes.h"

#include <string.h>

#include "base/digest.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "gate/place.h"
#include "json/jsonw.h"

/* A request about part I of the call. */
static struct tool_request request_of(const struct tool_request *request,
                                      size_t i)
{
    struct tool_request part = *request;

    part.call = &request->call->parts[i];
    part.call->editor = request->call->editor;
    return part;
}

static struct review *review_of(const struct tool_request *request, size_t i)
{
    return (struct review *)request->call->parts[i].plan;
}

/* --- The files ----------------------------------------------------------- */

static bool is_same_file(const struct tool_call *a, const struct tool_call *b)
{
    return place_is_known(a) && place_is_known(b) &&
           str_eq(buf_view(&a->place.name), buf_view(&b->place.name));
}

/* Whether an earlier part than the Ith is the same file; ANSWER says so. */
static enum status check_twice(const struct tool_request *request, size_t i,
                               struct tool_answer *answer)
{
    const struct tool_call *parts = request->call->parts;

    for (size_t k = 0; k < i; k++)
        if (is_same_file(&parts[k], &parts[i]))
            return review_fail(
                request->arena, answer, "ERROR",
                "\"%.*s\" and \"%.*s\" are the same file; write its path in "
                "the same way each time. Nothing was written.",
                STR_ARG(buf_view(&parts[k].place.path)),
                STR_ARG(buf_view(&parts[i].place.path)));
    return ST_OK;
}

/* For the log: which file the part is, whatever becomes of it. */
static enum status name_part(const struct tool_request *request, size_t i)
{
    struct tool_call *part = &request->call->parts[i];
    struct buf *path = &part->change.path;
    const char *root = request->files->root;

    if (place_is_known(part))
        buf_printf(path, "%s/", root[1] != '\0' ? root : "");
    buf_str(path, buf_view(place_is_known(part) ? &part->place.name
                                                : &part->place.path));
    return buf_failed(path) ? ST_NOMEM : ST_OK;
}

enum status changes_divide(const struct tool_request *request,
                           const struct str *paths, size_t n,
                           struct tool_answer *answer)
{
    if (!tool_has_files(request, answer))
        return ST_OK;
    if (n == 0)
        return review_fail(request->arena, answer, "ERROR",
                           "There is nothing to change. Nothing was written.");
    if (n > LIMIT_CHANGES_FILES)
        return review_fail(request->arena, answer, "ERROR",
                           "The call changes %zu files; one review has at most "
                           "%d. Nothing was written, and the user was not "
                           "asked. Split it into several calls.",
                           n, LIMIT_CHANGES_FILES);
    enum status status = tool_divide(request->call, n);
    for (size_t i = 0; i < n && status == ST_OK && answer->state == TOOL_ASKS;
         i++) {
        status = place_locate(&request->call->parts[i].place, request->files,
                              paths[i]);
        if (status == ST_OK)
            status = arena_spend(request->arena, LIMIT_STEP / 64);
        if (status == ST_OK)
            status = name_part(request, i);
        if (status == ST_OK)
            status = check_twice(request, i, answer);
    }
    return status;
}

enum status changes_check_saved(const struct tool_request *request,
                                struct tool_call *part,
                                struct tool_answer *answer)
{
    if (part->buffer.modified)
        return review_fail(request->arena, answer, "ERROR",
                           "%.*s: the user has unsaved changes to it in the "
                           "editor. Nothing was written, and the user was not "
                           "asked. The user has to save it first.",
                           STR_ARG(buf_view(&part->place.path)));
    tool_buffer_release(&part->buffer);
    part->buffer.asked = true;
    return ST_OK;
}

/* A text of no lines has one hunk, too, so that it can be chosen. */
static enum status add_hunk(struct review *review)
{
    struct diff *diff = &review->diff;

    if (diff->hunk_count > 0)
        return ST_OK;
    diff->hunks = arena_array(&review->arena, 1, sizeof *diff->hunks);
    diff->hunk_count = diff->hunks != NULL;
    return diff->hunks ? ST_OK : ST_NOMEM;
}

enum status changes_open(const struct tool_request *request, size_t i,
                         bool removes, struct review **out,
                         struct tool_answer *answer)
{
    struct tool_request part = request_of(request, i);
    enum status status = ST_OK;

    *out = NULL;
    part.call->removes = removes;
    if (removes)
        status = changes_check_saved(request, part.call, answer);
    if (status != ST_OK || answer->state != TOOL_ASKS)
        return status;
    status = review_open(&part, !removes, out, answer);
    if (status != ST_OK || !*out)
        return status;
    (*out)->removes = removes;
    (*out)->whole = true;
    return removes ? changes_compare(request, *out, STR(""), answer) : ST_OK;
}

enum status changes_compare(const struct tool_request *request,
                            struct review *review, struct str after,
                            struct tool_answer *answer)
{
    enum status status = review_compare(review, after, answer);

    if (status != ST_OK || answer->state == TOOL_FAILED)
        return status;
    if (answer->state == TOOL_ASKS)
        return add_hunk(review);
    // one file without a change would make the numbers of hunks a riddle
    return review_fail(request->arena, answer, "ERROR",
                       "%.*s already has this text; leave it out. Nothing was "
                       "written, and the user was not asked.",
                       STR_ARG(review->name));
}

/* --- What was shown ------------------------------------------------------ */

/* What a ticket says about a part: a digest and the number of hunks. */
#define SHOWN_DIGEST 8
#define SHOWN_PART (SHOWN_DIGEST + 4)

/* What the human was shown of part I, when the answer has come with the call;
   else NULL. */
static const unsigned char *shown_of(const struct tool_call *call, size_t i)
{
    if (call->shown.n == 0 || call->shown.n != call->part_count * SHOWN_PART)
        return NULL;
    return (const unsigned char *)call->shown.p + i * SHOWN_PART;
}

static size_t shown_hunks(const unsigned char *shown)
{
    size_t n = 0;

    for (size_t i = SHOWN_DIGEST; i < SHOWN_PART; i++)
        n = n << 8 | shown[i];
    return n;
}

static void make_stale(struct review *review, const unsigned char *shown)
{
    review->stale = true;
    review->diff = (struct diff){.hunk_count = shown_hunks(shown)};
}

enum status changes_forgive(const struct tool_request *request, size_t i,
                            struct tool_answer *answer)
{
    const struct tool_call *part = &request->call->parts[i];
    const unsigned char *shown = shown_of(request->call, i);
    struct review *review = review_of(request, i);
    struct buf name = BUF_EMPTY;

    if (!shown || !review || answer->state == TOOL_ASKS)
        return ST_OK;
    make_stale(review, shown);
    *answer = (struct tool_answer){.state = TOOL_ASKS};
    if (review->name.n > 0)
        return ST_OK;
    utf8_append_visible(&name, buf_view(&part->place.path));
    enum status status = arena_take(&review->arena, &name, &review->name);
    review->base.name = review->name;
    return status;
}

/* Appends what a ticket says about REVIEW. */
static enum status put_shown(const struct arena *arena,
                             const struct review *review, struct buf *out)
{
    struct buf text = BUF_EMPTY;
    unsigned char digest[DIGEST_SIZE];
    struct arena steps = {.strand = arena->strand};

    review_write_substance(&text, review);
    review_write_diff(&text, review, false);
    enum status status = buf_failed(&text) ? ST_NOMEM : ST_OK;
    if (status == ST_OK)
        status = digest_in_steps(&steps, buf_view(&text), digest);
    buf_release(&text);
    if (status != ST_OK)
        return status;
    buf_append(out, digest, SHOWN_DIGEST);
    for (int shift = 24; shift >= 0; shift -= 8)
        buf_byte(out, (char)(review->diff.hunk_count >> shift & 0xff));
    return ST_OK;
}

/* Puts down what is shown of each part; or finds out which parts are no longer
   what was shown. */
static enum status compare_shown(const struct tool_request *request,
                                 struct buf *carried)
{
    const struct tool_call *call = request->call;
    enum status status = ST_OK;

    if (call->shown.n > 0) {
        buf_str(carried, buf_view(&call->shown));
        carried = NULL;
    }
    for (size_t i = 0; i < call->part_count && status == ST_OK; i++) {
        struct review *review = review_of(request, i);
        const unsigned char *shown = shown_of(call, i);
        struct buf now = BUF_EMPTY;

        if (review->stale)
            continue;
        status = put_shown(request->arena, review, carried ? carried : &now);
        if (shown && now.n == SHOWN_PART &&
            memcmp(now.p, shown, SHOWN_PART) != 0)
            make_stale(review, shown);
        buf_release(&now);
    }
    return status;
}

/* --- The question -------------------------------------------------------- */

static const char *verb_of(const struct review *review)
{
    if (review->removes)
        return "Delete";
    return review->base.exists || review->buffer ? "Change" : "Create";
}

/* Numbers the hunks. *TOTAL: all of them; false: they are too much for one
   review. */
static bool number_hunks(const struct tool_request *request, size_t *total)
{
    size_t n = request->call->part_count;
    size_t bytes = 0;

    *total = 0;
    for (size_t i = 0; i < n; i++) {
        struct review *review = review_of(request, i);

        review->first = *total;
        *total += review->diff.hunk_count;
        bytes += review->before.text.n;
    }
    for (size_t i = 0; i < n; i++)
        review_of(request, i)->total = *total;
    return *total <= LIMIT_CHANGES_HUNKS && bytes <= LIMIT_CHANGES_BYTES;
}

static void write_message(struct buf *out, const struct tool_request *request,
                          struct str reason, struct str note)
{
    size_t n = request->call->part_count;
    size_t total = review_of(request, 0)->total;

    if (n > 1 || total > 1 || !review_of(request, 0)->removes)
        buf_printf(out, "Change %zu file%s: %zu hunk%s\n", n, n == 1 ? "" : "s",
                   total, total == 1 ? "" : "s");
    if (reason.n > 0) {
        buf_str(out, STR("Reason given: "));
        utf8_append_visible(out, reason); // on one line, whatever it says
        buf_byte(out, '\n');
    }
    for (size_t i = 0; i < n && out->n <= LIMIT_QUESTION; i++) {
        const struct review *review = review_of(request, i);

        buf_str(out, out->n > 0 ? STR("\n") : STR(""));
        buf_printf(out, "%s %.*s\n", verb_of(review), STR_ARG(review->name));
        if (review->bulk)
            review_write_bulk(out, review);
        if (!review->stale)
            review_write_diff(out, review, true);
    }
    if (note.n > 0)
        buf_printf(out, "\n%.*s", STR_ARG(note));
}

/* As docs/editor-protocol.md has it. */
static void write_for_editor(struct buf *out,
                             const struct tool_request *request,
                             struct str reason, struct str note)
{
    struct jsonw w;

    jsonw_init(&w, out);
    jsonw_object(&w);
    jsonw_member(&w, "reason", reason);
    if (note.n > 0)
        jsonw_member(&w, "note", note);
    jsonw_name(&w, "files");
    jsonw_array(&w);
    for (size_t i = 0; i < request->call->part_count; i++) {
        struct buf file = BUF_EMPTY;

        review_write_for_editor(&file, review_of(request, i), STR(""));
        jsonw_raw(&w, buf_view(&file));
        out->failed = out->failed || buf_failed(&file);
        buf_release(&file);
    }
    jsonw_end_array(&w);
    jsonw_end_object(&w);
}

enum status changes_propose(const struct tool_request *request,
                            struct str reason, struct str note,
                            struct tool_question *question,
                            struct tool_answer *answer)
{
    size_t total;
    enum status status = compare_shown(request, &question->carried);

    if (status != ST_OK)
        return status;
    if (!number_hunks(request, &total))
        return review_fail(
            request->arena, answer, "ERROR",
            "The changes are too large for one review: at most %d hunks, in "
            "files of %u bytes in all. Nothing was written, and the user was "
            "not asked. Make several calls.",
            LIMIT_CHANGES_HUNKS, LIMIT_CHANGES_BYTES);
    write_message(&question->message, request, reason, note);
    if (request->call->editor && question->message.n <= LIMIT_QUESTION)
        write_for_editor(&question->review, request, reason, note);
    question->changes = total;
    question->hunks = total;
    for (size_t i = 0; i < request->call->part_count; i++)
        review_write_substance(&question->substance, review_of(request, i));
    return ST_OK;
}
