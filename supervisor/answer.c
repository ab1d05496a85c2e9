/* SPDX-License-Identifier: GPL-3.0-or-later */
/* answer.c: see answer.h. */
#include "supervisor/answer.h"

#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

/* A section of the answer. */
struct part {
    const char *title; /* its line, or NULL */
    struct buf text;
    int64_t missing; /* characters that came and are not in text */
    size_t chars;
    size_t allowed; /* characters of it that the answer may show */
};

enum { PART_NOTICE, PART_OUTPUT, PART_ERRORS, PART_BODY, PARTS };

void kept_release(struct kept *kept)
{
    size_t i;

    for (i = 0; i < kept->n; i++)
        buf_release(&kept->texts[i].text);
    memset(kept, 0, sizeof *kept);
}

static void kept_drop_oldest(struct kept *kept)
{
    kept->bytes -= kept->texts[0].text.n;
    buf_release(&kept->texts[0].text);
    kept->n--;
    memmove(kept->texts, kept->texts + 1, kept->n * sizeof kept->texts[0]);
}

/* Takes over TEXT of SESSION, which is empty afterwards. */
static void kept_add(struct kept *kept, const char *session, struct buf *text)
{
    struct kept_text *slot;

    while (kept->n > 0 && (kept->n == LIMIT_OUTPUTS ||
                           kept->bytes + text->n > LIMIT_OUTPUTS_BYTES))
        kept_drop_oldest(kept);
    slot = &kept->texts[kept->n++];
    slot->id = ++kept->last_id;
    (void)snprintf(slot->session, sizeof slot->session, "%s", session);
    slot->text = *text;
    kept->bytes += text->n;
    *text = BUF_EMPTY;
}

static const struct kept_text *kept_find(const struct kept *kept, uint64_t id)
{
    size_t i;

    for (i = 0; i < kept->n; i++)
        if (kept->texts[i].id == id)
            return &kept->texts[i];
    return NULL;
}

bool kept_read(const struct kept *kept, uint64_t id, uint64_t offset,
               uint64_t limit, struct buf *out)
{
    const struct kept_text *found = kept_find(kept, id);
    struct str text;
    struct str part;
    size_t total;

    if (!found) {
        buf_printf(out,
                   "Output %llu not found: outputs are numbered in the answers "
                   "that cut them, "
                   "and the %d newest are kept (now %zu).",
                   (unsigned long long)id, LIMIT_OUTPUTS, kept->n);
        return false;
    }
    text = buf_view(&found->text);
    total = utf8_count(text);
    if (offset >= total) {
        buf_printf(
            out,
            "Output %llu has %zu characters; there is nothing at offset %llu.",
            (unsigned long long)id, total, (unsigned long long)offset);
        return false;
    }
    part = utf8_head(text, (size_t)offset);
    text.p += part.n;
    text.n -= part.n;
    part = utf8_head(text, limit < total ? (size_t)limit : total);
    buf_str(out, part);
    buf_printf(out, "\n[characters %llu to %llu of %zu]",
               (unsigned long long)offset,
               (unsigned long long)(offset + utf8_count(part)), total);
    return true;
}

bool kept_show(const struct kept *kept, uint64_t id, struct str session,
               struct buf *out)
{
    const struct kept_text *found = kept_find(kept, id);

    if (found && str_eq(str_from(found->session), session)) {
        buf_str(out, buf_view(&found->text));
        return true;
    }
    buf_printf(out,
               "Output %llu of session %.*s not found: the %d newest outputs "
               "that were too long for their answers are kept.",
               (unsigned long long)id, STR_ARG(session), LIMIT_OUTPUTS);
    return false;
}

static void strip_line_ends(struct buf *text)
{
    size_t n = text->n;

    while (n > 0 && (text->p[n - 1] == '\n' || text->p[n - 1] == '\r'))
        n--;
    buf_truncate(text, n);
}

static bool is_silent(const struct capture *capture)
{
    return !capture || capture_is_empty(capture);
}

static void take_capture(struct part *part, const char *title,
                         const struct capture *capture)
{
    if (is_silent(capture))
        return;
    part->title = title;
    part->missing += capture_text(capture, &part->text);
}

