/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lingering.h: descriptors whose last close takes long. */
#ifndef SUPPORT_LINGERING_H
#define SUPPORT_LINGERING_H

/* A connection whose close waits for SECONDS, or until its other end, FAR, has
   read everything or is closed. */
int lingering_open(int *far, int seconds);

#endif
