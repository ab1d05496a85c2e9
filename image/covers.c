/* SPDX-License-Identifier: GPL-3.0-or-later */
/* covers.c: see covers.h. */
#include "image/covers.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/glob.h"
#include "base/limits.h"
#include "image/cache.h"
#include "image/covered.h"
#include "image/entries.h"
#include "image/folders.h"
#include "image/listing.h"
#include "image/submodules.h"

#define GIT COVERED_GIT

/* From the folder of the image program, as it was built or installed. */
static const char *const of_program[] = {
    "ecl-mcp-image",
    "ecl-mcp",
    "ecl-mcp-module.so",
    "../../elisp",
    "../../lisp",
    "../../bin/ecl-mcp",
    "../../lib/ecl-mcp",
    "../../share/emacs/site-lisp/ecl-mcp",
    NULL,
};

/* Folder PATH and those on the way to it are to keep their names. */
static void fix(const char *path, struct covers *covers)
{
    char way[SANDBOX_PATH];
    size_t i = 0;

    for (; path[i] != '\0'; i++) {
        way[i] = '\0';
        if (path[i] == '/')
            paths_add(&covers->fixed, way);
        way[i] = path[i];
    }
    way[i] = '\0';
    if (i > 0)
        paths_add(&covers->fixed, way);
}

/* --- The roots ---------------------------------------------------------- */

/* Notes whether folder PATH is a repository, and the folders in it. LEFT counts
   the entries that may still be searched. */
static void look(int workspace, const char *path, struct paths *folders,
                 size_t *left, struct covers *covers)
{
    DIR *folder = entries_open(workspace, path);
    const struct dirent *entry;
    char inner[SANDBOX_PATH];

    while (folder && (entry = entries_next(folder))) {
        const char *name = entry->d_name;

        if (*left == 0) {
            covers->cut = "entries (LIMIT_COVERED_ENTRIES)";
            break;
        }
        --*left;
        if (covered_is_repository(name)) {
            if (covers->roots.n < LIMIT_COVERED_ROOTS)
                paths_add(&covers->roots, path);
            else if (!paths_has(&covers->roots, path))
                covers->cut = "repositories (LIMIT_COVERED_ROOTS)";
        } else if (name[0] != '.' && entries_is_folder(folder, entry) &&
                   entries_join(path, name, inner)) {
            if (folders->n < LIMIT_COVERED_FOLDERS)
                paths_append(folders, inner);
            else
                covers->cut = "folders (LIMIT_COVERED_FOLDERS)";
        }
    }
    if (folder)
        (void)closedir(folder); // was only read
}

void covers_find_roots(int workspace, struct covers *covers)
{
    struct paths folders = {.list = NULL};
    size_t left = LIMIT_COVERED_ENTRIES;
    struct stat status;

    paths_add(&covers->roots, "");
    covers->repository =
        fstatat(workspace, GIT, &status, AT_SYMLINK_NOFOLLOW) == 0;
    paths_append(&folders, "");
    for (size_t i = 0; i < folders.n; i++)
        look(workspace, folders.list[i], &folders, &left, covers);
    paths_release(&folders);
}

/* Writes to OUT where below the workspace the file is that FD is open on;
   false: elsewhere, or it is the workspace. */
static bool find_below(int workspace, int fd, char out[SANDBOX_PATH])
{
    char top[SANDBOX_PATH];
    char path[SANDBOX_PATH];
    char name[40];
    ssize_t top_n;
    ssize_t n;

    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", workspace);
    top_n = readlink(name, top, sizeof top);
    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    n = readlink(name, path, sizeof path - 1);
    if (top_n <= 0 || n <= top_n + 1 || memcmp(path, top, (size_t)top_n) != 0 ||
        path[top_n] != '/')
        return false;
    path[n] = '\0';
    (void)snprintf(out, SANDBOX_PATH, "%s", path + top_n + 1);
    return true;
}

