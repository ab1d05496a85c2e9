/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nothing.c: see nothing.h. */
#include "image/nothing.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/folders.h"
#include "image/namespace.h"

/* What tells any user which keys, locks and shared objects other programs have,
   whose calls the filter refuses. */
#define FIRST "/proc/sysvipc" // a folder
static const char *const of_others[] = {"/proc/keys", "/proc/locks", NULL};

/* What root opens by its name alone, without any capability, and what shows the
   memory of the kernel and of all programs, or steers them. Landlock cannot
   leave single names out of /proc, in which new ones come up all the time. */
static const char *const files_of_kernel[] = {
    "/proc/kcore",
    "/proc/kmsg",
    "/proc/kpagecount",
    "/proc/kpageflags",
    "/proc/kpagecgroup",
    "/proc/sysrq-trigger",
    "/proc/slabinfo",
    "/proc/vmallocinfo",
    "/proc/timer_list",
    "/proc/sched_debug",
    "/proc/iomem",
    "/proc/ioports",
    NULL,
};
static const char *const folders_of_kernel[] = {
    "/sys/kernel/debug", "/sys/kernel/tracing", "/sys/kernel/security",
    "/sys/fs/pstore",    "/sys/firmware",       NULL,
};

/* An empty folder, and an empty file, that nobody may open or change: FILE is
   in FOLDER, the top of a file system, where nobody can look for it. */
struct nothing {
    int folder;
    int file;
    bool laid; /* over FIRST, and stays there */
};

static void close_one(int fd)
{
    if (fd >= 0)
        (void)close(fd); // was only a name
}

/* Mounts the file system somewhere, for what is mounted nowhere cannot be
   copied before Linux 6.15: over the first thing to hide, or, where there is
   none, on the root, where it is in nobody's way. */
static bool mount_somewhere(struct nothing *nothing)
{
    int place = folders_find(FIRST);

    nothing->laid = place >= 0 && namespace_attach(nothing->folder, place) == 0;
    close_one(place);
    if (nothing->laid)
        return true;
    place = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool done = place >= 0 && namespace_attach(nothing->folder, place) == 0;
    close_one(place);
    return done;
}

static bool make_nothing(struct nothing *nothing)
{
    int file;

    nothing->laid = false;
    nothing->file = -1;
    nothing->folder = namespace_memory("0");
    if (nothing->folder < 0 || !mount_somewhere(nothing))
        return false;
    file = openat(nothing->folder, "file",
                  O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0);
    close_one(file);
    if (file >= 0)
        nothing->file = openat(nothing->folder, "file", O_PATH | O_CLOEXEC);
    // and so are the copies
    return nothing->file >= 0 && namespace_seal(nothing->folder) == 0;
}

static void release_nothing(struct nothing *nothing)
{
    if (nothing->folder >= 0 && !nothing->laid)
        (void)namespace_detach(nothing->folder); // or was never attached
    close_one(nothing->folder);
    close_one(nothing->file);
}

/* Lays nothing over PLACE. */
static bool hide_place(const struct nothing *nothing, int place)
{
    struct stat status;
    int tree = -1;
    bool done = fstat(place, &status) == 0;

    if (done)
        tree = namespace_copy(
            S_ISDIR(status.st_mode) ? nothing->folder : nothing->file, false);
    done = tree >= 0 && namespace_attach(tree, place) == 0;
    close_one(tree);
    return done;
}

/* Lays nothing over what is at PATH, if there is something. */
static bool hide(const struct nothing *nothing, const char *path)
{
    for (int i = 0; i < FOLDERS_LOOKS; i++) {
        int place = folders_find(path);
        bool done;
        bool removed;

        if (place < 0) // a link is hidden where it leads
            return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ||
                   errno == EACCES;
        done = hide_place(nothing, place);
        removed = !done && folders_is_removed(place);
        close_one(place);
        if (!removed)
            return done;
    }
    return false;
}

/* The same for PATHS, names that only the kernel gives. OVER is that part of
   NOTHING which they most likely are. */
static bool hide_all(const struct nothing *nothing, int over,
                     const char *const *paths)
{
    bool done = true;

    for (size_t i = 0; done && paths[i]; i++)
        done = namespace_lay(over, paths[i]) == 0 || hide(nothing, paths[i]);
    return done;
}

bool nothing_lay(const struct hidden *hidden)
{
    struct nothing nothing;
    bool done = make_nothing(&nothing) && !hidden->failed;

    for (size_t i = hidden->system; done && i < hidden->secrets.n; i++)
        if (hidden->secrets.list[i].number != 0) // there is something
            done = hide(&nothing, hidden->secrets.list[i].name);
    done = done && (nothing.laid || hide(&nothing, FIRST)) &&
           hide_all(&nothing, nothing.file, of_others);
    if (done && geteuid() == 0)
        done = hide_all(&nothing, nothing.file, files_of_kernel) &&
               hide_all(&nothing, nothing.folder, folders_of_kernel);
    release_nothing(&nothing);
    return done;
}
