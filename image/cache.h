/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cache.h: the cache of compiled files: one of our own for each user, since
   evaluated code writes to it. Another Lisp of the user must not load what it
   finds there. */
#ifndef IMAGE_CACHE_H
#define IMAGE_CACHE_H

#include <stdbool.h>

#include "image/homes.h"

/* What code may reach that loads from a cache, and so the code that others put
   there: those that may do more have a cache of their own. */
enum cache_reach {
    CACHE_CONFINED,
    CACHE_NETWORK,   /* sockets, too */
    CACHE_UNCONFINED /* all that the user may do */
};

/* The path of the cache for REACH below XDG_CACHE_HOME or the home of HOME; ""
   without such a folder. */
void cache_find(char path[HOMES_PATH], enum cache_reach reach);

/* Resolves the links in PATH, which cache_find has found; with MAKING, makes
   the folder first, with mode 0700, if it is missing. PATH becomes "" when that
   is no folder of this user. */
void cache_open(char path[HOMES_PATH], bool making);

/* Tells Lisp, and the Lisps that it starts, by environment variables of this
   process, where the cache is: NAME_CACHE (names.h), and ASDF's
   ASDF_OUTPUT_TRANSLATIONS, whose value so far is lost. Without a CACHE (""),
   it is in the folder TEMPORARY; without either, these variables stay away. */
void cache_announce(const char *cache, const char *temporary);

/* Without a sandbox: makes the cache and tells Lisp where it is, since what
   Lisp compiles with its own policies is for no other Lisp. The Lisps that it
   starts keep the user's settings. */
void cache_open_unconfined(void);

#endif
