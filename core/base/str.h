/* SPDX-License-Identifier: GPL-3.0-or-later */
/* str.h: a view of text that somebody else owns. It is passed by value, and
   nobody may assume a NUL at its end. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct str {
    const char *p; /* NULL only when n is 0 */
    size_t n;      /* bytes */
};

/* A str from a string literal; sizeof keeps inner NULs. */
#define STR(literal) ((struct str){(literal), sizeof(literal) - 1})

/* The same as an initializer, for static tables. */
#define STR_INIT(literal)                                                      \
    {                                                                          \
        (literal), sizeof(literal) - 1                                         \
    }

/* The two arguments that printf's "%.*s" takes. Views longer than INT_MAX are
   cut there. */
#define STR_ARG(s) ((s).n > 0x7fffffff ? 0x7fffffff : (int)(s).n), ((s).p)

static inline struct str str_from(const char *c_string)
{
    return (struct str){c_string, strlen(c_string)};
}

static inline struct str str_make(const char *p, size_t n)
{
    return (struct str){p, n};
}

static inline bool str_eq(struct str a, struct str b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool str_starts(struct str s, struct str prefix)
{
    return s.n >= prefix.n &&
           (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

/* Whether C is white space in ASCII. */
static inline bool str_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

/* S without the white space at its ends. */
static inline struct str str_trim(struct str s)
{
    while (s.n > 0 && str_is_space(s.p[s.n - 1]))
        s.n--;
    while (s.n > 0 && str_is_space(s.p[0]))
        s = str_make(s.p + 1, s.n - 1);
    return s;
}

/* The path S up to its last slash, which belongs to it; empty when it has
   none. */
static inline struct str str_folder(struct str s)
{
    while (s.n > 0 && s.p[s.n - 1] != '/')
        s.n--;
    return s;
}

#endif
