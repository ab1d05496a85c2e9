/* SPDX-License-Identifier: GPL-3.0-or-later */
/* review.c: read, compare, ask (the gate does), compare again, write, tell. */
#include "gate/review.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/digest.h"
#include "base/limits.h"
#include "base/utf8.h"
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

/* The text is that of a buffer. The model writes line ends as it has read them
   from the file. */
static void take_buffer(const struct tool_visit *visit, struct text *before)
{
    struct str text = buf_view(&visit->text);

    before->text = text;
    if (text.n > 0 && memchr(text.p, '\r', text.n))
        before->ends = TEXT_MIXED;
}

/* The text before the change; ST_INVALID: it is none. */
static enum status decode(const struct tool_visit *visit, struct review *review)
{
    struct str bytes = review->base.bytes;
    struct text *before = &review->before;
    enum status status = text_decode(&review->arena, bytes, before);
    struct str text = buf_view(&visit->text);

    if (!visit->visited || status == ST_NOMEM)
        return status;
    take_buffer(visit, before);
    return text.n > 0 && memchr(text.p, '\0', text.n) ? ST_INVALID : ST_OK;
}

/* Reads and decodes the file; ANSWER->state changes when it cannot be. */
static enum status load(const struct tool_request *request, struct str path,
                        bool may_miss, struct review *review,
                        struct tool_answer *answer)
{
    struct arena *arena = request->arena;
    const struct files *files = request->files;
    const struct tool_visit *visit = &request->call->visit;
    struct str problem = STR("");
    enum files_result result = files->read(files->context, &review->arena, path,
                                           LIMIT_FILE, &review->base, &problem);

    if (result == FILES_MISSING && (may_miss || visit->visited) &&
        review->base.name.n > 0)
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
    enum status status = decode(visit, review);
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
    review->root = request->files->root;
    review->asks_editor = request->call->editor;
    review->buffer = request->call->visit.visited;
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
    diff_write_hunk(&text, diff, index);
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

/* The absolute path of the file. */
static void write_path(struct buf *out, const struct review *review)
{
    buf_printf(out, "%s%s%.*s", review->root,
               strcmp(review->root, "/") == 0 ? "" : "/",
               STR_ARG(review->base.name));
}

/* The change as docs/editor-protocol.md has it. */
static void write_for_editor(struct buf *out, const struct review *review,
                             struct str reason)
{
    struct buf path = BUF_EMPTY;
    struct jsonw w;

    write_path(&path, review);
    jsonw_init(&w, out);
    jsonw_object(&w);
    jsonw_member(&w, "path", buf_view(&path));
    jsonw_member(&w, "name", review->base.name);
    jsonw_member(&w, "reason", reason);
    jsonw_member_bool(&w, "exists", review->base.exists);
    jsonw_member_bool(&w, "buffer", review->buffer);
    jsonw_name(&w, "hunks");
    jsonw_array(&w);
    for (size_t i = 0; i < review->diff.hunk_count; i++)
        write_hunk(&w, &review->diff, i);
    jsonw_end_array(&w);
    jsonw_end_object(&w);
    out->failed = out->failed || buf_failed(&path);
    buf_release(&path);
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

    if (status == ST_OK && !review->buffer) // else the editor's business
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
    if (review->diff.hunk_count == 0 &&
        (review->base.exists || review->buffer)) {
        answer->state = TOOL_ANSWERED;
        answer->text =
            arena_printf(arena, "No change: %.*s has this text already.",
                         STR_ARG(review->name));
        return answer->text.n > 0 ? ST_OK : ST_NOMEM;
    }
    write_message(&question->message, review, reason, by_hunk);
    if (review->asks_editor)
        write_for_editor(&question->review, review, reason);
    question->changes = review->diff.hunk_count;
    question->hunks = by_hunk ? review->diff.hunk_count : 0;
    buf_append(&question->substance, review->base.hash, FILES_HASH);
    buf_byte(&question->substance, review->base.exists ? '+' : '-');
    return ST_OK;
}

/* --- Afterwards ---------------------------------------------------------- */

/* What became of the hunks. */
struct outcome {
    bool *chosen; /* one for each */
    enum diff_outcome *hunks;
    size_t applied;
    size_t stale;
    bool divided;             /* one was applied in part */
    struct str text;          /* the new one */
    struct files_content now; /* the file as it was just before, or is now */
    struct text form;         /* of it */
    struct str bytes;         /* that were written */
    struct diff diff;         /* from it to the new one */
    struct str where;         /* of a buffer: what was done with it */
    bool saved;               /* the file has the new text */
};

/* Only the last line of a text may lack its end; elsewhere the lines TEXT in
   the place of hunk INDEX would be glued to the next one. */
static enum status end_lines(struct arena *arena, const struct diff *diff,
                             size_t index, struct str *text)
{
    const struct diff_range *range = &diff->hunks[index].range;
    bool last = range->old_start + range->old_count == diff->before.n;

    if (last || text->n == 0 || text->p[text->n - 1] == '\n')
        return ST_OK;
    struct buf ended = BUF_EMPTY;
    buf_str(&ended, *text);
    buf_byte(&ended, '\n');
    return arena_take(arena, &ended, text);
}

/* Prepares OUTCOME, and the diff for the lines of the human; an edit that
   leaves all as it was is a refusal. */
static enum status read_choice(const struct tool_decision *decision,
                               struct review *review, struct outcome *outcome)
{
    struct diff *diff = &review->diff;
    const struct tool_hunk *hunks = decision->hunks;
    size_t n = diff->hunk_count;
    struct diff_edit *edits = arena_array(&review->arena, n + 1, sizeof *edits);

