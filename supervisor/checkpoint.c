/* SPDX-License-Identifier: GPL-3.0-or-later */
/* checkpoint.c: see checkpoint.h. */
#include "supervisor/checkpoint.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/utf8.h"
#include "supervisor/closing.h"

/* Evaluations that history_list shows. */
#define LISTED 10

void checkpoint_free(struct checkpoint *checkpoint)
{
    if (!checkpoint)
        return;
    if (checkpoint->socket >= 0)
        closing_socket(checkpoint->socket); // by this the copy ends
    free(checkpoint);
}

void checkpoints_take(struct checkpoints *checkpoints,
                      struct checkpoint *checkpoint)
{
    struct checkpoint **link = &checkpoints->newest;

    while (*link != checkpoint)
        link = &(*link)->next;
    *link = checkpoint->next;
    checkpoint->next = NULL;
}

static void drop(struct checkpoints *checkpoints, struct checkpoint *checkpoint)
{
    checkpoints_take(checkpoints, checkpoint);
    checkpoint_free(checkpoint);
}

void checkpoints_release(struct checkpoints *checkpoints)
{
    while (checkpoints->newest)
        drop(checkpoints, checkpoints->newest);
}

/* The oldest of those that have a name, or that have none, when there are more
   than LIMIT_CHECKPOINTS of them. */
static struct checkpoint *surplus(const struct checkpoints *checkpoints,
                                  bool named)
{
    struct checkpoint *checkpoint = checkpoints->newest;
    struct checkpoint *oldest = NULL;
    int n = 0;

    for (; checkpoint; checkpoint = checkpoint->next) {
        if ((checkpoint->name[0] != '\0') != named)
            continue;
        oldest = checkpoint;
        n++;
    }
    return n > LIMIT_CHECKPOINTS ? oldest : NULL;
}

/* CHECKPOINT, or the newest one before it that has no name; NULL: none. */
static struct checkpoint *unnamed(struct checkpoint *checkpoint)
{
    while (checkpoint && checkpoint->name[0] != '\0')
        checkpoint = checkpoint->next;
    return checkpoint;
}

/* One without a name from the middle of a long series of evaluations, or NULL:
   with more of them to each of its neighbours than there are lines to say what
   was undone. The newest two stay, for the next undo goes back to one of them,
   and the oldest. */
static struct checkpoint *passed(const struct checkpoints *checkpoints)
{
    // the newest one may be named: an undo can go back to that as well
    struct checkpoint *after = unnamed(checkpoints->newest->next);
    struct checkpoint *middle = after ? unnamed(after->next) : NULL;
    struct checkpoint *before = middle ? unnamed(middle->next) : NULL;

    // an outcome that is adopted may be older than what was there before
    if (before && checkpoints->newest->evaluation >= after->evaluation &&
        after->evaluation > middle->evaluation + LIMIT_HISTORY &&
        middle->evaluation > before->evaluation + LIMIT_HISTORY)
        return middle;
    return NULL;
}

struct checkpoint *checkpoints_add(struct checkpoints *checkpoints, int socket,
                                   pid_t pid, uint64_t evaluation,
                                   struct str name)
{
    struct checkpoint *checkpoint = calloc(1, sizeof *checkpoint);
    struct checkpoint *old;

    if (!checkpoint) {
        closing_socket(socket); // by this the copy ends
        return NULL;
    }
    if (name.n > 0 && (old = checkpoints_named(checkpoints, name)))
        drop(checkpoints, old);
    checkpoint->socket = socket;
    checkpoint->pid = pid;
    checkpoint->evaluation = evaluation;
    checkpoint->taken = (int64_t)time(NULL);
    (void)snprintf(checkpoint->name, sizeof checkpoint->name, "%.*s",
                   STR_ARG(name));
    checkpoint->next = checkpoints->newest;
    checkpoints->newest = checkpoint;
    if ((old = passed(checkpoints)))
        drop(checkpoints, old);
    if ((old = surplus(checkpoints, name.n > 0)))
        drop(checkpoints, old);
    return checkpoint;
}

