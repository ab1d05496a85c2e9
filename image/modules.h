/* SPDX-License-Identifier: GPL-3.0-or-later */
/* modules.h: ECL's compiler and ASDF, which sessions load when they need them.
 */
#ifndef IMAGE_MODULES_H
#define IMAGE_MODULES_H

/* Lets Lisp load them quickly. */
void modules_prepare(void);

#endif
