/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sandbox_enter.h: puts up the sandbox. The zygote gives up its rights once
   (seccomp, capabilities, limits), every live image then closes the file system
   around itself (Landlock), and nothing that it starts gets out of that again.
   Parts that the system does not have are left out and reported. */
#ifndef IMAGE_SANDBOX_ENTER_H
#define IMAGE_SANDBOX_ENTER_H

#include "base/status.h"
#include "image/sandbox.h"

/* In the zygote, before it forks: makes the cache folder, gives up what no live
   image may have, and sets the limits, which hold in every mode. */
struct sandbox_state sandbox_enter_zygote(const struct sandbox *sandbox,
                                          struct sandbox_places *places);

/* In a live image, before anything of the user's runs. ST_IO with errno set:
   the system has Landlock and refuses; nothing may be run then. */
enum status MUST_CHECK sandbox_enter_image(const struct sandbox *sandbox,
                                           const struct sandbox_places *places);

#endif
