/* SPDX-License-Identifier: GPL-3.0-or-later */
/* status.h: what a function that can fail returns, and the compiler attributes
   used everywhere. */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#define MUST_CHECK __attribute__((warn_unused_result))
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
#define NO_RETURN __attribute__((noreturn))

enum status {
    ST_OK = 0,
    ST_NOMEM,   /* an allocation failed; nothing was changed */
    ST_INVALID, /* the input breaks its format */
    ST_LIMIT,   /* the input is well formed but over a limit of limits.h */
    ST_MISSING, /* what was asked for does not exist */
    ST_IO       /* the system refused, or the other end is gone; errno says
                   why only where the declaration promises it */
};

#endif
