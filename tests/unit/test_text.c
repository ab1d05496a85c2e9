/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of text.c, secrets.c and seen.c. */
#include "files/secrets.h"
#include "files/seen.h"
#include "files/text.h"
#include "support/check.h"

static struct arena arena;

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    return 0;
}

/* Decoded text is encoded to the same bytes. */
static void text_comes_back_the_same(void **state)
{
    static const struct {
        struct str bytes;
        struct str text;
        enum text_coding coding;
        enum text_ends ends;
        const char *words;
    } cases[] = {
        {STR_INIT(""), STR_INIT(""), TEXT_UTF8, TEXT_LF, ""},
        {STR_INIT("a\nb"), STR_INIT("a\nb"), TEXT_UTF8, TEXT_LF, ""},
        {STR_INIT("a\r\nb\r\n"), STR_INIT("a\nb\n"), TEXT_UTF8, TEXT_CRLF,
         ", CR LF line ends"},
        {STR_INIT("a\r\nb\n"), STR_INIT("a\r\nb\n"), TEXT_UTF8, TEXT_MIXED,
         ", mixed line ends"},
        {STR_INIT("a\rb"), STR_INIT("a\rb"), TEXT_UTF8, TEXT_LF, ""},
        {STR_INIT("\xef\xbb\xbf"
                  "a\r\n"),
         STR_INIT("a\n"), TEXT_UTF8_BOM, TEXT_CRLF,
         ", with BOM, CR LF line ends"},
        {STR_INIT("\xe4\xff\r\n"), STR_INIT("\xc3\xa4\xc3\xbf\n"), TEXT_LATIN1,
         TEXT_CRLF, ", Latin-1, CR LF line ends"},
        {STR_INIT("\xf0\x9f\x98\x80"), STR_INIT("\xf0\x9f\x98\x80"), TEXT_UTF8,
         TEXT_LF, ""},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct text text;
        struct str bytes;
        struct str problem;
        assert_ok(text_decode(&arena, cases[i].bytes, SIZE_MAX, &text));
        assert_true(str_eq(text.text, cases[i].text));
        assert_int_equal(text.coding, cases[i].coding);
        assert_int_equal(text.ends, cases[i].ends);
        struct str words = text_describe(&arena, &text);
        assert_memory(str_eq(words, str_from(cases[i].words)));
        assert_ok(text_encode(&arena, &text, text.text, &bytes, &problem));
        assert_true(str_eq(bytes, cases[i].bytes));
    }
}

static void text_refuses_data(void **state)
{
    struct text text;
    (void)state;
    assert_status(text_decode(&arena, STR("a\0b"), SIZE_MAX, &text),
                  ST_INVALID);
}

static void text_bounds_what_grows(void **state)
{
    struct text text;
    (void)state;
    assert_ok(text_decode(&arena, STR("a\xe4\xff\n"), 6, &text));
    assert_status(text_decode(&arena, STR("a\xe4\xff\n"), 5, &text), ST_LIMIT);
    assert_status(text_decode(&arena, STR("abc"), 2, &text), ST_LIMIT);
}

static void text_names_what_a_coding_lacks(void **state)
{
    struct text form = {.coding = TEXT_LATIN1, .ends = TEXT_LF};
    struct str bytes;
    struct str problem;
    (void)state;
    assert_status(
        text_encode(&arena, &form, STR("a\n\xe2\x82\xac\n"), &bytes, &problem),
        ST_INVALID);
    assert_text(problem, "the file is in Latin-1, which has no character "
                         "\xe2\x82\xac (line 2)");
    assert_status(
        text_check(&arena, &form, STR("\xc3\xbf\n\xc4\x80"), &problem),
        ST_INVALID);
    assert_text(problem, "the file is in Latin-1, which has no character "
                         "\xc4\x80 (line 2)");
    assert_ok(text_check(&arena, &form, STR("\xc3\xbf\n"), &problem));
    form.coding = TEXT_UTF8;
    assert_ok(text_check(&arena, &form, STR("\xc4\x80"), &problem));
}

