/* SPDX-License-Identifier: GPL-3.0-or-later */
/* functions.h: the functions that Emacs Lisp sees, one table for each file. */
#ifndef MODULE_FUNCTIONS_H
#define MODULE_FUNCTIONS_H

#include <emacs-module.h>

struct function {
    const char *name;
    ptrdiff_t arity;
    emacs_value (*call)(emacs_env *env, ptrdiff_t count, emacs_value *args,
                        void *data);
    const char *doc; /* its last line names the arguments */
};

/* The name of the last one is NULL. */
extern const struct function FUNCTIONS_CORE[];
extern const struct function FUNCTIONS_DIFF[];

#endif
