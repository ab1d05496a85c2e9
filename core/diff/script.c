/* SPDX-License-Identifier: GPL-3.0-or-later */
/* script.c: Myers' algorithm (An O(ND) Difference Algorithm and Its Variations,
   Algorithmica 1986) in linear space: search from both ends for the point where
   the shortest paths meet, then do the same on either side of it. A search that
   gets too expensive stops at the point where most is matched. */
#include "diff/script.h"

#include "base/limits.h"

/* Positions in A and B. */
struct point {
    int32_t x;
    int32_t y;
};

/* A part of both sequences. */
struct box {
    struct point from;
    struct point to;
};

struct search {
    const uint32_t *a;
    const uint32_t *b;
    bool *deleted;
    bool *inserted;
    int32_t *forward;  /* by diagonal x - y: the furthest x from the start */
    int32_t *backward; /* and from the end */
    int64_t steps;     /* left */
    bool capped;
    const struct arena *arena;
    bool stopped;
};

/* The diagonals that one direction has reached. */
struct reach {
    int32_t low;
    int32_t high;
};

/* Adds a diagonal on either side, except one that leaves the box. The diagonal
   beyond gets the value OUTSIDE, which no path comes from. */
static void widen(struct reach *reach, const struct box *box, int32_t *at,
                  int32_t outside)
{
    if (reach->low > box->from.x - box->to.y)
        at[--reach->low - 1] = outside;
    else
        reach->low++;
    if (reach->high < box->to.x - box->from.y)
        at[++reach->high + 1] = outside;
    else
        reach->high--;
}

static bool holds(const struct reach *reach, int32_t diagonal)
{
    return diagonal >= reach->low && diagonal <= reach->high;
}

/* One edit further from the start; true and *META when the ends meet. */
static bool go_forward(struct search *s, const struct box *box,
                       struct reach *own, const struct reach *other, bool odd,
                       struct point *meet)
{
    int32_t *at = s->forward;

    widen(own, box, at, -1);
    for (int32_t d = own->high; d >= own->low; d -= 2) {
        int32_t x = at[d - 1] < at[d + 1] ? at[d + 1] : at[d - 1] + 1;
        int32_t start = x;

        while (x < box->to.x && x - d < box->to.y && s->a[x] == s->b[x - d])
            x++;
        s->steps -= 1 + x - start;
        at[d] = x;
        if (odd && holds(other, d) && s->backward[d] <= x) {
            *meet = (struct point){x, x - d};
            return true;
        }
    }
    return false;
}

static bool go_backward(struct search *s, const struct box *box,
                        struct reach *own, const struct reach *other, bool odd,
                        struct point *meet)
{
    int32_t *at = s->backward;

    widen(own, box, at, INT32_MAX);
    for (int32_t d = own->high; d >= own->low; d -= 2) {
        int32_t x = at[d - 1] < at[d + 1] ? at[d - 1] : at[d + 1] - 1;
        int32_t start = x;

        while (x > box->from.x && x - d > box->from.y &&
               s->a[x - 1] == s->b[x - d - 1])
            x--;
        s->steps -= 1 + start - x;
        at[d] = x;
        if (!odd && holds(other, d) && x <= s->forward[d]) {
            *meet = (struct point){x, x - d};
            return true;
        }
    }
    return false;
}

/* The point of the two searches that has covered most of the box. */
static struct point best_point(const struct search *s, const struct box *box,
                               const struct reach *front,
                               const struct reach *back)
{
    struct point best = box->from;
    int32_t most = 0;

    for (int32_t d = front->high; d >= front->low; d -= 2) {
        int32_t x = s->forward[d] < box->to.x ? s->forward[d] : box->to.x;

        if (x - d > box->to.y)
            x = box->to.y + d;
        if (x - box->from.x + x - d - box->from.y > most) {
            most = x - box->from.x + x - d - box->from.y;
            best = (struct point){x, x - d};
        }
    }
    for (int32_t d = back->high; d >= back->low; d -= 2) {
        int32_t x = s->backward[d] > box->from.x ? s->backward[d] : box->from.x;

        if (x - d < box->from.y)
            x = box->from.y + d;
        if (box->to.x - x + box->to.y - (x - d) > most) {
            most = box->to.x - x + box->to.y - (x - d);
            best = (struct point){x, x - d};
        }
    }
    return best;
}

/* Where to cut BOX, neither side of which is empty. */
static struct point find_cut(struct search *s, const struct box *box)
{
    int32_t first = box->from.x - box->from.y;
    int32_t last = box->to.x - box->to.y;
    struct reach front = {first, first};
    struct reach back = {last, last};
    bool odd = ((first - last) & 1) != 0;
    struct point meet;

    s->forward[first] = box->from.x;
    s->backward[last] = box->to.x;
    for (int32_t cost = 1;; cost++) {
        int64_t steps = s->steps;

        if (go_forward(s, box, &front, &back, odd, &meet) ||
            go_backward(s, box, &back, &front, odd, &meet))
            return meet;
        size_t work = 8 * (size_t)(steps - s->steps);
        s->stopped = s->stopped || arena_spend(s->arena, work) != ST_OK;
        if (s->stopped)
            return box->from;
        // when all steps are used up, every search ends after a few edits
        if (cost >= LIMIT_DIFF_COST && s->steps < 0) {
            s->capped = true;
            return best_point(s, box, &front, &back);
        }
    }
}

