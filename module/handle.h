/* SPDX-License-Identifier: GPL-3.0-or-later */
/* handle.h: a session as Emacs Lisp holds it: a user pointer to one of
   these. */
#ifndef MODULE_HANDLE_H
#define MODULE_HANDLE_H

#include <emacs-module.h>

#include "core/core.h"
#include "host/host.h"
#include "module/ring.h"

struct handle {
    struct core *core; /* NULL: closed */
    struct host host;
    struct buf tools; /* the session borrows its text */
    struct buf secrets[LIMIT_SECRETS];
    const char *patterns[LIMIT_SECRETS + 1]; /* in them; borrowed likewise */
    struct ring log;
};

/* A value for Emacs Lisp whose session is opened as the property list OPTIONS
   says. What is wrong is signalled. */
emacs_value handle_open(emacs_env *env, emacs_value options);

/* The handle in VALUE; NULL, and wrong-type-argument is signalled, when that
   is no session of ours. */
struct handle *handle_get(emacs_env *env, emacs_value value);

/* The same; a closed one signals ecl-mcp-error, too. */
struct handle *handle_get_open(emacs_env *env, emacs_value value);

/* Closes the session; the handle stays, and its log. */
void handle_close(struct handle *handle);

#endif
