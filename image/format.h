/* SPDX-License-Identifier: GPL-3.0-or-later */
/* format.h: FORMAT, fast for the commonest calls. */
#ifndef IMAGE_FORMAT_H
#define IMAGE_FORMAT_H

/* Calls of FORMAT may be fast from now on. For a process in which no code of
   the user has run: what the printer is made of then is what is known here. */
void format_begin(void);

#endif
