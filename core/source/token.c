/* SPDX-License-Identifier: GPL-3.0-or-later */
/* token.c: see token.h. */
#include "source/token.h"

#include "base/utf8.h"

/* Columns between the tab stops of an editor. */
#define TAB 8

/* Bytes of text between two looks at the strand. */
#define WORK 4096

/* The byte order mark, which ECL treats as a blank. */
#define MARK "\xEF\xBB\xBF"

int token_spelling_next(struct token_spelling *s, bool *plain)
{
    while (s->at < s->text.n) {
        char c = s->text.p[s->at++];
        if (c == '|') {
            s->bars = !s->bars;
            continue;
        }
        *plain = !s->bars && c != '\\';
        if (c == '\\') {
            if (s->at == s->text.n)
                return -1;
            c = s->text.p[s->at++];
        }
        if (*plain && c >= 'a' && c <= 'z')
            c = (char)(c - 'a' + 'A');
        return (unsigned char)c;
    }
    return -1;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* What each byte may be outside of strings: a part of a word when it is in
   none. */
enum { ORDINARY, BLANK, MARK_MAYBE, ENDS_WORD };

static const unsigned char kinds[256] = {
    [' '] = BLANK,     ['\n'] = BLANK,     ['\t'] = BLANK,
    ['\r'] = BLANK,    ['\f'] = BLANK,     [0xEF] = MARK_MAYBE,
    ['"'] = ENDS_WORD, ['\''] = ENDS_WORD, ['('] = ENDS_WORD,
    [')'] = ENDS_WORD, [','] = ENDS_WORD,  [';'] = ENDS_WORD,
    ['`'] = ENDS_WORD,
};

/* Bytes of the blank at I, or 0. */
static size_t blank_at(struct str text, size_t i)
{
    switch (kinds[(unsigned char)text.p[i]]) {
    case BLANK:
        return 1;
    case MARK_MAYBE:
        return str_starts(str_make(text.p + i, text.n - i), STR(MARK)) ? 3 : 0;
    default:
        return 0;
    }
}

/* Whether the character at I ends a word. */
static bool ends_word(struct str text, size_t i)
{
    unsigned char kind = kinds[(unsigned char)text.p[i]];

    return kind != ORDINARY && (kind != MARK_MAYBE || blank_at(text, i) > 0);
}

/* Counts lines and columns up to the byte AT. */
static void measure(struct tokens *t, size_t at)
{
    for (size_t told = t->measured; t->measured < at; t->measured++) {
        unsigned char c = (unsigned char)t->text.p[t->measured];
        strand_pace(&told, t->measured);
        if (c == '\n') {
            t->line++;
            t->column = 0;
            t->indent = 0;
            t->blank = true;
        } else if (c == '\t') {
            t->column++;
            t->indent += TAB - t->indent % TAB;
        } else if ((c & 0xC0) != 0x80) {
            t->column++;
            t->indent++;
        }
    }
}

/* The end of the line that contains AT. */
static size_t skip_line(struct str text, size_t at)
{
    const char *end = memchr(text.p + at, '\n', text.n - at);
    return end ? (size_t)(end - text.p) : text.n;
}

/* The end of the comment that begins at AT; SIZE_MAX when it does not end. */
static size_t skip_comment(struct str text, size_t at)
{
    size_t depth = 0;
    for (size_t i = at; i + 1 < text.n; i++) {
        strand_pace(&at, i);
        if (text.p[i] == '#' && text.p[i + 1] == '|') {
            depth++;
            i++;
        } else if (text.p[i] == '|' && text.p[i + 1] == '#') {
            i++;
            if (--depth == 0)
                return i + 1;
        }
    }
    return SIZE_MAX;
}

/* Whether a comment begins at AT; *END is its end. For ECL, #! begins a comment
   that ends with the line. */
static bool comment_at(struct str text, size_t at, size_t *end)
{
    char next = at + 1 < text.n ? text.p[at + 1] : 0;
    if (text.p[at] == ';' || (text.p[at] == '#' && next == '!'))
        *end = skip_line(text, at);
    else if (text.p[at] == '#' && next == '|')
        *end = skip_comment(text, at);
    else
        return false;
    return true;
}

/* Skips blanks and comments. False when a comment does not end; then T is at
   its start. */
static bool skip_blank(struct tokens *t)
{
    for (size_t told = t->at; t->at < t->text.n;) {
        strand_pace(&told, t->at);
        size_t blank = blank_at(t->text, t->at);
        size_t end = t->at + blank;
        if (blank == 0 && !comment_at(t->text, t->at, &end))
            return true;
        if (end == SIZE_MAX)
            return false;
        t->at = end;
        if (blank == 0) {
            measure(t, end);
            t->blank = false;
        }
    }
    return true;
}

/* Extends the word TOKEN to its end. */
static void scan_word(struct str text, struct token *token)
{
    size_t i = token->end;
    size_t told = i;
    while (i < text.n && !ends_word(text, i)) {
        char c = text.p[i++];
        strand_pace(&told, i);
        if (c == '\\' && i == text.n) {
            token->fault = TOKEN_OPEN_ESCAPE;
        } else if (c == '\\') {
            i++;
        } else if (c == '|') {
            for (; i < text.n && text.p[i] != '|'; strand_pace(&told, i))
                i += text.p[i] == '\\' ? 2 : 1;
            if (i >= text.n)
                token->fault = TOKEN_OPEN_SYMBOL;
            i++;
        }
    }
    token->end = i < text.n ? i : text.n;
}

static void scan_string(struct str text, struct token *token)
{
    size_t i = token->end;
    size_t told = i;
    for (; i < text.n && text.p[i] != '"'; strand_pace(&told, i))
        i += text.p[i] == '\\' ? 2 : 1;
    if (i >= text.n)
        token->fault = TOKEN_OPEN_STRING;
    token->end = i < text.n ? i + 1 : text.n;
}

/* The colons of a word, without those that are escaped. */
struct colons {
    size_t count;
    size_t first;
    size_t last;
    bool dots; /* the rest consists of dots that are not escaped */
};

static struct colons find_colons(struct str word)
{
    struct colons colons = {.dots = word.n > 0};
    bool bars = false;
    for (size_t i = 0, told = 0; i < word.n; i++, strand_pace(&told, i)) {
        char c = word.p[i];
        if (c != '.')
            colons.dots = false;
        if (c == '|') {
            bars = !bars;
        } else if (c == '\\') {
            i++;
        } else if (c == ':' && !bars) {
            if (colons.count++ == 0)
                colons.first = i;
            colons.last = i;
        }
    }
    return colons;
}

/* Checks a symbol or number: is it a lone dot, are colons where none may be? */
static void check_word(struct str word, struct token *token)
{
    struct colons colons = find_colons(word);
    if (colons.dots && word.n == 1)
        token->mark = '.';
    else if (colons.dots)
        token->fault = TOKEN_DOTS;
    else if (colons.count > 0 &&
             (colons.last + 1 == word.n || colons.count > 2 ||
              colons.last - colons.first + 1 != colons.count ||
              (colons.count == 2 && colons.first == 0)))
        token->fault = TOKEN_MARKER;
}

/* Whether WORD is an integer or ratio in RADIX. */
static bool is_rational(struct str word, int radix)
{
    size_t digits = 0;
    bool ratio = false;
    for (size_t i = 0, told = 0; i < word.n; i++, strand_pace(&told, i)) {
        char c = lower(word.p[i]);
        int value = radix;
        if (is_digit(c))
            value = c - '0';
        else if (c >= 'a' && c <= 'z')
            value = c - 'a' + 10;
        if (value < radix) {
            digits++;
        } else if (c == '/' && !ratio && digits > 0) {
            ratio = true;
            digits = 0;
        } else if (i > 0 || (c != '+' && c != '-')) {
            return false;
        }
    }
    return digits > 0;
}

static bool is_hex(struct str word)
{
    uint32_t code = 0;
    for (size_t i = 0, told = 0; i < word.n; i++, strand_pace(&told, i)) {
        if (!is_rational(str_make(word.p + i, 1), 16) || code > 0x10FFFF)
            return false;
        code = code * 16 + (uint32_t)(is_digit(word.p[i])
                                          ? word.p[i] - '0'
                                          : lower(word.p[i]) - 'a' + 10);
    }
    return word.n > 0 && code <= 0x10FFFF;
}

static bool is_bits(struct str word)
{
    for (size_t i = 0, told = 0; i < word.n; i++, strand_pace(&told, i))
        if (word.p[i] != '0' && word.p[i] != '1')
            return false;
    return true;
}

/* The names of characters without an underscore that ECL knows. Names with one
   are Unicode's, and are not checked. */
static const char *const character_names[] = {
    "ack",     "backspace", "bel",  "bell", "bs",      "can",       "cr",
    "dc1",     "dc2",       "dc3",  "dc4",  "del",     "delete",    "dle",
    "em",      "enq",       "eot",  "esc",  "etb",     "etx",       "escape",
    "ff",      "fs",        "gs",   "ht",   "lf",      "linefeed",  "nak",
    "newline", "nul",       "null", "page", "return",  "rs",        "rubout",
    "si",      "so",        "soh",  "sp",   "space",   "stx",       "sub",
    "syn",     "tab",       "us",   "vt",   "cedilla", "diaeresis", "macron"};

/* Whether the WORD after #\ is one character or the name of one. */
static bool is_character(struct str word)
{
    struct str bare = word;
    if (utf8_count(word) == 1 || memchr(word.p, '_', word.n) ||
        memchr(word.p, '\\', word.n))
        return true;
    if (lower(bare.p[0]) == 'u') {
        size_t skip = bare.p[1] == '+' ? 2 : 1;
        if (is_hex(str_make(bare.p + skip, bare.n - skip)))
            return true;
    }
    for (size_t i = 0; i < sizeof character_names / sizeof *character_names;
         i++)
        if (token_same_name(word, str_from(character_names[i])))
            return true;
    return false;
}

/* #\ and the character or its name. */
static void scan_character(struct str text, struct token *token)
{
    size_t start = token->end;
    token->kind = TOKEN_ATOM;
    token->mark = '\\';
    if (start == text.n) {
        token->fault = TOKEN_OPEN_ESCAPE;
        return;
    }
    size_t first = utf8_decode(str_make(text.p + start, text.n - start), NULL);
    token->end += first > 0 ? first : 1;
    scan_word(text, token);
    if (token->fault == TOKEN_FINE &&
        !is_character(str_make(text.p + start, token->end - start)))
        token->fault = TOKEN_CHARACTER;
}

/* The word after #b #o #x #r #* or #:, whose number is NUMBER or -1. */
static void scan_special(struct str text, int number, struct token *token)
{
    size_t start = token->end;
    int radix = 2;
    token->kind = TOKEN_ATOM;
    scan_word(text, token);
    struct str word = str_make(text.p + start, token->end - start);
    if (token->fault != TOKEN_FINE)
        return;
    switch (token->mark) {
    case '*':
        if (!is_bits(word))
            token->fault = TOKEN_BITS;
        return;
    case ':':
        if (find_colons(word).count > 0)
            token->fault = TOKEN_MARKER;
        return;
    case 'o':
        radix = 8;
        break;
    case 'x':
        radix = 16;
        break;
    case 'r':
        radix = number;
        break;
    default:
        break;
    }
    if (number < 0 && token->mark == 'r')
        token->fault = TOKEN_NUMBER_NEEDED;
    else if (radix < 2 || radix > 36)
        token->fault = TOKEN_NO_RADIX;
    else if (!is_rational(word, radix))
        token->fault = TOKEN_DIGITS;
}

/* What follows # and NUMBER (-1: none); the token ends after its mark. */
static void scan_dispatched(struct str text, int number, struct token *token)
{
    switch (token->mark) {
    case '(':
        token->kind = TOKEN_OPEN;
        token->mark = 'v';
        return;
    case '\\':
        scan_character(text, token);
        return;
    case 'b':
    case 'o':
    case 'x':
    case 'r':
    case '*':
    case ':':
        scan_special(text, number, token);
        return;
    case '+':
    case '-':
        token->kind = TOKEN_PREFIX;
        if (number >= 0)
            token->fault = TOKEN_NO_NUMBER;
        return;
    case '=':
    case '#':
        token->kind = token->mark == '=' ? TOKEN_PREFIX : TOKEN_ATOM;
        if (number < 0)
            token->fault = TOKEN_NUMBER_NEEDED;
        return;
    case '\'':
    case '.':
    case 'a':
    case 'c':
    case 'p':
    case 's':
    case 'y':
    case '$':
        token->kind = TOKEN_PREFIX;
        return;
    case '<':
        token->fault = TOKEN_UNREADABLE;
        scan_word(text, token);
        return;
    default:
        token->fault = TOKEN_NO_DISPATCH;
    }
}

/* # and what follows it. */
static void scan_sharp(struct str text, struct token *token)
{
    size_t i = token->start + 1;
    int number = -1;
    size_t told = i;
    for (; i < text.n && is_digit(text.p[i]); i++, strand_pace(&told, i)) {
        int digit = text.p[i] - '0';
        number = number < 0 ? digit : number * 10 + digit;
        if (number > 1000000)
            number = 1000000; // too large for everybody who uses it
    }
    token->kind = TOKEN_ATOM;
    token->mark = '#';
    token->end = i;
    if (i == text.n) {
        token->fault = TOKEN_OPEN_DISPATCH;
    } else if (text.p[i] == ')' || blank_at(text, i) > 0) {
        token->fault = TOKEN_BARE_SHARP;
    } else {
        size_t n = utf8_decode(str_make(text.p + i, text.n - i), NULL);
        token->mark = lower(text.p[i]);
        token->end = i + (n > 0 ? n : 1);
        scan_dispatched(text, number, token);
    }
}

/* The token that begins at token->start. */
static void scan(struct str text, struct token *token)
{
    char c = text.p[token->start];
    token->end = token->start + 1;
    token->mark = c;
    switch (c) {
    case '(':
        token->kind = TOKEN_OPEN;
        break;
    case ')':
        token->kind = TOKEN_CLOSE;
        break;
    case ',':
        if (token->end < text.n &&
            (text.p[token->end] == '@' || text.p[token->end] == '.'))
            token->end++;
        token->kind = TOKEN_PREFIX;
        break;
    case '\'':
    case '`':
        token->kind = TOKEN_PREFIX;
        break;
    case '"':
        token->kind = TOKEN_ATOM;
        scan_string(text, token);
        break;
    case '#':
        scan_sharp(text, token);
        break;
    default:
        token->kind = TOKEN_ATOM;
        token->mark = TOKEN_WORD;
        token->end = token->start;
        scan_word(text, token);
        if (token->fault == TOKEN_FINE)
            check_word(
                str_make(text.p + token->start, token->end - token->start),
                token);
    }
}

void tokens_init(struct tokens *tokens, struct str text)
{
    *tokens = (struct tokens){.text = text, .line = 1, .blank = true};
}

void tokens_resume(struct tokens *tokens, struct str text, size_t at,
                   uint32_t line, uint32_t column, uint32_t indent)
{
    *tokens = (struct tokens){.text = text,
                              .at = at,
                              .measured = at,
                              .line = line,
                              .column = column,
                              .indent = indent};
}

/* Tells the strand, now and then, of the N bytes that have been scanned: some
   of them are looked at many times. */
static void spend(struct tokens *t, size_t n)
{
    for (t->work += n + 1; t->work >= WORK; t->work -= WORK)
        if (!strand_spend(t->strand, (size_t)8 * WORK))
            t->at = t->text.n;
}

struct token tokens_next(struct tokens *t)
{
    struct token token = {.kind = TOKEN_END};
    size_t from = t->at;
    bool ended = skip_blank(t);
    measure(t, t->at);
    token.start = t->at;
    token.end = t->at;
    token.line = t->line;
    token.column = t->column;
    token.indent = t->indent;
    token.first = t->blank;
    if (!ended) {
        token.kind = TOKEN_ATOM;
        token.mark = '|';
        token.fault = TOKEN_OPEN_COMMENT;
        token.end = t->text.n;
    } else if (t->at < t->text.n) {
        scan(t->text, &token);
    }
    t->at = token.end;
    measure(t, token.end);
    t->blank = t->blank && token.kind == TOKEN_END;
    if (t->strand)
        spend(t, t->at - from);
    return token;
}

struct str tokens_text(const struct tokens *tokens, struct token token)
{
    return str_make(tokens->text.p + token.start, token.end - token.start);
}

struct token_name token_split(struct str word)
{
    if (str_starts(word, STR("#:")))
        return (struct token_name){STR(""), str_make(word.p + 2, word.n - 2)};
    struct colons colons = find_colons(word);
    if (colons.count == 0)
        return (struct token_name){STR(""), word};
    return (struct token_name){
        str_make(word.p, colons.first),
        str_make(word.p + colons.last + 1, word.n - colons.last - 1)};
}

bool token_same_name(struct str a, struct str b)
{
    struct token_spelling left = {.text = a};
    struct token_spelling right = {.text = b};
    bool plain;
    int c;
    do {
        c = token_spelling_next(&left, &plain);
        if (c != token_spelling_next(&right, &plain))
            return false;
    } while (c >= 0);
    return true;
}

bool token_string_names(struct str string, struct str word)
{
    struct token_spelling spelled = {.text = word};
    bool plain;
    for (size_t i = 1; i + 1 < string.n; i++) {
        if (string.p[i] == '\\')
            i++;
        int c = token_spelling_next(&spelled, &plain);
        if (c < 0 || lower(string.p[i]) != lower((char)c))
            return false;
    }
    return token_spelling_next(&spelled, &plain) < 0;
}
