/* SPDX-License-Identifier: GPL-3.0-or-later */
/* source.c: see source.h. The text is scanned once as it is. When lists remain
   open at its end, guess.c finds where they should have been closed, and the
   text is scanned again as if they had been. Thus each broken form is reported,
   and what follows it is not mistaken for a part of it. */
#include "source/source.h"

#include "base/buf.h"
#include "base/utf8.h"
#include "source/guess.h"
#include "source/nesting.h"

struct scan {
    struct source_report *report;
    const struct guess *guess; /* NULL in the first scan */
    size_t fix;                /* index of the next one of GUESS */
    struct tokens tokens;
    struct nesting nesting;
    struct guess_run run;
    struct source_place end; /* of the previous token */
    bool unfinished;         /* the text ends inside a token, or was too deep */
    bool definition;         /* the outermost list is one */

    /* Since the last form that began in column 0: where lists may have been
       closed too early, and whether there was a superfluous parenthesis. */
    struct source_place early;
    uint32_t early_line; /* 0: nowhere */
    bool extra;
    struct source_problem *extra_problem; /* NULL when it is not kept */
    size_t commas; /* outside backquotes, which may have ended with these
                      lists */

    /* The first string that looks as if its end were missing. */
    struct source_place string;
    uint32_t string_line; /* 0: none */
};

static struct source_place place_of(struct token token)
{
    return (struct source_place){token.start, token.line, token.column};
}

static struct source_place place_of_frame(const struct nesting_frame *frame)
{
    return (struct source_place){frame->start, frame->line, frame->column};
}

/* The beginning of the text from AT to END, on one line. */
static struct str excerpt(struct str text, size_t at, size_t end)
{
    size_t most = 4 * LIMIT_SOURCE_EXCERPT + 1; // bytes that are of interest
    struct str rest = str_make(text.p + at, end - at < most ? end - at : most);
    const char *line = memchr(rest.p, '\n', rest.n);
    if (line)
        rest.n = (size_t)(line - rest.p);
    if (rest.n > 0 && rest.p[rest.n - 1] == '\r')
        rest.n--;
    return utf8_head(rest, LIMIT_SOURCE_EXCERPT);
}

/* Notes in PROBLEM what is open. */
static void note_open(const struct scan *scan, struct source_problem *problem)
{
    const struct nesting *nesting = &scan->nesting;
    const struct nesting_frame *frame = nesting_list(nesting);
    size_t kept = nesting->lists;
    if (kept > LIMIT_SOURCE_OPEN)
        kept = LIMIT_SOURCE_OPEN;
    problem->open_count = nesting->lists;
    problem->open_kept = kept;
    for (size_t i = kept; i-- > 0 && frame;) {
        if (i == 0)
            for (frame = nesting->frames; !frame->is_list;)
                frame++;
        problem->open[i].place = place_of_frame(frame);
        problem->open[i].text =
            excerpt(scan->tokens.text, frame->start, scan->tokens.text.n);
        uint32_t outer = frame > nesting->frames ? frame[-1].list : 0;
        frame = outer > 0 ? &nesting->frames[outer - 1] : NULL;
    }
}

/* A new problem, or NULL when there are too many. */
static struct source_problem *add(struct scan *scan, enum token_fault fault,
                                  struct source_place place, struct str text)
{
    struct source_report *report = scan->report;
    report->count++;
    if (!source_is_doubtful(fault))
        report->certain++;
    if (report->kept == LIMIT_SOURCE_PROBLEMS)
        return NULL;
    struct source_problem *problem = &report->problems[report->kept++];
    *problem = (struct source_problem){
        .fault = fault, .place = place, .text = text, .count = 1};
    note_open(scan, problem);
    return problem;
}

/* Whether FAULT is a problem even in a form for another Lisp. */
static bool is_structural(enum token_fault fault)
{
    return fault <= TOKEN_BARE_SHARP || fault == TOKEN_EXTRA ||
           fault == TOKEN_NOTHING;
}

/* --- Guesses ------------------------------------------------------------- */

/* Whether the string TOKEN looks as if its last quotation mark were the first
   of another string: it has a form in column 0, or ends in the middle of a
   word. */
