/* SPDX-License-Identifier: GPL-3.0-or-later */
/* deadline.h: whether the time of the call that runs is up. The signal of the
   supervisor says why it interrupts, but the system drops what a signal says
   when too many signals wait, for which code of any session can care: it counts
   them for all processes of a user. */
#ifndef IMAGE_DEADLINE_H
#define IMAGE_DEADLINE_H

#include <stdbool.h>
#include <stdint.h>

/* A call begins that may take TIMEOUT_MS; 0: as long as it likes. */
void deadline_begin(int64_t timeout_ms);

/* Whether that time is up, or nearly. May be called in a signal handler. */
bool deadline_is_over(void);

/* Interrupts this process in MS milliseconds, as the supervisor would. */
void deadline_interrupt_after(int64_t ms);

#endif
