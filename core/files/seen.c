/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seen.c: a ring of hashes, in one piece, so that nothing can run out. */
#include "files/seen.h"

#include <string.h>

#include "base/digest.h"

static size_t used(const struct seen *seen)
{
    return seen->count < LIMIT_SEEN_FILES ? seen->count : LIMIT_SEEN_FILES;
}

static const struct seen_entry *find(const struct seen *seen, struct str name)
{
    unsigned char wanted[FILES_HASH];

    digest_of(name, wanted);
    for (size_t i = 0; i < used(seen); i++)
        if (memcmp(seen->entries[i].name, wanted, FILES_HASH) == 0)
            return &seen->entries[i];
    return NULL;
}

void seen_note(struct seen *seen, struct str name,
               const unsigned char hash[FILES_HASH])
{
    const struct seen_entry *known = find(seen, name);
    size_t i = known ? (size_t)(known - seen->entries)
                     : seen->count++ % LIMIT_SEEN_FILES;

    digest_of(name, seen->entries[i].name);
    memcpy(seen->entries[i].hash, hash, FILES_HASH);
}

bool seen_differs(const struct seen *seen, struct str name,
                  const unsigned char hash[FILES_HASH])
{
    const struct seen_entry *known = find(seen, name);

    return known && memcmp(known->hash, hash, FILES_HASH) != 0;
}
