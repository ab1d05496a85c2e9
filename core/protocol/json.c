/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json.c: a strict check of the whole text, which also counts the tokens,
   then jsmn, which places them in a table of that size. */
#include "json.h"

#include <math.h>
#include <stdlib.h>

// jsmn mixes int and unsigned; the check keeps every offset below INT32_MAX.
// Without parent links it would look for the partner of each bracket through
// the whole table.
#define JSMN_STATIC
#define JSMN_STRICT
#define JSMN_PARENT_LINKS
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <jsmn.h>
#pragma GCC diagnostic pop

#include "limits.h"
#include "utf8.h"

struct json_doc {
    const char *text;
    jsmntok_t tokens[];
};

/* --- The check ---------------------------------------------------------- */

struct check {
    struct str rest; /* not yet looked at */
    size_t tokens;   /* found so far */
    size_t depth;    /* containers that are open */
    enum status status;
    const char *what;                 /* when status is not ST_OK */
    bool in_object[LIMIT_JSON_DEPTH]; /* what each open container is */
};

/* What the grammar wants next. */
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
                  check->rest.n == 0 ? "the text ends too early" : what);
}

/* The next byte; at the end NUL, which the grammar wants nowhere. */
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
static long unicode_escape(struct str s)
{
    if (s.n < 6 || s.p[0] != '\\' || s.p[1] != 'u')
        return -1;
    long code = 0;
    for (int i = 2; i < 6; i++) {
        int digit = hex_digit(s.p[i]);
        if (digit < 0)
            return -1;
        code = code * 16 + digit;
    }
    return code;
}

static bool is_high_surrogate(long code)
{
    return code >= 0xd800 && code <= 0xdbff;
}

static bool is_low_surrogate(long code)
{
    return code >= 0xdc00 && code <= 0xdfff;
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

/* Takes the escape at the start of the rest; false when it is none. */
static bool check_escape(struct check *check)
{
    struct str rest = check->rest;
    if (rest.n >= 2 && short_escape(rest.p[1]) != '\0') {
        skip(check, 2);
        return true;
    }
    long code = unicode_escape(rest);
    if (code < 0) {
        invalid(check, "invalid escape in a string");
        return false;
    }
    size_t length = 6;
    bool lone = is_low_surrogate(code);
    if (is_high_surrogate(code)) {
        lone =
            !is_low_surrogate(unicode_escape(str_make(rest.p + 6, rest.n - 6)));
        length = 12;
    }
    if (lone) {
        invalid(check, "surrogate escape without its partner");
        return false;
    }
    skip(check, length);
    return true;
}

/* Takes a string, its opening quote being next. */
static bool check_string(struct check *check)
{
    skip(check, 1);
    for (;;) {
        skip(check, utf8_plain_run(check->rest));
        char c = peek(check);
        if (c == '"') {
            skip(check, 1);
            return true;
        }
        if (c == '\\') {
            if (!check_escape(check))
                return false;
            continue;
        }
        if (c >= 0 && c < ' ') {
            invalid(check, "control byte in a string");
            return false;
        }
        size_t length = utf8_decode(check->rest, NULL);
        if (length == 0) {
            invalid(check, "invalid UTF-8");
            return false;
        }
        skip(check, length);
    }
}

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
    return true;
}

static bool check_word(struct check *check, struct str word)
{
    if (!str_starts(check->rest, word))
        return false;
    skip(check, word.n);
    return true;
}

#define TEXT_OF(macro) TEXT_OF_1(macro)
#define TEXT_OF_1(tokens) #tokens

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
    _Static_assert(LIMIT_JSON_TOKENS == 1048576, "the number stands below");
    if (check->tokens < LIMIT_JSON_TOKENS) {
        check->tokens++;
        return true;
    }
    refuse(check, ST_LIMIT, "more than 1048576 values and names");
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

/* --- The table of tokens ------------------------------------------------ */

static bool is_container(const jsmntok_t *token)
{
    return token->type == JSMN_ARRAY || token->type == JSMN_OBJECT;
}

/* Ends the open containers that end before START; token NEXT starts there.
   Returns the innermost one that is still open, or -1. */
