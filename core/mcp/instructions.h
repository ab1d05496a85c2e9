/* SPDX-License-Identifier: GPL-3.0-or-later */
/* instructions.h: what the server tells a model about itself as a whole. */
#ifndef MCP_INSTRUCTIONS_H
#define MCP_INSTRUCTIONS_H

/* At most 2 KB, with the key words first: clients shorten it and search it. */
extern const char instructions_text[];

#endif
