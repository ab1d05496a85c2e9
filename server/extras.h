/* SPDX-License-Identifier: GPL-3.0-or-later */
/* extras.h: what a build of the server has beyond the core. The program as it
   is installed has nothing (extras.c); one that is linked with another table
   in the place of that has more. */
#ifndef SERVER_EXTRAS_H
#define SERVER_EXTRAS_H

#include "gate/tool.h"
#include "tools/resource.h"

struct extras {
    const struct tool *const *tools;  /* ends with NULL; or NULL */
    const struct resource *resources; /* the last one has no address; or NULL */
};

extern const struct extras extras;

#endif
