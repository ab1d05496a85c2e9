/* SPDX-License-Identifier: GPL-3.0-or-later */
/* listing.c: see listing.h. */
#include "image/listing.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fnv.h"
#include "base/limits.h"

/* Bytes of a name that decide whether it may be there. */
enum { START = 3 };

/* Where in the set NAME belongs by its first bytes, lower case; false when they
   are too few or not ASCII, so that a file system may take other bytes for the
   same. */
static bool find_start(const char *name, size_t *at)
{
    uint32_t hash = FNV_START;

    for (size_t i = 0; i < START; i++) {
        uint32_t c = (unsigned char)name[i];

        if (c == '\0' || c == '/' || c >= 0x80)
            return false;
        if (c >= 'A' && c <= 'Z')
            c += 'a' - 'A';
        hash = fnv_add(hash, c);
    }
    *at = (hash ^ hash >> 16) % LISTING_STARTS;
    return true;
}

static void note_start(struct listing *listing, const char *name)
{
    size_t at;

    if (find_start(name, &at))
        listing->starts[at / 64] |= 1ull << at % 64;
    else if (strlen(name) >= START)
        listing->foreign = true; // a shorter name of ASCII is no longer one
    for (size_t i = 0; i < START && name[i] != '\0'; i++)
        listing->foreign = listing->foreign || (unsigned char)name[i] >= 0x80;
}

bool listing_may_have(const struct listing *listing, const char *name)
{
    size_t at;

    if (!listing->read || listing->foreign || !find_start(name, &at) ||
        (listing->starts[at / 64] & 1ull << at % 64) != 0)
        return true;
    for (size_t i = 1; i < START; i++) // some drop these at the end of a name
        if (name[i] == '.' || name[i] == ' ')
            return true;
    return false;
}

static bool reserve(struct listing *listing, size_t name_n)
{
    if (listing->n == listing->cap) {
        size_t cap = listing->cap * 2 + 64;
        struct listing_entry *list = realloc(listing->list, cap * sizeof *list);

        if (!list)
            return false;
        listing->list = list;
        listing->cap = cap;
    }
    if (listing->names_n + name_n > listing->names_cap) {
        size_t cap = listing->names_cap * 2 + name_n + 1024;
        char *names = realloc(listing->names, cap);

        if (!names)
            return false;
        listing->names = names;
        listing->names_cap = cap;
    }
    return true;
}

static bool add(struct listing *listing, const struct dirent *entry)
{
    size_t name_n = strlen(entry->d_name) + 1;

    if (listing->n == LIMIT_WAY_ENTRIES || !reserve(listing, name_n))
        return false;
    listing->list[listing->n++] =
        (struct listing_entry){listing->names_n, entry->d_type, entry->d_ino};
    memcpy(listing->names + listing->names_n, entry->d_name, name_n);
    listing->names_n += name_n;
    note_start(listing, entry->d_name);
    return true;
}

void listing_read(struct listing *listing, int fd)
{
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *entry;
    struct stat status;

    *listing = (struct listing){.read = false};
    if (!folder && fd >= 0)
        (void)close(fd); // was only opened
    if (!folder)
        return;
    listing->read = fstat(fd, &status) == 0;
    if (listing->read)
        listing->device = status.st_dev;
    while (listing->read && (entry = readdir(folder)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            listing->read = add(listing, entry);
    (void)closedir(folder); // was only read
    if (!listing->read)
        listing_release(listing);
}

void listing_release(struct listing *listing)
{
    free(listing->list);
    free(listing->names);
    *listing = (struct listing){.read = false};
}