static int end_containers(jsmntok_t *tokens, int open, int start, int next)
{
    while (open >= 0 && tokens[open].end <= start) {
        int outer = tokens[open].parent;
        tokens[open].parent = next;
        open = outer;
    }
    return open;
}

/* jsmn is done with the parent links. From here on the field holds the index
   of the token behind the value, so that a walk steps over what is inside;
   while a container is open, it holds the one around it. */
static void link_next(jsmntok_t *tokens, int count)
{
    int open = -1;
    for (int i = 0; i < count; i++) {
        open = end_containers(tokens, open, tokens[i].start, i);
        if (is_container(&tokens[i])) {
            tokens[i].parent = open;
            open = i;
        } else {
            tokens[i].parent = i + 1;
        }
    }
    end_containers(tokens, open, INT32_MAX, count);
}

/* jsmn and strtod must see a byte behind each number. Only a number that is
   the whole text may lack it, so a text of one token is copied with a blank. */
static enum status add_blank(struct arena *arena, struct str *text)
{
    char *copy = arena_alloc(arena, text->n + 1);
    if (copy == NULL)
        return ST_NOMEM;
    memcpy(copy, text->p, text->n);
    copy[text->n] = ' ';
    *text = str_make(copy, text->n + 1);
    return ST_OK;
}

/* Makes the document of TEXT, which passed the check. */
static enum status make_doc(struct arena *arena, struct str text, size_t tokens,
                            struct json *root)
{
    if (tokens == 1 && add_blank(arena, &text) != ST_OK)
        return ST_NOMEM;
    struct json_doc *doc =
        arena_alloc(arena, sizeof *doc + tokens * sizeof *doc->tokens);
    if (doc == NULL)
        return ST_NOMEM;
    doc->text = text.p;
    jsmn_parser parser;
    jsmn_init(&parser);
    if (jsmn_parse(&parser, text.p, text.n, doc->tokens, (unsigned)tokens) !=
        (int)tokens)
        return ST_INVALID;
    link_next(doc->tokens, (int)tokens);
    *root = (struct json){doc, 0};
    return ST_OK;
}

enum status json_parse(struct arena *arena, struct str text, struct json *root,
                       struct json_error *error)
{
    struct check check;
    check.rest = text;
    check.tokens = 0;
    check.depth = 0;
    check.status = ST_OK;
    check.what = "the text and its tokens do not agree";
    if (text.n >= INT32_MAX)
        refuse(&check, ST_LIMIT, "longer than 2 GiB");
    else
        check_text(&check);
    enum status status = check.status;
    if (status == ST_OK)
        status = make_doc(arena, text, check.tokens, root);
    if (status == ST_INVALID || status == ST_LIMIT)
        *error = (struct json_error){check.what, text.n - check.rest.n};
    return status;
}

/* --- Access ------------------------------------------------------------- */

static const jsmntok_t *token_of(struct json value)
{
    return &value.doc->tokens[value.token];
}

/* The text of VALUE; of a string what is between the quotes. */
static struct str text_of(struct json value)
{
    const jsmntok_t *token = token_of(value);
    return str_make(value.doc->text + token->start,
                    (size_t)(token->end - token->start));
}

enum json_type json_type(struct json value)
{
    if (value.doc == NULL)
        return JSON_ABSENT;
    switch (token_of(value)->type) {
    case JSMN_OBJECT:
        return JSON_OBJECT;
    case JSMN_ARRAY:
        return JSON_ARRAY;
    case JSMN_STRING:
        return JSON_STRING;
    case JSMN_PRIMITIVE:
    case JSMN_UNDEFINED:
        break;
    }
    switch (*text_of(value).p) {
    case 'n':
        return JSON_NULL;
    case 'f':
        return JSON_FALSE;
    case 't':
        return JSON_TRUE;
    default:
        return JSON_NUMBER;
    }
}

bool json_is_absent(struct json value)
{
    return value.doc == NULL;
}

struct str json_raw(struct json value)
{
    if (value.doc == NULL)
        return str_make(NULL, 0);
    struct str text = text_of(value);
    if (token_of(value)->type == JSMN_STRING)
        return str_make(text.p - 1, text.n + 2);
    return text;
}

