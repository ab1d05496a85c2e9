/* SPDX-License-Identifier: GPL-3.0-or-later */
/* regex_read.c: reads regular expressions into steps. All jumps are relative
   and stay within the part of the expression that they belong to, so parts can
   be moved and copied. */
#include "base/limits.h"
#include "base/regex.h"
#include "base/utf8.h"

struct reader {
    struct regex *regex;
    struct arena *arena;
    struct str pattern;
    size_t at;
    int depth;
    const char *problem; /* NULL: none */
    struct buf literal;  /* the characters that follow each other here */
    struct str longest;  /* of those so far */
    bool no_literal;     /* there are alternatives */
};

static bool fail(struct reader *r, const char *problem)
{
    if (!r->problem)
        r->problem = problem;
    return false;
}

static bool at_end(const struct reader *r)
{
    return r->at == r->pattern.n;
}

static bool sees(const struct reader *r, char c)
{
    return r->at < r->pattern.n && r->pattern.p[r->at] == c;
}

static bool takes(struct reader *r, const char *text)
{
    struct str rest = str_make(r->pattern.p + r->at, r->pattern.n - r->at);

    if (!str_starts(rest, str_from(text)))
        return false;
    r->at += strlen(text);
    return true;
}

static uint32_t take_code(struct reader *r)
{
    struct str rest = str_make(r->pattern.p + r->at, r->pattern.n - r->at);
    uint32_t code = (unsigned char)rest.p[0];
    size_t n = utf8_decode(rest, &code);

    r->at += n > 0 ? n : 1;
    return code;
}

/* --- Steps ---------------------------------------------------------------- */

/* Makes room for N steps at START. */
static bool insert(struct reader *r, size_t start, size_t n)
{
    struct regex *regex = r->regex;

    if (regex->count + n > LIMIT_REGEX)
        return fail(r, "it is too long, or repeats too much");
    memmove(regex->steps + start + n, regex->steps + start,
            (regex->count - start) * sizeof *regex->steps);
    regex->count += n;
    return true;
}

static bool put(struct reader *r, size_t start, struct regex_step step)
{
    if (!insert(r, start, 1))
        return false;
    r->regex->steps[start] = step;
    return true;
}

static bool append(struct reader *r, struct regex_step step)
{
    return put(r, r->regex->count, step);
}

/* Appends a copy of the N steps FROM which a part begins. */
static bool copy(struct reader *r, size_t from, size_t n)
{
    struct regex *regex = r->regex;
    size_t to = regex->count;

    if (!insert(r, to, n))
        return false;
    memcpy(regex->steps + to, regex->steps + from, n * sizeof *regex->steps);
    return true;
}

/* --- Literals ------------------------------------------------------------- */

/* The characters that follow each other end here. */
static bool end_literal(struct reader *r)
{
    if (r->depth > 0)
        return true;
    if (r->literal.n > r->longest.n &&
        arena_str(r->arena, buf_view(&r->literal), &r->longest) != ST_OK)
        return fail(r, "");
    buf_reset(&r->literal);
    return true;
}

/* --- Sets ----------------------------------------------------------------- */

static void add_range(struct regex *regex, uint32_t low, uint32_t high)
{
    regex->ranges[regex->range_count++] = (struct regex_range){low, high};
    regex->sets[regex->set_count].count++;
}

/* The ranges that C of \d, \w and \s, or a NAME of [:alpha:], stands for. */
static bool add_named(struct regex *regex, struct str name)
{
    static const struct {
        const char *name;
        const char *ranges; /* pairs */
    } kinds[] = {
        {"d", "09"},          {"w", "azAZ09__"},     {"s", "  \t\r"},
        {"digit", "09"},      {"alpha", "azAZ"},     {"alnum", "azAZ09"},
        {"upper", "AZ"},      {"lower", "az"},       {"space", "  \t\r"},
        {"xdigit", "09afAF"}, {"punct", "!/:@[`{~"}, {"blank", "  \t\t"},
        {"word", "azAZ09__"},
    };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (!str_eq(name, str_from(kinds[i].name)))
            continue;
        for (const char *p = kinds[i].ranges; *p; p += 2)
            add_range(regex, (unsigned char)p[0], (unsigned char)p[1]);
        return true;
    }
    return false;
}

