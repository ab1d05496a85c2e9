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
    uint32_t unsought; /* of enum sandbox_unsought */
    bool whole;        /* the mounts are as they must be */
    bool seccomp;      /* the filter is made */
};

/* Adds the temporary folder to PLACES, for which it may wait. */
typedef void sandbox_temporary(struct sandbox_places *places);

/* In the zygote, as long as it is small: enters the mount namespace. Each image
   needs one PREPARED. */
void sandbox_begin(const struct sandbox *sandbox,
                   struct sandbox_prepared *prepared);

/* In the zygote, after that: makes ready what needs nothing that the caller
   does next, in a thread of its own; TEMPORARY comes first, unless it is NULL.
   Until sandbox_enter_zygote, the arguments belong to that thread, and the
   caller forks nothing and leaves its current folder, and the variables of its
   environment that are set, as they are. May be left out. */
void sandbox_prepare(const struct sandbox *sandbox,
                     struct sandbox_places *places,
                     struct sandbox_prepared *prepared,
                     sandbox_temporary *temporary);

/* In the zygote, before it forks: makes ready what is not, or waits for that:
   the cache folder, the mounts, the rules, the filter. Gives up the rights that
   live images must not have, and sets the limits, which hold in every mode. The
   right to mount is kept; whoever else the zygote forks must give it up. What
   is reported is not KNOWN when no code may run. */
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

/* In a process that was forked right behind that: its image need not look at
   the home folders again; or it must, unless TRUSTED. */
void sandbox_trust_rules(struct sandbox_prepared *prepared, bool trusted);

/* Whether what that found still holds. */
bool sandbox_is_current(const struct sandbox_prepared *prepared);

/* In a live image, a child of the process that keeps it, before user code runs.
   ST_IO: the system refuses something that was made ready, and errno says why;
   no user code may run then. */
enum status MUST_CHECK sandbox_enter_image(const struct sandbox *sandbox,
                                           const struct sandbox_places *places,
                                           struct sandbox_prepared *prepared);

#endif
