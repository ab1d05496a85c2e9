/* SPDX-License-Identifier: GPL-3.0-or-later */
/* extras.c: nothing. */
#include "server/extras.h"

const struct extras extras = {0};
