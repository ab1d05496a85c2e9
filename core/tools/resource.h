/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resource.h: a resource that a host brings, besides those of the core
   (resources.h). */
#ifndef TOOLS_RESOURCE_H
#define TOOLS_RESOURCE_H

#include "gate/tool.h"

/* What stands at ADDRESS is the answer of a call of SHOWN_BY: its text, or its
   content, which then is an array of resource contents. With "{name}" in it,
   once, the address is a template: what stands there in a real one, without
   slashes, is the first argument of the call. */
struct resource {
    const char *address;
    const char *name;
    const char *title;
    const char *description;
    const char *type; /* "text/plain" */
    const struct tool *shown_by;
};

#endif
