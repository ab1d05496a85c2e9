/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of utf8.c. */
#include "base/utf8.h"
#include "support/check.h"

static struct buf buf;

static int release(void **state)
{
    (void)state;
    buf_release(&buf);
    return 0;
}

static const struct {
    struct str bytes;
    uint32_t code; /* of the sequence at the start, when there is one */
    size_t length; /* 0: invalid */
} sequences[] = {
    {STR_INIT("\0"), 0, 1},
    {STR_INIT("a"), 'a', 1},
    {STR_INIT("\x7f"), 0x7f, 1},
    {STR_INIT("\xc2\x80"), 0x80, 2},
    {STR_INIT("\xc3\xa1x"), 0xe1, 2},
    {STR_INIT("\xdf\xbf"), 0x7ff, 2},
    {STR_INIT("\xe0\xa0\x80"), 0x800, 3},
    {STR_INIT("\xed\x9f\xbf"), 0xd7ff, 3},
    {STR_INIT("\xee\x80\x80"), 0xe000, 3},
    {STR_INIT("\xef\xbf\xbf"), 0xffff, 3},
    {STR_INIT("\xf0\x90\x80\x80"), 0x10000, 4},
    {STR_INIT("\xf0\x9f\x98\x80"), 0x1f600, 4},
    {STR_INIT("\xf4\x8f\xbf\xbf"), 0x10ffff, 4},
    {STR_INIT(""), 0, 0},
    {STR_INIT("\x80"), 0, 0},
    {STR_INIT("\xbf\x80"), 0, 0},
    {STR_INIT("\xc0\x80"), 0, 0},         // overlong NUL
    {STR_INIT("\xc1\xbf"), 0, 0},         // overlong
    {STR_INIT("\xe0\x9f\xbf"), 0, 0},     // overlong
    {STR_INIT("\xf0\x8f\xbf\xbf"), 0, 0}, // overlong
    {STR_INIT("\xed\xa0\x80"), 0, 0},     // surrogate
    {STR_INIT("\xed\xbf\xbf"), 0, 0},     // surrogate
    {STR_INIT("\xf4\x90\x80\x80"), 0, 0}, // above U+10FFFF
    {STR_INIT("\xf5\x80\x80\x80"), 0, 0},
    {STR_INIT("\xf8\x88\x80\x80\x80"), 0, 0},
    {STR_INIT("\xfe"), 0, 0},
    {STR_INIT("\xff"), 0, 0},
    {STR_INIT("\xc3"), 0, 0}, // cut short
    {STR_INIT("\xe2\x82"), 0, 0},
    {STR_INIT("\xf0\x9f\x98"), 0, 0},
    {STR_INIT("\xc3\x28"), 0, 0}, // no continuation
    {STR_INIT("\xe2\x28\xa1"), 0, 0},
    {STR_INIT("\xe2\x82\x28"), 0, 0},
    {STR_INIT("\xf0\x9f\x98\x28"), 0, 0},
};

static void utf8_decodes_what_rfc_3629_allows(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(sequences); i++) {
        uint32_t code = 12345;
        assert_int_equal(utf8_decode(sequences[i].bytes, &code),
                         sequences[i].length);
        assert_int_equal(utf8_decode(sequences[i].bytes, NULL),
                         sequences[i].length);
        uint32_t wanted = sequences[i].length > 0 ? sequences[i].code : 12345;
        assert_int_equal(code, wanted);
    }
    assert_int_equal(utf8_decode(str_make(NULL, 0), NULL), 0);
}

static void utf8_decodes_what_it_encodes(void **state)
{
    (void)state;
    for (uint32_t code = 0; code <= 0x10ffff; code++) {
        char bytes[4];
        size_t n = utf8_encode(code, bytes);
        bool surrogate = code >= 0xd800 && code <= 0xdfff;
        uint32_t back = code;
        assert_int_equal(utf8_decode(str_make(bytes, n), &back),
                         surrogate ? 0 : n);
        assert_int_equal(back, code);
    }
}

static void utf8_judges_texts(void **state)
{
    (void)state;
    assert_true(utf8_is_valid(str_make(NULL, 0)));
    assert_true(utf8_is_valid(STR("plain text, longer than eight bytes\n")));
    assert_true(utf8_is_valid(STR("caf\xc3\xa9 \xf0\x9f\x98\x80 \0 end")));
    assert_false(utf8_is_valid(STR("caf\xe9, in Latin-1")));
    assert_false(utf8_is_valid(STR("0123456789abcdef\xc3")));
    assert_false(utf8_is_valid(STR("\xed\xa0\xbd\xed\xb8\x80")));
}

