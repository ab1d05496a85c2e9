/* SPDX-License-Identifier: GPL-3.0-or-later */
/* removal.c: see removal.h. A folder in the folder that must go is not entered
   any further: what it has is unlinked, its own folders move up beside it, and
   then it is empty. So each folder moves once at most. */
#include "supervisor/removal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/linux.h"

/* Entries between two looks at the clock. */
#define ENTRIES_PER_LOOK 64

/* Names that are tried for a folder that moves up. */
#define NAMES_TRIED 100

/* The work that is left. */
struct removal {
    int top;            /* the folder that must get empty */
    int64_t until;      /* monotonic, in milliseconds */
    unsigned entries;   /* that were handled */
    unsigned long name; /* the number in the last name of a moved folder */
    bool late;          /* the time is up */
};

static bool is_late(struct removal *removal)
{
    if (removal->entries++ % ENTRIES_PER_LOOK != 0 || removal->late)
        return removal->late;
    removal->late = linux_now_ms() >= removal->until;
    return removal->late;
}

/* Without following a link, which fchmodat(2) cannot do on all kernels. */
void removal_make_readable(int parent, const char *name)
{
    char path[48];
    struct stat status;
    int fd =
        openat(parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd < 0)
        return;
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    // most are as they must be, and each change is one of the disk
    if (fstat(fd, &status) < 0 || (status.st_mode & S_IRWXU) != S_IRWXU)
        (void)chmod(path, 0700); // if that fails, the removal does
    (void)close(fd);             // was only a name
}

/* Opens the folder NAME of PARENT to read and change it. NULL: it cannot be
   opened. */
static DIR *open_folder(int parent, const char *name)
{
    DIR *folder;
    int fd;

    removal_make_readable(parent, name);
    fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    folder = fd < 0 ? NULL : fdopendir(fd);
    if (!folder && fd >= 0)
        (void)close(fd); // nothing was read
    return folder;
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* Moves the folder NAME of PARENT up into the top folder. */
static void move_up(struct removal *removal, int parent, const char *name)
{
    char to[32];

    removal_make_readable(parent, name); // else its ".." cannot be changed
    for (int i = 0; i < NAMES_TRIED; i++) {
        (void)snprintf(to, sizeof to, ".up-%lu", removal->name++);
        if (renameat(parent, name, removal->top, to) == 0)
            return;
    }
}

/* Removes the entry NAME of the top folder. False: it is still there. */
static bool remove_entry(struct removal *removal, const char *name)
{
    const struct dirent *entry;
    DIR *folder;

    if (unlinkat(removal->top, name, 0) == 0 ||
        unlinkat(removal->top, name, AT_REMOVEDIR) == 0)
        return true;
    folder = open_folder(removal->top, name);
    while (folder && !is_late(removal) && (entry = readdir(folder)))
        if (!is_dots(entry->d_name) &&
            unlinkat(dirfd(folder), entry->d_name, 0) < 0)
            move_up(removal, dirfd(folder), entry->d_name);
    if (folder)
        (void)closedir(folder); // was only read
    return unlinkat(removal->top, name, AT_REMOVEDIR) == 0;
}

bool removal_of_folder(int parent, const char *name, int64_t until_ms)
{
    struct removal removal = {.until = until_ms};
    DIR *top = open_folder(parent, name);
    bool removed = top != NULL;

    removal.top = top ? dirfd(top) : -1;
    // a pass that removes nothing is the last one
    while (removed && !removal.late) {
        const struct dirent *entry;

        removed = false;
        rewinddir(top);
        while (!is_late(&removal) && (entry = readdir(top)))
            if (!is_dots(entry->d_name))
                removed = remove_entry(&removal, entry->d_name) || removed;
    }
    if (top)
        (void)closedir(top); // was only read
    return unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT;
}
