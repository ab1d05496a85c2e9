/* SPDX-License-Identifier: GPL-3.0-or-later */
/* signals.c: see signals.h. */
#include "image/signals.h"

#include <signal.h>
#include <stddef.h>
#include <unistd.h>

#include "image/linux.h"

/* That of this image. */
static const struct connection *of_image;

/* The parent is gone: the image that this one is a copy of, or the keeper.
   Without a supervisor this image must end, whatever it is doing. */
static void orphaned(int signal)
{
    (void)signal;
    if (connection_is_lost(of_image))
        (void)kill(-getpid(), SIGKILL); // ourselves and what we started
}

/* A write to a pipe without a reader, or beyond LIMIT_FILE_WRITTEN, becomes an
   error of the stream. Ignoring the signal would do the same, but the programs
   that we start would inherit that. */
static void failed_write(int signal)
{
    (void)signal;
}

void signals_take(const struct connection *connection)
{
    struct sigaction action = {.sa_handler = orphaned, .sa_flags = SA_RESTART};

    of_image = connection;
    (void)signal(SIGTERM, SIG_DFL); // the zygote ignores them
    (void)signal(SIGHUP, SIG_DFL);
    (void)signal(SIGPIPE, failed_write);
    (void)signal(SIGXFSZ, failed_write);
    (void)sigfillset(&action.sa_mask);
    (void)sigaction(SIGRTMAX, &action, NULL);
    linux_signal_on_orphaned(SIGRTMAX);
}
