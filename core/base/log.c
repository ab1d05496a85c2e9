/* SPDX-License-Identifier: GPL-3.0-or-later */
/* log.c: formats one event as one line and hands it to the sink. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/utf8.h"

static const char *const level_names[] = {
    [LOG_ERROR] = "error",
    [LOG_WARN] = "warn",
    [LOG_INFO] = "info",
    [LOG_DEBUG] = "debug",
};

#define LEVELS (sizeof level_names / sizeof *level_names)

/* S cut to MAX bytes, not inside a character. */
static struct str cut(struct str s, size_t max)
{
    if (s.n <= max)
        return s;
    s.n = max;
    while (s.n > 0 && ((unsigned char)s.p[s.n] & 0xc0) == 0x80)
        s.n--;
    return s;
}

void log_line(const struct log *log, enum log_level level, const char *format,
              ...)
{
    if (!log_is_on(log, level))
        return;
    char text[LIMIT_LOG_LINE + 2]; // one byte more shows that it was cut
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0)
        return;
    size_t length = (size_t)n < sizeof text ? (size_t)n : sizeof text - 1;
    struct buf line = BUF_EMPTY;
    utf8_append_visible(&line, cut(str_make(text, length), LIMIT_LOG_LINE));
    if (buf_failed(&line))
        log->sink(log->context, level,
                  STR("log: out of memory, a line was lost"));
    else
        log->sink(log->context, level, cut(buf_view(&line), LIMIT_LOG_LINE));
    buf_release(&line);
}

const char *log_level_name(enum log_level level)
{
    return level_names[level];
}

enum status log_level_find(struct str name, enum log_level *out)
{
    for (size_t i = 0; i < LEVELS; i++) {
        if (str_eq(name, str_from(level_names[i]))) {
            *out = (enum log_level)i;
            return ST_OK;
        }
    }
    return ST_MISSING;
}
