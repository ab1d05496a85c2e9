/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mounts.c: see mounts.h. */
#include "image/mounts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "image/aliases.h"
#include "image/folders.h"
#include "image/hidden.h"
#include "image/namespace.h"
#include "image/nothing.h"
#include "image/paths.h"

/* Where all programs keep files for a while. */
static const struct {
    const char *path;
    enum sandbox_mounts part;
} shared[] = {
    {"/tmp", SANDBOX_MOUNTS_TEMPORARY},
    {"/var/tmp", SANDBOX_MOUNTS_VAR},
};

#define PROGRAM "/proc/self/exe"

static void close_one(int fd)
{
    if (fd >= 0)
        (void)close(fd); // was only a name
}

/* Where in PATH what lies below FOLDER starts; 0: PATH is not inside FOLDER. */
static size_t start_below(const char *path, const char *folder)
{
    size_t n = strlen(folder);

    if (n == 1) // the root
        return 1;
    if (strncmp(path, folder, n) != 0 || (path[n] != '/' && path[n] != '\0'))
        return 0;
    return path[n] == '/' ? n + 1 : n;
}

/* --- The temporary folder ----------------------------------------------- */

/* What stays visible below a shared folder, and may be changed or not. */
struct stay {
    char path[SANDBOX_PATH]; /* below the shared folder; "" when not there */
    int tree;                /* a copy of it; -1 when it is not there */
};

enum { STAY_PROGRAM, STAY_ROOT, STAY_CACHE, STAY_N };

/* Whether FOLDER can be replaced: a home folder below it would become writable
   with it, and what is FOLDER itself must stay. */
static bool is_replaceable(const struct sandbox_places *places,
                           const char *folder)
{
    for (size_t i = 0; i < HOMES_MAX; i++)
        if (places->homes[i].path[0] == '/' &&
            start_below(places->homes[i].path, folder) > 0)
            return false;
    for (size_t i = 0; i < SANDBOX_N; i++)
        if (strcmp(places->writable[i], folder) == 0)
            return false;
    return true;
}

/* Copies what is at PATH, if that is below FOLDER. */
static bool keep(struct stay *stay, const char *path, const char *folder,
                 bool writable)
{
    size_t start = path[0] == '/' ? start_below(path, folder) : 0;
    int place = start > 0 ? folders_find(path) : -1;

    stay->tree = -1;
    if (start == 0 || (place < 0 && errno == ENOENT))
        return true;
    if (path[start] == '\0')
        return false; // it is FOLDER
    (void)snprintf(stay->path, sizeof stay->path, "%s", path + start);
    stay->tree = place >= 0 ? namespace_copy(place, !writable) : -1;
    close_one(place);
    return stay->tree >= 0;
}

static bool is_writable(const struct sandbox_places *places,
                        enum sandbox_place place)
{
    return places->writable[place][0] != '\0' && !places->refused[place];
}

static bool keep_all(struct stay stays[STAY_N],
                     const struct sandbox_places *places, const char *folder)
{
    char program[SANDBOX_PATH] = "";
    ssize_t n = readlink(PROGRAM, program, sizeof program - 1);
    char *slash;

    if (n > 0 && (slash = strrchr(program, '/')))
        *slash = '\0';
    for (size_t i = 0; i < STAY_N; i++)
        stays[i].tree = -1;
    return keep(&stays[STAY_PROGRAM], program, folder, false) &&
           keep(&stays[STAY_ROOT], places->writable[SANDBOX_ROOT], folder,
                is_writable(places, SANDBOX_ROOT)) &&
           keep(&stays[STAY_CACHE], places->writable[SANDBOX_CACHE], folder,
                is_writable(places, SANDBOX_CACHE));
}