static void begin_set(struct regex *regex, bool negated)
{
    regex->sets[regex->set_count] =
        (struct regex_set){regex->range_count, 0, negated};
}

static bool end_set(struct reader *r)
{
    struct regex *regex = r->regex;

    return append(r, (struct regex_step){.op = REGEX_SET,
                                         .code = (uint32_t)regex->set_count++});
}

/* One character of a set, which may be escaped; *NAMED: it was a set. */
static bool read_member(struct reader *r, uint32_t *code, bool *named)
{
    *named = false;
    if (!takes(r, "\\")) {
        *code = take_code(r);
        return true;
    }
    if (at_end(r))
        return fail(r, "it ends with a backslash");
    *named = add_named(r->regex, str_make(r->pattern.p + r->at, 1));
    *code = take_code(r);
    if (*code == 't')
        *code = '\t';
    return true;
}

/* [:alpha:] in a set. */
static bool read_class(struct reader *r)
{
    size_t start = r->at;

    while (!at_end(r) && r->pattern.p[r->at] != ':')
        r->at++;
    struct str name = str_make(r->pattern.p + start, r->at - start);
    if (!takes(r, ":]") || !add_named(r->regex, name))
        return fail(r, "[: must be followed by alpha, digit, alnum, upper, "
                       "lower, space, blank, punct, xdigit or word, and :]");
    return true;
}

static bool read_set(struct reader *r)
{
    begin_set(r->regex, takes(r, "^"));
    for (bool first = true; first || !sees(r, ']'); first = false) {
        uint32_t low;
        bool named;

        if (at_end(r))
            return fail(r, "[ has no ]");
        if (takes(r, "[:")) {
            if (!read_class(r))
                return false;
            continue;
        }
        if (!read_member(r, &low, &named))
            return false;
        if (named)
            continue;
        uint32_t high = low;
        if (sees(r, '-') && r->at + 1 < r->pattern.n &&
            r->pattern.p[r->at + 1] != ']') {
            r->at++;
            if (!read_member(r, &high, &named))
                return false;
            if (named || high < low)
                return fail(r, "a range in [] is reversed");
        }
        add_range(r->regex, low, high);
    }
    r->at++;
    return end_set(r);
}

/* --- Atoms ---------------------------------------------------------------- */

static bool read_alternatives(struct reader *r);

static bool put_character(struct reader *r, uint32_t code)
{
    char bytes[4];

    if (r->depth == 0) // in a group it may be one of several, or left out
        buf_append(&r->literal, bytes, utf8_encode(code, bytes));
    if (r->regex->ignores_case && code >= 'A' && code <= 'Z')
        code += 'a' - 'A';
    return append(r, (struct regex_step){.op = REGEX_CHARACTER, .code = code});
}

static bool read_escape(struct reader *r)
{
    if (at_end(r))
        return fail(r, "it ends with a backslash; write \\\\ for one");
    char c = r->pattern.p[r->at];
    if (strchr("bB<>", c)) {
        r->at++;
        return end_literal(r) &&
               append(r, (struct regex_step){.op = c == 'B' ? REGEX_INSIDE
                                                            : REGEX_BOUNDARY});
    }
    if (strchr("dwsDWS", c)) {
        char kind = (char)(c | 0x20);

        r->at++;
        begin_set(r->regex, c != kind);
        (void)add_named(r->regex, str_make(&kind, 1));
        return end_literal(r) && end_set(r);
    }
    if (c >= '1' && c <= '9')
        return fail(r, "it has a back reference, which is not supported");
    uint32_t code = take_code(r);
    if (c == 't')
        code = '\t';
    else if (c == 'n')
        return fail(r, "it has a line end, but lines are searched one by one");
    else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
        return fail(r, "a backslash is followed by a letter that means "
                       "nothing");
    return put_character(r, code);
}

static bool read_group(struct reader *r)
{
    if (!takes(r, "?:") && sees(r, '?'))
        return fail(r, "(? is only supported as (?:, and as (?i) at the start");
    if (!end_literal(r))
        return false;
    if (++r->depth > LIMIT_REGEX_DEPTH)
        return fail(r, "its groups are nested too deep");
    if (!read_alternatives(r))
        return false;
    r->depth--;
    if (!takes(r, ")"))
        return fail(r, "( has no ); write \\( for a parenthesis");
    return true;
}