static bool is_odd_string(struct str text, struct token token)
{
    struct str string = str_make(text.p + token.start, token.end - token.start);
    const char *line = memchr(string.p, '\n', string.n);
    size_t told = 0;
    if (!line)
        return false;
    if (token.end < text.n &&
        !memchr(" \t\n\r\f()\"';,`", text.p[token.end], 12))
        return true;
    for (; line; line = memchr(line + 1, '\n',
                               (size_t)(string.p + string.n - (line + 1)))) {
        if (line + 1 < string.p + string.n && line[1] == '(')
            return true;
        strand_pace(&told, (size_t)(line - string.p));
    }
    return false;
}

/* Notes what TOKEN reveals about mistakes that show later. */
static void watch(struct scan *scan, struct token token)
{
    struct str text = scan->tokens.text;
    bool begins = token.kind == TOKEN_OPEN && token.first && token.column == 0;
    const struct guess_closed *closed = guess_too_early(&scan->run, token);
    if (begins && scan->nesting.lists == 0) {
        scan->early_line = 0;
        scan->extra = false;
        scan->commas = 0;
    } else if (closed && scan->early_line == 0) {
        scan->early = place_of(closed->token);
        scan->early_line = token.line;
    }
    if (begins && scan->definition && scan->nesting.lists > 0 &&
        scan->report->swallowed.fault == TOKEN_FINE &&
        guess_is_definition(text, token.start)) {
        struct source_problem *swallowed = &scan->report->swallowed;
        *swallowed =
            (struct source_problem){.fault = TOKEN_SWALLOWED,
                                    .place = place_of(token),
                                    .text = excerpt(text, token.start, text.n),
                                    .count = 1};
        note_open(scan, swallowed);
    }
    if (token.kind == TOKEN_OPEN && scan->nesting.lists == 0)
        scan->definition = guess_is_definition(text, token.start);
    if (token.kind == TOKEN_ATOM && token.mark == '"' &&
        scan->string_line == 0 && is_odd_string(text, token)) {
        scan->string = place_of(token);
        scan->string_line = token.line;
    }
}

/* Closes LISTS lists, which should have been closed before TOKEN. */
static void close_lists(struct scan *scan, struct token token, size_t lists,
                        bool guessed)
{
    struct nesting *nesting = &scan->nesting;
    const struct nesting_frame *list = nesting_list(nesting);
    if (!list)
        return;
    if (lists > nesting->lists)
        lists = nesting->lists;
    struct source_problem *problem =
        add(scan, TOKEN_UNCLOSED, place_of_frame(list),
            excerpt(scan->tokens.text, list->start, scan->tokens.text.n));
    if (problem) {
        problem->count = lists;
        problem->guessed = guessed;
        problem->guess = scan->end;
        problem->guess_line = token.kind == TOKEN_END ? 0 : token.line;
    }
    for (; lists > 0; lists--) {
        nesting_close(nesting);
        // once it is stopped, the text ends
        if (lists % 1024 == 0)
            (void)strand_spend(scan->tokens.strand, (size_t)16 * 1024);
    }
    if (nesting->depth == 0)
        scan->report->forms++;
}

/* Closes the lists that, according to GUESS, should end before TOKEN. */
static void follow_guess(struct scan *scan, struct token token)
{
    const struct guess *guess = scan->guess;
    if (!guess)
        return;
    for (; scan->fix < guess->count &&
           guess->fixes[scan->fix].before <= token.start;
         scan->fix++)
        close_lists(scan, token, guess->fixes[scan->fix].lists, true);
}

/* --- The scan ------------------------------------------------------------ */

/* Withdraws the problems with commas since lists were closed too early. */
static void forget_commas(struct scan *scan)
{
    struct source_report *report = scan->report;
    size_t kept = 0;
    for (size_t i = 0; i < report->kept; i++)
        if (report->problems[i].fault != TOKEN_COMMA ||
            report->problems[i].place.offset < scan->early.offset)
            report->problems[kept++] = report->problems[i];
    report->kept = kept;
    report->count -= scan->commas;
    report->certain -= scan->commas;
    scan->commas = 0;
}

/* TOKEN is a superfluous closing parenthesis. */
static void add_extra(struct scan *scan, struct token token)
{
    if (scan->extra) {
        if (scan->extra_problem)
            scan->extra_problem->count++;
        return;
    }
    scan->extra = true;
    if (scan->commas > 0)
        forget_commas(scan);
    scan->extra_problem = add(scan, TOKEN_EXTRA, place_of(token), STR(")"));
    if (!scan->extra_problem || scan->early_line == 0)
        return;
    scan->extra_problem->guessed = true;
    scan->extra_problem->guess = scan->early;
    scan->extra_problem->guess_line = scan->early_line;
}

