/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lisp_text.h: texts as strings of Lisp, and back. For the files named live*.c,
   which alone include ecl.h. */
#ifndef IMAGE_LISP_TEXT_H
#define IMAGE_LISP_TEXT_H

#include <ecl/ecl.h>

#include "base/buf.h"
#include "base/str.h"

/* A new string of Lisp; what is not UTF-8 becomes U+FFFD. */
cl_object lisp_text_new(struct str s);

/* NAME, which the supervisor has given something, as a string of Lisp that is
   kept: most calls have the same few. Nobody changes it. */
cl_object lisp_name(struct str name);

/* The pairs of name and value in BODY as an alist. */
cl_object lisp_arguments(struct str body);

/* Appends STRING to OUT, which has LIMIT_OUTPUT_KEPT bytes at most afterwards:
   the supervisor takes no more. */
void lisp_text_append(cl_object string, struct buf *out);

/* Before a call: makes texts as it will, and blocks as ECL makes of a small
   form while that is evaluated. The collector has a page for each size. */
void lisp_text_rehearse(void);

#endif
