/* SPDX-License-Identifier: GPL-3.0-or-later */
/* glob.c: see glob.h. There is no recursion: when something does not match, the
   last star takes more, and when it cannot, the last double star does. What
   precedes a double star never has to be tried again, for the double star can
   take whatever an earlier star could. */
#include "base/glob.h"

/* Where to try again when what follows a star does not match. */
struct retry {
    bool possible;
    bool folders;   /* takes whole components */
    size_t pattern; /* after the star */
    size_t path;    /* after what it takes */
};

struct match {
    struct str pattern;
    struct str path;
    size_t i; /* in the pattern */
    size_t j; /* in the path */
    struct retry star;
    struct retry stars;
};

static bool has_stars(struct str s, size_t at)
{
    return at + 1 < s.n && s.p[at] == '*' && s.p[at + 1] == '*';
}

/* Takes the star at the place in the pattern. */
static void take_star(struct match *m)
{
    bool starts = m->i == 0 || m->pattern.p[m->i - 1] == '/';

    if (!has_stars(m->pattern, m->i)) {
        m->i++;
        m->star = (struct retry){true, false, m->i, m->j};
        return;
    }
    m->i += 2;
    bool folders = starts && m->i < m->pattern.n && m->pattern.p[m->i] == '/';
    m->i += folders;
    m->stars = (struct retry){true, folders, m->i, m->j};
    m->star.possible = false;
}

/* Lets the last star take one more; false when none can. */
static bool go_back(struct match *m)
{
    struct str path = m->path;
    struct retry *star = &m->star;

    if (!star->possible || star->path >= path.n || path.p[star->path] == '/') {
        star->possible = false;
        star = &m->stars;
        while (star->folders && star->path < path.n &&
               path.p[star->path] != '/')
            star->path++;
    }
    if (!star->possible || star->path >= path.n)
        return false;
    m->i = star->pattern;
    m->j = ++star->path;
    return true;
}

static bool matches(struct str pattern, struct str path)
{
    struct match m = {.pattern = pattern, .path = path};

    while (m.i < pattern.n || m.j < path.n) {
        if (m.i < pattern.n && pattern.p[m.i] == '*') {
            take_star(&m);
        } else if (m.i < pattern.n && m.j < path.n &&
                   pattern.p[m.i] == path.p[m.j]) {
            m.i++;
            m.j++;
        } else if (!go_back(&m)) {
            return false;
        }
    }
    return true;
}

bool glob_matches(struct str pattern, struct str path)
{
    static const char below[] = "/**";
    size_t n = sizeof below - 1;

    while (!matches(pattern, path)) {
        if (pattern.n <= n || memcmp(pattern.p + pattern.n - n, below, n) != 0)
            return false;
        pattern.n -= n;
    }
    return true;
}
