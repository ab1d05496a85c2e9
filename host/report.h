/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.h: what must reach the user whether or not anybody reads the log,
   which many clients hide: it also stands before the next answer to the model.
 */
#ifndef HOST_REPORT_H
#define HOST_REPORT_H

#include "base/buf.h"
#include "base/log.h"
#include "base/status.h"

/* Where it goes; borrowed. */
struct report {
    const struct log *log;
    struct buf *notices; /* lines for the next answer, until it has taken
                            them */
};

/* Logs a line "AREA: text" and adds the text to the notices. Without memory it
   is only in the log. */
void report_line(const struct report *report, enum log_level level,
                 const char *area, const char *format, ...) PRINTF_LIKE(4, 5);

#endif
