/* SPDX-License-Identifier: GPL-3.0-or-later */
/* homes.h: the folders in which secrets lie, and what they forbid. */
#ifndef IMAGE_HOMES_H
#define IMAGE_HOMES_H

#include <stddef.h>

/* Bytes that a path may have here. */
#define HOMES_PATH 4096

/* A folder in which patterns of secrets (secrets.h) start. */
struct home {
    char path[HOMES_PATH]; /* resolved; "": there is none */
    const char *within; /* what the patterns begin with that apply: ".config" */
};
enum { HOMES_MAX = 6 };

/* Finds the homes: that of HOME, that which the system has for the user, as
   root also root's, and the folders of XDG_CONFIG_HOME, XDG_DATA_HOME and
   XDG_STATE_HOME. What does not exist is left out. */
void homes_find(struct home homes[HOMES_MAX]);

/* The home that the system has for the user, which takes it several files to
   tell; "": none. The zygote is told by the server, with homes_set_user, which
   borrows FOLDER. */
const char *homes_of_user(void);
void homes_set_user(const char *folder);

/* Writes to WHY why code must not write to each of the N folders PATHS,
   absolute and resolved, or "", which none forbids; NULL: it may. MORE are
   further patterns of secrets; or NULL. */
void homes_forbid(const struct home homes[HOMES_MAX], const char *const *more,
                  const char *const *paths, size_t n, const char **why);

#endif
