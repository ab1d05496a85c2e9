/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sandbox_enter.h: puts the sandbox into force. The zygote gives up its rights
   once (capabilities, limits); every live image then restricts its file system
   (Landlock) and its system calls (seccomp). Nothing that an image starts can
   get out again. Parts that the system does not have are left out and reported.
 */
#ifndef IMAGE_SANDBOX_ENTER_H
#define IMAGE_SANDBOX_ENTER_H

#include "base/status.h"
#include "image/landlock.h"
#include "image/mounts.h"
#include "image/sandbox.h"
#include "image/syscall_filter.h"

/* What the zygote has made ready for its images. */
struct sandbox_prepared {
    struct landlock landlock; /* of version 0: there is none */
    struct mounts mounts;
    struct syscall_filter filter;
};

/* In the zygote, as early as can be, and before threads: begins what takes a
   while. May be left out. */
void sandbox_begin(const struct sandbox *sandbox,
                   const struct sandbox_places *places);

/* In the zygote, before it forks: makes the cache folder, enters the mounts,
   gives up the rights that live images must not have, sets the limits, which
   hold in every mode, and makes the rest ready for the images. The right to
   mount is kept; whoever else the zygote forks must give it up. What is
   reported is not KNOWN when no code may run. */
struct sandbox_state sandbox_enter_zygote(const struct sandbox *sandbox,
                                          struct sandbox_places *places,
                                          struct sandbox_prepared *prepared);

/* The descriptor that becomes readable when sandbox_tend is due; -1: there is
   none. */
int sandbox_events(const struct sandbox_prepared *prepared);

/* In the zygote: covers again what other programs have replaced; and what has
   come into being, when the user has heard of it. */
void sandbox_tend(const struct sandbox *sandbox,
                  struct sandbox_prepared *prepared);
void sandbox_cover(const struct sandbox *sandbox,
                   struct sandbox_prepared *prepared);

/* In the zygote, before it forks for another image: what has come into being in
   the home folders since the last one may be read. ST_IO: the system refuses,
   and errno says why; there can be no image then. */
enum status MUST_CHECK sandbox_renew(const struct sandbox *sandbox,
                                     const struct sandbox_places *places,
                                     struct sandbox_prepared *prepared);

/* In a live image, a child of the process that keeps it, before user code runs.
   ST_IO: the system refuses something that was made ready, and errno says why;
   no user code may run then. */
enum status MUST_CHECK sandbox_enter_image(const struct sandbox *sandbox,
                                           const struct sandbox_places *places,
                                           struct sandbox_prepared *prepared);

#endif
