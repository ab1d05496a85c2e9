/* SPDX-License-Identifier: GPL-3.0-or-later */
/* utf8.c: UTF-8 as RFC 3629 has it. */
#include "base/utf8.h"

#define EACH_BYTE(b) ((uint64_t)(b)*0x0101010101010101)

/* Nonzero when a byte of WORD, all of them ASCII, is below B. */
static uint64_t has_below(uint64_t word, unsigned char b)
{
    return (word - EACH_BYTE(b)) & ~word & EACH_BYTE(0x80);
}

static uint64_t has_byte(uint64_t word, unsigned char b)
{
    return has_below(word ^ EACH_BYTE(b), 1);
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

/* For eight bytes 0 if all are; else the high bit of one is set which is not,
   the first one in the order of their weight. */
static inline uint64_t not_plain(uint64_t word)
{
    return (word & EACH_BYTE(0x80)) | has_below(word, 0x20) |
           has_byte(word, 0x7f) | has_byte(word, '"') | has_byte(word, '\\');
}

/* How many bytes at P are plain, of eight that are not all; ODD is what
   not_plain says of them. */
static inline size_t plain_bytes(const char *p, uint64_t odd)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    (void)p;
    return (size_t)__builtin_ctzll(odd) / 8;
#else
    size_t i = 0;

    (void)odd;
    while (is_plain((unsigned char)p[i]))
        i++;
    return i;
#endif
}

/* Sixteen bytes, signed: those of other characters than ASCII are below 0. */
typedef signed char lanes __attribute__((vector_size(16)));

/* The same for the sixteen bytes at P: half the instructions for each. */
static bool are_plain_lanes(const char *p)
{
    lanes c;
    uint64_t halves[2];

    memcpy(&c, p, sizeof c);
    c = (c < 0x20) | (c == 0x7f) | (c == '"') | (c == '\\');
    memcpy(halves, &c, sizeof halves);
    return !(halves[0] | halves[1]);
}

static uint32_t half_word(const unsigned char *p)
{
    uint32_t half;

    memcpy(&half, p, sizeof half);
    return half;
}

/* The last eight bytes of S, which is not empty; of a shorter text all, some of
   them twice. A copy of a length that the compiler does not know is a call. */
static uint64_t last_word(struct str s)
{
    const unsigned char *p = (const unsigned char *)s.p;
    uint64_t word;

    if (s.n >= sizeof word)
        memcpy(&word, p + s.n - sizeof word, sizeof word);
    else if (s.n >= sizeof word / 2)
        word = half_word(p) | (uint64_t)half_word(p + s.n - 4) << 32;
    else
        word = (EACH_BYTE(p[0]) & ~(uint64_t)0xffff) | p[s.n / 2] |
               (uint64_t)p[s.n - 1] << 8;
    return word;
}

size_t utf8_plain_run(struct str s)
{
    size_t i = 0;
    uint64_t word;
    uint64_t odd;
    while (i + sizeof(lanes) <= s.n && are_plain_lanes(s.p + i))
        i += sizeof(lanes);
    for (; i + sizeof word <= s.n; i += sizeof word) {
        memcpy(&word, s.p + i, sizeof word);
        odd = not_plain(word);
        if (odd)
            return i + plain_bytes(s.p + i, odd);
    }
    if (i == s.n)
        return i;
    // nearly always what is left is plain, too
    odd = not_plain(last_word(s));
    if (!odd)
        return s.n;
    if (s.n >= sizeof word) // of them, those before I are plain
        return s.n - sizeof word + plain_bytes(s.p + s.n - sizeof word, odd);
    while (is_plain((unsigned char)s.p[i]))
        i++;
    return i;
}

static struct str after(struct str s, size_t n)
{
    return n == 0 ? s : str_make(s.p + n, s.n - n);
}

size_t utf8_decode(struct str s, uint32_t *code)
{
    if (s.n == 0)
        return 0;
    const unsigned char *p = (const unsigned char *)s.p;
    uint32_t c = p[0];
    size_t length = 1;
    uint32_t least = 0; // smallest code that needs this length
    if (c >= 0xf0) {
        length = c < 0xf8 ? 4 : 0;
        least = 0x10000;
        c &= 0x07;
    } else if (c >= 0xe0) {
        length = 3;
        least = 0x800;
        c &= 0x0f;
    } else if (c >= 0xc0) {
        length = 2;
        least = 0x80;
        c &= 0x1f;
    } else if (c >= 0x80) {
        length = 0;
    }
    if (length == 0 || length > s.n)
        return 0;
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (p[i] & 0x3f);
    }
    if (c < least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    if (code)
        *code = c;
    return length;
}

