/* SPDX-License-Identifier: GPL-3.0-or-later */
/* review_apply.c: the hunks that were chosen go into the file as it is now; or
   an editor has put them into its buffer. Then the answer says what became of
   each. */
#include "gate/review_apply.h"

#include <string.h>

#include "base/digest.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "gate/approval.h"
#include "gate/place.h"
#include "gate/reading.h"
#include "json/jsonw.h"

/* --- The choice ---------------------------------------------------------- */

/* Only the last line of a text may lack its end: elsewhere the last of the
   lines TEXT, which replace hunk INDEX, would be glued to the next one. */
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

/* Prepares OUTCOME, and the diff for the lines of the human. An edit that
   leaves everything as it was is a refusal. */
static enum status read_choice(const struct approval_decision *decision,
                               struct review *review, struct outcome *outcome)
{
    struct diff *diff = &review->diff;
    const struct approval_hunk *hunks = decision->hunks;
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

static void count_hunks(const struct approval_decision *decision,
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

/* --- The answer ---------------------------------------------------------- */

void review_write_outcome(struct buf *out,
                          const struct approval_decision *decision,
                          const struct outcome *outcome, size_t index)
{
    static const char *const words[] = {
        [DIFF_SKIPPED] = "rejected",
        [DIFF_APPLIED] = "applied",
        [DIFF_STALE] = "stale: its lines are no longer in the file",
    };
    static const struct approval_hunk none;
    enum diff_outcome what = outcome->hunks[index];
    const struct approval_hunk *hunk =
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

/* The same as the text, for some clients show the model only this. DIFF is the
   change that was made; empty: the one that was proposed. */
static enum status write_structured(const struct tool_request *request,
                                    const struct review *review,
                                    const struct outcome *outcome,
                                    struct str diff, struct tool_answer *answer)
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
        review_write_outcome(&text, request->decision, outcome, i);
        jsonw_string(&w, buf_view(&text));
        out.failed = out.failed || buf_failed(&text);
    }
    jsonw_end_array(&w);
    if (diff.n > 0)
        jsonw_member(&w, "diff", diff);
    if (review->buffer)
        jsonw_member_bool(&w, "saved", outcome->saved);
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
        review_write_outcome(out, request->decision, outcome, i);
        buf_byte(out, '\n');
    }
}