static void utf8_counts_characters(void **state)
{
    (void)state;
    assert_int_equal(utf8_count(str_make(NULL, 0)), 0);
    assert_int_equal(utf8_count(STR("0123456789")), 10);
    assert_int_equal(utf8_count(STR("\xc3\xa9t\xc3\xa9 \xf0\x9f\x98\x80")), 5);
    assert_int_equal(utf8_count(STR("a\xff\xc3z")), 4);
    assert_int_equal(utf8_count(STR("\xf0\x9f\x98")), 3);
}

static void utf8_cuts_between_characters(void **state)
{
    (void)state;
    const struct str s = STR("a\xc3\xa9\xff\xf0\x9f\x98\x80z");
    assert_text(utf8_head(s, 0), "");
    assert_text(utf8_head(s, 2), "a\xc3\xa9");
    assert_text(utf8_head(s, 4), "a\xc3\xa9\xff\xf0\x9f\x98\x80");
    assert_text(utf8_head(s, 99), "a\xc3\xa9\xff\xf0\x9f\x98\x80z");
    assert_text(utf8_tail(s, 0), "");
    assert_text(utf8_tail(s, 1), "z");
    assert_text(utf8_tail(s, 2), "\xf0\x9f\x98\x80z");
    assert_text(utf8_tail(s, 4), "\xc3\xa9\xff\xf0\x9f\x98\x80z");
    assert_text(utf8_tail(s, 99), "a\xc3\xa9\xff\xf0\x9f\x98\x80z");
    assert_int_equal(utf8_tail(str_make(NULL, 0), 3).n, 0);
}

/* Head and tail agree on where characters are, in every mixture. */
static void utf8_head_and_tail_meet(void **state)
{
    (void)state;
    static const char alphabet[] = "a\x80\xbf\xc3\xe2\xed\xf0\xff";
    const size_t letters = sizeof alphabet - 1;
    for (size_t word = 0; word < 8 * 8 * 8 * 8 * 8; word++) {
        char bytes[5];
        for (size_t i = 0, rest = word; i < 5; i++, rest /= letters)
            bytes[i] = alphabet[rest % letters];
        struct str s = str_make(bytes, 5);
        size_t count = utf8_count(s);
        for (size_t n = 0; n <= count; n++)
            assert_int_equal(utf8_head(s, n).n + utf8_tail(s, count - n).n, 5);
    }
}

static void utf8_replaces_invalid_bytes(void **state)
{
    (void)state;
    utf8_append_valid(&buf, str_make(NULL, 0));
    utf8_append_valid(&buf, STR("ok \xc3\xa9|\xff\xfe|\xe2\x82|\xed\xa0\x80|"));
    assert_memory(!buf_failed(&buf));
    assert_text(buf_view(&buf),
                "ok \xc3\xa9|\xef\xbf\xbd\xef\xbf\xbd|\xef\xbf\xbd\xef\xbf\xbd|"
                "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd|");
}

static void utf8_shows_invisible_characters(void **state)
{
    (void)state;
    static const struct {
        struct str in, out;
    } cases[] = {
        {STR_INIT("plain \"quoted\" \\ \xc3\xa9"),
         STR_INIT("plain \"quoted\" \\ \xc3\xa9")},
        {STR_INIT("a\nb\r\nc\td"), STR_INIT("a\\nb\\r\\nc\\td")},
        {STR_INIT("\0\x1b[31m\x7f"), STR_INIT("\\x00\\x1b[31m\\x7f")},
        {STR_INIT("\xc2\x85|\xc2\x9b"), STR_INIT("\\u0085|\\u009b")},
        {STR_INIT("\xe2\x80\xa8\xe2\x80\xa9"), STR_INIT("\\u2028\\u2029")},
        {STR_INIT("\xe2\x80\xae\xe2\x81\xa6"), STR_INIT("\\u202e\\u2066")},
        {STR_INIT("\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f"),
         STR_INIT("\\u061c\\u200e\\u200f")},
        {STR_INIT("\xc2\xad\xe2\x80\x8b\xe2\x81\xa0\xef\xbb\xbf"),
         STR_INIT("\\u00ad\\u200b\\u2060\\ufeff")},
        {STR_INIT("\xf3\xa0\x81\x81\xf0\x9f\x98\x80"),
         STR_INIT("\\U000e0041\xf0\x9f\x98\x80")},
        {STR_INIT("\xff|\xc3|\xed\xa0\x80"),
         STR_INIT("\\xff|\\xc3|\\xed\\xa0\\x80")},
        {STR_INIT(""), STR_INIT("")},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        buf_reset(&buf);
        utf8_append_visible(&buf, cases[i].in);
        assert_memory(!buf_failed(&buf));
        assert_true(str_eq(buf_view(&buf), cases[i].out));
    }
}

