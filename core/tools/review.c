/* SPDX-License-Identifier: GPL-3.0-or-later */
/* review.c: read, compare, ask (the gate does), compare again, write, tell. */
#include "review.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "digest.h"
#include "jsonw.h"
#include "limits.h"
#include "utf8.h"

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

/* What the file system said, as the state that the model reads. */
static enum status fail_files(struct arena *arena, enum files_result result,
                              struct str problem, struct tool_answer *answer)
{
    if (result == FILES_NOMEM)
        return ST_NOMEM;
    if (result == FILES_CHANGED)
        return review_fail(arena, answer, "STALE",
                           "%.*s Nothing was written. Read the file again, "
                           "then propose the change anew.",
                           STR_ARG(problem));
    return review_fail(arena, answer, "ERROR", "%.*s Nothing was written.",
                       STR_ARG(problem));
}

static void review_free(struct tool_plan *plan)
{
    struct review *review = (struct review *)plan;

    arena_release(&review->arena);
    free(review);
}

/* NAME so that it cannot pass for a line of its own. */
static enum status make_visible(struct arena *arena, struct str name,
                                struct str *out)
{
    struct buf text = BUF_EMPTY;

    utf8_append_visible(&text, name);
    return arena_take(arena, &text, out);
}

/* Reads and decodes the file; ANSWER->state changes when it cannot be. */
static enum status load(const struct tool_request *request, struct str path,
                        bool may_miss, struct review *review,
                        struct tool_answer *answer)
{
    struct arena *arena = request->arena;
    const struct files *files = request->files;
    struct str problem = STR("");
    enum files_result result = files->read(files->context, &review->arena, path,
                                           LIMIT_FILE, &review->base, &problem);

    if (result == FILES_MISSING && may_miss && review->base.name.n > 0)
        result = FILES_OK;
    if (result != FILES_OK) // PROBLEM lives in the review
        return fail_files(arena, result, problem, answer);
    const struct files_content *base = &review->base;
    if (make_visible(&review->arena, base->name, &review->name) != ST_OK)
        return ST_NOMEM;
    if (seen_differs(request->seen, base->name, base->hash))
        return review_fail(
            arena, answer, "STALE",
            "%.*s was changed since you have read it. Nothing was written, and "
            "the user was not asked. Read it again with read-file.",
            STR_ARG(review->name));
    enum status status =
        text_decode(&review->arena, base->bytes, &review->before);
    if (status == ST_INVALID)
        return review_fail(arena, answer, "ERROR",
                           "%.*s: it has NUL bytes, so it is no text. Nothing "
                           "was written.",
                           STR_ARG(review->name));
    return status;
}

enum status review_open(const struct tool_request *request, struct str path,
                        bool may_miss, struct review **out,
                        struct tool_answer *answer)
{
    struct review *review;

    *out = NULL;
    if (!tool_has_files(request, answer))
        return ST_OK;
    review = calloc(1, sizeof *review);
    if (!review)
        return ST_NOMEM;
    review->plan.free = review_free;
    if (request->call->plan) // of arguments that the human has changed
        request->call->plan->free(request->call->plan);
    request->call->plan = &review->plan;
    enum status status = load(request, path, may_miss, review, answer);
    if (status == ST_OK && answer->state == TOOL_ASKS)
        *out = review;
    return status;
}

static enum status fail_size(struct arena *arena, const struct review *review,
                             const char *state, struct tool_answer *answer)
{
    return review_fail(arena, answer, state,
                       "%.*s has, or would have, more than %u bytes or %d "
                       "lines, the limits of a review. Nothing was written.",
                       STR_ARG(review->name), LIMIT_DIFF_TEXT,
                       LIMIT_DIFF_LINES);
}

/* The whole request as the human reads it. */
static void write_message(struct buf *out, const struct review *review,
                          struct str reason, bool by_hunk)
{
    const struct diff *diff = &review->diff;
    struct str name = review->name;
    size_t n = diff->hunk_count;

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
    buf_printf(out, "\n--- a/%.*s\n+++ b/%.*s\n", STR_ARG(name), STR_ARG(name));
    for (size_t i = 0; i < n; i++) {
        if (by_hunk)
            buf_printf(out, "Hunk %zu of %zu\n", i + 1, n);
        diff_write_hunk(out, diff, i);
    }
}

enum status review_propose(struct review *review, struct str after,
                           struct str reason, bool by_hunk,
                           struct tool_question *question,
                           struct tool_answer *answer)
{
    struct arena *arena = &review->arena;
    struct str text = STR("");
    struct str bytes;
    struct str problem = STR("");
    enum status status = arena_str(arena, after, &text); // AFTER goes away

