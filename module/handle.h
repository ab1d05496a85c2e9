/* SPDX-License-Identifier: GPL-3.0-or-later */
/* handle.h: a core as Emacs Lisp holds it: a user pointer to one of these. */
#ifndef MODULE_HANDLE_H
#define MODULE_HANDLE_H

#include <emacs-module.h>

#include "core/core.h"
#include "host/host.h"
#include "module/ring.h"

struct handle {
    struct core *core; /* NULL: closed */
    struct host host;
    struct buf tools; /* the core borrows its text */
    struct buf secrets[LIMIT_SECRETS];
    const char *patterns[LIMIT_SECRETS + 1]; /* in them; borrowed, too */
    struct ring log;
};

/* Makes a core with the options in the property list LIST and returns it as a
   value of Emacs Lisp. Signals what is wrong with them. */
emacs_value handle_open(emacs_env *env, emacs_value list);

/* The handle in VALUE. When that is not a core of this module: NULL, and
   wrong-type-argument is signalled. */
struct handle *handle_get(emacs_env *env, emacs_value value);

/* The same; NULL, and ecl-mcp-error is signalled, for a closed one, too. */
struct handle *handle_get_open(emacs_env *env, emacs_value value);

/* Frees the core; the handle and its log stay. */
void handle_close(struct handle *handle);

#endif
