/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exposure.h: whether the agent could change a file that it is meant to be
   bound by. */
#ifndef HOST_EXPOSURE_H
#define HOST_EXPOSURE_H

#include "host/workspace.h"

/* Why the file that FD is open on is within reach, as the end of a sentence
   that begins with "it"; NULL: it is not. Within reach is what the tools for
   files change in WORKSPACE (may be NULL), and where the sandbox lets evaluated
   code write. Where there is no sandbox, that code reaches everything, and this
   function knows nothing of it. */
const char *exposure_of_file(int fd, const struct workspace *workspace);

#endif
