/* SPDX-License-Identifier: GPL-3.0-or-later */
/* landlock.c: see landlock.h. Landlock can only allow, and what it allows for a
   folder holds for everything in it. To leave a secret out, all other names in
   every folder on the way to it are allowed one by one, of plain files at most
   LIMIT_FILES_READABLE; what appears in such a folder later is not allowed,
   either, until the rules are made anew. */
#include "image/landlock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/folders.h"
#include "image/hidden.h"

/* The interface of the kernel; the headers of older systems have less of it. */
enum { CREATE_RULESET = 444, ADD_RULE, RESTRICT_SELF };
enum { RULE_PATH_BENEATH = 1 };

struct ruleset {
    uint64_t files;
    uint64_t network;
    uint64_t scoped;
};

struct rule {
    uint64_t allowed;
    int32_t folder;
} __attribute__((packed));

#define FS_EXECUTE (1ull << 0)
#define FS_WRITE_FILE (1ull << 1)
#define FS_READ_FILE (1ull << 2)
#define FS_READ_DIR (1ull << 3)
#define FS_MAKE_CHAR (1ull << 6)
#define FS_MAKE_BLOCK (1ull << 11)
#define FS_FIRST ((1ull << 13) - 1)
#define FS_REFER (1ull << 13)
#define FS_TRUNCATE (1ull << 14)
#define FS_IOCTL (1ull << 15)
#define NETWORK_TCP 3ull // bind and connect
#define SCOPE_ALL 3ull   // abstract sockets and signals

#define READING (FS_EXECUTE | FS_READ_FILE | FS_READ_DIR)
#define WRITING                                                                \
    (READING |                                                                 \
     ((FS_FIRST | FS_REFER | FS_TRUNCATE) & ~(FS_MAKE_CHAR | FS_MAKE_BLOCK)))
#define DEVICE (FS_READ_FILE | FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL)

/* The rights that a file can have. */
#define OF_FILES                                                               \
    (FS_EXECUTE | FS_WRITE_FILE | FS_READ_FILE | FS_TRUNCATE | FS_IOCTL)

/* The files of /dev that programs cannot do without. */
static const char *const devices[] = {
    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", NULL,
};

/* What is needed to make the rules. */
struct rules {
    int set; /* the descriptor */
    uint64_t handled;
    const struct hidden *hidden; /* never allowed */
};

/* Allows RIGHTS, which fit its type, for NAME in FOLDER, unless it is a link.
   What cannot be allowed stays forbidden. */
static void allow(const struct rules *rules, int folder, const char *name,
                  uint64_t rights)
{
    int fd = openat(folder, name, O_PATH | O_CLOEXEC | O_NOFOLLOW);
    struct rule rule = {rights & rules->handled, fd};

    if (fd < 0)
        return;
    (void)syscall(ADD_RULE, rules->set, RULE_PATH_BENEATH, &rule, 0);
    (void)close(fd); // was only a name
}

/* The rights to read the entry I of LISTING, which is in FOLDER, by its type;
   none for a link. */
static uint64_t reading_of(int folder, const struct listing *listing, size_t i)
{
    struct stat status;
    unsigned char type = listing->list[i].type;
    bool link = type == DT_LNK;
    bool is_folder = type == DT_DIR;

    if (type == DT_UNKNOWN) { // few file systems say that
        if (fstatat(folder, listing_name(listing, i), &status,
                    AT_SYMLINK_NOFOLLOW) < 0)
            return 0;
        link = S_ISLNK(status.st_mode);
        is_folder = S_ISDIR(status.st_mode);
    }
    if (link)
        return 0;
    return is_folder ? READING : READING & OF_FILES;
}

/* Allows reading what LISTING has of the folder WAY, which is open as FD, and
   whose name begins with a dot, or does not (DOTTED): except what is hidden and
   the folders on the way to that, and of plain files at most *LEFT, counted
   off. */
