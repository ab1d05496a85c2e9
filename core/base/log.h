/* SPDX-License-Identifier: GPL-3.0-or-later */
/* log.h: where the core says what it did. The core prints nothing: a host
   gives it a sink. One event, one line, "area: text". */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdbool.h>

#include "base/status.h"
#include "base/str.h"

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

struct log {
    enum log_level level; /* lines above it are dropped before formatting */
    void (*sink)(void *context, enum log_level level, struct str line);
    void *context; /* borrowed, handed to sink */
};

/* Whether a line of LEVEL goes anywhere; to be asked before arguments are
   computed for log_line that cost something. */
static inline bool log_is_on(const struct log *log, enum log_level level)
{
    return log != NULL && log->sink != NULL && level <= log->level;
}

/* Formats and sends one line. Control bytes and line breaks in the formatted
   text become escapes, so that foreign text cannot forge a line. It is cut to
   LIMIT_LOG_LINE bytes. A NULL log or sink drops it. */
void log_line(const struct log *log, enum log_level level, const char *format,
              ...) PRINTF_LIKE(3, 4);

/* "error", "warn", "info", "debug". */
const char *log_level_name(enum log_level level);

/* The level of that name; ST_MISSING when there is none. */
enum status MUST_CHECK log_level_find(struct str name, enum log_level *out);

#endif