/* Whether CODE is shown as an escape. */
static bool is_escaped(uint32_t code)
{
    char text[4];
    buf_reset(&buf);
    utf8_append_visible(&buf, str_make(text, utf8_encode(code, text)));
    assert_memory(!buf_failed(&buf));
    return buf.n > 0 && buf.p[0] == '\\' && code != '\\';
}

/* Default_Ignorable_Code_Point of Unicode 14 to 16, first and last code. */
static void utf8_shows_all_that_unicode_ignores(void **state)
{
    static const uint32_t ignored[][2] = {
        {0xad, 0xad},       {0x34f, 0x34f},     {0x61c, 0x61c},
        {0x115f, 0x1160},   {0x17b4, 0x17b5},   {0x180b, 0x180f},
        {0x200b, 0x200f},   {0x202a, 0x202e},   {0x2060, 0x206f},
        {0x3164, 0x3164},   {0xfe00, 0xfe0f},   {0xfeff, 0xfeff},
        {0xffa0, 0xffa0},   {0xfff0, 0xfff8},   {0x1bca0, 0x1bca3},
        {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
    };
    static const uint32_t shown[] = {
        ' ',    0xa0,   0xac,   0xae,   0x34e,  0x350,   0x61b,   0x115e,
        0x1161, 0x17b3, 0x17b6, 0x180a, 0x1810, 0x200a,  0x2010,  0x202f,
        0x205f, 0x2070, 0x2801, 0x3163, 0x3165, 0xfdff,  0xfe10,  0xfefe,
        0xff00, 0xff9f, 0xffa1, 0xfffc, 0xfffd, 0x1bc9f, 0x1d172, 0x1f600};
    (void)state;
    for (size_t i = 0; i < COUNT(ignored); i++)
        for (uint32_t code = ignored[i][0]; code <= ignored[i][1]; code++)
            assert_true(is_escaped(code));
    assert_true(is_escaped(0x2800)); // blank, though not ignored
    for (size_t i = 0; i < COUNT(shown); i++)
        assert_false(is_escaped(shown[i]));
}

/* utf8_plain_run takes sixteen or eight bytes at a time, so every byte is tried
   in every place. */
static void utf8_finds_the_end_of_plain_text(void **state)
{
    (void)state;
    char text[44];
    for (int byte = 0; byte < 256; byte++) {
        bool plain = byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
        for (size_t at = 0; at < sizeof text; at++) {
            memset(text, ' ', sizeof text);
            memset(text, '~', sizeof text / 2);
            text[at] = (char)byte;
            // each length: the last bytes may be looked at once more
            for (size_t n = at + 1; n <= sizeof text; n++)
                assert_int_equal(utf8_plain_run(str_make(text, n)),
                                 plain ? n : at);
        }
    }
    assert_int_equal(utf8_plain_run(str_make(NULL, 0)), 0);
}

/* --- The fast ways agree with the plain one ------------------------------- */

static size_t step(struct str s)
{
    size_t length = utf8_decode(s, NULL);
    return length == 0 ? 1 : length;
}

static size_t plain_skip(struct str s, size_t chars)
{
    size_t n = 0;
    for (; chars > 0 && n < s.n; chars--)
        n += step(str_make(s.p + n, s.n - n));
    return n;
}

static void compare(struct str s, size_t some)
{
    size_t count = 0;
    size_t starts = 0;
    bool valid = true;

    for (size_t n = 0; n < s.n; count++) {
        struct str rest = str_make(s.p + n, s.n - n);
        valid = valid && utf8_decode(rest, NULL) > 0;
        n += step(rest);
    }
    for (size_t i = 0; i < s.n; i++)
        starts += ((unsigned char)s.p[i] & 0xc0) != 0x80;
    assert_int_equal(utf8_is_valid(s), valid);
    assert_int_equal(utf8_count(s), count);
    assert_int_equal(utf8_starts(s), starts);
    assert_int_equal(utf8_head(s, some).n, plain_skip(s, some));
    size_t tail = some < count ? plain_skip(s, count - some) : 0;
    assert_int_equal(utf8_tail(s, some).n, s.n - tail);
}

/* Fills TEXT with N pieces; the first KINDS of these. */
static size_t fill(char *text, size_t n, unsigned kinds, unsigned *seed)
{
    static const struct str pieces[] = {
        STR_INIT("a"), STR_INIT("abcdefgh"), STR_INIT("\xc3\xa9"),
        STR_INIT("\xe4\xb8\x80"), STR_INIT("\xf0\x9f\x98\x80"),
        // no longer valid
        STR_INIT("\xff"), STR_INIT("\x80"), STR_INIT("\xc3"),
        STR_INIT("\xe4\xb8"), STR_INIT("\xf0\x9f\x98"),
        STR_INIT("\xed\xa0\x80"), STR_INIT("\xe0\x80\x80"),
        STR_INIT("\xf4\x90\x80\x80"), STR_INIT("\xc0\x80")};
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        *seed = *seed * 1664525 + 1013904223;
        struct str piece = pieces[(*seed >> 16) % kinds];
        memcpy(text + at, piece.p, piece.n);
        at += piece.n;
    }
    return at;
}