static void add_fault(struct scan *scan, struct token token,
                      const struct nesting_step *step)
{
    struct str text = scan->tokens.text;
    struct source_problem *problem;
    if (step->fault == TOKEN_NOTHING) {
        const struct nesting_frame *waiting = &step->waiting;
        add(scan, TOKEN_NOTHING, place_of_frame(waiting),
            excerpt(text, waiting->start, token.end));
        return;
    }
    if (step->fault == TOKEN_COMMA && scan->early_line > 0)
        scan->commas++;
    problem = add(scan, step->fault, place_of(token),
                  excerpt(text, token.start, token.end));
    if (problem && step->fault == TOKEN_OPEN_STRING && scan->string_line > 0 &&
        scan->string.offset != token.start) {
        problem->guessed = true;
        problem->guess = scan->string;
        problem->guess_line = scan->string_line;
    }
}

static enum status take(struct scan *scan, struct token token)
{
    struct nesting_step step;
    bool foreign = scan->nesting.features > 0;
    follow_guess(scan, token);
    watch(scan, token);
    enum status status = nesting_take(&scan->nesting, token, &step);
    if (status != ST_OK)
        return status;
    if (step.fault == TOKEN_EXTRA)
        add_extra(scan, token);
    else if (step.fault != TOKEN_FINE &&
             (!foreign || is_structural(step.fault)))
        add_fault(scan, token, &step);
    scan->unfinished =
        step.fault >= TOKEN_OPEN_STRING && step.fault <= TOKEN_OPEN_DISPATCH;
    if (step.complete)
        scan->report->forms++;
    guess_follow(&scan->run, token, &step);
    scan->end = (struct source_place){token.end, scan->tokens.line,
                                      scan->tokens.column};
    return ST_OK;
}

/* The text ends with TOKEN: what is open? */
static void finish(struct scan *scan, struct token token)
{
    const struct nesting *nesting = &scan->nesting;
    follow_guess(scan, token);
    if (scan->unfinished)
        return; // reported already, with what is open there
    close_lists(scan, token, nesting->lists, false);
    if (nesting->depth > 0) {
        const struct nesting_frame *waiting =
            &nesting->frames[nesting->depth - 1];
        add(scan, TOKEN_NOTHING, place_of_frame(waiting),
            excerpt(scan->tokens.text, waiting->start, scan->tokens.text.n));
    }
}

/* Takes the tokens of the text, up to its end, which is *LAST, or to where it
   is nested too deep. */
static enum status take_all(struct scan *scan, struct token *last)
{
    enum status status = ST_OK;
    struct token token = tokens_next(&scan->tokens);
    while (status == ST_OK && token.kind != TOKEN_END) {
        status = take(scan, token);
        if (status == ST_OK)
            token = tokens_next(&scan->tokens);
    }
    *last = token;
    if (status != ST_LIMIT)
        return status;
    scan->unfinished = true;
    add(scan, TOKEN_TOO_DEEP, place_of(token),
        excerpt(scan->tokens.text, token.start, token.end));
    return ST_OK;
}

/* Scans TEXT into REPORT. *OPEN is the outermost list that is open at its end,
   when there is no GUESS and nothing else explains it; otherwise its mark is
   0. */
static enum status scan_text(struct strand *strand, struct str text,
                             const struct guess *guess,
                             struct source_report *report,
                             struct nesting_frame *open)
{
    struct scan scan = {.report = report, .guess = guess};
    struct token last;
    *report = (struct source_report){.text = text};
    *open = (struct nesting_frame){.mark = 0};
    tokens_init(&scan.tokens, text);
    scan.tokens.strand = strand;
    enum status status = take_all(&scan, &last);
    const struct nesting_frame *frame = scan.nesting.frames;
    if (status == ST_OK && !guess && !scan.unfinished &&
        scan.nesting.lists > 0) {
        while (!frame->is_list)
            frame++;
        *open = *frame;
    } else if (status == ST_OK) {
        finish(&scan, last);
    }
    nesting_release(&scan.nesting);
    return status;
}

/* --- Words --------------------------------------------------------------- */

/* Characters of a line before and after the mark. */
#define SHOWN_CHARS 60

/* Bytes of a quoted problem that do not show where it is, as ")". */
#define SAYS_NOTHING 1

