/* SPDX-License-Identifier: GPL-3.0-or-later */
/* removal.h: removes folders that code may have filled with anything: deep
   trees, folders without permissions, links to other places. */
#ifndef SUPERVISOR_REMOVAL_H
#define SUPERVISOR_REMOVAL_H

#include <stdbool.h>
#include <stdint.h>

/* Removes the folder NAME in the folder PARENT with all that is in it, until
   UNTIL_MS, a monotonic time in milliseconds. Follows no link, uses two
   descriptors however deep the folder is, and gives folders that the user owns
   the permissions that this needs. True: NAME is gone, or was not there. */
bool removal_of_folder(int parent, const char *name, int64_t until_ms);

/* Lets the user do everything in the folder NAME of PARENT, if it is the user's
   own. */
void removal_make_readable(int parent, const char *name);

#endif
