/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hidden.h: the files and folders that evaluated code must not read: secrets of
   the homes (secrets.h), and a few places of the system. */
#ifndef IMAGE_HIDDEN_H
#define IMAGE_HIDDEN_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "base/status.h"
#include "image/hidden_paths.h"
#include "image/sandbox.h"

/* Bits of a set of last names, and of one of files. */
#define HIDDEN_BITS 4096

struct hidden {
    struct hidden_paths secrets; /* never to be read, as named and as resolved;
                                    a folder with all that is in it */
    size_t system;               /* how many of them are the system's; they
                                    come first */
    struct hidden_paths inside;  /* those of them, and files directly in those
                                    that are folders, that have several names;
                                    without these */
    struct hidden_paths ways;    /* the folders on the way to them, "" included;
                                    also folders in which secrets may appear */
    struct hidden_paths looked; /* the folders whose entries were looked at, and
                                   links that lead to none yet; if none has
                                   changed, neither has all this, except
                                   Kerberos tickets */
    uint64_t names[HIDDEN_BITS / 64]; /* of all that are here: most files are */
    uint64_t files[HIDDEN_BITS / 64]; /* none of them, which this tells */
    const struct hidden *before; /* as hidden_find is told, until it returns */
    const char *const *more;     /* further patterns of secrets, as long */
    uint32_t unsought;           /* of enum sandbox_unsought */
    bool failed;                 /* memory ran out */
};

/* Finds what must stay hidden: in the homes of PLACES all that patterns name,
   and in the folders directly in a home (at most LIMIT_SECRET_FOLDERS, not
   those whose names start with a dot), and those to which links there lead,
   what has the name of a secret, or is the same file as one. BEFORE, unless
   NULL, is what was found before mounts were laid over it: which files those
   are cannot be seen since. ST_NOMEM: without memory. Release it in either
   case. */
enum status MUST_CHECK hidden_find(struct hidden *hidden,
                                   const struct sandbox *sandbox,
                                   const struct sandbox_places *places,
                                   const struct hidden *before);
void hidden_release(struct hidden *hidden);

/* Adds the tickets in the /tmp of all programs, which hidden_find does unless
   PLACES say that another will be in its place. */
void hidden_add_tickets(struct hidden *hidden);

/* Releases the listings alone: they are large. */
void hidden_forget_listings(struct hidden *hidden);

/* Whether NAME in the folder WAY ("" is the root) is secret or a way, by name
   or because it is the same file: number NUMBER on DEVICE. */
bool hidden_has(const struct hidden *hidden, const char *way, const char *name,
                dev_t device, ino_t number);

#endif
