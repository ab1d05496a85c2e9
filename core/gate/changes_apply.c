/* SPDX-License-Identifier: GPL-3.0-or-later */
/* changes_apply.c: the changes of several files are made, one file after the
   other, and the answer says what became of each. */
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "gate/approval.h"
#include "gate/changes.h"
#include "gate/review_apply.h"
#include "json/jsonw.h"

/* What became of one file. */
struct file {
    const struct review *review;
    const struct tool_change *change;
    struct approval_decision decision; /* about its hunks */
    struct outcome outcome;
    struct tool_answer failure; /* why it was not changed, as review_fail has
                                   it; its text is empty when that is not so */
};

struct files_changed {
    struct file *all;
    size_t n;
    size_t hunks;
    size_t applied;
    size_t patches; /* bytes that the log may still keep */
};

/* --- What became of each ------------------------------------------------- */

/* The part of DECISION that is about the Ith file. */
static struct approval_decision
decision_of(const struct approval_decision *decision, size_t i, size_t first)
{
    struct approval_decision part = *decision;

    if (part.chosen)
        part.chosen += first;
    if (part.hunks)
        part.hunks += first;
    part.files = NULL;
    if (!decision->files)
        return part;
    part.applied = decision->files[i].applied;
    part.failed = decision->files[i].failed;
    return part;
}

/* Whether any hunk of FILE was to be applied. */
static bool is_wanted(const struct file *file)
{
    const bool *chosen = file->decision.chosen;

    for (size_t i = 0; chosen && i < file->review->diff.hunk_count; i++)
        if (chosen[i])
            return true;
    return !chosen;
}

/* An editor numbers stale hunks as they are shown: through all files. */
static enum status take_stale(struct arena *arena, struct file *file)
{
    struct approval_applied *own = arena_array(arena, 1, sizeof *own);
    const struct approval_applied *applied = file->decision.applied;

    if (!applied)
        return ST_OK;
    if (!own)
        return ST_NOMEM;
    *own = *applied;
    if (own->stale)
        own->stale += file->review->first;
    file->decision.applied = own;
    return ST_OK;
}

/* Has the log know what was changed, and how to take it back, as long as all
   patches have at most LEFT bytes. */
static void note_change(const struct file *file, struct tool_call *call,
                        size_t *left)
{
    struct buf patch = BUF_EMPTY;
    const struct outcome *outcome = &file->outcome;
    struct tool_change *change = &call->change;

    buf_reset(&change->path);
    diff_write(&patch, &outcome->diff, file->review->name,
               *left < LIMIT_PATCH ? *left : LIMIT_PATCH);
    change->made = true;
    change->kept = !file->review->bulk && !buf_failed(&patch) &&
                   patch.n <= LIMIT_PATCH && patch.n <= *left;
    if (!change->kept)
        buf_reset(&patch);
    *left -= patch.n < *left ? patch.n : *left;
    review_note_change(change, file->review,
                       outcome->hashed ? outcome->hash : NULL, &patch);
    buf_release(&patch);
}

static enum status change_file(const struct tool_request *request, size_t i,
                               struct files_changed *changed)
{
    struct file *file = &changed->all[i];
    struct tool_request part = *request;

    part.call = &request->call->parts[i];
    part.decision = &file->decision;
    file->review = (struct review *)part.call->plan;
    file->change = &part.call->change;
    file->decision = decision_of(request->decision, i, file->review->first);
    if (take_stale(request->arena, file) != ST_OK)
        return ST_NOMEM;
    file->failure.state = TOOL_WAITS;
    enum status status =
        file->review->stale
            ? review_fail(request->arena, &file->failure, "STALE",
                          "it has changed since the user was asked about it. "
                          "Nothing was written. Read it again, then propose "
                          "the change again.")
            : review_make(&part, &file->outcome, &file->failure);
    if (status != ST_OK)
        return status;
    if (file->failure.state != TOOL_FAILED)
        file->failure.text = STR("");
    else
        file->outcome.applied = 0;
    if (file->outcome.applied > 0)
        note_change(file, part.call, &changed->patches);
    return ST_OK;
}

/* --- The answer ---------------------------------------------------------- */

/* The first line of a failure is its state, the rest says why. */
static struct str state_of_failure(const struct file *file, struct str *why)
{
    struct str text = file->failure.text;
    const char *end = memchr(text.p, '\n', text.n);
    size_t n = end ? (size_t)(end - text.p) : text.n;

    *why = str_make(text.p + n + (end != NULL), text.n - n - (end != NULL));
    // the name of the file stands before it already
    struct str name = file->review->name;
    if (why->n > name.n + 2 && memcmp(why->p, name.p, name.n) == 0 &&
        memcmp(why->p + name.n, ": ", 2) == 0)
        *why = str_make(why->p + name.n + 2, why->n - name.n - 2);
    return str_make(text.p, n);
}