    outcome->chosen = arena_array(&review->arena, n + 1, sizeof(bool));
    outcome->hunks = arena_array(&review->arena, n + 1, sizeof *outcome->hunks);
    if (!edits || !outcome->chosen || !outcome->hunks)
        return ST_NOMEM;
    for (size_t i = 0; i < n; i++) {
        outcome->chosen[i] = !decision->chosen || decision->chosen[i];
        if (!hunks || !outcome->chosen[i])
            continue;
        edits[i] =
            (struct diff_edit){hunks[i].edited || hunks[i].part, hunks[i].text};
        if (end_lines(&review->arena, diff, i, &edits[i].text) != ST_OK)
            return ST_NOMEM;
        if (edits[i].given && str_eq(edits[i].text, diff_old_lines(diff, i)))
            outcome->chosen[i] = false;
    }
    if (hunks)
        diff->edits = edits;
    return ST_OK;
}

static void count(const struct tool_decision *decision,
                  const struct review *review, struct outcome *out)
{
    for (size_t i = 0; i < review->diff.hunk_count; i++) {
        bool applied = out->hunks[i] == DIFF_APPLIED;

        out->applied += applied;
        out->stale += out->hunks[i] == DIFF_STALE;
        out->divided = out->divided ||
                       (applied && decision->hunks && decision->hunks[i].part);
    }
}

/* Puts the chosen hunks into the file as it is now. */
static enum status merge(struct review *review, struct outcome *out)
{
    struct arena *arena = &review->arena;
    const bool *chosen = out->chosen;
    enum status status = text_decode(arena, out->now.bytes, &out->form);

    if (status == ST_OK)
        status = diff_apply_to(arena, &review->diff, chosen, out->form.text,
                               out->hunks, &out->text);
    // the very text that was compared needs no looking for places
    if (status == ST_OK && str_eq(out->form.text, review->before.text)) {
        status = diff_apply(arena, &review->diff, chosen, &out->text);
        for (size_t i = 0; i < review->diff.hunk_count; i++)
            out->hunks[i] = chosen[i] ? DIFF_APPLIED : DIFF_SKIPPED;
    }
    return status;
}

/* What became of hunk INDEX, with the words of the human. */
static void write_outcome(struct buf *out, const struct tool_decision *decision,
                          const struct outcome *outcome, size_t index)
{
    static const char *const words[] = {
        [DIFF_SKIPPED] = "rejected",
        [DIFF_APPLIED] = "applied",
        [DIFF_STALE] = "stale: its lines are not in the file any more",
    };
    static const struct tool_hunk none;
    enum diff_outcome what = outcome->hunks[index];
    const struct tool_hunk *hunk =
        decision->hunks ? &decision->hunks[index] : &none;
    struct str reason = hunk->reason;

    if (reason.n == 0 && what == DIFF_SKIPPED)
        reason = decision->reason;
    buf_str(out, str_from(words[what]));
    if (what == DIFF_APPLIED && hunk->part)
        buf_str(out, STR(" in part"));
    else if (what == DIFF_APPLIED && hunk->edited)
        buf_str(out, STR(" after the user edited it"));
    if (reason.n > 0)
        buf_printf(out, ": %.*s", STR_ARG(reason));
}

static const char *state_of(const struct review *review,
                            const struct outcome *outcome)
{
    if (outcome->applied == review->diff.hunk_count && !outcome->divided)
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
        write_outcome(&text, request->decision, outcome, i);
        jsonw_string(&w, buf_view(&text));
        out.failed = out.failed || buf_failed(&text);
    }
    jsonw_end_array(&w);
    jsonw_member(&w, "diff", diff);
    if (review->buffer)
        jsonw_member_bool(&w, "saved", outcome->saved);
    if (hash) {
        jsonw_name(&w, "sha256");
        jsonw_digest(&w, hash);
    }
    jsonw_end_object(&w);
    buf_release(&text);
    return arena_take(request->arena, &out, &answer->structured);
}

