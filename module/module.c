/* SPDX-License-Identifier: GPL-3.0-or-later */
/* module.c: what Emacs calls when it loads the module. */
#include <emacs-module.h>

#include "module/functions.h"
#include "module/values.h"

#define EXPORTED __attribute__((visibility("default")))

/* What emacs_module_init returns; not zero: it does not fit this Emacs. */
enum { FITS, RUNTIME_TOO_OLD, ENVIRONMENT_TOO_OLD };

// NOLINTBEGIN(readability-identifier-naming): the name is Emacs's
EXPORTED extern int plugin_is_GPL_compatible;
int plugin_is_GPL_compatible;
// NOLINTEND(readability-identifier-naming)

EXPORTED int emacs_module_init(struct emacs_runtime *runtime);

/* Defines the error of this module, unless Emacs Lisp has done so. */
static void define_error(emacs_env *env)
{
    emacs_value name = value_symbol(SYM_ECL_MCP_ERROR);
    emacs_value conditions =
        value_call(env, FN_GET, 2,
                   (emacs_value[]){name, value_symbol(SYM_ERROR_CONDITIONS)});

    if (!is_fine(env) || env->is_not_nil(env, conditions))
        return;
    emacs_value text = value_text(env, STR("ecl-mcp"));
    (void)value_call(env, FN_DEFINE_ERROR, 2, (emacs_value[]){name, text});
}

static void define(emacs_env *env, const struct function *function)
{
    for (; function->name && is_fine(env); function++) {
        emacs_value symbol = env->intern(env, function->name);

        if (!is_fine(env))
            return;
        emacs_value value =
            env->make_function(env, function->arity, function->arity,
                               function->call, function->doc, NULL);
        (void)value_call(env, FN_DEFALIAS, 2, (emacs_value[]){symbol, value});
    }
}

int emacs_module_init(struct emacs_runtime *runtime)
{
    if (runtime->size < (ptrdiff_t)sizeof *runtime)
        return RUNTIME_TOO_OLD;
    emacs_env *env = runtime->get_environment(runtime);
    if (env->size < (ptrdiff_t)sizeof(struct emacs_env_28))
        return ENVIRONMENT_TOO_OLD;
    if (values_init(env)) {
        define_error(env);
        define(env, FUNCTIONS_CORE);
        define(env, FUNCTIONS_DIFF);
    }
    return FITS; // Emacs sees what was signalled
}
