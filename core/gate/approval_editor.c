/* SPDX-License-Identifier: GPL-3.0-or-later */
/* approval_editor.c: see approval_editor.h. One member that makes no sense
   spoils the whole result: it may be the one that meant no. */
#include "gate/approval_editor.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "gate/review.h"

/* A result that is read. */
struct reading {
    struct arena *arena;
    const struct tool_call *call;
    struct json result;
    struct approval *out;
};

/* The result is not a decision, because of WHY. */
static enum status spoil(const struct reading *r, const char *why)
{
    struct approval_decision *decision = &r->out->decision;

    *decision = (struct approval_decision){0};
    decision->reason =
        arena_printf(r->arena, "the editor's answer is not valid: %s", why);
    return decision->reason.n > 0 ? ST_INVALID : ST_NOMEM;
}

/* A member that may be absent; null counts as absent. */
static struct json find(struct json object, const char *name)
{
    struct json value = json_get(object, name);

    return json_type(value) == JSON_NULL ? (struct json){0} : value;
}

/* A text, empty when it is absent. ST_INVALID: it is something else. */
static enum status read_text(const struct reading *r, struct json object,
                             const char *name, struct str *out)
{
    struct json value = find(object, name);

    *out = STR("");
    if (json_is_absent(value))
        return ST_OK;
    return json_string(r->arena, value, out);
}

/* The words of a human, not too many of them. */
static enum status read_words(const struct reading *r, struct json object,
                              const char *name, struct str *out)
{
    enum status status = read_text(r, object, name, out);

    *out = utf8_head(*out, LIMIT_REASON);
    return status;
}

static enum status read_flag(struct json object, const char *name, bool *out)
{
    struct json value = find(object, name);

    *out = json_type(value) == JSON_TRUE;
    return *out || json_is_absent(value) || json_type(value) == JSON_FALSE
               ? ST_OK
               : ST_INVALID;
}

/* --- Hunks --------------------------------------------------------------- */

/* One line of a hunk, with its end. */
static enum status put_line(const struct reading *r, struct json line,
                            struct buf *out)
{
    struct str text;
    enum status status = json_string(r->arena, line, &text);

    if (status != ST_OK)
        return status;
    if (text.n > 0 &&
        (memchr(text.p, '\n', text.n) || memchr(text.p, '\0', text.n)))
        return ST_INVALID;
    buf_str(out, text);
    buf_byte(out, '\n');
    return ST_OK;
}

static enum status read_lines(const struct reading *r, struct json lines,
                              struct str *out)
{
    struct buf text = BUF_EMPTY;
    struct json_walk walk;
    enum status status = ST_OK;

    json_walk_init(&walk, lines);
    while (status == ST_OK && json_walk_next(&walk))
        status = put_line(r, walk.value, &text);
    if (status == ST_OK)
        return arena_take(r->arena, &text, out);
    buf_release(&text);
    return status;
}

static enum status read_hunk(const struct reading *r, struct json value,
                             struct approval_hunk *out)
{
    struct json lines = find(value, "lines");
    bool unended = false;
    enum status status = read_words(r, value, "reason", &out->reason);

    if (json_type(json_get(value, "accept")) != JSON_TRUE &&
        json_type(json_get(value, "accept")) != JSON_FALSE)
        return ST_INVALID;
    if (status == ST_OK)
        status = read_flag(value, "accept", &out->accepted);
    if (status == ST_OK)
        status = read_flag(value, "part", &out->part);
    if (status == ST_OK)
        status = read_flag(value, "unended", &unended);
    if (status != ST_OK || json_is_absent(lines))
        return status != ST_OK || !out->part ? status : ST_INVALID;
    out->edited = !out->part;
    if (json_type(lines) != JSON_ARRAY)
        return ST_INVALID;
    status = read_lines(r, lines, &out->text);
    if (status == ST_OK && unended && out->text.n > 0)
        out->text.n--;
    return status;
}

static enum status fill_hunks(const struct reading *r, struct json value,
                              struct approval_hunk *hunks, bool *chosen)
{
    struct json_walk walk;
    enum status status = ST_OK;

