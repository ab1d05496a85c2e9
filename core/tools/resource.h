/* SPDX-License-Identifier: GPL-3.0-or-later */
/* resource.h: a resource that the host adds to those of the core
   (mcp/resources.h). */
#ifndef TOOLS_RESOURCE_H
#define TOOLS_RESOURCE_H

#include "gate/tool.h"

/* Reading it calls SHOWN_BY and shows its text, or its content, which then must
   be an array of resource contents. An address with one "{name}" in it is a
   template: the text that a client puts there, without slashes, is the first
   argument of the call. */
struct resource {
    const char *address;
    const char *name;
    const char *title;
    const char *description;
    const char *type; /* "text/plain" */
    const struct tool *shown_by;
};

#endif
