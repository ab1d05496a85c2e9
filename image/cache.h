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
    CACHE_UNPROTECTED,         /* what covers protect, too */
    CACHE_NETWORK,             /* sockets, too */
    CACHE_NETWORK_UNPROTECTED, /* both */
    CACHE_UNCONFINED           /* all that the user may do */
};

/* The path of the cache for REACH below XDG_CACHE_HOME or the home of HOME; ""
   without such a folder. */
void cache_find(char path[HOMES_PATH], enum cache_reach reach);

/* The same below the home of HOME, whatever XDG_CACHE_HOME is. */
void cache_find_at_home(char path[HOMES_PATH], enum cache_reach reach);

/* Makes PATH, which one of these has found, that of the folder in which all
   caches are. */
void cache_cut(char path[HOMES_PATH]);

/* Whether PATH, by its names or by links, leads through FOLDER, a path without
   links ("": none): who may write there decides what is at PATH. */
bool cache_leads_into(const char *path, const char *folder);

/* Makes PATH, which cache_find has found for REACH, one that does not lead into
   ROOT, the folder to which code may write ("": none): code of a server that
   may do less could write there, too, and put links in the way. "": there is
   none. MAKING: the folder of all caches is made in ROOT nevertheless, so that
   it can be covered. */
void cache_choose(char path[HOMES_PATH], enum cache_reach reach,
                  const char *root, bool making);

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
   starts keep the user's settings. ROOT: as for cache_choose, where code of a
   server with a sandbox may write. */
void cache_open_unconfined(const char *root);

#endif
