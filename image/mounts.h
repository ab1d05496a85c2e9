/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mounts.h: the mount namespace of the images: a temporary folder of their own
   over those that all programs share, nothing over secrets, and read-only
   covers over what other programs would run or trust later (covers.h). The
   zygote enters it before any code runs, and keeps the right to mount, so that
   it can cover what comes into being later. */
#ifndef IMAGE_MOUNTS_H
#define IMAGE_MOUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "image/covers.h"
#include "image/hidden.h"
#include "image/sandbox.h"

struct mounts {
    uint32_t parts;       /* of enum sandbox_mounts, in force */
    int fault;            /* errno: why there is no namespace */
    int workspace;        /* a descriptor; -1: nothing is covered in it */
    const char *path;     /* of the workspace, borrowed from the places */
    int events;           /* becomes readable when names come; -1 */
    struct covers covers; /* as they were last */
    struct paths known;   /* what is to be covered when it comes again */
};

/* Enters a namespace in which everything is as outside, where the system lets
   this process. It must have one thread, and should be small: it forks. */
void mounts_enter(struct mounts *mounts);

/* Whether mounts_make will put a folder of the images' own in the place of
   /tmp, unless the system refuses. */
bool mounts_replace_tmp(const struct mounts *mounts,
                        const struct sandbox *sandbox,
                        const struct sandbox_places *places);

/* Mounts in the namespace, if it was entered; HIDDEN are the secrets. PLACES
   gets the temporary folder as it is found in the namespace without links; its
   old path leads there by one. False: the namespace is not whole; no code may
   run in it then. */
bool MUST_CHECK mounts_make(struct mounts *mounts,
                            const struct sandbox *sandbox,
                            const struct hidden *hidden,
                            struct sandbox_places *places);

/* When EVENTS is readable: covers again what other programs have replaced. What
   was never there before is left alone, because code may be making it. */
void mounts_tend(struct mounts *mounts, const struct sandbox *sandbox);

/* Covers what has come into being, too. */
void mounts_cover(struct mounts *mounts, const struct sandbox *sandbox);

#endif
