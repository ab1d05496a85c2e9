/* SPDX-License-Identifier: GPL-3.0-or-later */
/* listing.h: the entries of a folder, read once: a home folder may hold
   thousands, and more than one part of the sandbox asks about them. */
#ifndef IMAGE_LISTING_H
#define IMAGE_LISTING_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/limits.h"

/* Bytes of a name that decide whether it may be there. */
#define LISTING_START 3

/* Bits of a set of beginnings of names. */
#define LISTING_STARTS 4096

/* Plain files of a way that are kept, of those whose names begin with a dot and
   of the others: some of them may be hidden, and get no rule. If more are, the
   folder is read again. */
#define LISTING_FILES_KEPT (LIMIT_FILES_READABLE + 64)

struct listing_entry {
    size_t name;        /* where it starts in the names */
    unsigned char type; /* as readdir(3) tells: DT_DIR and the like */
    ino_t number;       /* of the file; of a mount: of what is below it */
};

/* A zeroed listing is that of a folder that could not be read. */
struct listing {
    bool read; /* all entries, but "." and "..", are here, or left out */
    dev_t device;
    size_t seen; /* how many entries there are, with those left out */
    struct listing_entry *list; /* owned */
    size_t n;
    size_t cap;
    char *names; /* owned, each ends with a 0 */
    size_t names_n;
    size_t names_cap;
    bool foreign; /* a name does not start with ASCII */
    uint64_t starts[LISTING_STARTS / 64];
};

/* Reads the folder FD, of which nothing was read; when that fails, without
   memory, or when there are more than LIMIT_WAY_ENTRIES, the listing is not
   read. One thread does this at a time. */
void listing_read(struct listing *listing, int fd);

/* The same of a folder on the way to secrets. It leaves plain files out that
   can get no rule, for there are enough, and have no names of secrets (MORE are
   further patterns of these, or NULL). */
void listing_read_way(struct listing *listing, int fd, const char *const *more);

/* The same, unless there are more than some 250: then it takes no longer than
   to read these, and the listing is not read. The size of a folder tells its
   number of entries on few file systems. */
void listing_read_few(struct listing *listing, int fd);
void listing_release(struct listing *listing);

static inline const char *listing_name(const struct listing *listing, size_t i)
{
    return listing->names + listing->list[i].name;
}

/* Whether a name may be there that is NAME (up to a "/"), whatever its case:
   false only if there is none, however the file system compares names. */
bool listing_may_have(const struct listing *listing, const char *name);

/* Whether the entry I of LISTING, which is at PATH, is a folder, or a link that
   leads to one of the user's, whose path then is in PATH, or to nothing yet. */
bool listing_is_folder(const struct listing *listing, size_t i,
                       char path[PATH_MAX]);

#endif