static struct str state_of(const struct file *file)
{
    const struct outcome *outcome = &file->outcome;
    struct str why;

    if (file->failure.text.n > 0)
        return state_of_failure(file, &why);
    if (outcome->applied == file->review->diff.hunk_count && !outcome->divided)
        return STR("APPLIED");
    if (outcome->applied > 0)
        return STR("PARTIAL");
    return outcome->stale > 0 ? STR("STALE") : STR("REFUSED");
}

/* The state of the whole. */
static struct str state_of_all(const struct files_changed *changed)
{
    struct str state = STR("");
    bool divided = false;

    for (size_t i = 0; i < changed->n; i++) {
        const struct file *file = &changed->all[i];

        divided = divided || file->outcome.divided;
        if (state.n == 0 || is_wanted(file))
            state = state_of(file);
    }
    if (changed->applied == changed->hunks && !divided)
        return STR("APPLIED");
    return changed->applied > 0 ? STR("PARTIAL") : state;
}

/* What became of hunk I of FILE. */
static void write_hunk(struct buf *out, const struct file *file, size_t i)
{
    bool chosen = !file->decision.chosen || file->decision.chosen[i];
    bool applied = file->outcome.applied > 0;

    if (file->failure.text.n > 0 && chosen)
        buf_str(out, STR("not applied"));
    else if (file->failure.text.n == 0 && !applied &&
             file->outcome.hunks[i] == DIFF_APPLIED)
        buf_str(out, STR("not applied: another hunk of the file is stale"));
    else if (file->failure.text.n > 0)
        buf_str(out, STR("rejected"));
    else
        review_write_outcome(out, &file->decision, &file->outcome, i);
}

/* Whether the file has got another text than was proposed and chosen. */
static bool is_other_text(const struct file *file)
{
    const struct approval_hunk *hunks = file->decision.hunks;

    for (size_t i = 0; hunks && i < file->review->diff.hunk_count; i++)
        if (file->outcome.hunks[i] == DIFF_APPLIED &&
            (hunks[i].edited || hunks[i].part))
            return true;
    return false;
}

/* The change of a file that is not what was proposed, else nothing. */
static void write_diff(struct buf *out, const struct tool_request *request,
                       const struct file *file)
{
    struct buf diff = BUF_EMPTY;
    size_t most = request->limits->max_output;

    if (file->outcome.applied > 0 && is_other_text(file))
        diff_write(&diff, &file->outcome.diff, file->review->name, 4 * most);
    struct str shown = utf8_head(buf_view(&diff), most);
    buf_str(out, shown);
    if (shown.n < diff.n)
        buf_str(out, STR("\n… the rest of the diff is left out …\n"));
    out->failed = out->failed || buf_failed(&diff);
    buf_release(&diff);
}

static void write_file(struct buf *out, const struct tool_request *request,
                       const struct file *file)
{
    const struct review *review = file->review;
    struct str why;

    buf_printf(out, "\n%.*s: ", STR_ARG(review->name));
    buf_str(out, state_of(file));
    if (file->outcome.applied > 0 && review->removes)
        buf_str(out, STR(" (deleted)"));
    buf_str(out, file->outcome.where);
    if (file->outcome.applied > 0 && !file->change->kept)
        buf_str(out, STR(" (the log keeps no copy: it cannot be undone)"));
    if (file->failure.text.n > 0) {
        (void)state_of_failure(file, &why);
        buf_printf(out, ": %.*s", STR_ARG(why));
    }
    for (size_t i = 0; i < review->diff.hunk_count; i++) {
        buf_printf(out, "\nhunk %zu: ", review->first + i + 1);
        write_hunk(out, file, i);
    }
    if (file->outcome.applied > 0 && is_other_text(file)) {
        buf_byte(out, '\n');
        write_diff(out, request, file);
    }
}

/* Whether the human does not want hunk I of FILE. */
static bool is_rejected(const struct file *file, size_t i)
{
    return file->failure.text.n > 0
               ? file->decision.chosen && !file->decision.chosen[i]
               : file->outcome.hunks[i] == DIFF_SKIPPED;
}

/* Without this, a model tries again what it takes for an accident. */
static void write_rejected(struct buf *out, const struct files_changed *changed)
{
    size_t named = 0;

    for (size_t f = 0; f < changed->n; f++) {
        const struct file *file = &changed->all[f];

        for (size_t i = 0; i < file->review->diff.hunk_count; i++) {
            if (!is_rejected(file, i))
                continue;
            buf_printf(out, "%s%zu",
                       named == 0 ? "\nDo not propose again unchanged: hunk "
                                  : ", ",
                       file->review->first + i + 1);
            named++;
        }
    }
    if (named > 0)
        buf_byte(out, '.');
}

