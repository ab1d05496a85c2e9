/* SPDX-License-Identifier: GPL-3.0-or-later */
/* regex.c: all states of an expression are followed at once through the text
   (Thompson, Regular Expression Search Algorithm, CACM 1968). */
#include "base/regex.h"

#include "base/utf8.h"

/* Instructions between two looks at the strand. */
#define PIECE 16384u

/* A place in the text, between two characters. */
struct point {
    size_t at;
    size_t end; /* of the text */
    bool word_before;
    bool word_after;
};

static bool is_word(uint32_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
}

static bool in_set(const struct regex *regex, const struct regex_set *set,
                   uint32_t code)
{
    uint32_t other = code;

    if (regex->ignores_case && code >= 'a' && code <= 'z')
        other = code - 'a' + 'A';
    for (size_t i = set->first; i < set->first + set->count; i++) {
        const struct regex_range *range = &regex->ranges[i];

        if ((code >= range->low && code <= range->high) ||
            (other >= range->low && other <= range->high))
            return !set->negated;
    }
    return set->negated;
}

static bool fits(const struct regex *regex, const struct regex_step *step,
                 uint32_t code)
{
    switch (step->op) {
    case REGEX_CHARACTER:
        return step->code == code;
    case REGEX_ANY:
        return true;
    case REGEX_SET:
        return in_set(regex, &regex->sets[step->code], code);
    case REGEX_SPLIT:
    case REGEX_JUMP:
    case REGEX_START:
    case REGEX_END:
    case REGEX_BOUNDARY:
    case REGEX_INSIDE:
    case REGEX_MATCH:
        break;
    }
    return false;
}

/* Whether the condition of STEP holds at POINT. */
static bool holds(const struct regex_step *step, const struct point *point)
{
    bool boundary = point->word_before != point->word_after;

    if (step->op == REGEX_START)
        return point->at == 0;
    if (step->op == REGEX_END)
        return point->at == point->end;
    return boundary == (step->op == REGEX_BOUNDARY);
}

/* Adds the states that are reached from STEP without a character. Returns
   whether the end of the expression is one. */
static bool reach(struct regex *regex, int step, size_t start,
                  const struct point *point, struct regex_threads *out)
{
    size_t waiting = 0;

    regex->stack[waiting++] = step;
    while (waiting > 0) {
        int at = regex->stack[--waiting];
        const struct regex_step *s = &regex->steps[at];

        if (regex->seen[at] == regex->round)
            continue;
        regex->seen[at] = regex->round;
        regex->work++;
        switch (s->op) {
        case REGEX_SPLIT:
            regex->stack[waiting++] = at + s->y;
            regex->stack[waiting++] = at + s->x;
            break;
        case REGEX_JUMP:
            regex->stack[waiting++] = at + s->x;
            break;
        case REGEX_START:
        case REGEX_END:
        case REGEX_BOUNDARY:
        case REGEX_INSIDE:
            if (holds(s, point))
                regex->stack[waiting++] = at + 1;
            break;
        case REGEX_MATCH:
            return true;
        case REGEX_CHARACTER:
        case REGEX_ANY:
        case REGEX_SET:
            out->all[out->count++] = (struct regex_thread){at, start};
            break;
        }
    }
    return false;
}

/* The character at AT; *N its bytes. */
static uint32_t code_at(const struct regex *regex, struct str text, size_t at,
                        size_t *n)
{
    uint32_t code = (unsigned char)text.p[at];

    *n = 1;
    if (code >= 0x80) {
        size_t bytes = utf8_decode(str_make(text.p + at, text.n - at), &code);

        *n = bytes > 0 ? bytes : 1;
    }
    if (regex->ignores_case && code >= 'A' && code <= 'Z')
        code += 'a' - 'A';
    return code;
}

/* Moves all states over the character CODE to POINT. Returns whether one is the
   end of the expression, which began at *START. */
static bool move(struct regex *regex, uint32_t code, const struct point *point,
                 size_t *start)
{
    struct regex_threads now = regex->now;

    regex->now = regex->next;
    regex->now.count = 0;
    regex->next = now;
    regex->round++;
    for (size_t i = 0; i < now.count; i++) {
        const struct regex_thread *thread = &now.all[i];

        regex->work++;
        if (!fits(regex, &regex->steps[thread->step], code))
            continue;
        *start = thread->start;
        if (reach(regex, thread->step + 1, thread->start, point, &regex->now))
            return true;
    }
    return false;
}

enum status regex_search(struct regex *regex, const struct arena *arena,
                         struct str text, bool *found, size_t *start)
{
    struct point point = {.end = text.n};
    uint64_t paid = regex->work;
    uint32_t code = 0;
    size_t n = 0;

    *found = false;
    regex->now.count = 0;
    regex->round++;
    for (;;) {
        uint32_t next =
            point.at < text.n ? code_at(regex, text, point.at, &n) : 0;

        point.word_after = point.at < text.n && is_word(next);
        // a state of an earlier match was already moved here
        if (point.at > 0 && move(regex, code, &point, start)) {
            *found = true;
            return ST_OK;
        }
        if (reach(regex, 0, point.at, &point, &regex->now)) {
            *found = true;
            *start = point.at;
            return ST_OK;
        }
        if (point.at == text.n)
            return ST_OK;
        if (regex->work - paid >= PIECE) {
            if (arena_spend(arena, (size_t)(regex->work - paid) * 4) != ST_OK)
                return ST_NOMEM;
            paid = regex->work;
        }
        code = next;
        point.word_before = point.word_after;
        point.at += n;
    }
}
