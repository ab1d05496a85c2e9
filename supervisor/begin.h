/* SPDX-License-Identifier: GPL-3.0-or-later */
/* begin.h: the start of a supervisor, as far as it can wait until the client
   has its first answer: the zygote, and what is needed before it is ready. */
#ifndef SUPERVISOR_BEGIN_H
#define SUPERVISOR_BEGIN_H

#include <stdint.h>

#include "supervisor/state.h"

/* Starts the zygote, makes the temporary folder, and looks at the workspace,
   unless that was done. */
void begin(struct supervisor *s, int64_t now_ms);

#endif