/* Mounts OWN on FOLDER, and STAYS in it. */
static bool replace(int own, const char *folder, struct stay stays[STAY_N])
{
    int place = folders_find(folder);
    int tree = place >= 0 ? namespace_copy(own, false) : -1;
    bool done = tree >= 0 && namespace_attach(tree, place) == 0;

    for (size_t i = 0; done && i < STAY_N; i++) {
        int inner = -1;

        if (stays[i].tree < 0)
            continue;
        inner = folders_find_below(tree, stays[i].path, true);
        done = inner >= 0 && namespace_attach(stays[i].tree, inner) == 0;
        close_one(inner);
        if (!done)
            (void)namespace_detach(tree); // it was attached
    }
    close_one(tree);
    close_one(place);
    return done;
}

/* Puts the temporary folder of the images in the place of the shared FOLDER. */
static bool replace_shared(int own, const struct sandbox_places *places,
                           const char *folder)
{
    static struct stay stays[STAY_N];
    bool done = keep_all(stays, places, folder) && //
                replace(own, folder, stays);

    for (size_t i = 0; i < STAY_N; i++)
        close_one(stays[i].tree);
    return done;
}

/* Whether the temporary folder of the images can take the place of FOLDER,
   which may be a link. */
static bool may_replace(const struct sandbox_places *places, const char *folder)
{
    char real[SANDBOX_PATH];

    return folders_resolve(folder, real) && strcmp(real, folder) == 0 &&
           is_replaceable(places, folder);
}

bool mounts_replace_tmp(const struct mounts *mounts,
                        const struct sandbox *sandbox,
                        const struct sandbox_places *places)
{
    return mounts->parts != 0 && sandbox->mode == SANDBOX_WORKSPACE &&
           is_writable(places, SANDBOX_TEMPORARY) &&
           may_replace(places, shared[0].path);
}

/* Puts it in the place of all shared folders. Returns the parts that are in
   force. */
static uint32_t own_temporary(struct sandbox_places *places)
{
    char *path = places->writable[SANDBOX_TEMPORARY];
    int own = is_writable(places, SANDBOX_TEMPORARY) ? folders_find(path) : -1;
    uint32_t parts = 0;

    for (size_t i = 0; own >= 0 && i < sizeof shared / sizeof shared[0]; i++) {
        // one may be a link to the other
        if (may_replace(places, shared[i].path) &&
            replace_shared(own, places, shared[i].path))
            parts |= shared[i].part;
    }
    close_one(own);
    return parts;
}

/* Whether PATH leads to the folder that BEFORE tells about. */
static bool leads_to(const char *path, const struct stat *before)
{
    int fd = folders_find(path);
    struct stat now;
    bool same = fd >= 0 && fstat(fd, &now) == 0 &&
                now.st_dev == before->st_dev && now.st_ino == before->st_ino;

    close_one(fd);
    return same;
}

static bool is_empty(int folder)
{
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *open = fd >= 0 ? fdopendir(fd) : NULL;
    int n = 0;

    while (open && n < 3 && readdir(open)) // "." and ".."
        n++;
    if (open)
        (void)closedir(open); // was only read
    else
        close_one(fd);
    return n == 2;
}

/* Puts the link NAME, which leads to TO, into the folder FOLDER: in a file
   system of its own, so that code cannot remove it with all that is there. */
static void put_link(int folder, const char *name, const char *to)
{
    int tree = is_empty(folder) ? namespace_memory("700") : -1;
    bool done = tree >= 0 && symlinkat(to, tree, name) == 0 &&
                namespace_close(tree) == 0 &&
                namespace_attach(tree, folder) == 0;

    if (!done)
        (void)!symlinkat(to, folder, name); // it may be there
    close_one(tree);
}

/* Lets PATH below FOLDER, which is now hidden, lead to FOLDER by a link, so
   that TMPDIR stays what it is, and names in it hold here and outside. */
