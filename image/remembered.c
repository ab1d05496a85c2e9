/* SPDX-License-Identifier: GPL-3.0-or-later */
/* remembered.c: see remembered.h. A file that is written while another server
   reads it, or only in part, has a wrong sum. */
#include "image/remembered.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <time.h>
#include <unistd.h>

#include "base/fnv.h"
#include "base/limits.h"
#include "files/secrets.h"
#include "image/sandbox.h"

/* Below the home. */
#define PLACE ".local/state/ecl-mcp/home"

/* Entries from which on a home is remembered. */
#define MANY 1000

/* Seconds since the last change of a home that is remembered: the next one has
   another time, even where that counts whole seconds. */
#define SETTLED 2

/* Of this layout. */
#define VERSION 1u

struct head {
    uint32_t sum; /* of all that follows */
    uint32_t version;
    uint32_t patterns; /* by which the listing was made */
    uint32_t foreign;
    uint64_t device; /* how the home looked */
    uint64_t number;
    int64_t seconds;
    int64_t nanoseconds;
    uint64_t seen;
    uint64_t n;
    uint64_t names_n;
    uint64_t starts[LISTING_STARTS / 64];
};

/* There are N of these, then the names. */
struct stored_entry {
    uint64_t number;
    uint32_t name;
    uint32_t type;
};

static uint32_t add_text(uint32_t hash, const char *text)
{
    for (; *text != '\0'; text++)
        hash = fnv_add(hash, (unsigned char)*text);
    return fnv_add(hash, 0);
}

/* Of our own patterns, which another version of this program may change, and
   MORE. */
static uint32_t hash_patterns(const char *const *more)
{
    uint32_t hash = FNV_START;

    for (size_t i = 0; secrets_patterns[i]; i++)
        hash = add_text(hash, secrets_patterns[i]);
    for (size_t i = 0; more && more[i]; i++)
        hash = add_text(hash, more[i]);
    hash = fnv_add(hash, LISTING_FILES_KEPT);
    hash = fnv_add(hash, LISTING_START);
    return fnv_add(hash, LISTING_STARTS);
}

/* Of the SIZE bytes at HEAD. */
static uint32_t sum_of(const struct head *head, size_t size)
{
    const unsigned char *bytes = (const void *)head;
    uint32_t sum = FNV_START;

    for (size_t i = sizeof head->sum; i < size; i++)
        sum = fnv_add(sum, bytes[i]);
    return sum;
}

/* Opens the file of HOME; -1: there is none. */
static int open_file(const struct hidden_path *home, int flags)
{
    char path[SANDBOX_PATH];
    int n = snprintf(path, sizeof path, "%s/" PLACE, home->name);

    if (n < 0 || (size_t)n >= sizeof path)
        return -1;
    return open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
}

/* Reads the file FD, if it is one of ours. The caller frees it; *SIZE are its
   bytes. NULL: it cannot be used. */
static struct head *read_file(int fd, size_t *size)
{
    struct stat status;
    struct head *head;
    ssize_t n;

    if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
        status.st_uid != geteuid() || (status.st_mode & 077) != 0 ||
        status.st_size < (off_t)sizeof *head ||
        status.st_size > LIMIT_HOME_REMEMBERED)
        return NULL;
    *size = (size_t)status.st_size;
    head = malloc(*size);
    n = head ? read(fd, head, *size) : -1;
    if (n >= 0 && (size_t)n == *size)
        return head;
    free(head);
    return NULL;
}

/* The bytes of all that HEAD tells about; 0: more than SIZE. */
static size_t size_of(const struct head *head, size_t size)
{
    size_t entries = sizeof *head + head->n * sizeof(struct stored_entry);

    if (head->n > size / sizeof(struct stored_entry) || head->names_n > size ||
        entries + head->names_n > size)
        return 0;
    return entries + head->names_n;
}

/* Whether HEAD, of SIZE bytes, tells what HOME holds now. */
static bool is_current(const struct head *head, size_t size,
                       const struct hidden_path *home, const char *const *more)
{
    size_t used = size_of(head, size);

    return head->version == VERSION && head->device == home->device &&
           head->number == home->number &&
           head->seconds == (int64_t)home->changed.tv_sec &&
           head->nanoseconds == (int64_t)home->changed.tv_nsec &&
           head->patterns == hash_patterns(more) && used > 0 &&
           head->sum == sum_of(head, used);
}

