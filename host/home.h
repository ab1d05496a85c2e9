/* SPDX-License-Identifier: GPL-3.0-or-later */
/* home.h: the home folders of the user: the one of HOME, and the one that the
   system has. */
#ifndef HOST_HOME_H
#define HOST_HOME_H

#include <stdbool.h>

#include "base/str.h"

/* Whether the absolute path REAL, without links, is a home or lies in one; *OUT
   is the part below, a part of REAL. */
bool home_below(const char *real, struct str *out);

/* The folder that ~ means, absolute: that of HOME, else the one that the system
   has; NULL when there is none. */
const char *home_folder(void);

#endif
