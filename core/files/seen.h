/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seen.h: which content of which file the model knows, because it was shown it
   or wrote it, so that it does not change what it does not know. */
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
    size_t count; /* of all notes; the oldest is replaced */
};

/* The model knows the content HASH of the file NAME. */
void seen_note(struct seen *seen, struct str name,
               const unsigned char hash[FILES_HASH]);

/* Whether the content that the model last knew of the file NAME is not HASH. */
bool seen_differs(const struct seen *seen, struct str name,
                  const unsigned char hash[FILES_HASH]);

#endif