/* Leaves out what is equal at both ends of BOX. */
static void narrow(const struct search *s, struct box *box)
{
    while (box->from.x < box->to.x && box->from.y < box->to.y &&
           s->a[box->from.x] == s->b[box->from.y]) {
        box->from.x++;
        box->from.y++;
    }
    while (box->from.x < box->to.x && box->from.y < box->to.y &&
           s->a[box->to.x - 1] == s->b[box->to.y - 1]) {
        box->to.x--;
        box->to.y--;
    }
}

static int64_t size_of(const struct box *box)
{
    return (int64_t)(box->to.x - box->from.x) + (box->to.y - box->from.y);
}

/* Recurs only for the smaller part, so at most 32 deep. */
static void mark(struct search *s, struct box box)
{
    for (;;) {
        narrow(s, &box);
        if (box.from.x == box.to.x || box.from.y == box.to.y)
            break;
        struct point cut = find_cut(s, &box);
        if (s->stopped)
            break;
        struct box head = {box.from, cut};
        struct box tail = {cut, box.to};
        bool head_first = size_of(&head) < size_of(&tail);

        mark(s, head_first ? head : tail);
        box = head_first ? tail : head;
    }
    for (int32_t x = box.from.x; x < box.to.x; x++)
        s->deleted[x] = true;
    for (int32_t y = box.from.y; y < box.to.y; y++)
        s->inserted[y] = true;
}

/* The elements of a side that the other side has, too: the rest has changed in
   any case, and would only make the search longer. */
struct common {
    uint32_t *ids;
    uint32_t *places;
    bool *changed;
    size_t n;
};

static enum status find_common(struct arena *arena,
                               const struct script_side *side,
                               const bool *elsewhere, struct common *out)
{
    *out = (struct common){
        .ids = arena_alloc(arena, (side->n + 1) * sizeof *out->ids),
        .places = arena_alloc(arena, (side->n + 1) * sizeof *out->places),
        .changed = arena_array(arena, side->n + 1, sizeof *out->changed),
    };
    if (!out->ids || !out->places || !out->changed)
        return ST_NOMEM;
    for (size_t i = 0; i < side->n; i++) {
        if (!elsewhere[side->ids[i]]) {
            side->changed[i] = true;
            continue;
        }
        out->ids[out->n] = side->ids[i];
        out->places[out->n++] = (uint32_t)i;
    }
    return ST_OK;
}

static bool *note_ids(struct arena *arena, const struct script_side *side,
                      size_t ids)
{
    bool *there = arena_array(arena, ids, sizeof *there);

    for (size_t i = 0; there && i < side->n; i++)
        there[side->ids[i]] = true;
    return there;
}

static size_t count_ids(const struct script_side *a,
                        const struct script_side *b)
{
    uint32_t last = 0;

    for (size_t i = 0; i < a->n; i++)
        last = a->ids[i] > last ? a->ids[i] : last;
    for (size_t i = 0; i < b->n; i++)
        last = b->ids[i] > last ? b->ids[i] : last;
    return (size_t)last + 1;
}

static void mark_changed(const struct common *common,
                         const struct script_side *side)
{
    for (size_t i = 0; i < common->n; i++)
        if (common->changed[i])
            side->changed[common->places[i]] = true;
}

enum status script_mark(struct arena *arena, const struct script_side *a,
                        const struct script_side *b, int64_t steps,
                        bool *capped)
{
    size_t ids = count_ids(a, b);
    const bool *in_a = note_ids(arena, a, ids);
    const bool *in_b = note_ids(arena, b, ids);
    struct common left;
    struct common right;

    if (!in_a || !in_b || find_common(arena, a, in_b, &left) != ST_OK ||
        find_common(arena, b, in_a, &right) != ST_OK)
        return ST_NOMEM;
    if (arena_spend(arena, ids) != ST_OK)
        return ST_NOMEM;
    size_t diagonals = left.n + right.n + 3;
    int32_t *forward = arena_alloc(arena, diagonals * sizeof *forward);
    int32_t *backward = arena_alloc(arena, diagonals * sizeof *backward);
    if (!forward || !backward)
        return ST_NOMEM;
    struct search search = {
        .a = left.ids,
        .b = right.ids,
        .deleted = left.changed,
        .inserted = right.changed,
        .forward = forward + right.n + 1,
        .backward = backward + right.n + 1,
        .steps = steps,
        .arena = arena,
    };
    mark(&search, (struct box){{0, 0}, {(int32_t)left.n, (int32_t)right.n}});
    if (!search.stopped && arena_spend(arena, ids) != ST_OK)
        return ST_NOMEM;
    mark_changed(&left, a);
    mark_changed(&right, b);
    *capped = search.capped;
    return search.stopped ? ST_NOMEM : ST_OK;
}
