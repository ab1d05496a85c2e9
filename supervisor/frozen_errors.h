/* SPDX-License-Identifier: GPL-3.0-or-later */
/* frozen_errors.h: what the supervisor knows of the frozen errors of a session
   (docs/adr/0021): which processes they are, so that they stay and are not
   counted, and to which evaluation they belong. The image has their sockets. */
#ifndef SUPERVISOR_FROZEN_ERRORS_H
#define SUPERVISOR_FROZEN_ERRORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/limits.h"
#include "base/status.h"
#include "base/str.h"

struct frozen_error_entry {
    pid_t pid;
    bool known; /* it is a process of the session, not only said to be one */
    int64_t number;
    uint64_t evaluation; /* the number that it has or would have */
};

struct frozen_errors {
    struct frozen_error_entry list[LIMIT_FROZEN_ERRORS]; /* oldest first */
    size_t n;
    int64_t last;  /* the largest number so far, */
    uint64_t seen; /* and which have come: bit I is last - I */
    bool changed;  /* some are not known, or the keeper has not heard of them */
    bool doubted;  /* the log has one that was none */

    /* The process that is to replace the image when the call that runs has been
       answered; pid 0: none. */
    struct {
        pid_t pid;
        int socket;     /* wakes it; owned; -1: none */
        int64_t number; /* of the error that it comes from */
    } outcome;
};

void frozen_errors_init(struct frozen_errors *errors);

/* Ends the outcome, if there is one. */
void frozen_errors_drop_outcome(struct frozen_errors *errors);

/* Takes the BODY of FROZEN: adds the error, which is not known yet. The oldest
   is forgotten when there are too many. ST_INVALID; its number has been there
   or is old, or it belongs to an evaluation after EVALUATION, that of the call
   that runs.
 */
enum status MUST_CHECK frozen_errors_take(struct frozen_errors *errors,
                                          struct str body, uint64_t evaluation);

/* Takes the BODY of OUTCOME, and its *SOCKET. ST_INVALID; none came along. */
enum status MUST_CHECK frozen_errors_take_outcome(struct frozen_errors *errors,
                                                  struct str body, int *socket);

/* Forgets error I. */
void frozen_errors_remove(struct frozen_errors *errors, size_t i);

/* The evaluation of error NUMBER; OTHERWISE when that is not known. */
uint64_t frozen_errors_evaluation(const struct frozen_errors *errors,
                                  int64_t number, uint64_t otherwise);

/* EVALUATION is the last one again: errors of later ones are forgotten. */
void frozen_errors_restored(struct frozen_errors *errors, uint64_t evaluation);

/* Forgets all errors, and ends the outcome. */
void frozen_errors_forget(struct frozen_errors *errors);

#endif
