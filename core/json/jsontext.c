/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jsontext.c: one pass over the text, without recursion, by the grammar of RFC
   8259. */
#include "json/jsontext.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/utf8.h"

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

/* The code of the escape \uXXXX at the start of S, or -1. */
static int32_t unicode_escape(struct str s)
{
    if (s.n < 6 || s.p[0] != '\\' || s.p[1] != 'u')
        return -1;
    int32_t code = 0;
    for (int i = 2; i < 6; i++) {
        int digit = hex_digit(s.p[i]);
        if (digit < 0)
            return -1;
        code = code * 16 + digit;
    }
    return code;
}

/* What the letter of a short escape stands for, or NUL. */
static char short_escape(char letter)
{
    static const char pairs[] = "\"\"\\\\//b\bf\fn\nr\rt\t";
    for (const char *pair = pairs; *pair != '\0'; pair += 2)
        if (*pair == letter)
            return pair[1];
    return '\0';
}

size_t jsontext_escape(struct str s, char out[4], size_t *n)
{
    if (s.n >= 2 && short_escape(s.p[1]) != '\0') {
        out[0] = short_escape(s.p[1]);
        *n = 1;
        return 2;
    }
    int32_t code = unicode_escape(s);
    if (code < 0 || (code >= 0xdc00 && code <= 0xdfff))
        return 0;
    size_t length = 6;
    if (code >= 0xd800 && code <= 0xdbff) {
        int32_t low = unicode_escape(str_make(s.p + 6, s.n - 6));
        if (low < 0xdc00 || low > 0xdfff)
            return 0;
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        length = 12;
    }
    *n = utf8_encode((uint32_t)code, out);
    return length;
}

/* Bytes of a string between two looks at the strand. */
#define PIECE (64u * 1024)

/* Work of looking at one character that is not plain. */
#define CHARACTER 4

struct check {
    const struct arena *arena;
    struct str rest; /* not checked yet */
    size_t tokens;   /* found so far */
    size_t depth;    /* open containers */
    enum status status;
    const char *what;                 /* when status is not ST_OK */
    bool in_object[LIMIT_JSON_DEPTH]; /* the kind of each open container */
};

/* What the grammar expects next. */
enum state { VALUE, VALUE_OR_END, NAME, NAME_OR_END, COMMA_OR_END, DONE };

static enum state refuse(struct check *check, enum status status,
                         const char *what)
{
    check->status = status;
    check->what = what;
    return DONE;
}

static enum state invalid(struct check *check, const char *what)
{
    return refuse(check, ST_INVALID,
                  check->rest.n == 0 ? "unexpected end of text" : what);
}

/* The next byte; at the end NUL, which the grammar accepts nowhere. */
static char peek(const struct check *check)
{
    return check->rest.n > 0 ? *check->rest.p : '\0';
}

static void skip(struct check *check, size_t n)
{
    check->rest = str_make(check->rest.p + n, check->rest.n - n);
}

static void skip_blanks(struct check *check)
{
    for (;;) {
        char c = peek(check);
        if (c != ' ' && c != '\n' && c != '\r' && c != '\t')
            return;
        skip(check, 1);
    }
}

/* How many bytes the character or escape at the start of S has, inside a
   string; 0 when S starts with neither. */
static size_t string_piece(struct str s)
{
    char out[4];
    size_t n;
    if (s.n > 0 && *s.p == '\\')
        return jsontext_escape(s, out, &n);
    if (s.n > 0 && (unsigned char)*s.p < ' ')
        return 0;
    return utf8_decode(s, NULL);
}

/* Why string_piece found nothing. */
static const char *string_fault(struct str s)
{
    if (s.n > 0 && (unsigned char)*s.p < ' ')
        return "control byte in a string";
    if (s.n == 0 || *s.p != '\\')
        return "invalid UTF-8";
    return unicode_escape(s) < 0 ? "invalid escape in a string"
                                 : "unpaired surrogate escape";
}

/* WORK more has been done; false when it is stopped. */
static bool pause(struct check *check, size_t work)
{
    if (arena_spend(check->arena, work) == ST_OK)
        return true;
    refuse(check, ST_NOMEM, "stopped");
    return false;
}

/* Takes a string, whose opening quote is next. */
static bool check_string(struct check *check)
{
    size_t work = 0; // that was not told yet
    skip(check, 1);
    for (;;) {
        struct str rest = check->rest;
        rest.n = rest.n < PIECE ? rest.n : PIECE;
        size_t plain = utf8_plain_run(rest);
        skip(check, plain);
        work += plain / 2 + CHARACTER;
        if (work >= PIECE) {
            if (!pause(check, work))
                return false;
            work = 0;
        }
        if (peek(check) == '"') {
            skip(check, 1);
            return true;
        }
        size_t length = string_piece(check->rest);
        if (length == 0) {
            invalid(check, string_fault(check->rest));
            return false;
        }
        skip(check, length);
    }
}