static void utf8_is_the_same_the_fast_way(void **state)
{
    (void)state;
    static char text[400000];
    unsigned seed = 1;

    for (size_t i = 0; i < 20000; i++) {
        size_t n = fill(text, i % 40, i % 2 == 0 ? 5 : 14, &seed);
        compare(str_make(text, n), i % 43);
    }
    // longer than what is looked at in one go
    for (unsigned i = 0; i < 8; i++) {
        size_t n = fill(text, 40000, i % 2 == 0 ? 5 : 14, &seed);
        compare(str_make(text, n), 10000 * i + 7);
    }
}

/* Every sequence of four bytes that could be one, at each place of eight. */
static void utf8_judges_every_sequence(void **state)
{
    (void)state;
    static const unsigned char ends[] = {0x00, 0x7f, 0x80, 0x8f, 0x90,
                                         0x9f, 0xa0, 0xbf, 0xc0, 0xff};
    for (unsigned lead = 0; lead < 256; lead++)
        for (size_t i = 0; i < COUNT(ends) * COUNT(ends) * COUNT(ends); i++) {
            char text[24] = "                      ";
            size_t at = i % 8 + 4;
            text[at] = (char)lead;
            text[at + 1] = (char)ends[i % 10];
            text[at + 2] = (char)ends[i / 10 % 10];
            text[at + 3] = (char)ends[i / 100];
            compare(str_make(text, 20), at + 2);
        }
}

/* 300 letters; the match is at their end, or at their start. */
static void utf8_shows_a_long_line_around_a_match(void **state)
{
    (void)state;
    char line[301];

    memset(line, 'a', 300);
    line[299] = 'b';
    utf8_append_around(&buf, str_make(line, 300), 299);
    assert_memory(!buf_failed(&buf));
    assert_int_equal(buf.n, strlen("…") + UTF8_AROUND_BEFORE + 1);
    assert_true(memcmp(buf.p + buf.n - 3, "aab", 3) == 0);
    buf_reset(&buf);
    utf8_append_around(&buf, str_make(line, 300), 0);
    assert_memory(!buf_failed(&buf));
    assert_int_equal(buf.n, UTF8_AROUND_CHARS + strlen("…"));
    assert_true(memcmp(buf.p + buf.n - 4, "a…", 4) == 0);
    buf_reset(&buf);
    utf8_append_around(&buf, STR("short\tline"), 6);
    assert_true(str_eq(buf_view(&buf), STR("short\\tline")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(utf8_decodes_what_rfc_3629_allows),
        cmocka_unit_test(utf8_decodes_what_it_encodes),
        cmocka_unit_test(utf8_judges_texts),
        cmocka_unit_test(utf8_counts_characters),
        cmocka_unit_test(utf8_cuts_between_characters),
        cmocka_unit_test(utf8_head_and_tail_meet),
        cmocka_unit_test_teardown(utf8_replaces_invalid_bytes, release),
        cmocka_unit_test_teardown(utf8_shows_invisible_characters, release),
        cmocka_unit_test_teardown(utf8_shows_all_that_unicode_ignores, release),
        cmocka_unit_test_teardown(utf8_shows_a_long_line_around_a_match,
                                  release),
        cmocka_unit_test(utf8_finds_the_end_of_plain_text),
        cmocka_unit_test(utf8_is_the_same_the_fast_way),
        cmocka_unit_test(utf8_judges_every_sequence),
    };
    return RUN_TESTS("utf8", tests);
}
