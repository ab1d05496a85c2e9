/* SPDX-License-Identifier: GPL-3.0-or-later */
/* answer.c: see answer.h. */
#include "supervisor/answer.h"

#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "supervisor/terminal.h"

/* A section of the answer. */
struct part {
    const char *title; /* its line, or NULL */
    struct buf text;
    struct buf exact; /* the text before terminal.c has changed it, if it has */
    int64_t missing;  /* characters that were printed but are not in text */
    size_t chars;     /* of text */
    bool is_plain;    /* it is known to have no terminal controls */
    size_t wanted;  /* characters of it that would be shown if there is room */
    size_t allowed; /* that the answer may show */
};

enum { PART_NOTICE, PART_OUTPUT, PART_ERRORS, PART_BODY, PARTS };

/* In which order the parts stand: usually, and with the outputs aside. */
static const int orders[][PARTS] = {
    {PART_NOTICE, PART_OUTPUT, PART_ERRORS, PART_BODY},
    {PART_NOTICE, PART_BODY, PART_OUTPUT, PART_ERRORS}};

static void strip_line_ends(struct part *part)
{
    const char *p = part->text.p;
    size_t n = part->text.n;

    while (n > 0 && (p[n - 1] == '\n' || p[n - 1] == '\r'))
        n--;
    part->chars -= part->text.n - n;
    buf_truncate(&part->text, n);
}

/* Appends TEXT, which is ASCII, to PART. */
static void add_words(struct part *part, struct str text)
{
    buf_str(&part->text, text);
    part->chars += text.n;
}

static bool is_silent(const struct capture *capture)
{
    return !capture || capture_is_empty(capture);
}

static void take_capture(struct part *part, const char *title,
                         struct capture *capture)
{
    if (is_silent(capture))
        return;
    part->title = title;
    part->is_plain = part->is_plain && !capture->has_controls;
    part->missing += capture_take_text(capture, &part->text, &part->chars);
}

/* Output that came between two evaluations, from threads and child processes
   of earlier ones, comes first in the next [stdout]. */
static void take_earlier(struct part *part, const struct answer *answer)
{
    if (is_silent(answer->earlier))
        return;
    add_words(part, STR("; from thread, since the last answer:\n"));
    take_capture(part, "[stdout]", answer->earlier);
    strip_line_ends(part);
    add_words(part, STR("\n"));
    if (!is_silent(answer->output))
        add_words(part, STR("; from this evaluation:\n"));
}

/* Shares MAX_CHARS among the parts: short ones are shown whole, long ones get
   equal shares of what is left. */
static void share(struct part parts[PARTS], size_t max_chars)
{
    size_t left = max_chars;
    size_t open = PARTS;
    bool done[PARTS] = {false};
    bool settled = false;

    while (open > 0 && !settled) {
        settled = true;
        for (size_t i = 0; i < PARTS; i++) {
            if (done[i] || parts[i].wanted > left / open)
                continue;
            parts[i].allowed = parts[i].wanted;
            left -= parts[i].wanted;
            open--;
            done[i] = true;
            settled = false;
            if (open == 0)
                return;
        }
    }
    for (size_t i = 0; i < PARTS; i++)
        if (!done[i])
            parts[i].allowed = left / open;
}

/* Characters at each end of a long text of which MAX_CHARS can be shown, half
   of them there. When most of an end are sequences, less is shown. */
static size_t end_chars(size_t max_chars)
{
    return 64u * 1024 + max_chars / 2;
}

/* Where the end of TEXT begins that is after AT and begins with a control, if
   one is near: not in the middle of a sequence. */
static size_t control_after(struct str text, size_t at)
{
    for (size_t i = at; i < text.n && i < at + 4096; i++)
        if ((unsigned char)text.p[i] < ' ')
            return i;
    return at;
}

/* Takes out of PART what must not reach the terminal of the client. What would
   be left out of a long text anyway is not looked at. */
