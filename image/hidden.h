/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hidden.h: what code must not read: the secrets of the home folders, and the
   places of the system that lead to terminals, disks and keys. */
#ifndef IMAGE_HIDDEN_H
#define IMAGE_HIDDEN_H

#include "image/paths.h"
#include "image/sandbox.h"

/* Adds the secrets of the home folders, and what their links lead to. Patterns
   that name one path add it whether it exists or not. */
void hidden_add_secrets(const struct sandbox *sandbox,
                        const struct sandbox_places *places,
                        struct paths *hidden);

/* Adds the places of the system. */
void hidden_add_system(struct paths *hidden);

#endif