static void allow_entries(const struct rules *rules, const char *way, int fd,
                          const struct listing *listing, bool dotted,
                          size_t *left)
{
    for (size_t i = 0; i < listing->n; i++) {
        const char *name = listing_name(listing, i);
        uint64_t rights;

        if ((name[0] == '.') != dotted ||
            (listing->list[i].type == DT_REG && *left == 0))
            continue;
        rights = reading_of(fd, listing, i);
        if (rights == 0 || (rights != READING && *left == 0))
            continue;
        if (hidden_has(rules->hidden, way, name, listing->device,
                       listing->list[i].number))
            continue;
        if (rights != READING)
            --*left;
        allow(rules, fd, name, rights);
    }
}

/* Allows reading what LISTING has of the folder WAY, which is open as FD. Of
   plain files, of which not all may be allowed, those come first that programs
   look for by their names. Returns how many more may be allowed. */
static size_t allow_listing(const struct rules *rules, const char *way, int fd,
                            const struct listing *listing)
{
    size_t left = LIMIT_FILES_READABLE;

    allow_entries(rules, way, fd, listing, true, &left);
    allow_entries(rules, way, fd, listing, false, &left);
    return left;
}

/* Allows reading everything in the folder WAY except what is hidden and the
   folders on the way to that. If so many of its plain files are hidden that
   some which its listing has left out may be allowed, all are read again. */
static void allow_around(const struct rules *rules,
                         const struct hidden_path *way)
{
    int fd = open(way->name[0] != '\0' ? way->name : "/",
                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    const struct listing *known = way->listing;
    struct listing own;

    if (fd < 0)
        return; // nothing in it gets allowed
    if (!known || (allow_listing(rules, way->name, fd, known) > 0 &&
                   known->n < known->seen)) {
        listing_read(&own, fd);
        (void)allow_listing(rules, way->name, fd, &own);
        listing_release(&own);
    }
    (void)close(fd); // was only read
}

/* Allows RIGHTS for what FD is open on, unless it is -1. */
static void allow_open(const struct rules *rules, int fd, uint64_t rights)
{
    struct rule rule = {rights & rules->handled, fd};

    if (fd >= 0)
        (void)syscall(ADD_RULE, rules->set, RULE_PATH_BENEATH, &rule, 0);
}

/* What may be read, and devices. */
static void allow_reading(const struct rules *rules)
{
    allow(rules, AT_FDCWD, "/", FS_READ_DIR);
    for (size_t i = 0; i < rules->hidden->ways.n; i++) {
        const struct hidden_path *way = &rules->hidden->ways.list[i];

        if (way->number != 0 && !way->secret) // there was something
            allow_around(rules, way);
    }
    for (size_t i = 0; devices[i]; i++)
        allow(rules, AT_FDCWD, devices[i], DEVICE);
}

static void allow_folders(const struct rules *rules,
                          const struct landlock *landlock,
                          const struct sandbox *sandbox)
{
    for (size_t i = 0; i < SANDBOX_N; i++)
        allow_open(rules, landlock->folders[i],
                   sandbox->mode == SANDBOX_WORKSPACE ? WRITING : READING);
}

/* What VERSION of the interface can handle. */
static struct ruleset handled_by(int version, const struct sandbox *sandbox)
{
    struct ruleset set = {FS_FIRST, 0, 0};

    if (version >= 2)
        set.files |= FS_REFER;
    if (version >= 3)
        set.files |= FS_TRUNCATE;
    if (version >= 4 && !sandbox->network)
        set.network = NETWORK_TCP;
    if (version >= 5)
        set.files |= FS_IOCTL;
    if (version >= 6)
        set.scoped = SCOPE_ALL;
    return set;
}

/* How a folder looked when the rules were made. */
struct landlock_mark {
    char *path; /* owned */
    dev_t device;
    ino_t number;
    struct timespec changed; /* its entries, or the folder itself */
};

static void forget_marks(struct landlock *landlock)
{
    for (size_t i = 0; i < landlock->n; i++)
        free(landlock->marks[i].path);
    free(landlock->marks);
    landlock->marks = NULL;
    landlock->n = 0;
}

static void look(struct landlock_mark *mark)
{
    struct stat status = {.st_ino = 0};

    if (stat(mark->path[0] != '\0' ? mark->path : "/", &status) < 0)
        status.st_ino = 0; // it may come into being
    mark->device = status.st_dev;
    mark->number = status.st_ino;
    mark->changed = status.st_ctim;
}

/* Marks the folders of LOOKED as they were before their entries were read.
   Without memory there are no marks, and the rules are made anew each time. */
static void mark(struct landlock *landlock, const struct hidden_paths *looked)
{
    forget_marks(landlock);
    landlock->marks = calloc(looked->n, sizeof *landlock->marks);
    while (landlock->marks && landlock->n < looked->n) {
        const struct hidden_path *path = &looked->list[landlock->n];
        struct landlock_mark *next = &landlock->marks[landlock->n];

        *next = (struct landlock_mark){strdup(path->name), path->device,
                                       path->number, path->changed};
        if (!next->path) {
            forget_marks(landlock);
            return;
        }
        landlock->n++;
    }
}

bool landlock_is_current(const struct landlock *landlock)
{
    for (size_t i = 0; i < landlock->n; i++) {
        const struct landlock_mark *old = &landlock->marks[i];
        struct landlock_mark now = {.path = old->path};

        look(&now);
        if (now.device != old->device || now.number != old->number ||
            now.changed.tv_sec != old->changed.tv_sec ||
            now.changed.tv_nsec != old->changed.tv_nsec)
            return false;
    }
    return landlock->n > 0;
}

static void close_one(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); // was only a name
    *fd = -1;
}