size_t utf8_encode(uint32_t code, char *out)
{
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        out[0] = (char)(0xe0 | code >> 12);
        out[1] = (char)(0x80 | (code >> 6 & 0x3f));
        out[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | code >> 18);
    out[1] = (char)(0x80 | (code >> 12 & 0x3f));
    out[2] = (char)(0x80 | (code >> 6 & 0x3f));
    out[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

/* --- Valid texts --------------------------------------------------------- */

/* An automaton that takes a byte at a time (Per Vognsen, Shift-based DFAs): its
   state is a number of bits by which the entry of the next byte is shifted, and
   the six lowest bits of the result are the next state. So a text takes the
   same time whatever it consists of. Its states: */
enum {
    NEVER = 0,  /* what came is not valid, whatever follows; */
    VALID = 6,  /* it is valid, and complete; */
    ONE = 12,   /* it lacks a byte, */
    TWO = 18,   /* two, */
    THREE = 24, /* three; */
    E0 = 30,    /* two, after a byte with which they could be an overlong */
    ED = 36,    /* form, or a surrogate; */
    F0 = 42,    /* three, with which they could be an overlong form, */
    F4 = 48     /* or above U+10FFFF. */
};

#define MOVE(from, to) ((uint64_t)(to) << (from))
#define LEAD(to) MOVE(VALID, to)
#define REST (MOVE(ONE, VALID) | MOVE(TWO, ONE) | MOVE(THREE, TWO))
#define REST_80 (REST | MOVE(ED, ONE) | MOVE(F4, TWO))
#define REST_90 (REST | MOVE(ED, ONE) | MOVE(F0, TWO))
#define REST_A0 (REST | MOVE(E0, ONE) | MOVE(F0, TWO))
#define TIMES_2(x) x, x
#define TIMES_3(x) x, x, x
#define TIMES_4(x) TIMES_2(x), TIMES_2(x)
#define TIMES_11(x) TIMES_4(x), TIMES_4(x), TIMES_3(x)
#define TIMES_12(x) TIMES_4(x), TIMES_4(x), TIMES_4(x)
#define TIMES_16(x) TIMES_12(x), TIMES_4(x)
#define TIMES_30(x) TIMES_16(x), TIMES_12(x), TIMES_2(x)
#define TIMES_32(x) TIMES_16(x), TIMES_16(x)
#define TIMES_128(x) TIMES_32(x), TIMES_32(x), TIMES_32(x), TIMES_32(x)

static const uint64_t moves[256] = {
    TIMES_128(LEAD(VALID)), // 00
    TIMES_16(REST_80),      // 80
    TIMES_16(REST_90),      // 90
    TIMES_32(REST_A0),      // A0
    TIMES_2(0),             // C0
    TIMES_30(LEAD(ONE)),    // C2
    LEAD(E0),               // E0
    TIMES_12(LEAD(TWO)),    // E1
    LEAD(ED),               // ED
    TIMES_2(LEAD(TWO)),     // EE
    LEAD(F0),               // F0
    TIMES_3(LEAD(THREE)),   // F1
    LEAD(F4),               // F4
    TIMES_11(0)             // F5
};

/* The state after the eight bytes at P. */
static uint64_t move_eight(uint64_t state, const char *p)
{
    for (size_t i = 0; i < 8; i++)
        state = moves[(unsigned char)p[i]] >> (state & 63);
    return state;
}

/* Bytes at the start of S that are valid. */
static size_t valid_run(struct str s)
{
    uint64_t state = VALID;
    size_t complete = 0; // where the state was VALID last

    for (size_t i = 0; i + 8 <= s.n; i += 8) {
        uint64_t word;

        memcpy(&word, s.p + i, sizeof word);
        if ((state & 63) != VALID || (word & EACH_BYTE(0x80)))
            state = move_eight(state, s.p + i);
        if ((state & 63) == NEVER)
            break;
        if ((state & 63) == VALID)
            complete = i + 8;
    }
    for (;;) {
        size_t length = utf8_decode(after(s, complete), NULL);
        if (length == 0)
            return complete;
        complete += length;
    }
}

bool utf8_is_valid(struct str s)
{
    return valid_run(s) == s.n;
}

/* Bytes of the character at the start of S, which is not empty. */
static size_t step(struct str s)
{
    size_t length = utf8_decode(s, NULL);
    return length == 0 ? 1 : length;
}

static bool is_continuation(char c)
{
    return ((unsigned char)c & 0xc0u) == 0x80u;
}

/* In each byte of WORD a 1 when it continues a character, else a 0. */
static uint64_t continuations(uint64_t word)
{
    return word >> 7 & ~(word >> 6) & EACH_BYTE(1);
}

/* The sum of the eight bytes of WORD. */
static size_t sum(uint64_t word)
{
    const uint64_t even = 0x00ff00ff00ff00ff;
    uint64_t pairs = (word & even) + (word >> 8 & even);

    return (size_t)(pairs * 0x0001000100010001 >> 48);
}

/* How many of the 8 bytes of WORD begin a character. */
static size_t starts_in(uint64_t word)
{
    return 8 - sum(continuations(word));
}

size_t utf8_starts(struct str s)
{
    size_t count = s.n;
    size_t i = 0;

    while (i + 8 <= s.n) {
        uint64_t counts = 0; // in each byte, of one in eight of the text
        uint64_t word;
        size_t end = s.n - i < 8 * 255 ? s.n : i + 8 * 255;

        for (; i + sizeof word <= end; i += sizeof word) {
            memcpy(&word, s.p + i, sizeof word);
            counts += continuations(word);
        }
        count -= sum(counts);
    }
    for (; i < s.n; i++)
        count -= is_continuation(s.p[i]);
    return count;
}

size_t utf8_count(struct str s)
{
    size_t count = 0;
    while (s.n > 0) {
        size_t n = valid_run(s);
        count += utf8_starts(str_make(s.p, n));
        s = after(s, n);
        if (s.n > 0) {
            s = after(s, 1);
            count++;
        }
    }
    return count;
}

/* Bytes that are counted at once. */
#define BLOCK ((size_t)8 * 255)

/* Bytes of the first *CHARS characters of S, which is valid, or all of it.
 *CHARS: how many are missing then. */
static size_t skip_valid(struct str s, size_t *chars)
{
    size_t left = *chars;
    size_t i = 0;
    uint64_t word;

    // blocks that are surely skipped whole, by far the fastest
    for (; left >= BLOCK && i + BLOCK <= s.n; i += BLOCK)
        left -= utf8_starts(str_make(s.p + i, BLOCK));
    for (; i + sizeof word <= s.n; i += sizeof word) {
        memcpy(&word, s.p + i, sizeof word);
        if (starts_in(word) > left)
            break;
        left -= starts_in(word);
    }
    for (; i < s.n; i++) {
        bool starts = !is_continuation(s.p[i]);

        if (starts && left == 0)
            break;
        left -= starts;
    }
    *chars = left;
    return i;
}

struct str utf8_valid_head(struct str s, size_t chars)
{
    return str_make(s.p, skip_valid(s, &chars));
}

/* Bytes that are looked at to find some characters. */
#define WINDOW (64u * 1024)

static size_t window_for(size_t chars, size_t n)
{
    size_t bytes = chars < WINDOW / 4 ? 4 * chars : WINDOW;

    return bytes < n ? bytes : n;
}

struct str utf8_head(struct str s, size_t chars)
{
    size_t n = 0;
    while (chars > 0 && n < s.n) {
        struct str rest = after(s, n);
        struct str window = str_make(rest.p, window_for(chars, rest.n));
        window.n = valid_run(window);
        n += skip_valid(window, &chars);
        if (chars > 0 && n < s.n) {
            n += step(after(s, n));
            chars--;
        }
    }
    return str_make(s.p, n);
}

/* Where the character begins that the byte AT of S belongs to. No valid
   sequence contains the start of another one, and none has five bytes. */
static size_t start_of(struct str s, size_t at)
{
    size_t start = at;

    while (start > 0 && at - start < 3 && is_continuation(s.p[start]))
        start--;
    return step(after(s, start)) > at - start ? start : at;
}

struct str utf8_tail(struct str s, size_t chars)
{
    size_t n = s.n;
    while (chars > 0 && n > 0) {
        size_t at = start_of(s, n - window_for(chars, n));
        struct str window = str_make(s.p + at, n - at);
        size_t count = utf8_count(window);
        n = at;
        if (count > chars)
            n += utf8_head(window, count - chars).n;
        chars -= count < chars ? count : chars;
    }
    return after(s, n);
}

void utf8_append_valid(struct buf *buf, struct str s)
{
    while (s.n > 0) {
        size_t n = valid_run(s);
        buf_append(buf, s.p, n);
        s = after(s, n);
        if (s.n > 0) {
            buf_str(buf, STR("\xef\xbf\xbd"));
            s = after(s, 1);
        }
    }
}

/* Characters that a terminal acts on, or shows as nothing: all that Unicode
   calls Default_Ignorable_Code_Point (DerivedCoreProperties.txt), and a few
   more. */
static bool is_invisible(uint32_t code)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x00, 0x1f},       // C0
        {0x7f, 0x9f},       // DEL, C1
        {0xad, 0xad},       // soft hyphen
        {0x34f, 0x34f},     // combining grapheme joiner
        {0x61c, 0x61c},     // Arabic letter mark
        {0x115f, 0x1160},   // Hangul fillers
        {0x17b4, 0x17b5},   // Khmer vowels that are not shown
        {0x180b, 0x180f},   // Mongolian selectors, vowel separator
        {0x200b, 0x200f},   // zero width; left-to-right, right-to-left mark
        {0x2028, 0x202e},   // line, paragraph separator; bidi embeddings
        {0x2060, 0x206f},   // joiner, invisible operators; bidi isolates
        {0x2800, 0x2800},   // Braille pattern without dots
        {0x3164, 0x3164},   // Hangul filler
        {0xfe00, 0xfe0f},   // variation selectors
        {0xfeff, 0xfeff},   // byte order mark
        {0xffa0, 0xffa0},   // halfwidth Hangul filler
        {0xfff0, 0xfffb},   // reserved; annotations
        {0x13430, 0x1343f}, // formats of hieroglyphs
        {0x1bca0, 0x1bca3}, // formats of shorthand
        {0x1d159, 0x1d159}, // musical notehead that is not shown
        {0x1d173, 0x1d17a}, // formats of music
        {0xe0000, 0xe0fff}, // tags, more variation selectors
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    return false;
}

