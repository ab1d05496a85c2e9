/* SPDX-License-Identifier: GPL-3.0-or-later */
/* modules.c: see modules.h. Lisp says when (lisp/ecl-packages.lisp). */
#include "image/modules.h"

#include <ecl/ecl.h>

#include "image/constants.h"
#include "image/subtypes.h"

/* From now on, unless ON is NIL, this thread loads a module of ECL. */
static cl_object load_quickly(cl_object on)
{
    cl_env_ptr env = ecl_process_env();

    if (on != ECL_NIL) {
        constants_begin();
        subtypes_begin();
    } else {
        constants_end();
        subtypes_end();
    }
    env->nvalues = 1;
    return env->values[0] = ECL_NIL;
}

void modules_prepare(void)
{
    ecl_def_c_function(ecl_make_symbol("LOAD-QUICKLY", "ECL-MCP"),
                       (cl_objectfn_fixed)load_quickly, 1);
}