/* The model may write either line end for a file of CR LF. */
static void text_normalizes_line_ends(void **state)
{
    struct text form = {.coding = TEXT_UTF8, .ends = TEXT_CRLF};
    struct str out;
    (void)state;
    assert_ok(text_normalize(&arena, &form, STR("a\r\nb\nc\r"), &out));
    assert_text(out, "a\nb\nc\r");
    form.ends = TEXT_MIXED;
    assert_ok(text_normalize(&arena, &form, STR("a\r\n"), &out));
    assert_text(out, "a\r\n");
    // a text with line feeds takes no returns; one without line ends, any
    form = (struct text){.text = STR("a\nb")};
    assert_ok(text_normalize(&arena, &form, STR("a\r\nb\nc\rd\r"), &out));
    assert_text(out, "a\nb\nc\rd\r");
    form.text = STR("a");
    assert_ok(text_normalize(&arena, &form, STR("a\r\n"), &out));
    assert_text(out, "a\r\n");
}

static const char *const known_secrets[] = {
    ".ssh",
    ".ssh/config",
    "home/me/.ssh/id",
    ".env",
    ".env.local",
    "app/.env.production",
    ".docker/config.json",
    "x/.config/gcloud/credentials.db",
    "keys/id_rsa",
    "p.kdbx",
    "my-own/secret.txt",
    "keys/id_ed25519_sk",
    "id_rsa_work.old",
    "tls/server.pem",
    "server.key",
    ".envrc",
    ".bash_history",
    ".claude/.credentials.json",
    "home/.claude.json",
    ".codex/auth.json",
    ".gemini/oauth_creds.json",
    ".cargo/credentials.toml",
    ".config/rclone/rclone.conf",
    ".config/ecl-mcp/policy.json",
    // as file systems that ignore case have it
    ".ENV",
    ".Ssh/id",
    ".Config/GH/hosts.yml",
    "ID_RSA",
    "KEY.PEM",
    ".config/bravesoftware/x",
    ".\xc5\xbf\xc5\xbfh/id",   // long s
    ".\xc3\x9fh/id",           // sharp s
    ".s\xc2\xadsh/id",         // soft hyphen
    ".\xe2\x84\xaaube/config", // Kelvin sign
    "\xff/.SSH/id",
    ".netrc.",
    ".env /x",
    "MY-own/Secret.TXT",
};
static const char *const no_secrets[] = {
    "",
    "ssh",
    ".sshd",
    "a.ssh/b",
    ".environment",
    "env",
    ".docker",
    ".docker/other.json",
    "config.json",
    "id_rsa.pub",
    "kdbx",
    "own/secret.txt",
    "id_map.lisp",
    "id_rsa_work.PUB",
    ".claude/CLAUDE.md",
    ".claude/skills/lisp/SKILL.md",
    ".claude/settings.json",
    ".codex/config.toml",
    ".gemini/GEMINI.md",
    "history",
    "src/history/a.lisp",
    "monkey",
    "...",
    "\xff",
};

static void secrets_are_known_by_their_names(void **state)
{
    static const char *const more[] = {"my-*/secret.txt", "gro\xc3\x9f.", NULL};
    (void)state;
    for (size_t i = 0; i < COUNT(known_secrets); i++)
        if (!secrets_match(str_from(known_secrets[i]), more))
            fail_msg("%s is not a secret", known_secrets[i]);
    for (size_t i = 0; i < COUNT(no_secrets); i++)
        if (secrets_match(str_from(no_secrets[i]), more))
            fail_msg("%s is a secret", no_secrets[i]);
    assert_false(secrets_match(STR("my-own/secret.txt"), NULL));
    assert_true(secrets_match(STR("GROSS/x"), more));
}

