/* SPDX-License-Identifier: GPL-3.0-or-later */
/* instructions.h: what a model is told about the server as a whole. */
#ifndef MCP_INSTRUCTIONS_H
#define MCP_INSTRUCTIONS_H

/* At most 2 KB, the key words first: clients cut it, and search in it. */
extern const char instructions_text[];

#endif
