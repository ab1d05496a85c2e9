/* SPDX-License-Identifier: GPL-3.0-or-later */
/* states.c: see states.h. */
#include "support/states.h"

#include <string.h>

const struct states_arrow states_arrows[] = {
    {PENDING_NEW, PENDING_READING_BUFFER, "new -> reading-buffer"},
    {PENDING_NEW, PENDING_ASKING_EDITOR, "new -> asking-editor"},
    {PENDING_NEW, PENDING_ASKING_CLIENT, "new -> asking-client"},
    {PENDING_NEW, PENDING_IN_IMAGE, "new -> in-image"},
    {PENDING_NEW, PENDING_WORKING, "new -> working"},
    {PENDING_NEW, PENDING_IN_EDITOR, "new -> in-editor"},
    {PENDING_NEW, PENDING_OVER, "new -> over"},
    {PENDING_READING_BUFFER, PENDING_ASKING_EDITOR,
     "reading-buffer -> asking-editor"},
    {PENDING_READING_BUFFER, PENDING_ASKING_CLIENT,
     "reading-buffer -> asking-client"},
    {PENDING_READING_BUFFER, PENDING_OVER, "reading-buffer -> over"},
    {PENDING_ASKING_EDITOR, PENDING_READING_BUFFER,
     "asking-editor -> reading-buffer"},
    {PENDING_ASKING_EDITOR, PENDING_ASKING_CLIENT,
     "asking-editor -> asking-client"},
    {PENDING_ASKING_EDITOR, PENDING_IN_IMAGE, "asking-editor -> in-image"},
    {PENDING_ASKING_EDITOR, PENDING_WORKING, "asking-editor -> working"},
    {PENDING_ASKING_EDITOR, PENDING_IN_EDITOR, "asking-editor -> in-editor"},
    {PENDING_ASKING_EDITOR, PENDING_OVER, "asking-editor -> over"},
    {PENDING_ASKING_CLIENT, PENDING_IN_IMAGE, "asking-client -> in-image"},
    {PENDING_ASKING_CLIENT, PENDING_WORKING, "asking-client -> working"},
    {PENDING_ASKING_CLIENT, PENDING_IN_EDITOR, "asking-client -> in-editor"},
    {PENDING_ASKING_CLIENT, PENDING_OVER, "asking-client -> over"},
    {PENDING_IN_IMAGE, PENDING_OVER, "in-image -> over"},
    {PENDING_WORKING, PENDING_OVER, "working -> over"},
    {PENDING_IN_EDITOR, PENDING_OVER, "in-editor -> over"},
};

const size_t states_arrow_count = sizeof states_arrows / sizeof *states_arrows;

void states_keep(struct buf *out, struct str line)
{
    const struct str start = STR("mcp: call ");

    if (!str_starts(line, start))
        return;
    buf_append(out, line.p + start.n, line.n - start.n);
    buf_byte(out, '\n');
}

/* The arrow at the end of LINE, and the id before it. */
static const struct states_arrow *read_line(struct str line, struct str *id)
{
    for (size_t i = 0; i < states_arrow_count; i++) {
        struct str text = str_from(states_arrows[i].text);
        size_t before = line.n - text.n - 2;
        if (line.n > text.n + 2 && memcmp(line.p + before, ": ", 2) == 0 &&
            memcmp(line.p + before + 2, text.p, text.n) == 0) {
            *id = str_make(line.p, before);
            return &states_arrows[i];
        }
    }
    return NULL;
}

/* Takes the first line from LINES. */
static struct str take_line(struct str *lines)
{
    const char *end = memchr(lines->p, '\n', lines->n);
    struct str line = str_make(lines->p, (size_t)(end - lines->p));

    *lines = str_make(end + 1, lines->n - line.n - 1);
    return line;
}

/* The calls that are not over. */
#define OPEN_CALLS 500

struct open {
    struct {
        struct str id;
        enum pending_state state;
    } calls[OPEN_CALLS];
    size_t count;
};

/* Moves call ID along ARROW; false if it is in another state. */
static bool move(struct open *open, struct str id,
                 const struct states_arrow *arrow)
{
    size_t i = 0;

    while (i < open->count && !str_eq(open->calls[i].id, id))
        i++;
    if (i == OPEN_CALLS)
        return false;
    if (i == open->count) {
        open->calls[open->count].id = id;
        open->calls[open->count++].state = PENDING_NEW;
    }
    if (open->calls[i].state != arrow->from)
        return false;
    open->calls[i].state = arrow->to;
    if (arrow->to == PENDING_OVER)
        open->calls[i] = open->calls[--open->count];
    return true;
}

bool states_are_sound(struct str lines)
{
    struct open open = {.count = 0};

    while (lines.n > 0) {
        struct str id;
        const struct states_arrow *arrow = read_line(take_line(&lines), &id);
        if (!arrow || !move(&open, id, arrow))
            return false;
    }
    return open.count == 0;
}