static void write_structured(struct jsonw *w,
                             const struct tool_request *request,
                             const struct file *file)
{
    struct buf text = BUF_EMPTY;
    struct str why;

    jsonw_object(w);
    jsonw_member(w, "path", file->review->base.name);
    jsonw_member(w, "state", state_of(file));
    if (file->failure.text.n > 0) {
        (void)state_of_failure(file, &why);
        jsonw_member(w, "problem", why);
    }
    jsonw_name(w, "hunks");
    jsonw_array(w);
    for (size_t i = 0; i < file->review->diff.hunk_count; i++) {
        buf_reset(&text);
        write_hunk(&text, file, i);
        jsonw_string(w, buf_view(&text));
    }
    jsonw_end_array(w);
    if (file->review->buffer)
        jsonw_member_bool(w, "saved", file->outcome.saved);
    buf_reset(&text);
    write_diff(&text, request, file);
    if (text.n > 0)
        jsonw_member(w, "diff", buf_view(&text));
    jsonw_end_object(w);
    w->out->failed = w->out->failed || buf_failed(&text);
    buf_release(&text);
}

/* The same as the text, for some clients show the model only this. */
static enum status write_all(const struct tool_request *request,
                             const struct files_changed *changed,
                             struct str note, struct tool_answer *answer)
{
    struct buf out = BUF_EMPTY;
    struct jsonw w;

    jsonw_init(&w, &out);
    jsonw_object(&w);
    jsonw_member(&w, "state", state_of_all(changed));
    jsonw_name(&w, "files");
    jsonw_array(&w);
    for (size_t i = 0; i < changed->n; i++)
        write_structured(&w, request, &changed->all[i]);
    jsonw_end_array(&w);
    if (note.n > 0)
        jsonw_member(&w, "note", note);
    jsonw_end_object(&w);
    return arena_take(request->arena, &out, &answer->structured);
}

/* What the model should know of the files now: which of them Lisp cannot read,
   and NOTE. */
static enum status write_notes(const struct tool_request *request,
                               const struct files_changed *changed,
                               struct str note, struct str *out)
{
    struct buf notes = BUF_EMPTY;
    enum status status = ST_OK;

    for (size_t i = 0; i < changed->n && status == ST_OK; i++) {
        const struct file *file = &changed->all[i];

        if (!file->review->removes)
            status =
                review_write_reading(request->arena, file->review,
                                     &file->decision, &file->outcome, &notes);
    }
    if (changed->applied > 0)
        buf_str(&notes, note);
    if (notes.n > 0 && notes.p[notes.n - 1] == '\n')
        buf_truncate(&notes, notes.n - 1);
    if (status == ST_OK)
        return arena_take(request->arena, &notes, out);
    buf_release(&notes);
    return status;
}

static enum status write_answer(const struct tool_request *request,
                                const struct files_changed *changed,
                                struct str note, struct tool_answer *answer)
{
    struct buf out = BUF_EMPTY;

    if (write_notes(request, changed, note, &note) != ST_OK)
        return ST_NOMEM;
    buf_str(&out, state_of_all(changed));
    buf_printf(&out, ": %zu of %zu hunk%s applied", changed->applied,
               changed->hunks, changed->hunks == 1 ? "" : "s");
    for (size_t i = 0; i < changed->n; i++)
        write_file(&out, request, &changed->all[i]);
    write_rejected(&out, changed);
    if (note.n > 0)
        buf_printf(&out, "\n%.*s", STR_ARG(note));
    answer->state = changed->applied > 0 ? TOOL_ANSWERED : TOOL_FAILED;
    enum status status = arena_take(request->arena, &out, &answer->text);
    return status == ST_OK ? write_all(request, changed, note, answer) : status;
}

enum status changes_apply_with(const struct tool_request *request,
                               struct str note, struct tool_answer *answer)
{
    struct files_changed changed = {.n = request->call->part_count,
                                    .patches = LIMIT_CHANGES_PATCHES};
    enum status status = ST_OK;

    changed.all = arena_array(request->arena, changed.n, sizeof *changed.all);
    if (!changed.all)
        return ST_NOMEM;
    for (size_t i = 0; i < changed.n && status == ST_OK; i++) {
        status = change_file(request, i, &changed);
        if (status != ST_OK)
            break;
        changed.hunks += changed.all[i].review->diff.hunk_count;
        changed.applied += changed.all[i].outcome.applied;
    }
    return status == ST_OK ? write_answer(request, &changed, note, answer)
                           : status;
}

enum status changes_apply(const struct tool_request *request,
                          struct tool_answer *answer)
{
    return changes_apply_with(request, STR(""), answer);
}