/* Begins rules that keep what is hidden out of reach: they allow nothing yet.
   False, with errno: the system refuses. */
static bool begin_rules(struct landlock *landlock,
                        const struct sandbox *sandbox, struct rules *rules)
{
    struct ruleset set = handled_by(landlock->version, sandbox);

    rules->handled = set.files;
    rules->hidden = &landlock->hidden;
    rules->set = (int)syscall(CREATE_RULESET, &set, sizeof set, 0);
    landlock->rules = rules->set;
    if (rules->set >= 0)
        mark(landlock, &landlock->hidden.looked);
    return rules->set >= 0;
}

void landlock_open(struct landlock *landlock, int version,
                   struct sandbox_places *places, struct hidden *hidden)
{
    *landlock = (struct landlock){.version = version, .rules = -1};
    if (hidden && version > 0) {
        landlock->hidden = *hidden;
        landlock->found = !hidden->failed;
        *hidden = (struct hidden){.failed = false};
    }
    for (size_t i = 0; i < SANDBOX_N; i++) {
        const char *path = places->writable[i];

        landlock->folders[i] = -1;
        if (path[0] == '\0' || places->refused[i])
            continue;
        landlock->folders[i] = folders_find(path);
        if (landlock->folders[i] < 0)
            places->refused[i] = "it cannot be opened, or a link is in its way";
    }
}

/* Finds what the rules must hide now, unless that is known. */
static enum status find_hidden(struct landlock *landlock,
                               const struct sandbox *sandbox,
                               const struct sandbox_places *places)
{
    struct hidden before = landlock->hidden;
    enum status status = ST_OK;

    if (!landlock->found) {
        status = hidden_find(&landlock->hidden, sandbox, places, &before);
        hidden_release(&before);
    }
    landlock->found = false;
    return status;
}

enum status landlock_renew(struct landlock *landlock,
                           const struct sandbox *sandbox,
                           const struct sandbox_places *places)
{
    struct rules rules;

    if (landlock->rules >= 0 &&
        (landlock->fresh || landlock_is_current(landlock))) {
        landlock->fresh = false;
        return ST_OK;
    }
    close_one(&landlock->rules);
    errno = ENOMEM;
    if (find_hidden(landlock, sandbox, places) == ST_OK &&
        begin_rules(landlock, sandbox, &rules)) {
        allow_reading(&rules);
        allow_folders(&rules, landlock, sandbox);
    }
    hidden_forget_listings(&landlock->hidden);
    return landlock->rules >= 0 ? ST_OK : ST_IO;
}

static void close_all(struct landlock *landlock)
{
    close_one(&landlock->rules);
    for (size_t i = 0; i < SANDBOX_N; i++)
        close_one(&landlock->folders[i]);
}

enum status landlock_confine(struct landlock *landlock)
{
    enum status status =
        syscall(RESTRICT_SELF, landlock->rules, 0) == 0 ? ST_OK : ST_IO;
    int fault = errno;

    close_all(landlock);
    errno = fault;
    return status;
}