static bool read_atom(struct reader *r)
{
    char c = r->pattern.p[r->at];

    switch (c) {
    case '.':
        r->at++;
        return end_literal(r) &&
               append(r, (struct regex_step){.op = REGEX_ANY});
    case '^':
    case '$':
        r->at++;
        return end_literal(r) &&
               append(r, (struct regex_step){.op = c == '^' ? REGEX_START
                                                            : REGEX_END});
    case '[':
        r->at++;
        return end_literal(r) && read_set(r);
    case '(':
        r->at++;
        return read_group(r);
    case '\\':
        r->at++;
        return read_escape(r);
    case '*':
    case '+':
    case '?':
        return fail(r, "* + ? must follow something; write \\* for a star");
    case '\n':
        return fail(r, "it has a line end, but lines are searched one by one");
    default:
        return put_character(r, take_code(r));
    }
}

/* --- Repetition ----------------------------------------------------------- */

/* Reads digits; -1 when there are none. */
static int read_number(struct reader *r)
{
    int number = -1;

    for (;
         !at_end(r) && r->pattern.p[r->at] >= '0' && r->pattern.p[r->at] <= '9';
         r->at++)
        if (number <= LIMIT_REGEX_REPEAT)
            number = (number < 0 ? 0 : number) * 10 + r->pattern.p[r->at] - '0';
    return number;
}

/* Reads {2}, {2,}, {,3} or {2,3}. False, and nothing is read, when it is none:
   then the brace stands for itself. */
static bool read_counts(struct reader *r, int *least, int *most)
{
    size_t start = r->at++;

    *least = read_number(r);
    *most = *least;
    if (takes(r, ","))
        *most = read_number(r);
    else if (*least < 0)
        *most = -2; // {}
    if (takes(r, "}") && *most != -2 && (*least >= 0 || *most >= 0)) {
        *least = *least < 0 ? 0 : *least;
        return true;
    }
    r->at = start;
    return false;
}

/* The part from START on may be left out. */
static bool make_optional(struct reader *r, size_t start)
{
    int n = (int)(r->regex->count - start);

    return put(r, start,
               (struct regex_step){.op = REGEX_SPLIT, .x = 1, .y = n + 1});
}

/* It may be repeated. */
static bool make_endless(struct reader *r, size_t start)
{
    int n = (int)(r->regex->count - start);

    return append(r, (struct regex_step){.op = REGEX_SPLIT, .x = -n, .y = 1});
}

/* The part from START on LEAST to MOST times; MOST is -1 for any number. */
static bool repeat(struct reader *r, size_t start, int least, int most)
{
    size_t n = r->regex->count - start;
    bool endless = most < 0;

    if (least > LIMIT_REGEX_REPEAT || most > LIMIT_REGEX_REPEAT)
        return fail(r, "it repeats too often");
    if (!endless && most < least)
        return fail(r, "the numbers in {} are reversed");
    if (most == 0) {
        r->regex->count = start;
        return true;
    }
    for (int i = 1; i < least; i++)
        if (!copy(r, start, n))
            return false;
    if (endless) {
        size_t last = r->regex->count - n;

        return make_endless(r, last) && (least > 0 || make_optional(r, last));
    }
    for (int i = least; i < most; i++) {
        size_t next = r->regex->count;

        if (i == 0) {
            next = start;
        } else if (!copy(r, least > 0 ? start : start + 1, n)) {
            return false;
        }
        if (!make_optional(r, next))
            return false;
    }
    return true;
}

/* Reads what says how often the part from START on occurs. */
static bool read_repeats(struct reader *r, size_t start, bool single)
{
    for (;;) {
        int least = 0;
        int most = -1;

        if (takes(r, "+"))
            least = 1;
        else if (takes(r, "?"))
            most = 1;
        else if (!takes(r, "*") &&
                 !(sees(r, '{') && read_counts(r, &least, &most)))
            return true;
        (void)takes(r, "?"); // what is matched first makes no difference
        if (single) {        // it is perhaps not there
            while (r->literal.n > 0 &&
                   (r->literal.p[r->literal.n - 1] & 0xC0) == 0x80)
                buf_truncate(&r->literal, r->literal.n - 1);
            if (r->literal.n > 0)
                buf_truncate(&r->literal, r->literal.n - 1);
        }
        if (!end_literal(r) || !repeat(r, start, least, most))
            return false;
        single = false;
    }
}

