/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outline.h: a Lisp text in short: the first line of each form at the top
   level, or nearly so (definition.h). */
#ifndef SOURCE_OUTLINE_H
#define SOURCE_OUTLINE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"
#include "base/strand.h"

struct outline {
    struct buf text; /* "12: (defun area (shape)" for each form */
    size_t forms;    /* in TEXT */
    uint32_t next;   /* the line of the first form that found no place; 0: all
                        did */
};

/* Fills *OUT with the forms of TEXT that begin in line FIRST or later, in about
   CHARS bytes; on success the caller releases OUT->text. In the STRAND, or
   NULL. ST_NOMEM; ST_LIMIT: TEXT is nested too deep. */
enum status MUST_CHECK outline_make(struct strand *strand, struct str text,
                                    size_t first, size_t chars,
                                    struct outline *out);

#endif
