/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of glob.c. */
#include "base/glob.h"
#include "support/check.h"

static bool fits(const char *pattern, const char *path)
{
    return glob_matches(str_from(pattern), str_from(path));
}

static void glob_fits(void **state)
{
    static const char *const pairs[][2] = {
        {"", ""},
        {"a", "a"},
        {"a/b.c", "a/b.c"},
        {"*", "abc"},
        {"*", ""},
        {"*.c", "a.c"},
        {"*.c", ".c"},
        {"a*b*c", "axbxbxc"},
        {"src/*", "src/a"},
        {"*/x", "a/x"},
        {"**", "a/b/c"},
        {"**", "."},
        {"**", ""},
        {"src/**", "src/a/b"},
        {"src/**", "src"},
        {"src/**/**", "src"},
        {"a/**/**", "a/b/c"},
        {"**/x", "x"},
        {"**/x", "a/x"},
        {"**/x", "a/b/x"},
        {"**/*.c", "b.c"},
        {"**/*.c", "a/b.c"},
        {"a/**/b", "a/b"},
        {"a/**/b", "a/x/y/b"},
        {"a/**/b/**", "a/x/b"},
        {"a/**/b/*.c", "a/b/c/b/x.c"},
        {"a/**/b/*.c", "a/b/b/x.c"},
        {"a**b", "a/x/b"},
        {"a**/b", "ax/y/b"},
        {"**/a/**/a", "a/a"},
        {"**a*b", "xa/ab"},
        {"**a*b/c", "a/axb/c"},
        {"*a**", "xa/y"},
        {"[x]?\\", "[x]?\\"},
        {"\xc3\xa4*", "\xc3\xa4\xc3\xb6"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++)
        if (!fits(pairs[i][0], pairs[i][1]))
            fail_msg("%s does not fit %s", pairs[i][0], pairs[i][1]);
}

static void glob_does_not_fit(void **state)
{
    static const char *const pairs[][2] = {
        {"", "a"},
        {"a", ""},
        {"a", "ab"},
        {"ab", "a"},
        {"A", "a"},
        {"*", "a/b"},
        {"src/*", "src/a/b"},
        {"src/*", "src"},
        {"*/x", "x"},
        {"*/x", "a/b/x"},
        {"src/**", "srcs"},
        {"src/**", "xsrc/a"},
        {"/**", "a"},
        {"**/x", "ax"},
        {"**/x", "a/bx"},
        {"**/x", "a/x/b"},
        {"a/**/b", "ab"},
        {"a/**/b", "a/xb"},
        {"a/**/b", "a/x/bb"},
        {"a/**/b/*.c", "a/b/c/x.c"},
        {"a**/b", "ab"},
        {"*.c", "a.cc"},
        {"a*b", "a/b"},
        {"**a*b/c", "a/x/b/c"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++)
        if (fits(pairs[i][0], pairs[i][1]))
            fail_msg("%s fits %s", pairs[i][0], pairs[i][1]);
}

/* The same, done by trying everything. */
static bool slowly(const char *p, const char *s, bool starts)
{
    if (*p == '\0')
        return *s == '\0';
    if (strcmp(p, "/**") == 0 && *s == '\0')
        return true;
    if (starts && strncmp(p, "**/", 3) == 0) {
        if (slowly(p + 3, s, true))
            return true;
        for (; *s != '\0'; s++)
            if (*s == '/' && slowly(p + 3, s + 1, true))
                return true;
        return false;
    }
    if (*p == '*') {
        bool two = p[1] == '*';
        for (p += two ? 2 : 1;; s++) {
            if (slowly(p, s, false))
                return true;
            if (*s == '\0' || (!two && *s == '/'))
                return false;
        }
    }
    return *p == *s && slowly(p + 1, s + 1, *p == '/');
}

static unsigned next_number(unsigned *seed)
{
    *seed = *seed * 1103515245u + 12345u;
    return *seed >> 16;
}

/* Random texts of few letters, so that they often match. */
static void glob_agrees_with_trying_everything(void **state)
{
    unsigned seed = 1;
    int fitting = 0;
    (void)state;
    for (int i = 0; i < 200000; i++) {
        char pattern[9];
        char path[9];
        size_t n = next_number(&seed) % sizeof pattern;
        size_t m = next_number(&seed) % sizeof path;
        for (size_t k = 0; k < n; k++)
            pattern[k] = "**ab/"[next_number(&seed) % 5];
        for (size_t k = 0; k < m; k++)
            path[k] = "aab/"[next_number(&seed) % 4];
        pattern[n] = path[m] = '\0';
        if (strstr(pattern, "***") || strstr(pattern, "/**/**") ||
            strncmp(pattern, "/**", 3) == 0)
            continue; // slowly does not handle these
        bool fit = fits(pattern, path);
        fitting += fit;
        if (fit != slowly(pattern, path, true))
            fail_msg("%s %s %s", pattern, fit ? "fits" : "does not fit", path);
    }
    assert_true(fitting > 1000);
}

static void glob_is_quick(void **state)
{
    static char pattern[4001];
    static char path[4001];
    (void)state;
    for (size_t i = 0; i + 1 < sizeof pattern; i += 2)
        memcpy(pattern + i, "a*", 2);
    memset(path, 'a', sizeof path - 1);
    pattern[sizeof pattern - 2] = 'b';
    assert_false(fits(pattern, path));
    for (size_t i = 0; i + 1 < sizeof pattern; i += 4)
        memcpy(pattern + i, "a**/", 4);
    assert_false(fits(pattern, path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(glob_fits),
        cmocka_unit_test(glob_does_not_fit),
        cmocka_unit_test(glob_agrees_with_trying_everything),
        cmocka_unit_test(glob_is_quick),
    };
    return RUN_TESTS("glob", tests);
}
