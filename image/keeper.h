/* SPDX-License-Identifier: GPL-3.0-or-later */
/* keeper.h: the process that is the parent of a session's images, and adopts
   their orphans: what belongs to the session is what descends from it. It runs
   no user code, is not in the sandbox of the images, and is out of their reach.
   It ends everything of the session when its supervisor, or it itself, ends. */
#ifndef IMAGE_KEEPER_H
#define IMAGE_KEEPER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "image/control.h"

/* Turns the process that it is called in into the image of OPEN; does not
   return. */
typedef void keeper_image(const struct control_message *open,
                          const int fds[CONTROL_FDS]);

/* Confines the process that it is called in, which becomes an image; false,
   with errno: it must not. */
typedef bool keeper_confine(void);

/* How a keeper and its first image begin. */
struct keeper_manner {
    bool confined; /* it gives up the rights that the zygote has kept */
    bool counted;  /* keeper_can_count; only if confined */
    keeper_confine *confine;
    void (*warm)(void); /* is called in an image that will wait */
    keeper_image *image;
};

/* Whether the kernel can count the tasks of a session: in a user namespace of
   its own. Asks it by trying, in a child of this process. */
bool keeper_can_count(void);

/* In a fork of the zygote whose session is yet to come: forks the first image,
   which confines itself and waits. What fails is done by keeper_run. */
void keeper_prepare(struct keeper_manner manner);

/* Turns this fork of the zygote into the keeper of a new session, whose first
   image gets the descriptors FDS. */
NO_RETURN void keeper_run(const struct control_message *open,
                          const int fds[CONTROL_FDS],
                          struct keeper_manner manner);

/* Kills all descendants of this process, which adopts orphans, until none is
   left, or only those that the kernel holds. */
void keeper_end_family(void);

#endif
