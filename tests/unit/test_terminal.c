/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of terminal.c: output that was written for a terminal. */
#include "supervisor/terminal.h"
#include "support/check.h"

static const struct {
    const char *text;
    const char *shown;
} cases[] = {
    {"", ""},
    {"plain\ttext\nßa€\n", "plain\ttext\nßa€\n"},
    {"dos\r\nlines\r\n", "dos\r\nlines\r\n"},
    {"\x1b[31mred\x1b[0m", "red"},
    {"\x1b[2J\x1b[1;1Hx\x1b[?25l", "x"},
    {"\x1b[ qx\x1b[1 q", "x"},
    {"a\x1b]0;title\x07z", "az"},
    {"a\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\z", "alinkz"},
    {"a\x1bP1$r0m\x1b\\z\x1b_app\x1b\\\x1b^pm\x1b\\\x1bXsos\x1b\\", "az"},
    {"\x1b(Bx\x1b#8\x1b=\x1b>\x1b"
     "7\x1b"
     "8\x1b"
     "c",
     "x"},
    {"\xc2\x9b"
     "31mx\xc2\x9d"
     "0;t\xc2\x9cz\xc2\x85",
     "xz"},
    {"bell\x07 back\x08 del\x7f null\x01", "bell^G back^H del^? null^A"},
    {"10%\r20%\r\n", "10%^M20%\r\n"},
    {"\x1b", "^["},
    {"\x1b\x1b[1mx", "^[x"},
    {"\x1b\n", "^[\n"},
    {"\x1b[", ""},
    {"\x1b[12", ""},
    {"\x1b[1\nx", "\nx"},
    {"\x1b]0;never ended\nnext", "\nnext"},
    {"\x1b]0;never ended\x1b[1mx", "x"},
    {"\x1b]", ""},
    {"\xc2\xa0x", "\xc2\xa0x"},
};

static void sequences_are_dropped_and_controls_shown(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct str text = str_from(cases[i].text);
        struct buf out = BUF_EMPTY;

        terminal_append(&out, text);
        buf_byte(&out, '\0');
        assert_string_equal(out.p, cases[i].shown);
        assert_int_equal(terminal_is_plain(text),
                         str_eq(text, str_from(cases[i].shown)));
        assert_true(terminal_is_plain(str_from(cases[i].shown)));
        buf_release(&out);
    }
}

static void every_cut_of_a_text_is_shown_plainly(void **state)
{
    const char text[] = "a\x1b]8;;x\x1b\\b\x1b[1;2mc\xc2\x9b"
                        "3md\x07\x1b(Be\r\x1bPq\x1b\\f";

    (void)state;
    for (size_t from = 0; from < sizeof text; from++)
        for (size_t to = from; to < sizeof text; to++) {
            struct buf out = BUF_EMPTY;

            terminal_append(&out, str_make(text + from, to - from));
            assert_true(terminal_is_plain(buf_view(&out)));
            buf_release(&out);
        }
}

/* Many bytes are looked at together, so each control is tried in every place.
 */
static void terminal_finds_controls_in_every_place(void **state)
{
    static const char *const controls[] = {"\x1b", "\x7f",     "\x01",
                                           "\r ",  "\xc2\x80", "\xc2\x9f"};
    static const char *const others[] = {"\n",       "\t",       "\r\n",
                                         "\xc2\xa0", "\xc3\x80", "~"};
    char text[32];

    (void)state;
    for (size_t i = 0; i < COUNT(controls); i++)
        for (size_t at = 0; at + 2 <= sizeof text; at++) {
            memset(text, 'x', sizeof text);
            memcpy(text + at, controls[i], strlen(controls[i]));
            assert_false(terminal_is_plain(str_make(text, sizeof text)));
            memset(text, 'x', sizeof text);
            memcpy(text + at, others[i], strlen(others[i]));
            assert_true(terminal_is_plain(str_make(text, sizeof text)));
        }
}

/* The same, with bytes that are not ASCII, too, and texts of every length. */
static void terminal_knows_plain_ascii_by_every_byte(void **state)
{
    char text[200];

    (void)state;
    memset(text, 'x', sizeof text);
    for (size_t n = 0; n <= sizeof text; n++)
        assert_true(terminal_is_plain_ascii(str_make(text, n)));
    for (unsigned byte = 0; byte < 256; byte++)
        for (size_t at = 0; at < sizeof text; at++) {
            bool plain =
                (byte >= ' ' && byte < 0x7f) || byte == '\n' || byte == '\t';

            text[at] = (char)byte;
            assert_int_equal(
                terminal_is_plain_ascii(str_make(text, sizeof text)), plain);
            assert_int_equal(terminal_is_plain_ascii(str_make(text, at + 1)),
                             plain);
            assert_true(terminal_is_plain_ascii(str_make(text, at)));
            text[at] = 'x';
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terminal_finds_controls_in_every_place),
        cmocka_unit_test(terminal_knows_plain_ascii_by_every_byte),
        cmocka_unit_test(sequences_are_dropped_and_controls_shown),
        cmocka_unit_test(every_cut_of_a_text_is_shown_plainly),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