/* PATH must not change, and the folders on the way to it keep their names. */
static void close_path(const char *path, struct covers *covers)
{
    char way[SANDBOX_PATH];
    char *slash;

    (void)snprintf(way, sizeof way, "%s", path);
    slash = strrchr(way, '/');
    if (slash) {
        *slash = '\0';
        fix(way, covers);
    }
    paths_add(&covers->closed, path);
}

/* --- What is there ------------------------------------------------------ */

struct search {
    int workspace;
    struct covers *covers;
    size_t left;        /* entries of folders that may still be searched */
    const char *listed; /* the folder that LISTING has, or NULL */
    struct listing listing;
    bool again; /* a pattern with a star may fit what is listed */
};

/* Lists FOLDER if it has few entries: to read them takes less than to look for
   the names of all patterns. */
static void list_few(struct search *search, const char *folder)
{
    int fd = openat(search->workspace, folder[0] != '\0' ? folder : ".",
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    listing_release(&search->listing);
    listing_read_few(&search->listing, fd);
    search->listed = search->listing.read ? folder : NULL;
    if (fd >= 0)
        (void)close(fd); // was only read
}

/* Whether NAME may be in FOLDER. */
static bool may_be(const struct search *search, const char *folder,
                   const char *name)
{
    return !search->listed || strcmp(folder, search->listed) != 0 ||
           listing_may_have(&search->listing, name);
}

static void expand(struct search *search, const char *folder,
                   const char *pattern);

/* A link cannot be covered, but that to which PATH leads in the workspace. */
static void close_goal(struct search *search, const char *path)
{
    int fd = openat(search->workspace, path, O_PATH | O_CLOEXEC);
    char goal[SANDBOX_PATH];

    if (fd >= 0 && find_below(search->workspace, fd, goal))
        close_path(goal, search->covers);
    if (fd >= 0)
        (void)close(fd); // was only a name
}

/* Whether there is no room for more: code may have made very many, and each of
   them costs time whenever the workspace has changed. */
static bool is_full(struct search *search)
{
    bool full =
        search->covers->closed.n + search->covers->fixed.n >= LIMIT_COVERS;

    search->covers->partial = search->covers->partial || full;
    return full;
}

/* The next entry of FOLDER that may be searched; NULL: there is none. */
static const struct dirent *next_entry(struct search *search, DIR *folder)
{
    const struct dirent *entry = entries_next(folder);

    if (!entry)
        return NULL;
    if (search->left == 0) {
        search->covers->partial = true;
        return NULL;
    }
    search->left--;
    return entry;
}

/* NAME in FOLDER fits the first name of a pattern whose others are REST. */
static void found(struct search *search, const char *folder, const char *name,
                  const char *rest)
{
    char path[SANDBOX_PATH];
    struct stat status;

    if (is_full(search) || !entries_join(folder, name, path) ||
        fstatat(search->workspace, path, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (*rest == '\0') {
        paths_add(&search->covers->closed, path);
        if (S_ISLNK(status.st_mode))
            close_goal(search, path);
    } else if (S_ISDIR(status.st_mode)) {
        paths_add(&search->covers->fixed, path);
        expand(search, path, rest + 1);
    } else if (S_ISREG(status.st_mode)) {
        paths_add(&search->covers->closed, path); // it says where the folder is
    }
}

/* Finds what fits PATTERN in FOLDER. */
static void expand(struct search *search, const char *folder,
                   const char *pattern)
{
    size_t n = strcspn(pattern, "/");
    char name[SANDBOX_PATH];
    DIR *entries;
    const struct dirent *entry;

    if (n >= sizeof name || is_full(search) ||
        (strcspn(pattern, "*") >= n && !may_be(search, folder, pattern)))
        return;
    memcpy(name, pattern, n);
    name[n] = '\0';
    if (!strchr(name, '*')) {
        found(search, folder, name, pattern + n);
        return;
    }
    entries = entries_open(search->workspace, folder);
    while (entries && (entry = next_entry(search, entries)))
        if (glob_matches(str_from(name), str_from(entry->d_name)))
            found(search, folder, entry->d_name, pattern + n);
    if (entries)
        (void)closedir(entries); // was only read
}

/* Finds what fits the patterns of LIST in FOLDER: those with stars, or those
   without. */
static void expand_all(struct search *search, const char *folder,
                       const char *const *list, bool stars)
{
    for (size_t i = 0; list && list[i]; i++)
        if ((strchr(list[i], '*') != NULL) == stars)
            expand(search, folder, list[i]);
}

/* Lists what git obeys in the submodules of folder MODULES. Even where nothing
   is closed, folders keep their names and are watched if submodules, or
   info/attributes, could come there. */
static void list_modules(struct search *search, const char *modules)
{
    struct submodules found = {.left = search->left};

    submodules_find(search->workspace, modules, &found);
    search->left = found.left;
    search->covers->partial = search->covers->partial || found.partial;
    // names come later, and stars last: code could use the room up
    for (size_t i = 0; i < found.repositories.n && !is_full(search); i++) {
        fix(found.repositories.list[i], search->covers);
        expand_all(search, found.repositories.list[i], covered_of_git, false);
    }
    for (size_t i = 0; i < found.names.n && !is_full(search); i++)
        paths_add(&search->covers->fixed, found.names.list[i]);
    for (size_t i = 0; i < found.repositories.n && !is_full(search); i++)
        expand_all(search, found.repositories.list[i], covered_of_git, true);
    submodules_release(&found);
}

/* Opens the folder that file GIT of FOLDER names; -1: none. */
static int open_named(int folder)
{
    static const char key[] = "gitdir: ";
    const size_t start = sizeof key - 1;
    char text[SANDBOX_PATH];
    struct stat status;
    int file =
        openat(folder, GIT, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    ssize_t n = -1;

    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode))
        n = read(file, text, sizeof text - 1);
    if (file >= 0)
        (void)close(file); // was only read
    if (n <= (ssize_t)start || memcmp(text, key, start) != 0)
        return -1;
    text[n] = '\0';
    text[strcspn(text, "\r\n")] = '\0';
    return openat(folder, text + start, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

/* Writes to OUT where below the workspace the repository is to which GIT of
   ROOT, a link or a file, leads; false: elsewhere. */
static bool follow(int workspace, const char *root, char out[SANDBOX_PATH])
{
    DIR *folder = entries_open(workspace, root);
    int fd = folder
                 ? openat(dirfd(folder), GIT, O_PATH | O_DIRECTORY | O_CLOEXEC)
                 : -1;
    bool below;

    if (folder && fd < 0)
        fd = open_named(dirfd(folder));
    if (folder)
        (void)closedir(folder); // was only read
    below = fd >= 0 && find_below(workspace, fd, out);
    if (fd >= 0)
        (void)close(fd); // was only a name
    return below;
}

/* Whether the pattern, which has a star, may fit something in FOLDER. */
static bool may_fit(const struct search *search, const char *folder,
                    const char *pattern)
{
    struct str first = {pattern, strcspn(pattern, "/")};

    if (!search->listed || strcmp(folder, search->listed) != 0)
        return true;
    if (!memchr(first.p, '*', first.n))
        return may_be(search, folder, pattern);
    for (size_t i = 0; i < search->listing.n; i++)
        if (glob_matches(first, str_from(listing_name(&search->listing, i))))
            return true;
    return false;
}

/* Notes whether one of LIST that has a star may: most folders need not be read
   again for those. */
static void note_stars(struct search *search, const char *folder,
                       const char *const *list)
{
    for (size_t i = 0; list && list[i] && !search->again; i++)
        search->again =
            strchr(list[i], '*') && may_fit(search, folder, list[i]);
}

/* Lists what git obeys in ROOT. */
static void list_git(struct search *search, const char *root, bool stars)
{
    char git[SANDBOX_PATH];
    char modules[SANDBOX_PATH];
    struct stat status;

    if (!entries_join(root, GIT, git) ||
        fstatat(search->workspace, git, &status, AT_SYMLINK_NOFOLLOW) < 0)
        return;
    if (S_ISDIR(status.st_mode)) {
        list_few(search, git);
        paths_add(&search->covers->fixed, git);
    } else {
        paths_add(&search->covers->closed, git);
        if (!follow(search->workspace, root, git))
            return;
        fix(git, search->covers);
    }
    note_stars(search, git, covered_of_git);
    search->again = search->again || may_be(search, git, SUBMODULES);
    expand_all(search, git, covered_of_git, stars);
    if (stars && entries_join(git, SUBMODULES, modules))
        list_modules(search, modules);
    search->listed = NULL; // its name ends here
}

/* Lists what there is in ROOT. */
static void list_root(struct search *search, const struct sandbox *sandbox,
                      const char *root, bool stars)
{
    // else it could be moved away with its covers, and another take its place
    fix(root, search->covers);
    if (root[0] != '\0' || search->covers->repository)
        list_git(search, root, stars);
    if (!stars) {
        list_few(search, root);
        note_stars(search, root, covered_patterns);
        note_stars(search, root, sandbox->protects);
    }
    expand_all(search, root, covered_patterns, stars);
    expand_all(search, root, sandbox->protects, stars);
    search->listed = NULL;
}

void covers_list(int workspace, const struct sandbox *sandbox,
                 struct covers *covers)
{
    struct search search = {.workspace = workspace,
                            .covers = covers,
                            .left = LIMIT_COVERED_ENTRIES};
    uint64_t again = 0; // a bit for each root

    _Static_assert(LIMIT_COVERED_ROOTS <= 64, "a root has no bit");
    paths_release(&covers->fixed);
    paths_release(&covers->closed);
    covers->partial = false;
    // patterns with stars come last: code could use the entries up
    for (size_t i = 0; i < covers->roots.n; i++) {
        search.again = false;
        list_root(&search, sandbox, covers->roots.list[i], false);
        again |= (uint64_t)search.again << i;
    }
    for (size_t i = 0; i < covers->roots.n; i++)
        if (again & 1ull << i)
            list_root(&search, sandbox, covers->roots.list[i], true);
    listing_release(&search.listing);
}

/* Writes to OUT where NAME is, seen from FOLDER, which has no links in it;
   false when it is nowhere. */
static bool find_beside(const char *folder, const char *name,
                        char out[SANDBOX_PATH])
{
    char path[SANDBOX_PATH];
    size_t folder_n = strlen(folder);
    int n;

    for (; strncmp(name, "../", 3) == 0; name += 3)
        while (folder_n > 0 && folder[--folder_n] != '/')
            continue;
    n = snprintf(path, sizeof path, "%.*s/%s", (int)folder_n, folder, name);
    return n > 0 && n < SANDBOX_PATH && folders_resolve(path, out);
}

void covers_add_program(const char *workspace, const char *program,
                        struct covers *covers)
{
    size_t n = strlen(workspace);
    char folder[SANDBOX_PATH];
    char real[SANDBOX_PATH];
    ssize_t end = readlink(program, folder, sizeof folder - 1);
    char *slash;

    folder[end > 0 ? end : 0] = '\0';
    if (!(slash = strrchr(folder, '/')))
        return;
    *slash = '\0';
    for (size_t i = 0; of_program[i]; i++)
        if (find_beside(folder, of_program[i], real) &&
            strncmp(real, workspace, n) == 0 && real[n] == '/')
            close_path(real + n + 1, covers);
}

/* Adds the folder of all caches in PATH, which becomes that, if it lies below
   WORKSPACE. */
static void add_caches(const char *workspace, char path[SANDBOX_PATH],
                       struct covers *covers)
{
    size_t n = strlen(workspace);

    cache_cut(path);
    if (strncmp(path, workspace, n) == 0 && path[n] == '/' &&
        folders_lead_straight(path))
        close_path(path + n + 1, covers);
}

void covers_add_caches(const char *workspace, struct covers *covers)
{
    char path[SANDBOX_PATH];

    cache_find(path, CACHE_CONFINED);
    add_caches(workspace, path, covers);
    cache_find_at_home(path, CACHE_CONFINED);
    add_caches(workspace, path, covers);
}

void covers_release(struct covers *covers)
{
    paths_release(&covers->roots);
    paths_release(&covers->fixed);
    paths_release(&covers->closed);
}
