/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names.h: names by which the processes of live images are recognised. */
#ifndef IMAGE_NAMES_H
#define IMAGE_NAMES_H

/* Environment variable that every program started by a live image inherits;
   its value is the image's process number. */
#define NAME_ENVIRONMENT "ECL_MCP_IMAGE"

/* The process names, at most 15 bytes, of a live image and of a copy of one
   that sleeps as a checkpoint. */
#define NAME_LIVE "ecl-mcp-image"
#define NAME_SLEEPER "ecl-mcp-sleeper"

/* Environment variable with the folder of Lisp's compiled files, which ends in
   a slash. */
#define NAME_CACHE "ECL_MCP_CACHE"

#endif