static void link_to(const char *folder, const char *path)
{
    char way[SANDBOX_PATH];
    char up[SANDBOX_PATH] = ".";
    char *name;
    int at = folders_find(folder);

    (void)snprintf(way, sizeof way, "%s", path);
    for (size_t i = 0, n = 0; way[i] != '\0' && n + 4 < sizeof up; i++)
        if (way[i] == '/')
            n += (size_t)snprintf(up + n, sizeof up - n, n > 0 ? "/.." : "..");
    name = strrchr(way, '/');
    if (!name && at >= 0)
        (void)!symlinkat(up, at, way); // it may be there
    if (name)
        *name++ = '\0';
    int inner = name && at >= 0 ? folders_find_below(at, way, true) : -1;
    if (inner >= 0)
        put_link(inner, name, up);
    close_one(inner);
    close_one(at);
}

/* Finds the temporary folder, which BEFORE tells about, where it is now. */
static void find_temporary(const struct stat *before,
                           struct sandbox_places *places)
{
    char *path = places->writable[SANDBOX_TEMPORARY];

    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++) {
        const char *folder = shared[i].path;
        size_t start = start_below(path, folder);

        if (start == 0 || leads_to(path, before) || !leads_to(folder, before))
            continue;
        link_to(folder, path + start);
        (void)snprintf(path, SANDBOX_PATH, "%s", folder);
        return;
    }
}

/* Puts the temporary folder in the place of those that all programs share, and
   returns the parts that are in force. The current folder may lie below what
   was mounted then: enters it anew. False: it is gone. */
static bool enter_temporary(struct sandbox_places *places, uint32_t *parts)
{
    const char *path = places->writable[SANDBOX_TEMPORARY];
    char current[SANDBOX_PATH];
    struct stat before;
    struct stat here;

    *parts = 0;
    if (!is_writable(places, SANDBOX_TEMPORARY) || stat(path, &before) < 0 ||
        !getcwd(current, sizeof current) || stat(".", &here) < 0)
        return true;
    *parts = own_temporary(places);
    if (*parts == 0)
        return true;
    find_temporary(&before, places);
    if (leads_to(current, &here))
        return chdir(current) == 0;
    // a workspace in a folder of secrets is out of sight, but of no use either
    return !is_writable(places, SANDBOX_ROOT);
}

/* --- Covers ------------------------------------------------------------- */

/* What names in the folder at PATH tell, from now on. */
static void watch(const struct mounts *mounts, const char *path)
{
    int folder = folders_find_below(mounts->workspace, path, false);
    char name[40];

    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", folder);
    // without a watch, later names are told, but not covered
    if (folder >= 0 && mounts->events >= 0)
        (void)inotify_add_watch(mounts->events, name,
                                IN_CREATE | IN_MOVED_TO | IN_ONLYDIR);
    close_one(folder);
}

/* Whether what is at PLACE is covered already. */
static bool is_covered(int place, bool closed)
{
    struct statvfs status;

    if (!closed)
        return namespace_is_mounted(place);
    return fstatvfs(place, &status) == 0 && (status.f_flag & ST_RDONLY) != 0;
}

/* Mounts PLACE on itself, unless it is covered. */
static bool cover_place(int place, bool closed)
{
    int tree;
    bool done;

    if (is_covered(place, closed))
        return true;
    tree = namespace_copy(place, closed);
    done = tree >= 0 && namespace_attach(tree, place) == 0;
    close_one(tree);
    return done;
}

/* Mounts what is at PATH on itself, so that it cannot be moved away; CLOSED:
   nor changed. */
static bool cover(const struct mounts *mounts, const char *path, bool closed)
{
    for (int i = 0; i < FOLDERS_LOOKS; i++) {
        int place = folders_find_below(mounts->workspace, path, false);
        bool done;
        bool removed;

        if (place < 0) // gone meanwhile, or a link, which only the answer tells
            return errno == ENOENT || errno == ENOTDIR || errno == ELOOP;
        done = cover_place(place, closed);
        removed = !done && folders_is_removed(place);
        close_one(place);
        if (!removed)
            return done;
    }
    return false;
}