    json_walk_init(&walk, value);
    for (size_t i = 0; status == ST_OK && json_walk_next(&walk); i++) {
        status = read_hunk(r, walk.value, &hunks[i]);
        chosen[i] = hunks[i].accepted;
    }
    return status;
}

static enum status read_hunks(const struct reading *r)
{
    struct approval_decision *decision = &r->out->decision;
    struct json value = find(r->result, "hunks");
    size_t n = json_count(value);

    if (json_is_absent(value))
        return ST_OK;
    if (json_type(value) != JSON_ARRAY || n != r->call->question.changes)
        return spoil(r, "its hunks are not those of the review");
    struct approval_hunk *hunks = arena_array(r->arena, n + 1, sizeof *hunks);
    bool *chosen = arena_array(r->arena, n + 1, sizeof *chosen);
    if (!hunks || !chosen)
        return ST_NOMEM;
    enum status status = fill_hunks(r, value, hunks, chosen);
    if (status == ST_INVALID)
        return spoil(r, "the decision about a hunk is not valid");
    decision->hunks = hunks;
    decision->chosen = chosen;
    return status;
}

/* --- What was done in a buffer ------------------------------------------- */

static enum status read_stale(const struct reading *r, struct json numbers,
                              const bool **out)
{
    size_t n = r->call->question.changes;
    bool *stale = arena_array(r->arena, n + 1, sizeof *stale);
    struct json_walk walk;

    if (!stale)
        return ST_NOMEM;
    if (!json_is_absent(numbers) && json_type(numbers) != JSON_ARRAY)
        return ST_INVALID;
    json_walk_init(&walk, numbers);
    while (json_walk_next(&walk)) {
        double number;
        if (json_number(walk.value, &number) != ST_OK || !(number >= 1) ||
            !(number <= (double)n) || number != (double)(size_t)number)
            return ST_INVALID;
        stale[(size_t)number - 1] = true;
    }
    *out = stale;
    return ST_OK;
}

/* The member "applied" of OBJECT, which is about the buffer of CALL. */
static enum status read_applied(const struct reading *r, struct json object,
                                const struct tool_call *call,
                                const struct approval_applied **out)
{
    struct json value = find(object, "applied");

    if (json_is_absent(value))
        return ST_OK;
    if (!call->buffer.exists)
        return spoil(r, "it changed a buffer that it does not have");
    if (json_type(json_get(value, "before")) != JSON_STRING ||
        json_type(json_get(value, "after")) != JSON_STRING)
        return spoil(r, "the texts of the buffer are missing");
    struct approval_applied *applied =
        arena_array(r->arena, 1, sizeof *applied);
    if (!applied)
        return ST_NOMEM;
    enum status status = read_text(r, value, "before", &applied->before);
    if (status == ST_OK)
        status = read_text(r, value, "after", &applied->after);
    if (status == ST_OK)
        status = read_words(r, value, "note", &applied->note);
    if (status == ST_OK)
        status = read_text(r, value, "sha256", &applied->sha256);
    if (status == ST_OK)
        status = read_flag(value, "saved", &applied->saved);
    if (status == ST_OK)
        status = read_stale(r, find(value, "stale"), &applied->stale);
    *out = applied;
    return status == ST_INVALID ? spoil(r, "it is not clear what it did")
                                : status;
}

/* Whether any of N hunks from FIRST on is accepted. */
static bool accepts_any(const struct approval_decision *decision, size_t first,
                        size_t n)
{
    for (size_t i = 0; decision->chosen && i < n; i++)
        if (decision->chosen[first + i])
            return true;
    return !decision->chosen;
}

/* It is silent about a buffer that had to be changed. */
static enum status spoil_silence(const struct reading *r)
{
    return spoil(r, "it does not say what it did with the buffer");
}

/* What was done with the file of PART. */
static enum status read_file(const struct reading *r, struct json value,
                             const struct tool_call *part,
                             struct approval_file *out)
{
    const struct review *review = (const struct review *)part->plan;
    enum status status = read_words(r, value, "failed", &out->failed);

    if (status == ST_INVALID)
        return spoil(r, "a member has the wrong type");
    if (status == ST_OK)
        status = read_applied(r, value, part, &out->applied);
    if (status == ST_OK && review->buffer && !out->applied &&
        out->failed.n == 0 &&
        accepts_any(&r->out->decision, review->first, review->diff.hunk_count))
        return spoil_silence(r);
    return status;
}