static void write_outcomes(struct buf *out, const struct tool_request *request,
                           const struct review *review,
                           const struct outcome *outcome)
{
    size_t n = review->diff.hunk_count;

    buf_printf(out, "%s: %zu of %zu hunk%s applied to %.*s%.*s\n",
               state_of(review, outcome), outcome->applied, n,
               n == 1 ? "" : "s", STR_ARG(review->name),
               STR_ARG(outcome->where));
    for (size_t i = 0; i < n; i++) {
        buf_printf(out, "hunk %zu: ", i + 1);
        write_outcome(out, request->decision, outcome, i);
        buf_byte(out, '\n');
    }
}

/* A model tries again what it believes was an accident. */
static void write_rejected(struct buf *out, const struct review *review,
                           const struct outcome *outcome)
{
    size_t total = 0;
    size_t named = 0;

    for (size_t i = 0; i < review->diff.hunk_count; i++)
        total += outcome->hunks[i] == DIFF_SKIPPED;
    if (total == 0)
        return;
    buf_printf(out, "\nDo not propose hunk%s", total == 1 ? "" : "s");
    for (size_t i = 0; i < review->diff.hunk_count; i++) {
        if (outcome->hunks[i] != DIFF_SKIPPED)
            continue;
        named++;
        buf_str(out, named == 1 ? STR(" ")
                                : (named == total ? STR(" and ") : STR(", ")));
        buf_printf(out, "%zu", i + 1);
    }
    buf_str(out, STR(" again unchanged."));
}

/* For the log: the file that was changed, its HASH (NULL: unknown), and PATCH.
   Without memory the log has less. */
static void note_change(struct tool_change *change, const struct review *review,
                        const unsigned char *hash, const struct buf *patch)
{
    struct buf *all[] = {&change->path, &change->before, &change->after,
                         &change->patch, NULL};

    write_path(&change->path, review);
    if (review->base.exists)
        digest_write(&change->before, review->base.hash);
    if (hash)
        digest_write(&change->after, hash);
    if (patch->n <= LIMIT_PATCH)
        buf_str(&change->patch, buf_view(patch));
    for (struct buf **one = all; *one; one++)
        if (buf_failed(*one))
            buf_reset(*one);
}

/* What the model reads; HASH is that of the file, NULL when it cannot be
   read. */
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
    if (outcome->applied > 0 || review->diff.hunk_count == 0)
        note_change(&request->call->change, review, hash, &diff);
    if (utf8_head(buf_view(&diff), max).n < diff.n) {
        buf_truncate(&diff, utf8_head(buf_view(&diff), max).n);
        buf_str(&diff, STR("\n… the diff goes on …\n"));
    }
    if (diff.n > 0)
        buf_printf(&out, "\n%.*s\n", STR_ARG(buf_view(&diff)));
    if (hash) {
        buf_printf(&out, "sha256%s: ",
                   review->buffer && !outcome->saved
                       ? " of the file on the disk"
                       : "");
        digest_write(&out, hash);
    }
    write_rejected(&out, review, outcome);
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

/* --- The file ------------------------------------------------------------ */

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

static enum status apply_to_file(const struct tool_request *request,
                                 struct review *review, struct outcome *outcome,
                                 struct tool_answer *answer)
{
    unsigned char hash[FILES_HASH];
    enum status status = look(request, review, &outcome->now, answer);

    if (status != ST_OK || answer->state == TOOL_FAILED)
        return status;
    memcpy(hash, outcome->now.hash, FILES_HASH);
    memcpy(review->base.hash, hash, FILES_HASH); // that is replaced now
    status = merge(review, outcome);
    if (status == ST_INVALID)
        return review_fail(request->arena, answer, "STALE",
                           "%.*s is no text any more. Nothing was written.",
                           STR_ARG(review->name));
    if (status == ST_LIMIT)
        return fail_size(request->arena, review, "STALE", answer);
    count(request->decision, review, outcome);
    bool writes = outcome->applied > 0 ||
                  (review->diff.hunk_count == 0 && !outcome->now.exists);
    if (status == ST_OK && writes) {
        status = write(request, review, outcome, answer);
        if (status != ST_OK || answer->state == TOOL_FAILED)
            return status;
        digest_of(outcome->bytes, hash);
    }
    if (status != ST_OK)
        return status;
    if (outcome->stale == 0)
        seen_note(request->seen, review->base.name, hash);
    return tell(request, review, outcome, hash, answer);
}

