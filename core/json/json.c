/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json.c: jsontext_check checks the text and counts its tokens; then jsmn fills
   a table of that size. */
#include "json/json.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

// jsmn mixes int and unsigned; the check keeps every offset below INT32_MAX.
// Without parent links it would search the whole table for the partner of each
// bracket; with them it takes one step for each level in between.
#define JSMN_STATIC
#define JSMN_STRICT
#define JSMN_PARENT_LINKS
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#include <jsmn.h>
#pragma GCC diagnostic pop

#include "base/utf8.h"
#include "json/jsontext.h"

struct json_doc {
    const char *text;
    jsmntok_t tokens[];
};

/* --- The table of tokens ------------------------------------------------ */

static bool is_container(const jsmntok_t *token)
{
    return token->type == JSMN_ARRAY || token->type == JSMN_OBJECT;
}

/* Closes the open containers that end before START, where token NEXT starts.
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

/* jsmn no longer needs the parent links. From here on the field holds the index
   of the token after the value, so that a walk can step over its contents.
   While a container is open here, the field holds the container around it. */
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

/* jsmn and strtod must see a byte after each number. Only a number that is the
   whole text may lack it, so a text of one token is copied with a blank. */
static enum status add_blank(struct arena *arena, struct str *text)
{
    char *copy = arena_alloc(arena, text->n + 1);
    if (!copy)
        return ST_NOMEM;
    memcpy(copy, text->p, text->n);
    copy[text->n] = ' ';
    *text = str_make(copy, text->n + 1);
    return ST_OK;
}

/* Bytes between two looks at the strand. */
#define PIECE (64u * 1024)

/* Bytes that jsmn gets at a time; then it looks at all tokens. */
#define MOST (512u * 1024)

/* Where the string of TEXT ends whose first character is at AT, which passed
   the check: at its quote. */
static enum status string_end(const struct arena *arena, struct str text,
                              size_t at, size_t *end)
{
    size_t paid = at;

    while (text.p[at] != '"') {
        size_t left = text.n - at < PIECE ? text.n - at : PIECE;
        size_t n = utf8_plain_run(str_make(text.p + at, left));

        if (n == 0)
            n = text.p[at] == '\\' ? 2 : 1;
        at += n;
        if (at - paid < PIECE)
            continue;
        if (arena_spend(arena, (at - paid) / 2) != ST_OK)
            return ST_NOMEM;
        paid = at;
    }
    *end = at;
    return ST_OK;
}

/* Takes the string at which PARSER is, for it is longer than a piece. */
static enum status take_string(const struct arena *arena, jsmn_parser *parser,
                               struct str text, jsmntok_t *tokens, size_t count)
{
    size_t end = 0;
    size_t start = (size_t)parser->pos + 1;
    enum status status = string_end(arena, text, start, &end);
    jsmntok_t *token = jsmn_alloc_token(parser, tokens, count);

    if (status != ST_OK || !token)
        return status == ST_OK ? ST_INVALID : status;
    jsmn_fill_token(token, JSMN_STRING, (int)start, (int)end);
    token->parent = parser->toksuper;
    if (parser->toksuper >= 0)
        tokens[parser->toksuper].size++;
    parser->pos = (unsigned)end + 1;
    return ST_OK;
}

/* Fills the COUNT TOKENS of TEXT piece by piece. */
static enum status tokenize(const struct arena *arena, struct str text,
                            jsmntok_t *tokens, size_t count)
{
    jsmn_parser parser;
    size_t end = 0;
    enum status status = ST_OK;

    jsmn_init(&parser);
    while (end < text.n && status == ST_OK) {
        size_t before = parser.pos;

        end = text.n - before < MOST ? text.n : before + MOST;
        int found = jsmn_parse(&parser, text.p, end, tokens, (unsigned)count);
        if (found == JSMN_ERROR_PART && end < text.n) {
            if (parser.pos < end && text.p[parser.pos] == '"')
                status = take_string(arena, &parser, text, tokens, count);
        } else if (found < 0) {
            status = ST_INVALID;
        }
        if (status == ST_OK)
            status = arena_spend(arena, (parser.pos - before) / 2);
    }
    return status == ST_OK && parser.toknext != count ? ST_INVALID : status;
}