/* Output that came between two evaluations, from threads and child processes
   of earlier ones, stands at the head of the next [stdout]. */
static void take_earlier(struct part *part, const struct answer *answer)
{
    if (is_silent(answer->earlier))
        return;
    part->title = "[stdout]";
    buf_str(&part->text, STR("; from thread, since the last answer:\n"));
    part->missing += capture_text(answer->earlier, &part->text);
    strip_line_ends(&part->text);
    buf_byte(&part->text, '\n');
    if (!is_silent(answer->output))
        buf_str(&part->text, STR("; from this evaluation:\n"));
}

/* Shares MAX_CHARS among the parts: the short ones whole, the long ones in
   equal shares of what is left. */
static void share(struct part parts[PARTS], size_t max_chars)
{
    size_t left = max_chars;
    size_t open = PARTS;
    bool done[PARTS] = {false};
    bool settled = false;
    size_t i;

    while (open > 0 && !settled) {
        settled = true;
        for (i = 0; i < PARTS; i++) {
            if (done[i] || parts[i].chars > left / open)
                continue;
            parts[i].allowed = parts[i].chars;
            left -= parts[i].chars;
            open--;
            done[i] = true;
            settled = false;
            if (open == 0)
                return;
        }
    }
    for (i = 0; i < PARTS; i++)
        if (!done[i])
            parts[i].allowed = left / open;
}

static void append_cut(struct part *part, const char *session,
                       struct kept *kept, struct buf *out)
{
    struct str text = buf_view(&part->text);
    struct str head = utf8_head(text, part->allowed - part->allowed / 2);
    struct str tail = utf8_tail(text, part->allowed / 2);
    int64_t omitted = (int64_t)(part->chars - part->allowed) + part->missing;

    buf_str(out, head);
    if (head.n > 0 && head.p[head.n - 1] != '\n')
        buf_byte(out, '\n');
    buf_printf(out, "[… %zu characters omitted; read-output id %llu …]\n",
               omitted, (unsigned long long)(kept->last_id + 1));
    buf_str(out, tail);
    kept_add(kept, session, &part->text); // its number was printed above
}

static void append_part(struct part *part, const char *session,
                        struct kept *kept, struct buf *out)
{
    if (!part->title && part->text.n == 0)
        return;
    if (out->n > 0)
        buf_str(out, STR("\n\n"));
    if (part->title) {
        buf_str(out, str_from(part->title));
        buf_byte(out, '\n');
    }
    if (part->chars <= part->allowed)
        buf_str(out, buf_view(&part->text));
    else
        append_cut(part, session, kept, out);
}

/* Most answers are a short body and nothing else. */
static bool is_plain(const struct answer *answer, size_t max_chars)
{
    return !answer->notice && answer->body.n <= max_chars &&
           is_silent(answer->earlier) && is_silent(answer->output) &&
           is_silent(answer->errors);
}

bool answer_compose(const struct answer *answer, size_t max_chars,
                    struct kept *kept, struct buf *out)
{
    struct part parts[PARTS];
    bool whole = true;
    size_t i;

    if (is_plain(answer, max_chars)) {
        utf8_append_valid(out, answer->body);
        return !buf_failed(out);
    }
    memset(parts, 0, sizeof parts);
    if (answer->notice)
        buf_str(&parts[PART_NOTICE].text, str_from(answer->notice));
    take_earlier(&parts[PART_OUTPUT], answer);
    take_capture(&parts[PART_OUTPUT], "[stdout]", answer->output);
    take_capture(&parts[PART_ERRORS], "[stderr]", answer->errors);
    utf8_append_valid(&parts[PART_BODY].text, answer->body);
    for (i = 0; i < PARTS; i++) {
        strip_line_ends(&parts[i].text);
        parts[i].chars = utf8_count(buf_view(&parts[i].text));
    }
    share(parts, max_chars);
    for (i = 0; i < PARTS; i++) {
        whole = whole && !buf_failed(&parts[i].text);
        append_part(&parts[i], answer->session, kept, out);
        buf_release(&parts[i].text);
    }
    return whole && !buf_failed(out);
}
