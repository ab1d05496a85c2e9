/* SPDX-License-Identifier: GPL-3.0-or-later */
/* likeness.c: see likeness.h. */
#include "base/likeness.h"

/* The pairs of a text, one after the other; its ends count as bytes. */
struct pairs {
    struct str text;
    size_t at;
    unsigned last;
    bool ended;
};

static bool next_pair(struct pairs *pairs, unsigned *out)
{
    unsigned c = 0;

    if (pairs->ended)
        return false;
    while (pairs->at < pairs->text.n && str_is_space(pairs->text.p[pairs->at]))
        pairs->at++;
    pairs->ended = pairs->at == pairs->text.n;
    if (!pairs->ended)
        c = (unsigned char)pairs->text.p[pairs->at++];
    if (c >= 'A' && c <= 'Z')
        c += 'a' - 'A';
    *out = (pairs->last * 31 + c) % LIKENESS_PAIRS;
    pairs->last = c;
    return true;
}

void likeness_init(struct likeness *likeness, struct str text)
{
    struct pairs pairs = {.text = text};
    unsigned pair;

    *likeness = (struct likeness){.count = 0};
    for (; next_pair(&pairs, &pair); likeness->count++)
        if (likeness->pairs[pair] < UINT16_MAX)
            likeness->pairs[pair]++;
}

unsigned likeness_to(const struct likeness *likeness, struct str other)
{
    struct pairs pairs = {.text = other};
    uint16_t left[LIKENESS_PAIRS];
    size_t common = 0;
    size_t count = 0;
    unsigned pair;

    memcpy(left, likeness->pairs, sizeof left);
    for (; next_pair(&pairs, &pair); count++) {
        if (left[pair] == 0)
            continue;
        left[pair]--;
        common++;
    }
    return (unsigned)(200 * common / (likeness->count + count));
}