#define TEXT_OF(macro) TEXT_OF_1(macro)
#define TEXT_OF_1(tokens) #tokens

/* Takes digits; false when there are none. */
static bool check_digits(struct check *check)
{
    size_t n = 0;
    while (n < check->rest.n && check->rest.p[n] >= '0' &&
           check->rest.p[n] <= '9')
        n++;
    skip(check, n);
    return n > 0;
}

static bool check_number(struct check *check)
{
    size_t before = check->rest.n;
    if (peek(check) == '-')
        skip(check, 1);
    if (peek(check) == '0')
        skip(check, 1);
    else if (!check_digits(check))
        return false;
    if (peek(check) == '.') {
        skip(check, 1);
        if (!check_digits(check))
            return false;
    }
    if (peek(check) == 'e' || peek(check) == 'E') {
        skip(check, 1);
        if (peek(check) == '+' || peek(check) == '-')
            skip(check, 1);
        if (!check_digits(check))
            return false;
    }
    if (before - check->rest.n <= LIMIT_JSON_NUMBER)
        return true;
    refuse(check, ST_LIMIT, "number longer than " TEXT_OF(LIMIT_JSON_NUMBER));
    return false;
}

static bool check_word(struct check *check, struct str word)
{
    if (!str_starts(check->rest, word))
        return false;
    skip(check, word.n);
    return true;
}

static enum state open_container(struct check *check, bool object)
{
    if (check->depth == LIMIT_JSON_DEPTH)
        return invalid(check, "nesting deeper than " TEXT_OF(LIMIT_JSON_DEPTH));
    check->in_object[check->depth++] = object;
    skip(check, 1);
    return object ? NAME_OR_END : VALUE_OR_END;
}

static enum state close_container(struct check *check)
{
    check->depth--;
    skip(check, 1);
    return COMMA_OR_END;
}

static bool count_token(struct check *check)
{
    _Static_assert(LIMIT_JSON_TOKENS == 262144, "the number stands below");
    if (check->tokens < LIMIT_JSON_TOKENS) {
        check->tokens++;
        return check->tokens % 1024 != 0 || pause(check, PIECE);
    }
    refuse(check, ST_LIMIT, "more than 262144 values and names");
    return false;
}

static enum state check_value(struct check *check)
{
    if (!count_token(check))
        return DONE;
    bool good;
    switch (peek(check)) {
    case '{':
        return open_container(check, true);
    case '[':
        return open_container(check, false);
    case '"':
        return check_string(check) ? COMMA_OR_END : DONE;
    case 't':
        good = check_word(check, STR("true"));
        break;
    case 'f':
        good = check_word(check, STR("false"));
        break;
    case 'n':
        good = check_word(check, STR("null"));
        break;
    default:
        good = check_number(check);
        if (check->status != ST_OK)
            return DONE;
    }
    return good ? COMMA_OR_END : invalid(check, "expected a value");
}

static enum state check_name(struct check *check)
{
    if (peek(check) != '"')
        return invalid(check, "expected a name in quotes");
    if (!count_token(check) || !check_string(check))
        return DONE;
    skip_blanks(check);
    if (peek(check) != ':')
        return invalid(check, "expected ':' after a name");
    skip(check, 1);
    return VALUE;
}

static enum state check_comma_or_end(struct check *check)
{
    if (check->depth == 0)
        return check->rest.n == 0 ? DONE
                                  : invalid(check, "text after the value");
    bool object = check->in_object[check->depth - 1];
    if (peek(check) == ',') {
        skip(check, 1);
        return object ? NAME : VALUE;
    }
    if (peek(check) == (object ? '}' : ']'))
        return close_container(check);
    return invalid(check,
                   object ? "expected ',' or '}'" : "expected ',' or ']'");
}

static void check_text(struct check *check)
{
    enum state state = VALUE;
    while (state != DONE) {
        skip_blanks(check);
        switch (state) {
        case VALUE_OR_END:
            state = peek(check) == ']' ? close_container(check)
                                       : check_value(check);
            break;
        case VALUE:
            state = check_value(check);
            break;
        case NAME_OR_END:
            state =
                peek(check) == '}' ? close_container(check) : check_name(check);
            break;
        case NAME:
            state = check_name(check);
            break;
        case COMMA_OR_END:
            state = check_comma_or_end(check);
            break;
        case DONE:
            break;
        }
    }
}

enum status jsontext_check(const struct arena *arena, struct str text,
                           struct jsontext *report)
{
    struct check check; // in_object needs no clearing
    check.arena = arena;
    check.rest = text.n == 0 ? STR("") : text;
    check.tokens = 0;
    check.depth = 0;
    check.status = ST_OK;
    check.what = NULL;
    if (text.n >= INT32_MAX)
        refuse(&check, ST_LIMIT, "longer than 2 GiB");
    else
        check_text(&check);
    *report = (struct jsontext){
        .tokens = check.tokens,
        .what = check.what,
        .at = text.n - check.rest.n,
    };
    return check.status;
}