/* Covers those of PATHS that are known. */
static bool cover_known(const struct mounts *mounts, const struct paths *paths,
                        bool closed)
{
    bool done = !paths->failed;

    for (size_t i = 0; i < paths->n; i++)
        if (paths_has(&mounts->known, paths->list[i]))
            done = cover(mounts, paths->list[i], closed) && done;
    return done;
}

static void add_all(const struct paths *from, struct paths *to)
{
    for (size_t i = 0; i < from->n; i++)
        paths_add(to, from->list[i]);
}

/* Covers what there is now: what is known, or ALL. */
static bool cover_all(struct mounts *mounts, const struct sandbox *sandbox,
                      bool all)
{
    struct covers *covers = &mounts->covers;
    bool done = true;

    covers_list(mounts->workspace, sandbox, covers);
    covers_add_program(mounts->path, PROGRAM, covers);
    covers_add_caches(mounts->path, covers);
    if (all) {
        add_all(&covers->fixed, &mounts->known);
        add_all(&covers->closed, &mounts->known);
    }
    done = cover_known(mounts, &covers->fixed, false) &&
           cover_known(mounts, &covers->closed, true);
    for (size_t i = 0; i < covers->roots.n; i++)
        watch(mounts, covers->roots.list[i]);
    for (size_t i = 0; i < covers->fixed.n; i++)
        watch(mounts, covers->fixed.list[i]);
    return done && !covers->roots.failed && !mounts->known.failed;
}

/* Closes other mounts of the workspace, before any copy of it is mounted. */
static bool close_aliases(const struct sandbox_places *places)
{
    int workspace = folders_find(places->writable[SANDBOX_ROOT]);
    bool done = workspace >= 0 && aliases_close(workspace);

    close_one(workspace);
    return done;
}

static bool start_covers(struct mounts *mounts, const struct sandbox *sandbox,
                         const struct sandbox_places *places)
{
    mounts->path = places->writable[SANDBOX_ROOT];
    mounts->workspace = folders_find(mounts->path);
    if (mounts->workspace < 0)
        return false;
    mounts->events = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    covers_find_roots(mounts->workspace, &mounts->covers);
    return cover_all(mounts, sandbox, true);
}

void mounts_tend(struct mounts *mounts, const struct sandbox *sandbox)
{
    char events[4096];

    // which names came does not matter; the rest comes next, for code could
    // make names faster than they can be read
    (void)!read(mounts->events, events, sizeof events);
    (void)cover_all(mounts, sandbox, false); // what fails is tried again
}

void mounts_cover(struct mounts *mounts, const struct sandbox *sandbox)
{
    if ((mounts->parts & SANDBOX_MOUNTS_COVERS) == 0)
        return;
    // the answer that has told of a new repository came after git made it
    mounts->covers.repository = true;
    (void)cover_all(mounts, sandbox, true); // the same
}

/* --- All of it ---------------------------------------------------------- */

void mounts_enter(struct mounts *mounts)
{
    memset(mounts, 0, sizeof *mounts);
    mounts->workspace = mounts->events = -1;
    if (namespace_enter() < 0)
        mounts->fault = errno;
    else
        mounts->parts = SANDBOX_MOUNTS;
}

bool mounts_make(struct mounts *mounts, const struct sandbox *sandbox,
                 const struct hidden *hidden, struct sandbox_places *places)
{
    uint32_t temporary;
    bool covering = sandbox->mode == SANDBOX_WORKSPACE &&
                    is_writable(places, SANDBOX_ROOT) && !sandbox->unprotected;

    if (mounts->parts == 0)
        return true;
    // as long as the table of mounts is short
    covering = covering && close_aliases(places);
    if (nothing_lay(hidden))
        mounts->parts |= SANDBOX_MOUNTS_SECRETS;
    if (sandbox->mode != SANDBOX_WORKSPACE)
        return true;
    if (!enter_temporary(places, &temporary))
        return false;
    mounts->parts |= temporary;
    if (covering && start_covers(mounts, sandbox, places))
        mounts->parts |= SANDBOX_MOUNTS_COVERS;
    return true;
}
