/* SPDX-License-Identifier: GPL-3.0-or-later */
/* location.h: one path of a workspace: where it leads, whether the tools may
   use it, the way to it without a link, and how it is refused. */
#ifndef HOST_LOCATION_H
#define HOST_LOCATION_H

#include <limits.h>
#include <linux/limits.h>
#include <stdbool.h>

#include "files/files.h"

/* workspace.h says what it is; this is for the files of this folder that do
   its work. */
struct workspace {
    int fd;                 /* of the root */
    char root[PATH_MAX];    /* absolute, links resolved; empty for "/" */
    char in_home[PATH_MAX]; /* the root from the home folder; or empty */
    const char *const *secrets;
};

/* The path of one call. */
struct location {
    struct workspace *workspace;
    struct arena *arena; /* names and refusals are made in it */
    struct str asked;    /* the path as the model wrote it */
    struct str name;     /* from the root, links resolved; empty is the root */
    struct str *problem; /* out */
};

/* Returns RESULT, after setting the problem to the asked path and WHAT, the
   rest of a sentence. FILES_NOMEM when memory runs out. */
enum files_result location_refuse(const struct location *location,
                                  enum files_result result, const char *what);

/* The result that stands for ERROR, an errno, with its problem. */
enum files_result location_fail(const struct location *location, int error);

/* FILES_REFUSED: it has SIZE bytes, more than MAX. */
enum files_result location_too_large(const struct location *location,
                                     uint64_t size, uint64_t max);

/* FILES_CHANGED. */
enum files_result location_changed(const struct location *location);

/* Sets the name of LOCATION to where its path leads now; nothing need exist
   there yet. What lies outside the workspace or is secret is refused. */
enum files_result location_find(struct location *location);

/* Sets the name of LOCATION to NAME, which location_find has found ("." is the
   root). A secret, or a name that none can be, is refused. */
enum files_result location_take(struct location *location, struct str name);

/* Whether NAME, a path from the root, may hold secrets, seen from the root or
   from the home folder. */
bool location_is_secret(const struct workspace *workspace, struct str name);

/* Whether the absolute path REAL is the root or lies below it; *OUT is the part
   below. */
bool location_below(const struct workspace *workspace, const char *real,
                    struct str *out);

/* Opens the folder in which the last name of NAME (from the root) stands,
   without following a link, and copies that last name to LAST; "." for the root
   itself. With MAKE, missing folders are made. A descriptor, or -1 with errno:
   ELOOP when a link stands on the way. */
int location_open_parent(const struct workspace *workspace, struct str name,
                         bool make, char last[NAME_MAX + 1]);

#endif
