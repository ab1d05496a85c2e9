/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.c: see report.h. */
#include "host/report.h"

#include <stdarg.h>

#include "base/utf8.h"

void report_line(const struct report *report, enum log_level level,
                 const char *area, const char *format, ...)
{
    struct buf text = BUF_EMPTY;
    size_t before = report->notices->n;
    va_list args;

    va_start(args, format);
    buf_vprintf(&text, format, args);
    va_end(args);
    log_line(report->log, level, "%s: %.*s", area, STR_ARG(buf_view(&text)));
    buf_printf(report->notices, "[notice] %s: ", area);
    utf8_append_visible(report->notices, buf_view(&text));
    buf_byte(report->notices, '\n');
    if (buf_failed(&text) || buf_failed(report->notices)) {
        buf_truncate(report->notices, before);
        report->notices->failed = false;
    }
    buf_release(&text);
}