/* --- A buffer ------------------------------------------------------------ */

/* Whether the file has the bytes that the editor says to have written. */
static enum status has_bytes(struct review *review,
                             const struct tool_applied *applied,
                             const struct files_content *now, bool *out)
{
    struct buf hash = BUF_EMPTY;
    struct str text;

    digest_write(&hash, now->hash);
    enum status status = arena_take(&review->arena, &hash, &text);
    if (status == ST_OK)
        *out = str_eq(text, applied->sha256);
    return status;
}

/* Whether the file holds what the editor says that it has saved: it may do so
   in a coding that is not known here. */
static enum status compare_saved(struct review *review,
                                 const struct tool_applied *applied,
                                 struct outcome *outcome)
{
    bool same = false;
    enum status status = has_bytes(review, applied, &outcome->now, &same);

    if (status == ST_OK && !same)
        status =
            text_decode(&review->arena, outcome->now.bytes, &outcome->form);
    if (status == ST_NOMEM)
        return status;
    outcome->saved = outcome->now.exists &&
                     (same || (status == ST_OK &&
                               str_eq(outcome->form.text, applied->after)));
    outcome->where =
        outcome->saved
            ? STR(" (buffer; saved)")
            : STR(" (buffer; saved, but the file holds something else than the "
                  "buffer did)");
    return ST_OK;
}

/* Finds out what is in the file now, and says what was done with the buffer;
 *READ: the file could be read. */
static enum status look_at_file(const struct tool_request *request,
                                struct review *review, struct outcome *outcome,
                                bool *read)
{
    const struct tool_applied *applied = request->decision->applied;
    const struct files *files = request->files;
    struct arena *arena = &review->arena;
    struct str problem = STR("");
    enum files_result result =
        files->read(files->context, arena, review->base.name, LIMIT_FILE,
                    &outcome->now, &problem);

    if (result == FILES_NOMEM)
        return ST_NOMEM;
    *read = result == FILES_OK;
    if (applied && applied->saved && *read)
        return compare_saved(review, applied, outcome);
    if (applied && applied->saved)
        outcome->where =
            arena_printf(arena, " (buffer; saved, but it cannot be read: %.*s)",
                         STR_ARG(problem));
    else if (applied && applied->note.n > 0)
        outcome->where = arena_printf(arena, " (buffer; not saved: %.*s)",
                                      STR_ARG(applied->note));
    else
        outcome->where = STR(" (buffer; not saved)");
    return outcome->where.n > 0 ? ST_OK : ST_NOMEM;
}

/* The editor has made the change; tells what it says, and what is found. */
static enum status report_buffer(const struct tool_request *request,
                                 struct review *review, struct outcome *outcome,
                                 struct tool_answer *answer)
{
    const struct tool_applied *applied = request->decision->applied;
    bool read = false;
    enum status status = ST_OK;

    for (size_t i = 0; i < review->diff.hunk_count; i++) {
        bool stale = applied && applied->stale && applied->stale[i];

        if (outcome->chosen[i])
            outcome->hunks[i] = stale ? DIFF_STALE : DIFF_APPLIED;
    }
    count(request->decision, review, outcome);
    if (applied)
        status = diff_make(&review->arena, applied->before, applied->after,
                           &outcome->diff);
    if (status == ST_LIMIT) {
        outcome->diff = (struct diff){0}; // too long to be compared
        status = ST_OK;
    }
    if (status == ST_OK)
        status = look_at_file(request, review, outcome, &read);
    if (status != ST_OK)
        return status;
    const unsigned char *hash = read ? outcome->now.hash : NULL;
    // else the disk has what the model was not shown
    if (outcome->saved && outcome->stale == 0)
        seen_note(request->seen, review->base.name, hash);
    return tell(request, review, outcome, hash, answer);
}

enum status review_apply(const struct tool_request *request,
                         struct tool_answer *answer)
{
    struct review *review = (struct review *)request->call->plan;
    const struct tool_decision *decision = request->decision;
    struct outcome outcome = {0};

    if (decision->failed.n > 0)
        return review_fail(request->arena, answer, "ERROR",
                           "%.*s: the editor could not make the change: %.*s.",
                           STR_ARG(review->name), STR_ARG(decision->failed));
    if (read_choice(decision, review, &outcome) != ST_OK)
        return ST_NOMEM;
    if (review->buffer)
        return report_buffer(request, review, &outcome, answer);
    return apply_to_file(request, review, &outcome, answer);
}