static void secrets_lie_in_folders_on_the_way(void **state)
{
    static const char *const holding[] = {
        ".config", ".Config", ".local", ".local/state", ".emacs.d",
        ".cargo",  ".claude", "own",    "own/deep",
    };
    static const char *const open[] = {
        "",       "project",         ".config/other", ".ssh",
        ".env",   ".config/gh",      "x/.config",     ".local/bin",
        ".cache", ".cargo/registry", "own/other",
    };
    static const char *const more[] = {"own/d*/x", NULL};
    (void)state;
    for (size_t i = 0; i < COUNT(holding); i++)
        if (!secrets_lie_in(str_from(holding[i]), more))
            fail_msg("%s holds no secret", holding[i]);
    for (size_t i = 0; i < COUNT(open); i++)
        if (secrets_lie_in(str_from(open[i]), more))
            fail_msg("%s holds a secret", open[i]);
    for (size_t i = 0; secrets_own_places[i]; i++)
        assert_true(secrets_match(str_from(secrets_own_places[i]), NULL));
}

/* The look at a name without a dot ends there. */
static void secrets_with_dots_come_last(void **state)
{
    (void)state;
    size_t i = 0;
    while (secrets_patterns[i] && secrets_patterns[i][0] != '.')
        i++;
    assert_true(i > 0 && secrets_patterns[i]);
    for (; secrets_patterns[i]; i++)
        assert_int_equal(secrets_patterns[i][0], '.');
    for (i = 0; secrets_patterns[i]; i++)
        assert_true(secrets_match(str_from(secrets_patterns[i]), NULL));
}

static void secrets_knows_patterns_that_can_match(void **state)
{
    static const char *const good[] = {
        "a", "a/b", "*.pem", "private/*.pem", "...", ".env", "a~", "*",
    };
    static const char *const bad[] = {
        "",    "/",    "/a",    "a/",  "a//b", ".",    "..",
        "./a", "a/..", "a/./b", "~/a", "~",    "../a",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(good); i++)
        if (!secrets_is_pattern(str_from(good[i])))
            fail_msg("%s is not a pattern", good[i]);
    for (size_t i = 0; i < COUNT(bad); i++)
        if (secrets_is_pattern(str_from(bad[i])))
            fail_msg("%s is a pattern", bad[i]);
}

static void seen_remembers_the_last_content(void **state)
{
    static struct seen seen;
    static const unsigned char one[FILES_HASH] = {1};
    static const unsigned char two[FILES_HASH] = {2};
    char name[] = "000";
    (void)state;
    assert_false(seen_differs(&seen, STR("a"), one));
    seen_note(&seen, STR("a"), one);
    assert_false(seen_differs(&seen, STR("a"), one));
    assert_true(seen_differs(&seen, STR("a"), two));
    assert_false(seen_differs(&seen, STR("b"), two));
    seen_note(&seen, STR("a"), two);
    assert_true(seen_differs(&seen, STR("a"), one));
    // the oldest one is forgotten when there are too many
    for (int i = 1; i < LIMIT_SEEN_FILES; i++) {
        name[0] = (char)('0' + i / 100);
        name[1] = (char)('0' + i / 10 % 10);
        name[2] = (char)('0' + i % 10);
        seen_note(&seen, str_from(name), one);
    }
    assert_true(seen_differs(&seen, STR("a"), one));
    seen_note(&seen, STR("z"), one);
    assert_false(seen_differs(&seen, STR("a"), one));
    assert_true(seen_differs(&seen, STR("001"), two));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(text_comes_back_the_same, tear_down),
        cmocka_unit_test_teardown(text_refuses_data, tear_down),
        cmocka_unit_test_teardown(text_bounds_what_grows, tear_down),
        cmocka_unit_test_teardown(text_names_what_a_coding_lacks, tear_down),
        cmocka_unit_test_teardown(text_normalizes_line_ends, tear_down),
        cmocka_unit_test_teardown(secrets_are_known_by_their_names, tear_down),
        cmocka_unit_test_teardown(secrets_with_dots_come_last, tear_down),
        cmocka_unit_test_teardown(secrets_knows_patterns_that_can_match,
                                  tear_down),
        cmocka_unit_test_teardown(secrets_lie_in_folders_on_the_way, tear_down),
        cmocka_unit_test_teardown(seen_remembers_the_last_content, tear_down),
    };
    return RUN_TESTS("text", tests);
}
