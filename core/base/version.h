/* SPDX-License-Identifier: GPL-3.0-or-later */
/* version.h: the version of ecl-mcp, as every program and answer shows it. */
#ifndef CORE_VERSION_H
#define CORE_VERSION_H

#define ECL_MCP_VERSION "0.1.0"

#endif
