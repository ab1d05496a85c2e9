/* SPDX-License-Identifier: GPL-3.0-or-later */
/* listing.c: see listing.h. */
#include "image/listing.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fnv.h"
#include "base/limits.h"
#include "files/secrets.h"

/* Bytes of entries that are read at once; those of a folder with few entries:
   some 250, to read which takes less than to look for 40 names. */
#define ENTRIES_BYTES (32u * 1024)
#define FEW_BYTES (8u * 1024)

/* Where in the set NAME belongs by its first bytes, lower case; false when they
   are too few or not ASCII, so that a file system may take other bytes for the
   same. */
static bool find_start(const char *name, size_t *at)
{
    uint32_t hash = FNV_START;

    for (size_t i = 0; i < LISTING_START; i++) {
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
    else if (strlen(name) >= LISTING_START)
        listing->foreign = true; // a shorter name of ASCII is no longer one
    for (size_t i = 0; i < LISTING_START && name[i] != '\0'; i++)
        listing->foreign = listing->foreign || (unsigned char)name[i] >= 0x80;
}

bool listing_may_have(const struct listing *listing, const char *name)
{
    size_t at;

    if (!listing->read || listing->foreign || !find_start(name, &at) ||
        (listing->starts[at / 64] & 1ull << at % 64) != 0)
        return true;
    for (size_t i = 1; i < LISTING_START;
         i++) // some drop these at the end of a name
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

/* An entry as the system writes it. */
struct raw_entry {
    uint64_t number;
    int64_t next;
    uint16_t size; /* of all, to the next entry */
    uint8_t type;
    char name[];
};

/* What a listing of a way leaves out. */
struct choice {
    const char *const *more; /* patterns of secrets, besides our own */
    size_t left[2]; /* how many plain files are still kept: others, dotted */
};

/* Whether ENTRY is to be kept; CHOICE may be NULL: all are. */
static bool is_kept(struct choice *choice, const struct raw_entry *entry)
{
    size_t *left = choice ? &choice->left[entry->name[0] == '.'] : NULL;

    if (!left || entry->type != DT_REG)
        return true;
    if (*left == 0)
        return secrets_match(str_from(entry->name), choice->more);
    --*left;
    return true;
}

static bool add(struct listing *listing, const struct raw_entry *entry,
                struct choice *choice)
{
    size_t name_n = strlen(entry->name) + 1;

    if (listing->seen++ == LIMIT_WAY_ENTRIES)
        return false;
    note_start(listing, entry->name);
    if (!is_kept(choice, entry))
        return true;
    if (!reserve(listing, name_n))
        return false;
    listing->list[listing->n++] = (struct listing_entry){
        listing->names_n, entry->type, (ino_t)entry->number};
    memcpy(listing->names + listing->names_n, entry->name, name_n);
    listing->names_n += name_n;
    return true;
}

/* Adds what the system has written: N bytes. */
static bool add_all(struct listing *listing, const char *entries, size_t n,
                    struct choice *choice)
{
    for (size_t at = 0; at < n;) {
        const struct raw_entry *entry = (const void *)(entries + at);

        if (entry->number != 0 && strcmp(entry->name, ".") != 0 &&
            strcmp(entry->name, "..") != 0 && !add(listing, entry, choice))
            return false;
        at += entry->size;
    }
    return true;
}

/* Begins a listing of the folder FD; false: it cannot be read. */
static bool begin(struct listing *listing, int fd)
{
    struct stat status;

    *listing = (struct listing){.read = false};
    if (fd < 0 || fstat(fd, &status) < 0)
        return false;
    listing->device = status.st_dev;
    return true;
}

/* Reads FD in ROUNDS of SIZE bytes at most, and once more to see its end.
   Without readdir(3), which would ask twice as many questions about the folder
   and take memory for each. */
static void read_in_rounds(struct listing *listing, int fd, size_t rounds,
                           size_t size, struct choice *choice)
{
    static _Alignas(struct raw_entry) char entries[ENTRIES_BYTES];
    ssize_t n = -1;

    if (!begin(listing, fd))
        return;
    while ((n = syscall(SYS_getdents64, fd, entries, size)) > 0 &&
           rounds-- > 0 && add_all(listing, entries, (size_t)n, choice))
        continue;
    listing->read = n == 0;
    if (!listing->read)
        listing_release(listing);
}

void listing_read(struct listing *listing, int fd)
{
    read_in_rounds(listing, fd, SIZE_MAX, ENTRIES_BYTES, NULL);
}

void listing_read_way(struct listing *listing, int fd, const char *const *more)
{
    struct choice choice = {more, {LISTING_FILES_KEPT, LISTING_FILES_KEPT}};

    read_in_rounds(listing, fd, SIZE_MAX, ENTRIES_BYTES, &choice);
}

void listing_read_few(struct listing *listing, int fd)
{
    read_in_rounds(listing, fd, 1, FEW_BYTES, NULL);
}

void listing_release(struct listing *listing)
{
    free(listing->list);
    free(listing->names);
    *listing = (struct listing){.read = false};
}

/* Whether PATH, to which a link in a home leads, is no folder of the user's:
   the system's certificates can be read, and /tmp changes all the time. */
static bool is_of_system(const char *path)
{
    static const char *const whole[] = {"/", "/tmp", "/var/tmp", NULL};
    static const char *const below[] = {"/etc/", "/usr/", "/proc/", NULL};

    for (size_t i = 0; whole[i]; i++)
        if (strcmp(path, whole[i]) == 0)
            return true;
    for (size_t i = 0; below[i]; i++)
        if (strncmp(path, below[i], strlen(below[i])) == 0)
            return true;
    return false;
}

bool listing_is_folder(const struct listing *listing, size_t i,
                       char path[PATH_MAX])
{
    unsigned char type = listing->list[i].type;
    char real[PATH_MAX];
    struct stat status;

    if (type == DT_DIR)
        return true;
    if ((type != DT_UNKNOWN && type != DT_LNK) || lstat(path, &status) < 0)
        return false;
    if (!S_ISLNK(status.st_mode))
        return S_ISDIR(status.st_mode);
    if (!realpath(path, real))
        return errno == ENOENT;
    if (is_of_system(real) || stat(real, &status) < 0 ||
        !S_ISDIR(status.st_mode))
        return false;
    memcpy(path, real, strlen(real) + 1);
    return true;
}
