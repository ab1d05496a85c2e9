/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frozen_errors.c: see frozen_errors.h. */
#include "supervisor/frozen_errors.h"

#include <string.h>

#include "supervisor/closing.h"
#include "wire/wire.h"

void frozen_errors_init(struct frozen_errors *errors)
{
    memset(errors, 0, sizeof *errors);
    errors->outcome.socket = -1;
}

void frozen_errors_drop_outcome(struct frozen_errors *errors)
{
    if (errors->outcome.socket >= 0)
        closing_socket(errors->outcome.socket); // by this it ends
    errors->outcome.socket = -1;
    errors->outcome.pid = 0;
}

/* Whether NUMBER has not been there, and notes that it is now. */
static bool note_number(struct frozen_errors *errors, int64_t number)
{
    int64_t back;

    if (number < 1 || errors->last - number >= LIMIT_FROZEN_NUMBERS)
        return false;
    back = errors->last - number;
    if (back < 0) {
        errors->seen = -back < LIMIT_FROZEN_NUMBERS ? errors->seen << -back : 0;
        errors->last = number;
        back = 0;
    }
    if (errors->seen >> back & 1)
        return false;
    errors->seen |= UINT64_C(1) << back;
    return true;
}

enum status frozen_errors_take(struct frozen_errors *errors, struct str body,
                               uint64_t evaluation)
{
    struct frozen_error_entry error = {0};
    int64_t pid;
    int64_t of;

    if (wire_take_int(&body, &pid) != ST_OK ||
        wire_take_int(&body, &error.number) != ST_OK ||
        wire_take_int(&body, &of) != ST_OK || of < 1 ||
        (uint64_t)of > evaluation || !note_number(errors, error.number))
        return ST_INVALID;
    error.pid = (pid_t)pid;
    error.evaluation = (uint64_t)of;
    if (errors->n == LIMIT_FROZEN_ERRORS)
        frozen_errors_remove(errors, 0);
    errors->list[errors->n++] = error;
    errors->changed = true;
    return ST_OK;
}

enum status frozen_errors_take_outcome(struct frozen_errors *errors,
                                       struct str body, int *socket)
{
    int64_t pid;
    int64_t number;

    if (*socket < 0 || wire_take_int(&body, &pid) != ST_OK ||
        wire_take_int(&body, &number) != ST_OK)
        return ST_INVALID;
    frozen_errors_drop_outcome(errors);
    errors->outcome.pid = (pid_t)pid;
    errors->outcome.number = number;
    errors->outcome.socket = *socket;
    *socket = -1;
    return ST_OK;
}

void frozen_errors_remove(struct frozen_errors *errors, size_t i)
{
    memmove(errors->list + i, errors->list + i + 1,
            (--errors->n - i) * sizeof *errors->list);
    errors->changed = true;
}

uint64_t frozen_errors_evaluation(const struct frozen_errors *errors,
                                  int64_t number, uint64_t otherwise)
{
    for (size_t i = 0; i < errors->n; i++)
        if (errors->list[i].number == number)
            return errors->list[i].evaluation;
    return otherwise;
}

void frozen_errors_restored(struct frozen_errors *errors, uint64_t evaluation)
{
    size_t n = 0;

    for (size_t i = 0; i < errors->n; i++)
        if (errors->list[i].evaluation <= evaluation)
            errors->list[n++] = errors->list[i];
    errors->n = n;
}

void frozen_errors_forget(struct frozen_errors *errors)
{
    frozen_errors_drop_outcome(errors);
    errors->n = 0;
    errors->last = 0; // a new image counts anew
    errors->seen = 0;
    errors->changed = true;
}
