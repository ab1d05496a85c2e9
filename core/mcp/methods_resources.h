/* SPDX-License-Identifier: GPL-3.0-or-later */
/* methods_resources.h: the methods about resources (resources.h). */
#ifndef MCP_METHODS_RESOURCES_H
#define MCP_METHODS_RESOURCES_H

#include "mcp/request.h"

/* resources/list, resources/templates/list, resources/read. */
void methods_resources_list(const struct request *r);
void methods_resources_templates(const struct request *r);
void methods_resources_read(const struct request *r);

#endif