#define TEXT_OF(macro) #macro
#define TEXT(macro) TEXT_OF(macro)
// NOLINTBEGIN(bugprone-suspicious-missing-comma): one literal, with a number
#define TOO_DEEP                                                               \
    "is nested deeper than " TEXT(                                             \
        LIMIT_SOURCE_DEPTH) ": what follows was not checked"

/* What is wrong with the text that is quoted before. */
static const char *const words[] = {
    [TOKEN_OPEN_STRING] = "begins a string that is not closed",
    [TOKEN_OPEN_COMMENT] = "begins a comment that is not closed by |#",
    [TOKEN_OPEN_SYMBOL] = "has a | that is not closed by another one",
    [TOKEN_OPEN_ESCAPE] = "ends right after its backslash",
    [TOKEN_OPEN_DISPATCH] = "ends right after #",
    [TOKEN_UNREADABLE] =
        "is the printed form of an object that cannot be read back",
    [TOKEN_BARE_SHARP] = "is a # without a character after it",
    [TOKEN_NO_DISPATCH] = "is not a reader macro of standard Common Lisp",
    [TOKEN_NUMBER_NEEDED] = "needs a number after its #",
    [TOKEN_NO_NUMBER] = "takes no number after its #",
    [TOKEN_NO_RADIX] = "does not have a radix from 2 to 36",
    [TOKEN_DIGITS] = "is not a rational number in its radix",
    [TOKEN_BITS] = "has something other than bits",
    [TOKEN_CHARACTER] = "does not name a character that ECL knows",
    [TOKEN_MARKER] = "has colons where no package prefix can be",
    [TOKEN_DOTS] = "consists only of dots",
    [TOKEN_UNCLOSED] = "is not closed",
    [TOKEN_EXTRA] = "is one too many",
    [TOKEN_NOTHING] = "has no object after it",
    [TOKEN_COMMA] = "is not inside a backquote",
    [TOKEN_DOT] = "is a dot where none can be",
    [TOKEN_DOT_NOTHING] = "comes after a dot without an object",
    [TOKEN_DOT_TOO_MUCH] = "is a second object after a dot",
    [TOKEN_TOO_DEEP] = TOO_DEEP,
    [TOKEN_SWALLOWED] = "begins inside another definition: a ) may be missing "
                        "before it, and one too many may follow it",
};
// NOLINTEND(bugprone-suspicious-missing-comma)

static void put_quoted(struct buf *out, struct str text)
{
    buf_byte(out, '"');
    utf8_append_visible(out, text);
    buf_byte(out, '"');
}

static void put_place(struct buf *out, struct source_place place)
{
    buf_printf(out, "line %u, column %u", (unsigned)place.line,
               (unsigned)place.column);
}

/* ", judging by how line 4 is indented". */
static void put_reason(struct buf *out, const struct source_problem *problem)
{
    if (problem->guess_line > 0)
        buf_printf(out, ", judging by how line %u is indented",
                   (unsigned)problem->guess_line);
}

static void put_guess(struct buf *out, const struct source_problem *problem)
{
    if (!problem->guessed)
        return;
    buf_str(out, STR("\n  Most likely "));
    if (problem->fault == TOKEN_OPEN_STRING) {
        buf_str(out, STR("the string that begins in "));
        put_place(out, problem->guess);
        buf_str(out, STR(" lacks its end"));
        return;
    }
    if (problem->fault == TOKEN_EXTRA)
        buf_str(out, STR("the one in "));
    else if (problem->count == 1)
        buf_str(out, STR(") is missing in "));
    else
        buf_printf(out, "%zu ) are missing in ", problem->count);
    put_place(out, problem->guess);
    put_reason(out, problem);
}

/* The line of TEXT that has PLACE, with a mark there; of a long one the part
   around it. */
static void put_line(struct buf *out, struct str text,
                     struct source_place place)
{
    size_t start = place.offset;
    size_t end = place.offset;
    while (start > 0 && text.p[start - 1] != '\n' &&
           place.offset - start < 4 * SHOWN_CHARS)
        start--;
    while (end < text.n && text.p[end] != '\n' && text.p[end] != '\r' &&
           end - place.offset < 4 * SHOWN_CHARS)
        end++;
    struct str before =
        utf8_tail(str_make(text.p + start, place.offset - start), SHOWN_CHARS);
    struct str after = utf8_head(
        str_make(text.p + place.offset, end - place.offset), SHOWN_CHARS);
    bool whole = before.p == text.p || before.p[-1] == '\n';
    buf_str(out, STR("\n  At \xE2\x96\xB6 in \""));
    buf_str(out, whole ? STR("") : STR("\xE2\x80\xA6"));
    utf8_append_visible(out, before);
    buf_str(out, STR("\xE2\x96\xB6"));
    utf8_append_visible(out, after);
    buf_str(out,
            place.offset + after.n < end ? STR("\xE2\x80\xA6\"") : STR("\""));
}

