/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workspace.h: a folder and its files, as the functions that files.h expects of
   a host. Server and module share it. */
#ifndef HOST_WORKSPACE_H
#define HOST_WORKSPACE_H

#include "files/files.h"

struct workspace;

/* Whether PATTERN can be one of the secrets of a workspace; and what can, in
   words. */
bool workspace_takes_secret(const char *pattern);
#define WORKSPACE_SECRETS                                                      \
    "names with / between them and * for any characters, as in "               \
    "private/*.pem; no / at the ends, no ~ at the start, no . and .."

/* ROOT is resolved once. SECRETS are further patterns (secrets.h), up to a
   NULL, or NULL; borrowed. NULL with errno set when ROOT cannot be opened or
   memory runs out. */
struct workspace *workspace_new(const char *root, const char *const *secrets);
void workspace_free(struct workspace *workspace);

/* Whether PATH, absolute and without links, is the root or lies below it. */
bool workspace_contains(const struct workspace *workspace, const char *path);

/* The functions; they are valid as long as WORKSPACE is. */
struct files workspace_files(struct workspace *workspace);

#endif
