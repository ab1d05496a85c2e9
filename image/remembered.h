/* SPDX-License-Identifier: GPL-3.0-or-later */
/* remembered.h: what a home folder with very many entries holds, kept from one
   start to the next: to read them takes the system a quarter of a microsecond
   each, although hardly any has changed. It lies in the home's own folder of
   this program, which evaluated code can neither read nor change. */
#ifndef IMAGE_REMEMBERED_H
#define IMAGE_REMEMBERED_H

#include <stdbool.h>

#include "image/hidden_paths.h"

/* Fills LISTING as listing_read_way would do now, if that is remembered of
   HOME, which has not changed since. MORE are the patterns of listing_read_way.
   False: it must be read, and LISTING has nothing. */
bool remembered_recall(const struct hidden_path *home, const char *const *more,
                       struct listing *listing);

/* Remembers LISTING, which was read after HOME was looked at, if it took long
   and if a later change will show: the system counts the time in steps, and
   other systems' files have other clocks. */
void remembered_note(const struct hidden_path *home, const char *const *more,
                     const struct listing *listing);

#endif
