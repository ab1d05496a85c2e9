/* SPDX-License-Identifier: GPL-3.0-or-later */
/* folders.h: folders and files by descriptor, name by name, so that a link that
   somebody puts in the way leads nowhere. */
#ifndef IMAGE_FOLDERS_H
#define IMAGE_FOLDERS_H

#include <stdbool.h>

/* A descriptor that only names what is at the absolute PATH (O_PATH, close on
   exec); -1, and errno says why, when there is nothing, or when a part of PATH
   is a symbolic link. The caller closes it. */
int folders_find(const char *path);

/* The same for a PATH that begins in FOLDER and stays in it; "" names FOLDER
   itself. MAKING: what is missing is made, as folders of mode 0700, and what is
   no folder is removed. */
int folders_find_below(int folder, const char *path, bool making);

/* So often a path is looked at whose file was replaced before something could
   be mounted there: many programs write a new file and rename it. */
enum { FOLDERS_LOOKS = 100 };

/* Whether what PLACE names was removed, or replaced by another. */
bool folders_is_removed(int place);

/* Whether no link is on the absolute PATH, which has no "..", as far as it
   exists, so that this is its only name. False, too, when it has slashes or
   single dots that name nothing, or when the system does not tell. */
bool folders_lead_straight(const char *path);

/* As realpath(3), into PATH_MAX bytes: in most paths there is no link, which
   the system tells at once. */
bool folders_resolve(const char *path, char *out);

/* Copies the absolute path FROM, into PATH_MAX bytes, without slashes and
   single dots that name nothing: all that looks at a path of ours does so name
   by name. False when it is no such path, too long, or the root. */
bool folders_copy_plain(char *path, const char *from);

#endif