/* Appends a backslash, LETTER and DIGITS hexadecimal digits of CODE. */
static void append_hex(struct buf *buf, char letter, uint32_t code, int digits)
{
    char text[10] = {'\\', letter};

    for (int i = digits + 1; i > 1; i--, code >>= 4)
        text[i] = "0123456789abcdef"[code & 0xfu];
    buf_append(buf, text, 2 + (size_t)digits);
}

static void append_escape(struct buf *buf, uint32_t code)
{
    switch (code) {
    case '\n':
        buf_str(buf, STR("\\n"));
        break;
    case '\r':
        buf_str(buf, STR("\\r"));
        break;
    case '\t':
        buf_str(buf, STR("\\t"));
        break;
    default:
        if (code < 0x80)
            append_hex(buf, 'x', code, 2);
        else if (code > 0xffff)
            append_hex(buf, 'U', code, 8);
        else
            append_hex(buf, 'u', code, 4);
    }
}

void utf8_append_visible(struct buf *buf, struct str s)
{
    size_t plain = 0; // bytes at the start of s that need no escape
    while ((plain += utf8_plain_run(after(s, plain))) < s.n) {
        uint32_t code;
        size_t length = utf8_decode(after(s, plain), &code);
        if (length > 0 && !is_invisible(code)) {
            plain += length;
            continue;
        }
        buf_append(buf, s.p, plain);
        s = after(s, plain);
        plain = 0;
        if (length > 0) {
            append_escape(buf, code);
        } else {
            append_hex(buf, 'x', (unsigned char)*s.p, 2);
            length = 1;
        }
        s = after(s, length);
    }
    buf_append(buf, s.p, plain);
}

void utf8_append_around(struct buf *buf, struct str line, size_t at)
{
    struct str head = utf8_head(line, UTF8_AROUND_CHARS);

    if (at + UTF8_AROUND_BEFORE > head.n && head.n < line.n) {
        struct str before = utf8_tail(str_make(line.p, at), UTF8_AROUND_BEFORE);
        size_t from = at - before.n;

        if (from > 0)
            buf_str(buf, STR("…"));
        line = str_make(line.p + from, line.n - from);
        head = utf8_head(line, UTF8_AROUND_CHARS);
    }
    utf8_append_visible(buf, head);
    if (head.n < line.n)
        buf_str(buf, STR("…"));
}
