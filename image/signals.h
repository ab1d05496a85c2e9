/* SPDX-License-Identifier: GPL-3.0-or-later */
/* signals.h: the signals of an image that ECL does not take. */
#ifndef IMAGE_SIGNALS_H
#define IMAGE_SIGNALS_H

#include "image/connection.h"

/* Takes those that the zygote ignores or that a write to CONNECTION may cause,
   and has the image end when its parent and its supervisor are gone. CONNECTION
   is borrowed. */
void signals_take(const struct connection *connection);

#endif
