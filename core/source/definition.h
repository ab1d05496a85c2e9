/* SPDX-License-Identifier: GPL-3.0-or-later */
/* definition.h: finds a definition in source text by its kind and name, to
   replace it, delete it, or insert something before or after it. Uses the text
   alone: nothing is evaluated, no package is known. */
#ifndef SOURCE_DEFINITION_H
#define SOURCE_DEFINITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"

/* Where a definition stands; all are bytes from the start of the text.

       ;; About the area.                    <- comment
       #+shapes                              <- whole
       (defun area (shape)                   <- start
         (* 2 (side shape)))  ; of a square
                            ^- end         ^- tail

   To replace it: START to END. To insert before it: at COMMENT, then a line
   break and COLUMN blanks. To insert after it: at TAIL, a line break and COLUMN
   blanks, then the text. To delete it: COMMENT to TAIL, with the line breaks
   around. */
struct definition {
    size_t comment;  /* of the comment lines directly above, those of four and
                        more semicolons left out; else WHOLE */
    size_t whole;    /* with the #+ and #- before it */
    size_t start;    /* its parenthesis */
    size_t end;      /* after its last one */
    size_t tail;     /* after a comment that follows on the same line; else
                        END */
    uint32_t line;   /* of START, from 1 */
    uint32_t column; /* of WHOLE, from 0: how far it is indented */
    bool broken;     /* not closed: END is before the next form that begins in
                        column 0, or at the end of the text */
};

/* Finds the definition (KIND NAME …) at the top level of TEXT, or in a form
   there whose contents are at the top level, or nearly so: progn, eval-when,
   locally, let, let*, flet, labels, macrolet, symbol-macrolet; with or without
   #+ and #- before it.

   KIND is any operator, such as "defun"; empty: any, and forms that look like
   definitions before others. NAME is written as in the text, in
   upper or lower case, with or without its package: "area", "(setf area)",
   "my-system" for (defsystem "my-system" …), "point" for (defstruct (point …)
   …). The name of a method may be followed by its qualifiers and specialisers,
   "area :around (circle t)", or by its lambda list; they are only needed when
   the name alone is ambiguous. A line, as in "area @12", chooses among equals.

   Packages, in-package included, are ignored, except that a package in KIND or
   NAME must be the one that the text gives, if it gives one. *OUT is written on
   success only. ST_MISSING when there is no such definition, ST_INVALID when
   there are several or NAME cannot be read, ST_LIMIT when the text is nested
   too deep or NAME is too long; then *WHY, in ARENA, says so, and what there is
   instead. ST_NOMEM. */
enum status MUST_CHECK definition_find(struct arena *arena, struct str text,
                                       struct str kind, struct str name,
                                       struct definition *out, struct str *why);

#endif
