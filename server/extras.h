/* SPDX-License-Identifier: GPL-3.0-or-later */
/* extras.h: tools and resources that a build of the server has beyond those of
   the core. The installed program has none (extras.c); a program for tests is
   linked with another table instead. */
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
