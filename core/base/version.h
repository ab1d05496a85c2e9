/* SPDX-License-Identifier: GPL-3.0-or-later */
/* version.h: the version of ecl-mcp, as every program and answer shows it. */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H

#define ECL_MCP_VERSION "0.1.0"

#endif