/* Copies what HEAD tells to LISTING; false: without memory, or it is none. */
static bool copy(const struct head *head, struct listing *listing)
{
    const struct stored_entry *entries = (const void *)(head + 1);
    const char *names = (const void *)(entries + head->n);
    size_t n = head->n;
    size_t names_n = head->names_n;

    *listing = (struct listing){.read = true,
                                .device = head->device,
                                .seen = head->seen,
                                .foreign = head->foreign != 0};
    memcpy(listing->starts, head->starts, sizeof listing->starts);
    listing->list = malloc((n + 1) * sizeof *listing->list);
    listing->names = malloc(names_n + 1);
    if (!listing->list || !listing->names ||
        (names_n > 0 && names[names_n - 1] != '\0'))
        return false;
    memcpy(listing->names, names, names_n);
    listing->n = listing->cap = n;
    listing->names_n = listing->names_cap = names_n;
    for (size_t i = 0; i < n; i++) {
        if (entries[i].name >= names_n)
            return false;
        listing->list[i] = (struct listing_entry){
            entries[i].name, (unsigned char)entries[i].type,
            (ino_t)entries[i].number};
    }
    return true;
}

bool remembered_recall(const struct hidden_path *home, const char *const *more,
                       struct listing *listing)
{
    int fd = home->number != 0 ? open_file(home, O_RDONLY) : -1;
    size_t size = 0;
    struct head *head;
    bool done;

    *listing = (struct listing){.read = false};
    if (fd < 0)
        return false;
    head = read_file(fd, &size);
    (void)close(fd); // was only read
    done = head && is_current(head, size, home, more) && copy(head, listing);
    if (!done)
        listing_release(listing);
    free(head);
    return done;
}

/* Whether a change of HOME, which was looked at just now, will show: it is on
   this machine, and the last one is some time ago. */
static bool is_settled(const struct hidden_path *home)
{
    struct timespec now;
    struct statfs system;

    if (clock_gettime(CLOCK_REALTIME, &now) < 0 ||
        now.tv_sec - home->changed.tv_sec <= SETTLED ||
        statfs(home->name, &system) < 0)
        return false;
    switch ((unsigned long)system.f_type) {
    case EXT4_SUPER_MAGIC:
    case XFS_SUPER_MAGIC:
    case BTRFS_SUPER_MAGIC:
    case F2FS_SUPER_MAGIC:
    case TMPFS_MAGIC:
        return true;
    default:
        return false;
    }
}

static void fill(struct head *head, const struct listing *listing)
{
    struct stored_entry *entries = (void *)(head + 1);

    for (size_t i = 0; i < listing->n; i++)
        entries[i] = (struct stored_entry){(uint64_t)listing->list[i].number,
                                           (uint32_t)listing->list[i].name,
                                           listing->list[i].type};
    memcpy(entries + listing->n, listing->names, listing->names_n);
    memcpy(head->starts, listing->starts, sizeof head->starts);
}

void remembered_note(const struct hidden_path *home, const char *const *more,
                     const struct listing *listing)
{
    size_t size = sizeof(struct head) +
                  listing->n * sizeof(struct stored_entry) + listing->names_n;
    struct head *head = NULL;
    int fd = -1;

    if (home->number != 0 && listing->read && listing->seen > MANY &&
        size <= LIMIT_HOME_REMEMBERED && is_settled(home))
        head = malloc(size);
    if (!head)
        return;
    *head = (struct head){.version = VERSION,
                          .patterns = hash_patterns(more),
                          .foreign = listing->foreign,
                          .device = home->device,
                          .number = home->number,
                          .seconds = home->changed.tv_sec,
                          .nanoseconds = home->changed.tv_nsec,
                          .seen = listing->seen,
                          .n = listing->n,
                          .names_n = listing->names_n};
    fill(head, listing);
    head->sum = sum_of(head, size);
    fd = open_file(home, O_WRONLY | O_CREAT);
    if (fd >= 0)
        (void)!write(fd, head, size); // what is missing shows in the sum
    if (fd >= 0)
        (void)!ftruncate(fd, (off_t)size); // too long is as good
    if (fd >= 0)
        (void)close(fd); // the same
    free(head);
}
