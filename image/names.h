/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names.h: the names of our processes, for people and ps(1). Nothing is
   concluded from them: evaluated code can take any name. */
#ifndef IMAGE_NAMES_H
#define IMAGE_NAMES_H

/* At most 15 bytes: of a live image, of the keeper of a session, and of copies
   that sleep, as a checkpoint or at an error. "pkill ecl" in an evaluation must
   not reach the last two. */
#define NAME_LIVE "ecl-mcp-image"
#define NAME_KEEPER "ecl-mcp-keeper"
#define NAME_SLEEPER "mcp-sleeper"
#define NAME_FROZEN "mcp-frozen"

/* The same of a process that compiles for an image. */
#define NAME_COMPILER "mcp-compiler"

/* Environment variable with the folder of Lisp's compiled files, which ends in
   a slash. */
#define NAME_CACHE "ECL_MCP_CACHE"

/* Environment variable that says whether functions become native, as
   --native does; without it, they do not. */
#define NAME_NATIVE "ECL_MCP_NATIVE"

#endif