/* The same of all files; absent: nothing was done with any. */
static enum status read_files(const struct reading *r)
{
    struct json value = find(r->result, "files");
    bool given = !json_is_absent(value);
    size_t n = r->call->part_count;
    struct json_walk walk;
    enum status status = ST_OK;

    if (!given && r->out->arguments.n > 0)
        return ST_OK;
    if (given && (json_type(value) != JSON_ARRAY || json_count(value) != n))
        return spoil(r, "its files are not those of the review");
    struct approval_file *files = arena_array(r->arena, n + 1, sizeof *files);
    if (!files)
        return ST_NOMEM;
    if (given)
        json_walk_init(&walk, value);
    for (size_t i = 0; status == ST_OK && i < n; i++) {
        bool more = given && json_walk_next(&walk);

        status = read_file(r, more ? walk.value : (struct json){0},
                           &r->call->parts[i], &files[i]);
    }
    r->out->decision.files = files;
    return status;
}

/* --- The decision -------------------------------------------------------- */

static enum status read_arguments(const struct reading *r)
{
    struct json value = find(r->result, "arguments");
    struct str text = json_raw(value);

    if (json_is_absent(value))
        return ST_OK;
    if (json_type(value) != JSON_OBJECT)
        return spoil(r, "the arguments are not an object");
    if (!str_eq(text, buf_view(&r->call->arguments)))
        r->out->arguments = text;
    return ST_OK;
}

static enum status read_approval(const struct reading *r)
{
    struct approval_decision *decision = &r->out->decision;
    bool remember;
    enum status status = read_words(r, r->result, "failed", &decision->failed);

    if (status == ST_OK)
        status = read_flag(r->result, "remember", &remember);
    if (status == ST_INVALID)
        return spoil(r, "a member has the wrong type");
    if (status == ST_OK)
        status = read_arguments(r);
    if (status == ST_OK)
        status = read_hunks(r);
    if (status == ST_OK && r->call->part_count > 0)
        status = read_files(r);
    else if (status == ST_OK)
        status = read_applied(r, r->result, r->call, &decision->applied);
    if (status != ST_OK)
        return status;
    if (r->call->buffer.exists && !decision->applied &&
        decision->failed.n == 0 && r->out->arguments.n == 0 &&
        accepts_any(decision, 0, r->call->question.changes))
        return spoil_silence(r);
    decision->consent = APPROVAL_APPROVED;
    r->out->remember = remember && r->call->question.remember;
    return ST_OK;
}

/* Who decided, and why. */
static enum status read_author(const struct reading *r)
{
    struct json by = find(r->result, "by");
    enum status status =
        read_words(r, r->result, "reason", &r->out->decision.reason);

    if (status == ST_OK)
        status = read_words(r, r->result, "rule", &r->out->rule);
    if (status == ST_NOMEM)
        return status;
    if (status == ST_INVALID)
        return spoil(r, "a member has the wrong type");
    if (json_is_string(by, "rule"))
        r->out->by = APPROVAL_BY_EDITOR_RULE;
    else if (json_is_absent(by) || json_is_string(by, "human"))
        r->out->rule = STR("");
    else
        return spoil(r, "it does not say who decided");
    return ST_OK;
}

enum status approval_editor_read(struct arena *arena, struct json result,
                                 const struct tool_call *call,
                                 struct approval *out)
{
    const struct reading r = {arena, call, result, out};
    struct json decision = json_get(result, "decision");

    *out = (struct approval){.by = APPROVAL_BY_EDITOR};
    enum status status = read_author(&r);
    if (status == ST_OK && json_is_string(decision, "deny"))
        out->decision.consent = APPROVAL_DENIED;
    else if (status == ST_OK && json_is_string(decision, "stop"))
        out->decision.consent = APPROVAL_STOPPED;
    else if (status == ST_OK && json_is_string(decision, "approve"))
        status = read_approval(&r);
    else if (status == ST_OK && out->decision.reason.n == 0)
        status = spoil(&r, "it has no decision");
    // a result without a decision is an approval with a reason
    return status == ST_INVALID ? ST_OK : status;
}
