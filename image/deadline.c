/* SPDX-License-Identifier: GPL-3.0-or-later */
/* deadline.c: see deadline.h. */
#include "image/deadline.h"

#include <signal.h>
#include <time.h>

#include "image/linux.h"

/* When most of it is over, in ms; 0: never. The supervisor counts from the
   moment at which it sends the call, so its end may come earlier than ours; who
   stops a call by hand rarely does it just before. */
static volatile int64_t over_at;

void deadline_begin(int64_t timeout_ms)
{
    over_at = timeout_ms > 0 ? linux_now_ms() + timeout_ms - timeout_ms / 4 : 0;
}

bool deadline_is_over(void)
{
    return over_at > 0 && linux_now_ms() >= over_at;
}

void deadline_interrupt_after(int64_t ms)
{
    struct itimerspec when = {.it_value = {ms / 1000, ms % 1000 * 1000 * 1000}};
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                             .sigev_signo = SIGINT};
    timer_t timer;

    if (timer_create(CLOCK_MONOTONIC, &event, &timer) == 0)
        (void)timer_settime(timer, 0, &when, NULL); // else it is ended later
}