size_t json_count(struct json value)
{
    if (value.doc == NULL || !is_container(token_of(value)))
        return 0;
    return (size_t)token_of(value)->size;
}

void json_walk_init(struct json_walk *walk, struct json container)
{
    bool object = json_type(container) == JSON_OBJECT;
    walk->name = (struct json){object ? container.doc : NULL, 0};
    walk->value = container;
    walk->next = container.token + 1;
    walk->left = json_count(container);
}

bool json_walk_next(struct json_walk *walk)
{
    if (walk->left == 0)
        return false;
    walk->left--;
    if (walk->name.doc != NULL)
        walk->name.token = walk->next++;
    walk->value.token = walk->next;
    walk->next = walk->value.doc->tokens[walk->next].parent;
    return true;
}

/* Decodes the escape at P, which passed the check: writes at most 4 bytes to
   OUT, sets *N to their number and returns the length of the escape. */
static size_t decode_escape(const char *p, char out[4], size_t *n)
{
    char c = short_escape(p[1]);
    if (c != '\0') {
        out[0] = c;
        *n = 1;
        return 2;
    }
    long code = unicode_escape(str_make(p, 6));
    size_t length = 6;
    if (is_high_surrogate(code)) {
        long low = unicode_escape(str_make(p + 6, 6));
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        length = 12;
    }
    *n = utf8_encode((uint32_t)code, out);
    return length;
}

/* Whether the string TEXT, escapes decoded, is WANTED. */
static bool is_same(struct str text, struct str wanted)
{
    if (text.n <= wanted.n) // an escape is longer than what it stands for
        return str_eq(text, wanted) && memchr(text.p, '\\', text.n) == NULL;
    while (text.n > 0) {
        char piece[4] = {*text.p};
        size_t n = 1;
        size_t length = 1;
        if (*text.p == '\\')
            length = decode_escape(text.p, piece, &n);
        if (!str_starts(wanted, str_make(piece, n)))
            return false;
        wanted = str_make(wanted.p + n, wanted.n - n);
        text = str_make(text.p + length, text.n - length);
    }
    return wanted.n == 0;
}

struct json json_get(struct json object, const char *name)
{
    struct json found = {NULL, 0};
    if (json_type(object) != JSON_OBJECT)
        return found;
    struct str wanted = str_from(name);
    struct json_walk walk;
    json_walk_init(&walk, object);
    while (json_walk_next(&walk))
        if (is_same(text_of(walk.name), wanted))
            found = walk.value;
    return found;
}

/* Decodes TEXT into OUT, which has room for as many bytes as TEXT has;
   returns their number. */
static size_t decode(struct str text, char *out)
{
    char *to = out;
    const char *p = text.p;
    const char *end = p + text.n;
    while (p < end) {
        const char *escape = memchr(p, '\\', (size_t)(end - p));
        size_t plain = (size_t)((escape == NULL ? end : escape) - p);
        memcpy(to, p, plain);
        to += plain;
        p += plain;
        if (escape != NULL) {
            size_t n;
            p += decode_escape(p, to, &n);
            to += n;
        }
    }
    return (size_t)(to - out);
}

enum status json_string(struct arena *arena, struct json value, struct str *out)
{
    if (json_type(value) != JSON_STRING)
        return ST_INVALID;
    struct str text = text_of(value);
    if (memchr(text.p, '\\', text.n) == NULL) {
        *out = text;
        return ST_OK;
    }
    char *copy = arena_alloc(arena, text.n);
    if (copy == NULL)
        return ST_NOMEM;
    *out = str_make(copy, decode(text, copy));
    return ST_OK;
}

bool json_is_string(struct json value, const char *text)
{
    return json_type(value) == JSON_STRING &&
           is_same(text_of(value), str_from(text));
}

enum status json_number(struct json value, double *out)
{
    if (json_type(value) != JSON_NUMBER)
        return ST_INVALID;
    // The hosts leave LC_NUMERIC at "C", where the point is JSON's.
    double number = strtod(text_of(value).p, NULL);
    if (!isfinite(number))
        return ST_LIMIT;
    *out = number;
    return ST_OK;
}
