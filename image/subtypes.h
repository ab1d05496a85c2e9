/* SPDX-License-Identifier: GPL-3.0-or-later */
/* subtypes.h: SUBTYPEP, quickly while ECL's compiler is loaded. */
#ifndef IMAGE_SUBTYPES_H
#define IMAGE_SUBTYPES_H

/* Until SUBTYPES_END, this thread gets quick answers. */
void subtypes_begin(void);

void subtypes_end(void);

#endif