static void make_plain(struct part *part, size_t max_chars)
{
    struct str text = buf_view(&part->text);
    size_t end = end_chars(max_chars);

    if (part->is_plain || terminal_is_plain(text))
        return;
    part->exact = part->text;
    part->text = BUF_EMPTY;
    if (part->chars <= 2 * end) {
        terminal_append(&part->text, text);
    } else {
        struct str head = utf8_head(text, end);
        size_t to = control_after(text, text.n - utf8_tail(text, end).n);
        struct str tail = str_make(text.p + to, text.n - to);

        terminal_append(&part->text, head);
        buf_str(&part->text, STR("\n[\xE2\x80\xA6]\n"));
        terminal_append(&part->text, tail);
        part->missing +=
            (int64_t)(part->chars - utf8_starts(head) - utf8_starts(tail));
    }
    part->chars = utf8_starts(buf_view(&part->text));
}

static void append_cut(struct part *part, const char *session,
                       struct outputs *outputs, struct buf *out)
{
    struct str text = buf_view(&part->text);
    struct str head = utf8_head(text, part->allowed - part->allowed / 2);
    struct str tail = utf8_tail(text, part->allowed / 2);
    int64_t omitted = (int64_t)(part->chars - part->allowed) + part->missing;

    buf_str(out, head);
    if (head.n > 0 && head.p[head.n - 1] != '\n')
        buf_byte(out, '\n');
    buf_printf(out, "[… %lld characters omitted; read-output id %llu …]\n",
               (long long)omitted, (unsigned long long)(outputs->last_id + 1));
    buf_str(out, tail);
    // its number was printed above
    outputs_add(outputs, session,
                part->exact.n > 0 ? &part->exact : &part->text);
}

static void append_plain(struct part *part, const char *session,
                         struct outputs *outputs, struct buf *out)
{
    buf_str(out, buf_view(&part->text));
    if (part->exact.n == 0)
        return;
    buf_printf(out,
               "%s[terminal controls are left out or shown as ^G; read-output "
               "id %llu has the exact text]",
               part->text.n > 0 ? "\n" : "",
               (unsigned long long)(outputs->last_id + 1));
    outputs_add(outputs, session, &part->exact);
}

static void append_part(struct part *part, const char *session,
                        struct outputs *outputs, struct buf *out)
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
        append_plain(part, session, outputs, out);
    else
        append_cut(part, session, outputs, out);
}

/* Most answers are a short body and nothing else. */
static bool is_plain(const struct answer *answer, size_t max_chars)
{
    return !answer->notice && answer->body.n <= max_chars &&
           is_silent(answer->earlier) && is_silent(answer->output) &&
           is_silent(answer->errors);
}

bool answer_compose(const struct answer *answer, size_t max_chars,
                    struct outputs *outputs, struct buf *out)
{
    struct part parts[PARTS];
    bool whole = true;

    if (is_plain(answer, max_chars)) {
        utf8_append_valid(out, answer->body);
        return !buf_failed(out);
    }
    memset(parts, 0, sizeof parts);
    parts[PART_OUTPUT].is_plain = parts[PART_ERRORS].is_plain = true;
    if (answer->notice)
        buf_str(&parts[PART_NOTICE].text, str_from(answer->notice));
    take_earlier(&parts[PART_OUTPUT], answer);
    take_capture(&parts[PART_OUTPUT], "[stdout]", answer->output);
    take_capture(&parts[PART_ERRORS], "[stderr]", answer->errors);
    utf8_append_valid(&parts[PART_BODY].text, answer->body);
    for (size_t i = PART_NOTICE; i <= PART_BODY; i += PART_BODY - PART_NOTICE)
        parts[i].chars = utf8_starts(buf_view(&parts[i].text));
    for (size_t i = 0; i < PARTS; i++) {
        strip_line_ends(&parts[i]);
        if (i == PART_OUTPUT || i == PART_ERRORS)
            make_plain(&parts[i], max_chars);
        parts[i].wanted = parts[i].chars;
        if (answer->output_aside && (i == PART_OUTPUT || i == PART_ERRORS) &&
            parts[i].chars > LIMIT_OUTPUT_ASIDE)
            parts[i].wanted = LIMIT_OUTPUT_ASIDE;
    }
    share(parts, max_chars);
    for (size_t i = 0; i < PARTS; i++) {
        struct part *part = &parts[orders[answer->output_aside][i]];

        whole = whole && !buf_failed(&part->text);
        append_part(part, answer->session, outputs, out);
        buf_release(&part->text);
        buf_release(&part->exact);
    }
    return whole && !buf_failed(out);
}