/* Without this, a model tries again what it takes for an accident. */
static void write_rejected(struct buf *out, const struct review *review,
                           const struct outcome *outcome)
{
    size_t total = 0;
    size_t named = 0;

    for (size_t i = 0; i < review->diff.hunk_count; i++)
        total += outcome->hunks[i] == DIFF_SKIPPED;
    if (total == 0)
        return;
    buf_printf(out, "Do not propose hunk%s", total == 1 ? "" : "s");
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

void review_note_change(struct tool_change *change, const struct review *review,
                        const unsigned char *hash, const struct buf *patch)
{
    struct buf *all[] = {&change->path, &change->before, &change->after,
                         &change->patch, NULL};

    review_write_path(&change->path, review);
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

/* Whether the human has edited or divided a hunk that was applied: otherwise
   the model knows the text. */
static bool is_edited(const struct approval_decision *decision,
                      const struct review *review,
                      const struct outcome *outcome)
{
    for (size_t i = 0; decision->hunks && i < review->diff.hunk_count; i++)
        if (outcome->hunks[i] == DIFF_APPLIED &&
            (decision->hunks[i].edited || decision->hunks[i].part))
            return true;
    return false;
}

enum status review_write_reading(struct arena *arena,
                                 const struct review *review,
                                 const struct approval_decision *decision,
                                 const struct outcome *outcome, struct buf *out)
{
    const struct approval_applied *applied = decision->applied;
    struct str before = applied ? applied->before : outcome->form.text;
    struct str after = applied ? applied->after : outcome->text;

    return outcome->applied > 0
               ? reading_note(arena, review->name, before, after, out)
               : ST_OK;
}

/* What the model reads; HASH is that of the file, NULL when it cannot be
   read. */
static enum status write_answer(const struct tool_request *request,
                                const struct review *review,
                                const struct outcome *outcome,
                                const unsigned char *hash,
                                struct tool_answer *answer)
{
    struct buf out = BUF_EMPTY;
    struct buf diff = BUF_EMPTY;
    size_t max = request->limits->max_output;

    write_outcomes(&out, request, review, outcome);
    if (outcome->applied > 0)
        diff_write(&diff, &outcome->diff, review->name,
                   max * 4 > LIMIT_PATCH ? max * 4 : LIMIT_PATCH);
    if (outcome->applied > 0 || review->diff.hunk_count == 0)
        review_note_change(&request->call->change, review, hash, &diff);
    if (!is_edited(request->decision, review, outcome))
        buf_truncate(&diff, 0);
    if (utf8_head(buf_view(&diff), max).n < diff.n) {
        buf_truncate(&diff, utf8_head(buf_view(&diff), max).n);
        buf_str(&diff, STR("\n… the rest of the diff is left out …\n"));
    }
    if (diff.n > 0)
        buf_printf(&out, "\n%.*s\n", STR_ARG(buf_view(&diff)));
    enum status status = review_write_reading(request->arena, review,
                                              request->decision, outcome, &out);
    write_rejected(&out, review, outcome);
    out.failed = out.failed || buf_failed(&diff) || status != ST_OK;
    bool done = outcome->applied > 0 || review->diff.hunk_count == 0;
    answer->state = done ? TOOL_ANSWERED : TOOL_FAILED;
    while (out.n > 0 && out.p[out.n - 1] == '\n')
        buf_truncate(&out, out.n - 1);
    status = arena_take(request->arena, &out, &answer->text);
    if (status == ST_OK)
        status =
            write_structured(request, review, outcome, buf_view(&diff), answer);
    buf_release(&diff);
    return status;
}

/* --- The file ------------------------------------------------------------ */

/* Whether all hunks were chosen, as they are. */
static bool takes_all(const struct review *review,
                      const struct outcome *outcome)
{
    const struct diff *diff = &review->diff;

    for (size_t i = 0; i < diff->hunk_count; i++)
        if (!outcome->chosen[i] || (diff->edits && diff->edits[i].given))
            return false;
    return true;
}

/* Puts the chosen hunks into the text that was compared, where their places are
   known. */
static enum status merge_same(struct review *review, struct outcome *out)
{
    const struct diff *diff = &review->diff;

    for (size_t i = 0; i < diff->hunk_count; i++)
        out->hunks[i] = out->chosen[i] ? DIFF_APPLIED : DIFF_SKIPPED;
    if (!takes_all(review, out))
        return diff_apply(&review->arena, diff, out->chosen, &out->text);
    out->text = diff->after.text;
    out->diff = *diff;
    out->compared = true;
    return ST_OK;
}

/* Puts the chosen hunks into the file as it is now; SAME: as it was. */
static enum status merge(struct review *review, bool same, struct outcome *out)
{
    struct arena *arena = &review->arena;
    enum status status = ST_OK;

    if (same)
        out->form = review->before;
    else
        status =
            text_decode(arena, out->now.bytes, LIMIT_DIFF_TEXT, &out->form);
    if (status != ST_OK)
        return status;
    if (!same && !str_eq(out->form.text, review->before.text))
        return diff_apply_to(arena, &review->diff, out->chosen, out->form.text,
                             out->hunks, &out->text);
    return merge_same(review, out);
}

/* Writes the text that merge has made, whose bytes live in SCRATCH; sets ANSWER
   when that fails. */
static enum status write_text(const struct tool_request *request,
                              struct review *review, struct arena *scratch,
                              struct outcome *outcome,
                              struct tool_answer *answer)
{
    const struct files *files = request->files;
    struct str problem = STR("");
    struct str bytes;
    enum status status =
        text_encode(scratch, &outcome->form, outcome->text, &bytes, &problem);

    if (status == ST_INVALID)
        return review_fail(request->arena, answer, "ERROR",
                           "%.*s: %.*s. Nothing was written.",
                           STR_ARG(review->name), STR_ARG(problem));
    if (status == ST_OK)
        status = digest_in_steps(scratch, bytes, outcome->hash);
    if (status != ST_OK || arena_spend(scratch, 1) != ST_OK)
        return ST_NOMEM; // or the call was cancelled
    enum files_result result =
        files->write(files->context, scratch, &outcome->now, bytes, &problem);
    return result == FILES_OK
               ? ST_OK
               : review_fail_files(request->arena, result, problem, answer);
}

static enum status write(const struct tool_request *request,
                         struct review *review, struct outcome *outcome,
                         struct tool_answer *answer)
{
    struct arena scratch = {.strand = review->arena.strand};
    enum status status = ST_OK;

    if (!outcome->compared)
        status = diff_make(&review->arena, outcome->form.text, outcome->text,
                           &outcome->diff);
    if (status == ST_LIMIT)
        return review_fail_size(request->arena, review, "ERROR", answer);
    if (status == ST_OK)
        status = write_text(request, review, &scratch, outcome, answer);
    arena_release(&scratch);
    return status;
}

/* Reads the file as it is on the disk now; sets ANSWER when that fails. */
static enum status read_now(const struct tool_request *request,
                            struct review *review, struct files_content *out,
                            struct tool_answer *answer)
{
    struct str problem = STR("");
    enum files_result result =
        place_read_again(request, &review->arena, &review->base, out, &problem);

    if (result == FILES_MISSING)
        result = FILES_OK;
    if (result == FILES_REFUSED) // what was shown could be read
        return review_fail(request->arena, answer, "STALE",
                           "%.*s It is not what the user was asked about. "
                           "Nothing was written.",
                           STR_ARG(problem));
    if (result != FILES_OK)
        return review_fail_files(request->arena, result, problem, answer);
    if (out->exists == review->base.exists)
        return ST_OK;
    return review_fail(request->arena, answer, "STALE",
                       "%.*s was %s in the meantime. Nothing was written.",
                       STR_ARG(review->name),
                       out->exists ? "created" : "deleted");
}

/* Takes away the file, which has to be what was shown; sets ANSWER when that
   fails. */
static enum status remove_file(const struct tool_request *request,
                               struct review *review, struct outcome *outcome,
                               struct tool_answer *answer)
{
    const struct files *files = request->files;
    struct str problem = STR("");
    bool same = memcmp(outcome->now.hash, review->base.hash, FILES_HASH) == 0;

    if (outcome->chosen[0])
        outcome->hunks[0] = same ? DIFF_APPLIED : DIFF_STALE;
    if (outcome->hunks[0] == DIFF_APPLIED) {
        if (arena_spend(&review->arena, 1) != ST_OK)
            return ST_NOMEM; // the call was cancelled
        enum files_result result = files->remove(files->context, &review->arena,
                                                 &outcome->now, &problem);
        if (result != FILES_OK)
            return review_fail_files(request->arena, result, problem, answer);
        outcome->diff = review->diff;
    }
    count_hunks(request->decision, review, outcome);
    return ST_OK;
}

static enum status apply_to_file(const struct tool_request *request,
                                 struct review *review, struct outcome *outcome,
                                 struct tool_answer *answer)
{
    unsigned char *hash = outcome->hash;
    enum status status = read_now(request, review, &outcome->now, answer);

    if (status != ST_OK || answer->state == TOOL_FAILED)
        return status;
    if (review->removes)
        return remove_file(request, review, outcome, answer);
    outcome->hashed = true;
    memcpy(hash, outcome->now.hash, FILES_HASH);
    bool same = memcmp(hash, review->base.hash, FILES_HASH) == 0;
    memcpy(review->base.hash, hash, FILES_HASH); // this content is replaced
    status = merge(review, same, outcome);
    if (status == ST_INVALID)
        return review_fail(
            request->arena, answer, "STALE",
            "%.*s is no longer a text file. Nothing was written.",
            STR_ARG(review->name));
    if (status == ST_LIMIT)
        return review_fail_size(request->arena, review, "STALE", answer);
    count_hunks(request->decision, review, outcome);
    if (review->whole && outcome->stale > 0)
        outcome->applied = 0;
    bool writes = outcome->applied > 0 ||
                  (review->diff.hunk_count == 0 && !outcome->now.exists);
    if (status == ST_OK && writes) {
        status = write(request, review, outcome, answer);
        if (status != ST_OK || answer->state == TOOL_FAILED)
            return status;
    }
    if (status != ST_OK)
        return status;
    if (outcome->stale == 0)
        seen_note(request->seen, review->base.name, hash);
    return ST_OK;
}

/* --- A buffer ------------------------------------------------------------ */

/* Whether the file has the bytes that the editor claims to have written. */
static enum status has_bytes(struct review *review,
                             const struct approval_applied *applied,
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

/* Whether the file holds what the editor claims to have saved, maybe in a
   coding that is not known here. */
static enum status compare_saved(struct review *review,
                                 const struct approval_applied *applied,
                                 struct outcome *outcome)
{
    bool same = false;
    enum status status = has_bytes(review, applied, &outcome->now, &same);

    if (status == ST_OK && !same)
        status = text_decode(&review->arena, outcome->now.bytes,
                             LIMIT_DIFF_TEXT, &outcome->form);
    if (status == ST_NOMEM)
        return status;
    outcome->saved = outcome->now.exists &&
                     (same || (status == ST_OK &&
                               str_eq(outcome->form.text, applied->after)));
    outcome->where = outcome->saved ? STR(" (buffer; saved)")
                                    : STR(" (buffer; saved, but the file "
                                          "differs from the buffer)");
    return ST_OK;
}

/* Finds out what is in the file now, and words what was done with the buffer.
 *READ: the file could be read. */
static enum status report_file(const struct tool_request *request,
                               struct review *review, struct outcome *outcome,
                               bool *read)
{
    const struct approval_applied *applied = request->decision->applied;
    struct arena *arena = &review->arena;
    struct str problem = STR("");
    enum files_result result =
        place_read(request, arena, LIMIT_FILE, &outcome->now, &problem);

    if (result == FILES_NOMEM)
        return ST_NOMEM;
    *read = result == FILES_OK;
    if (applied && applied->saved && *read)
        return compare_saved(review, applied, outcome);
    if (applied && applied->saved)
        outcome->where = arena_printf(
            arena, " (buffer; saved, but the file cannot be read: %.*s)",
            STR_ARG(problem));
    else if (applied && applied->note.n > 0)
        outcome->where = arena_printf(arena, " (buffer; not saved: %.*s)",
                                      STR_ARG(applied->note));
    else
        outcome->where = STR(" (buffer; not saved)");
    return outcome->where.n > 0 ? ST_OK : ST_NOMEM;
}

/* The editor has made the change: reports what it says, and what is found. */
static enum status report_buffer(const struct tool_request *request,
                                 struct review *review, struct outcome *outcome)
{
    const struct approval_applied *applied = request->decision->applied;
    bool read = false;
    enum status status = ST_OK;

    for (size_t i = 0; i < review->diff.hunk_count; i++) {
        bool stale = applied && applied->stale && applied->stale[i];

        if (outcome->chosen[i])
            outcome->hunks[i] = stale ? DIFF_STALE : DIFF_APPLIED;
    }
    count_hunks(request->decision, review, outcome);
    if (review->whole && outcome->stale > 0)
        outcome->applied = 0; // the editor has left it alone
    if (applied)
        status = diff_make(&review->arena, applied->before, applied->after,
                           &outcome->diff);
    if (status == ST_LIMIT) {
        outcome->diff = (struct diff){0}; // the texts are too long
        status = ST_OK;
    }
    if (status == ST_OK)
        status = report_file(request, review, outcome, &read);
    if (status != ST_OK)
        return status;
    outcome->hashed = read;
    if (read)
        memcpy(outcome->hash, outcome->now.hash, FILES_HASH);
    // otherwise the model was not shown what is on the disk
    if (outcome->saved && outcome->stale == 0)
        seen_note(request->seen, review->base.name, outcome->hash);
    return ST_OK;
}

enum status review_make(const struct tool_request *request,
                        struct outcome *outcome, struct tool_answer *answer)
{
    struct review *review = (struct review *)request->call->plan;
    const struct approval_decision *decision = request->decision;

    *outcome = (struct outcome){0};
    if (decision->failed.n > 0)
        return review_fail(request->arena, answer, "ERROR",
                           "%.*s: the editor could not make the change: %.*s.",
                           STR_ARG(review->name), STR_ARG(decision->failed));
    if (read_choice(decision, review, outcome) != ST_OK)
        return ST_NOMEM;
    if (review->buffer)
        return report_buffer(request, review, outcome);
    return apply_to_file(request, review, outcome, answer);
}

enum status review_apply(const struct tool_request *request,
                         struct tool_answer *answer)
{
    const struct review *review = (struct review *)request->call->plan;
    struct outcome outcome;
    enum status status = review_make(request, &outcome, answer);

    if (status != ST_OK || answer->state == TOOL_FAILED)
        return status;
    return write_answer(request, review, &outcome,
                        outcome.hashed ? outcome.hash : NULL, answer);
}
