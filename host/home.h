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

#endif
