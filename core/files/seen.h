/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seen.h: which content of which file the model has been shown or told to be
   there, so that it does not change what it does not know. */
#ifndef FILES_SEEN_H
#define FILES_SEEN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/limits.h"
#include "base/str.h"
#include "files/files.h"

struct seen {
    struct seen_entry {
        unsigned char name[FILES_HASH]; /* hash of the name */
        unsigned char hash[FILES_HASH]; /* of the content */
    } entries[LIMIT_SEEN_FILES];
    size_t count; /* notes made; the oldest gives way */
};

/* The model knows the content HASH of the file NAME. */
void seen_note(struct seen *seen, struct str name,
               const unsigned char hash[FILES_HASH]);

/* Whether the model was shown another content of the file NAME last. */
bool seen_differs(const struct seen *seen, struct str name,
                  const unsigned char hash[FILES_HASH]);

#endif
