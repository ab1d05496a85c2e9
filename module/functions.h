/* SPDX-License-Identifier: GPL-3.0-or-later */
/* functions.h: the functions that Emacs Lisp sees. */
#ifndef MODULE_FUNCTIONS_H
#define MODULE_FUNCTIONS_H

#include <emacs-module.h>

struct function {
    const char *name;
    ptrdiff_t arity;
    emacs_value (*call)(emacs_env *env, ptrdiff_t count, emacs_value *args,
                        void *data);
    const char *doc; /* with the names of the arguments in its last line */
};

/* Ends with a NULL for a name. */
extern const struct function FUNCTIONS_SESSION[];
extern const struct function FUNCTIONS_DIFF[];

#endif
