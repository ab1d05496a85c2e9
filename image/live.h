/* SPDX-License-Identifier: GPL-3.0-or-later */
/* live.h: Lisp in a process: booted once in the zygote, then run in each fork
   of it. Only live*.c and lisp_text.c include ecl.h. */
#ifndef IMAGE_LIVE_H
#define IMAGE_LIVE_H

#include "base/status.h"
#include "image/control.h"

/* Boots ECL, as program NAME, and the linked Lisp library. Ends the process
   with a message on standard error when that fails. */
void live_boot(char *name);

/* Prepares what sessions share, after the environment is that of the images. */
void live_prepare(void);

/* In an image whose session is yet to come: writes now what its first call will
   write. In the zygote, once: finds out what the first call of each image would
   find out. */
void live_warm(void);

/* Turns this fork of the zygote into a live image, which answers the calls that
   come over FDS until its supervisor closes the socket. */
NO_RETURN void live_run(const struct control_message *open,
                        const int fds[CONTROL_FDS]);

#endif
