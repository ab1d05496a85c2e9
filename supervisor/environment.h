/* SPDX-License-Identifier: GPL-3.0-or-later */
/* environment.h: the environment of the zygote, which is that of the images. */
#ifndef SUPERVISOR_ENVIRONMENT_H
#define SUPERVISOR_ENVIRONMENT_H

/* The environment of this process with TEMPORARY as TMPDIR; without that
   variable if TEMPORARY is ""; unchanged if it is NULL. One block, to free; the
   other values are those of this process. NULL without memory. */
char **environment_with_temporary(const char *temporary);

#endif