/* Makes the document of TEXT, which passed the check. */
static enum status make_doc(struct arena *arena, struct str text, size_t tokens,
                            struct json *root)
{
    if (tokens == 1 && add_blank(arena, &text) != ST_OK)
        return ST_NOMEM;
    struct json_doc *doc =
        arena_alloc(arena, sizeof *doc + tokens * sizeof *doc->tokens);
    if (!doc)
        return ST_NOMEM;
    doc->text = text.p;
    enum status status = tokenize(arena, text, doc->tokens, tokens);
    if (status != ST_OK)
        return status;
    link_next(doc->tokens, (int)tokens);
    *root = (struct json){doc, 0};
    return ST_OK;
}

enum status json_parse(struct arena *arena, struct str text, struct json *root,
                       struct json_error *error)
{
    struct jsontext report;
    enum status status = jsontext_check(arena, text, &report);
    if (status == ST_OK) {
        status = make_doc(arena, text, report.tokens, root);
        report.what = "the tokens do not match the text";
    }
    if (status == ST_INVALID || status == ST_LIMIT)
        *error = (struct json_error){report.what, report.at};
    return status;
}

/* --- Access ------------------------------------------------------------- */

static const jsmntok_t *token_of(struct json value)
{
    assert(value.doc != NULL);
    return &value.doc->tokens[value.token];
}

/* The text of VALUE; of a string, what is between the quotes. */
static struct str text_of(struct json value)
{
    const jsmntok_t *token = token_of(value);
    return str_make(value.doc->text + token->start,
                    (size_t)(token->end - token->start));
}

enum json_type json_type(struct json value)
{
    if (!value.doc)
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
    if (!value.doc)
        return str_make(NULL, 0);
    struct str text = text_of(value);
    if (token_of(value)->type == JSMN_STRING)
        return str_make(text.p - 1, text.n + 2);
    return text;
}

size_t json_count(struct json value)
{
    if (!value.doc || !is_container(token_of(value)))
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
    if (walk->name.doc)
        walk->name.token = walk->next++;
    walk->value.token = walk->next;
    walk->next = walk->value.doc->tokens[walk->next].parent;
    return true;
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
            length = jsontext_escape(text, piece, &n);
        if (!str_starts(wanted, str_make(piece, n)))
            return false;
        wanted = str_make(wanted.p + n, wanted.n - n);
        text = str_make(text.p + length, text.n - length);
    }
    return wanted.n == 0;
}

/* Whether TOKEN, a name in DOC, is WANTED. */
static inline bool is_name(const struct json_doc *doc, const jsmntok_t *token,
                           struct str wanted)
{
    const char *p = doc->text + token->start;

    if (wanted.n > 0 && *p != *wanted.p && *p != '\\')
        return false; // *p is the quote of an empty one
    return is_same(str_make(p, (size_t)(token->end - token->start)), wanted);
}

struct json json_get(struct json object, const char *name)
{
    struct json found = {NULL, 0};
    if (json_type(object) != JSON_OBJECT)
        return found;
    struct str wanted = str_from(name);
    const jsmntok_t *tokens = object.doc->tokens;
    int at = object.token + 1;
    for (int left = tokens[object.token].size; left > 0; left--) {
        if (is_name(object.doc, &tokens[at], wanted))
            found = (struct json){object.doc, at + 1};
        at = tokens[at + 1].parent; // behind the value
    }
    return found;
}

/* Decodes TEXT into OUT, which has room for TEXT.n bytes.
 *WRITTEN: how many it wrote. */
static enum status decode(const struct arena *arena, struct str text, char *out,
                          size_t *written)
{
    char *to = out;
    size_t paid = text.n;
    while (text.n > 0) {
        const char *escape = memchr(text.p, '\\', text.n);
        size_t plain = !escape ? text.n : (size_t)(escape - text.p);
        if (plain > PIECE) { // the rest of it comes next
            plain = PIECE;
            escape = NULL;
        }
        memcpy(to, text.p, plain);
        to += plain;
        text = str_make(text.p + plain, text.n - plain);
        size_t n = 0;
        size_t length = !escape ? 0 : jsontext_escape(text, to, &n);
        to += n;
        text = str_make(text.p + length, text.n - length);
        if (paid - text.n < PIECE)
            continue;
        if (arena_spend(arena, (size_t)2 * PIECE) != ST_OK)
            return ST_NOMEM;
        paid = text.n;
    }
    *written = (size_t)(to - out);
    return ST_OK;
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
    if (!copy)
        return ST_NOMEM;
    size_t n = 0;
    enum status status = decode(arena, text, copy, &n);
    *out = str_make(copy, n);
    return status;
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

bool json_is_whole(double number)
{
    // from there on no double has a fraction
    return fabs(number) >= 0x1p53 || (double)(int64_t)number == number;
}