    if (status == ST_OK)
        status = text_encode(arena, &review->before, text, &bytes, &problem);
    if (status == ST_INVALID)
        return review_fail(arena, answer, "ERROR",
                           "%.*s: %.*s. Nothing was written.",
                           STR_ARG(review->name), STR_ARG(problem));
    if (status == ST_OK)
        status = diff_make(arena, review->before.text, text, &review->diff);
    if (status == ST_LIMIT)
        return fail_size(arena, review, "ERROR", answer);
    if (status != ST_OK)
        return status;
    if (review->diff.hunk_count == 0 && review->base.exists) {
        answer->state = TOOL_ANSWERED;
        answer->text =
            arena_printf(arena, "No change: %.*s has this text already.",
                         STR_ARG(review->name));
        return answer->text.n > 0 ? ST_OK : ST_NOMEM;
    }
    write_message(&question->message, review, reason, by_hunk);
    question->hunks = by_hunk ? review->diff.hunk_count : 0;
    buf_append(&question->substance, review->base.hash, FILES_HASH);
    buf_byte(&question->substance, review->base.exists ? '+' : '-');
    return ST_OK;
}

/* --- Afterwards ---------------------------------------------------------- */

/* What became of the hunks. */
struct outcome {
    enum diff_outcome *hunks;
    size_t applied;
    size_t stale;
    struct str text;          /* the new one */
    struct files_content now; /* the file as it was just before */
    struct text form;         /* of it */
    struct str bytes;         /* that were written */
    struct diff diff;         /* from it to the new one */
};

/* Puts the chosen hunks into the file as it is now. */
static enum status merge(const struct tool_request *request,
                         struct review *review, struct outcome *out)
{
    struct arena *arena = &review->arena;
    const bool *chosen = request->decision->chosen;
    size_t n = review->diff.hunk_count;
    enum status status = text_decode(arena, out->now.bytes, &out->form);

    out->hunks = arena_array(arena, n + 1, sizeof *out->hunks);
    if (!out->hunks)
        return ST_NOMEM;
    if (status == ST_OK)
        status = diff_apply_to(arena, &review->diff, chosen, out->form.text,
                               out->hunks, &out->text);
    // the very text that was compared needs no looking for places
    if (status == ST_OK && str_eq(out->form.text, review->before.text)) {
        status = diff_apply(arena, &review->diff, chosen, &out->text);
        for (size_t i = 0; i < n; i++)
            out->hunks[i] = chosen && !chosen[i] ? DIFF_SKIPPED : DIFF_APPLIED;
    }
    for (size_t i = 0; status == ST_OK && i < n; i++) {
        out->applied += out->hunks[i] == DIFF_APPLIED;
        out->stale += out->hunks[i] == DIFF_STALE;
    }
    return status;
}

/* What became of a hunk; REASON is the human's for all that were rejected. */
static void write_outcome(struct buf *out, enum diff_outcome outcome,
                          struct str reason)
{
    static const char *const words[] = {
        [DIFF_SKIPPED] = "rejected",
        [DIFF_APPLIED] = "applied",
        [DIFF_STALE] = "stale: its lines are not in the file any more",
    };

    buf_str(out, str_from(words[outcome]));
    if (outcome == DIFF_SKIPPED && reason.n > 0)
        buf_printf(out, ": %.*s", STR_ARG(reason));
}

static const char *state_of(const struct review *review,
                            const struct outcome *outcome)
{
    if (outcome->applied == review->diff.hunk_count)
        return "APPLIED";
    if (outcome->applied > 0)
        return "PARTIAL";
    return outcome->stale > 0 ? "STALE" : "REFUSED";
}

/* The same as the text: some clients show the model only this. DIFF is what was
   changed. */
static enum status structure(const struct tool_request *request,
                             const struct review *review,
                             const struct outcome *outcome,
                             const unsigned char *hash, struct str diff,
                             struct tool_answer *answer)
{
    struct buf out = BUF_EMPTY;
    struct buf text = BUF_EMPTY;
    struct jsonw w;

    jsonw_init(&w, &out);
    jsonw_object(&w);
    jsonw_member(&w, "state", str_from(state_of(review, outcome)));
    jsonw_member(&w, "path", review->base.name);
    jsonw_name(&w, "hunks");
    jsonw_array(&w);
    for (size_t i = 0; i < review->diff.hunk_count; i++) {
        buf_reset(&text);
        write_outcome(&text, outcome->hunks[i], request->decision->reason);
        jsonw_string(&w, buf_view(&text));
        out.failed = out.failed || buf_failed(&text);
    }
    jsonw_end_array(&w);
    jsonw_member(&w, "diff", diff);
    jsonw_name(&w, "sha256");
    jsonw_digest(&w, hash);
    jsonw_end_object(&w);
    buf_release(&text);
    return arena_take(request->arena, &out, &answer->structured);
}