static void put_open(struct buf *out, const struct source_problem *problem)
{
    if (problem->open_count == 0)
        return;
    buf_printf(out,
               "\n  Open there (%zu, outermost first):", problem->open_count);
    for (size_t i = 0; i < problem->open_kept; i++) {
        const struct source_open *open = &problem->open[i];
        if (i == 1 && problem->open_kept < problem->open_count)
            buf_str(out, STR(" \xE2\x80\xA6"));
        buf_printf(out, " %u:%u ", (unsigned)open->place.line,
                   (unsigned)open->place.column);
        put_quoted(out, open->text);
    }
}

/* Where PROBLEM is, and what it is. */
static void put_fault(struct buf *out, const struct source_problem *problem)
{
    buf_printf(out, "ine %u, column %u: ", (unsigned)problem->place.line,
               (unsigned)problem->place.column);
    put_quoted(out, problem->text);
    if (problem->count == 1)
        buf_printf(out, " %s.", words[problem->fault]);
    else if (problem->fault == TOKEN_EXTRA)
        buf_printf(out, " and what follows: %zu too many.", problem->count);
    else
        buf_printf(out, " and %zu more around it are not closed.",
                   problem->count - 1);
}

static void put_problem(struct buf *out, struct str text,
                        const struct source_problem *problem)
{
    buf_str(out, STR("\nL"));
    put_fault(out, problem);
    put_guess(out, problem);
    if (problem->guessed)
        put_line(out, text, problem->guess);
    else if (problem->text.n <= SAYS_NOTHING && problem->place.column > 0)
        put_line(out, text, problem->place);
    put_open(out, problem);
}

/* --- The report ---------------------------------------------------------- */

enum status source_check(struct strand *strand, struct str text,
                         struct source_report *out)
{
    struct source_report report;
    struct nesting_frame open;
    struct guess guess = {.count = 0};
    enum status status = scan_text(strand, text, NULL, &report, &open);
    if (status == ST_OK && open.mark != 0)
        status = guess_missing(strand, text, &open, &guess);
    if (status == ST_OK && open.mark != 0)
        status = scan_text(strand, text, &guess, &report, &open);
    if (status != ST_OK)
        return status;
    if (report.count > 0)
        report.swallowed.fault = TOKEN_FINE;
    *out = report;
    return ST_OK;
}

bool source_is_doubtful(enum token_fault fault)
{
    return fault == TOKEN_NO_DISPATCH || fault == TOKEN_CHARACTER ||
           fault == TOKEN_SWALLOWED;
}

struct str source_describe(struct arena *arena,
                           const struct source_report *report)
{
    struct buf out = BUF_EMPTY;
    struct str text = STR("");
    if (report->count == 0)
        buf_printf(&out, "Syntax OK: %zu form%s.", report->forms,
                   report->forms == 1 ? "" : "s");
    else
        buf_printf(&out, "%zu syntax problem%s.", report->count,
                   report->count == 1 ? "" : "s");
    for (size_t i = 0; i < report->kept; i++)
        put_problem(&out, report->text, &report->problems[i]);
    if (report->count > report->kept)
        buf_printf(&out, "\nand %zu more", report->count - report->kept);
    if (report->swallowed.fault != TOKEN_FINE)
        put_problem(&out, report->text, &report->swallowed);
    if (buf_failed(&out) || arena_str(arena, buf_view(&out), &text) != ST_OK)
        text = STR("");
    buf_release(&out);
    return text;
}

struct str source_describe_first(struct arena *arena,
                                 const struct source_report *report)
{
    struct buf out = BUF_EMPTY;
    struct str text;
    size_t i = 0;

    while (i < report->kept && source_is_doubtful(report->problems[i].fault))
        i++;
    if (i == report->kept)
        return STR("");
    buf_byte(&out, 'l');
    put_fault(&out, &report->problems[i]);
    return arena_take(arena, &out, &text) == ST_OK ? text : STR("");
}
