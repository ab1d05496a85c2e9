/* SPDX-License-Identifier: GPL-3.0-or-later */
/* conses.h: the parts of a cons, which are copied: to a sanitizer, ECL's own
   macros read where the tag of the address points. */
#ifndef IMAGE_CONSES_H
#define IMAGE_CONSES_H

#include <string.h>

#include <ecl/ecl.h>

static inline cl_object cons_car(cl_object cons)
{
    cl_object car;

    memcpy(&car, &ECL_CONS_CAR(cons), sizeof(void *));
    return car;
}

static inline cl_object cons_cdr(cl_object cons)
{
    cl_object cdr;

    memcpy(&cdr, &ECL_CONS_CDR(cons), sizeof(void *));
    return cdr;
}

#endif