static void write_outcomes(struct buf *out, const struct tool_request *request,
                           const struct review *review,
                           const struct outcome *outcome)
{
    size_t n = review->diff.hunk_count;

    buf_printf(out, "%s: %zu of %zu hunk%s applied to %.*s\n",
               state_of(review, outcome), outcome->applied, n,
               n == 1 ? "" : "s", STR_ARG(review->name));
    for (size_t i = 0; i < n; i++) {
        buf_printf(out, "hunk %zu: ", i + 1);
        write_outcome(out, outcome->hunks[i], request->decision->reason);
        buf_byte(out, '\n');
    }
}

/* What the model reads. */
static enum status tell(const struct tool_request *request,
                        const struct review *review,
                        const struct outcome *outcome,
                        const unsigned char *hash, struct tool_answer *answer)
{
    struct buf out = BUF_EMPTY;
    struct buf diff = BUF_EMPTY;
    size_t max = request->limits->max_output;

    write_outcomes(&out, request, review, outcome);
    if (outcome->applied > 0)
        diff_write(&diff, &outcome->diff, review->name);
    if (utf8_head(buf_view(&diff), max).n < diff.n) {
        buf_truncate(&diff, utf8_head(buf_view(&diff), max).n);
        buf_str(&diff, STR("\n… the diff goes on …\n"));
    }
    if (diff.n > 0)
        buf_printf(&out, "\n%.*s\n", STR_ARG(buf_view(&diff)));
    buf_str(&out, STR("sha256: "));
    digest_write(&out, hash);
    bool done = outcome->applied > 0 || review->diff.hunk_count == 0;
    answer->state = done ? TOOL_ANSWERED : TOOL_FAILED;
    out.failed = out.failed || buf_failed(&diff);
    enum status status = arena_take(request->arena, &out, &answer->text);
    if (status == ST_OK)
        status =
            structure(request, review, outcome, hash, buf_view(&diff), answer);
    buf_release(&diff);
    return status;
}

/* Writes what MERGE has made; ANSWER->state changes when that fails. */
static enum status write(const struct tool_request *request,
                         struct review *review, struct outcome *outcome,
                         struct tool_answer *answer)
{
    struct arena *arena = &review->arena;
    const struct files *files = request->files;
    struct str problem = STR("");
    enum status status = text_encode(arena, &outcome->form, outcome->text,
                                     &outcome->bytes, &problem);

    if (status == ST_INVALID)
        return review_fail(request->arena, answer, "ERROR",
                           "%.*s: %.*s. Nothing was written.",
                           STR_ARG(review->name), STR_ARG(problem));
    if (status == ST_OK)
        status =
            diff_make(arena, outcome->form.text, outcome->text, &outcome->diff);
    if (status == ST_LIMIT)
        return fail_size(request->arena, review, "ERROR", answer);
    if (status != ST_OK)
        return status;
    enum files_result result = files->write(
        files->context, arena, &outcome->now, outcome->bytes, &problem);
    if (result != FILES_OK)
        return fail_files(request->arena, result, problem, answer);
    return ST_OK;
}

/* The file as it is on the disk now. */
static enum status look(const struct tool_request *request,
                        struct review *review, struct files_content *out,
                        struct tool_answer *answer)
{
    const struct files *files = request->files;
    struct str problem = STR("");
    enum files_result result =
        files->read(files->context, &review->arena, review->base.name,
                    LIMIT_FILE, out, &problem);

    if (result == FILES_MISSING)
        result = FILES_OK;
    if (result != FILES_OK)
        return fail_files(request->arena, result, problem, answer);
    if (out->exists == review->base.exists)
        return ST_OK;
    return review_fail(request->arena, answer, "STALE",
                       "%.*s was %s meanwhile. Nothing was written.",
                       STR_ARG(review->name),
                       out->exists ? "created" : "deleted");
}

enum status review_apply(const struct tool_request *request,
                         struct tool_answer *answer)
{
    struct review *review = (struct review *)request->call->plan;
    struct outcome outcome = {0};
    unsigned char hash[FILES_HASH];
    enum status status = look(request, review, &outcome.now, answer);

    if (status != ST_OK || answer->state == TOOL_FAILED)
        return status;
    memcpy(hash, outcome.now.hash, FILES_HASH);
    status = merge(request, review, &outcome);
    if (status == ST_INVALID)
        return review_fail(request->arena, answer, "STALE",
                           "%.*s is no text any more. Nothing was written.",
                           STR_ARG(review->name));
    if (status == ST_LIMIT)
        return fail_size(request->arena, review, "STALE", answer);
    bool writes = outcome.applied > 0 ||
                  (review->diff.hunk_count == 0 && !outcome.now.exists);
    if (status == ST_OK && writes) {
        status = write(request, review, &outcome, answer);
        if (status != ST_OK || answer->state == TOOL_FAILED)
            return status;
        digest_of(outcome.bytes, hash);
    }
    if (status != ST_OK)
        return status;
    if (outcome.stale == 0)
        seen_note(request->seen, review->base.name, hash);
    return tell(request, review, &outcome, hash, answer);
}