struct checkpoint *checkpoints_renew(struct checkpoints *checkpoints,
                                     int socket, pid_t pid, uint64_t evaluation)
{
    struct checkpoint *old = unnamed(checkpoints->newest);

    if (!old || old->apart || old->evaluation != evaluation)
        return checkpoints_add(checkpoints, socket, pid, evaluation, STR(""));
    checkpoints_take(checkpoints, old);
    closing_socket(old->socket); // by this the copy ends
    old->socket = socket;
    old->pid = pid;
    old->taken = (int64_t)time(NULL);
    old->next = checkpoints->newest;
    checkpoints->newest = old;
    return old;
}

struct checkpoint *checkpoints_named(const struct checkpoints *checkpoints,
                                     struct str name)
{
    struct checkpoint *checkpoint = checkpoints->newest;

    while (checkpoint && !str_eq(name, str_from(checkpoint->name)))
        checkpoint = checkpoint->next;
    return checkpoint;
}

struct checkpoint *checkpoints_before(const struct checkpoints *checkpoints,
                                      uint64_t evaluation)
{
    struct checkpoint *best = NULL;
    struct checkpoint *checkpoint = checkpoints->newest;

    for (; checkpoint; checkpoint = checkpoint->next)
        if (!checkpoint->apart && checkpoint->evaluation <= evaluation &&
            (!best || checkpoint->evaluation > best->evaluation))
            best = checkpoint;
    return best;
}

void checkpoints_restored(struct checkpoints *checkpoints,
                          const struct checkpoint *restored)
{
    struct checkpoint *checkpoint = checkpoints->newest;

    while (checkpoint) {
        struct checkpoint *next = checkpoint->next;
        bool left = restored->apart != checkpoint->apart ||
                    checkpoint->evaluation > restored->evaluation;

        if (left && checkpoint->name[0] == '\0')
            drop(checkpoints, checkpoint);
        else
            checkpoint->apart = left;
        checkpoint = next;
    }
}

void history_restored(struct history *history, uint64_t evaluation, bool apart)
{
    history->last = evaluation;
    if (apart)
        history->first = evaluation + 1;
}

void history_line(struct str code, struct buf *out)
{
    struct buf text = BUF_EMPTY;
    const char *end;

    while (code.n > 0 && strchr(" \t\r\n", code.p[0])) {
        code.p++;
        code.n--;
    }
    end = code.n > 0 ? memchr(code.p, '\n', code.n) : NULL;
    if (end)
        code.n = (size_t)(end - code.p);
    if (code.n > EVALUATION_LINE) {
        code.n = EVALUATION_LINE - sizeof "…";
        utf8_append_visible(&text, code);
        buf_truncate(&text, utf8_head(buf_view(&text), code.n).n);
        buf_str(&text, STR("…"));
    } else {
        utf8_append_visible(&text, code);
    }
    buf_str(out, buf_view(&text));
    buf_release(&text);
}

void history_add(struct history *history, struct str code)
{
    char *line = history->lines[++history->last % LIMIT_HISTORY];
    struct buf text = BUF_EMPTY;
    struct str shown;

    history_line(code, &text);
    shown = buf_view(&text);
    if (shown.n > EVALUATION_LINE) // escapes are longer
        shown.n = EVALUATION_LINE;
    if (shown.n > 0)
        memcpy(line, shown.p, shown.n);
    line[shown.n] = '\0';
    buf_release(&text);
}

void history_describe(const struct history *history, uint64_t evaluation,
                      struct buf *out)
{
    buf_printf(out, "evaluation %llu", (unsigned long long)evaluation);
    if (evaluation + LIMIT_HISTORY > history->last && evaluation > 0 &&
        evaluation >= history->first)
        buf_printf(out, ": %s", history->lines[evaluation % LIMIT_HISTORY]);
}

void history_list(const struct history *history, uint64_t first, uint64_t last,
                  struct buf *out)
{
    for (uint64_t evaluation = first; evaluation <= last; evaluation++) {
        if (evaluation - first == LISTED) {
            buf_printf(out, "\n- … %llu more",
                       (unsigned long long)(last - evaluation + 1));
            return;
        }
        buf_str(out, STR("\n- "));
        history_describe(history, evaluation, out);
    }
}
