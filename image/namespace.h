/* SPDX-License-Identifier: GPL-3.0-or-later */
/* namespace.h: a mount namespace, and mounting in it by descriptor. What is
   mounted is never named by a path, so nobody can put a link in its way. The
   functions return 0, or -1 with errno. */
#ifndef IMAGE_NAMESPACE_H
#define IMAGE_NAMESPACE_H

#include <stdbool.h>

/* Enters a namespace of this process's own: as a user without rights, one of
   users too, with the same user and group. -1: the system refuses, and what
   this process sees has not changed. */
int namespace_enter(void);

/* A copy of the tree at PLACE, a descriptor, to be mounted; READ_ONLY: nothing
   in it can be changed. The caller closes it. */
int namespace_copy(int place, bool read_only);

/* From now on nothing in TREE can be changed by way of it. */
int namespace_close(int tree);

/* The same for what is mounted at PLACE, but not for what is mounted in it. */
int namespace_seal(int place);

/* A file system in memory, which is empty; MODE is that of its top, in octal.
   The caller closes it. */
int namespace_memory(const char *mode);

/* Mounts TREE on PLACE; the descriptor of the tree names what is mounted. */
int namespace_attach(int tree, int place);

/* Mounts a copy of what OVER, a descriptor, names on PATH: one call instead of
   six, for paths that nobody can put a link into. */
int namespace_lay(int over, const char *path);

/* Takes off what TREE was attached by; it goes on for who uses it. */
int namespace_detach(int tree);

/* Whether PLACE is the top of something mounted, and cannot be moved. */
bool namespace_is_mounted(int place);

#endif