static bool read_sequence(struct reader *r)
{
    while (!at_end(r) && !sees(r, '|') && !sees(r, ')')) {
        size_t start = r->regex->count;
        size_t before = r->literal.n;

        if (!read_atom(r) || !read_repeats(r, start, r->literal.n > before))
            return false;
    }
    return true;
}

static bool read_alternatives(struct reader *r)
{
    size_t last = SIZE_MAX; // of the jumps to the end

    for (;;) {
        size_t start = r->regex->count;

        if (!read_sequence(r))
            return false;
        if (!takes(r, "|"))
            break;
        r->no_literal = r->no_literal || r->depth == 0;
        int n = (int)(r->regex->count - start);
        if (!put(r, start,
                 (struct regex_step){.op = REGEX_SPLIT, .x = 1, .y = n + 2}) ||
            !append(r, (struct regex_step){.op = REGEX_JUMP}))
            return false;
        // until the end is known, each jump has the way to the one before
        size_t jump = r->regex->count - 1;
        r->regex->steps[jump].y = last == SIZE_MAX ? 0 : (int)(jump - last);
        last = jump;
    }
    while (last != SIZE_MAX) {
        struct regex_step *jump = &r->regex->steps[last];
        size_t before = jump->y > 0 ? last - (size_t)jump->y : SIZE_MAX;

        jump->x = (int)(r->regex->count - last);
        last = before;
    }
    return true;
}

/* --- The whole ------------------------------------------------------------ */

static enum status reserve(struct regex *regex, struct arena *arena, size_t n)
{
    regex->steps = arena_array(arena, LIMIT_REGEX, sizeof *regex->steps);
    regex->sets = arena_array(arena, n + 1, sizeof *regex->sets);
    // the longest name, \w, has four ranges
    regex->ranges = arena_array(arena, 4 * n + 4, sizeof *regex->ranges);
    regex->now.all = arena_array(arena, LIMIT_REGEX, sizeof *regex->now.all);
    regex->next.all = arena_array(arena, LIMIT_REGEX, sizeof *regex->next.all);
    regex->seen = arena_array(arena, LIMIT_REGEX, sizeof *regex->seen);
    regex->stack = arena_array(arena, 2 * LIMIT_REGEX, sizeof *regex->stack);
    return regex->steps && regex->sets && regex->ranges && regex->now.all &&
                   regex->next.all && regex->seen && regex->stack
               ? ST_OK
               : ST_NOMEM;
}

enum status regex_init(struct regex *regex, struct arena *arena,
                       struct str pattern, struct str *why)
{
    struct reader r = {.regex = regex, .arena = arena, .pattern = pattern};
    enum status status;

    *regex = (struct regex){.count = 0};
    if (pattern.n > LIMIT_REGEX) {
        *why = arena_printf(arena, "it has more than %d bytes", LIMIT_REGEX);
        return why->n > 0 ? ST_INVALID : ST_NOMEM;
    }
    status = reserve(regex, arena, pattern.n);
    if (status != ST_OK)
        return status;
    regex->ignores_case = takes(&r, "(?i)");
    bool read = read_alternatives(&r);
    if (read && !at_end(&r))
        read = fail(&r, ") has no (; write \\) for a parenthesis");
    read = read && end_literal(&r) &&
           append(&r, (struct regex_step){.op = REGEX_MATCH});
    bool lost = buf_failed(&r.literal);
    buf_release(&r.literal);
    if (lost || (r.problem && r.problem[0] == '\0'))
        return ST_NOMEM;
    if (!read) {
        *why = arena_printf(arena, "%s (at byte %zu)", r.problem, r.at);
        return why->n > 0 ? ST_INVALID : ST_NOMEM;
    }
    if (!r.no_literal && !regex->ignores_case)
        regex->literal = r.longest;
    return ST_OK;
}
