/* SPDX-License-Identifier: GPL-3.0-or-later */
/* submodules.c: see submodules.h. A folder with a file "config" is taken for a
   repository, as each has one: code cannot remove it where it is covered, nor
   make one without the user hearing of it. So code cannot decide which folders
   are searched. */
#include "image/submodules.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "image/entries.h"
#include "image/sandbox.h"

struct walk {
    int workspace;
    size_t start; /* length of the path that was given */
    struct submodules *found;
    struct paths inner; /* repositories, and other folders in them */
};

/* Whether FOLDER has NAME, a folder or (not FOLDERS) anything else. */
static bool has(const struct walk *walk, const char *folder, const char *name,
                bool folders)
{
    char path[SANDBOX_PATH];
    struct stat status;

    return entries_join(folder, name, path) &&
           fstatat(walk->workspace, path, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(status.st_mode) == folders;
}

static bool is_repository(const struct walk *walk, const char *path)
{
    return has(walk, path, "config", false);
}

/* Whether git and its companions have a folder NAME in a repository, so that no
   submodule is there. */
static bool is_own(const char *name)
{
    static const char *const names[] = {
        "objects",  "refs",     "logs",      "hooks", "info",
        "branches", "rr-cache", "worktrees", "lfs",   "annex"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Notes folder PATH. NAMED: a submodule's name leads here, or to below. */
static void note(struct walk *walk, const char *path, bool named)
{
    struct submodules *found = walk->found;
    bool repository = is_repository(walk, path);
    char modules[SANDBOX_PATH];

    // git needs no settings; but code may have made a HEAD, to hide the rest
    if (repository || has(walk, path, "HEAD", false))
        paths_append(&found->repositories, path);
    paths_append(repository || !named ? &walk->inner : &found->names, path);
    if (repository && has(walk, path, SUBMODULES, true) &&
        entries_join(path, SUBMODULES, modules))
        paths_append(&found->names, modules);
}

/* Whether the folders of PATH are not searched. */
static bool is_deep(const struct walk *walk, const char *path)
{
    unsigned depth = 0;

    for (path += walk->start; *path != '\0'; path++)
        depth += *path == '/';
    return depth >= SUBMODULES_DEPTH;
}

/* Notes the folders of PATH. */
static void list(struct walk *walk, const char *path, bool named)
{
    DIR *folder = entries_open(walk->workspace, path);
    bool repository = !named && is_repository(walk, path);
    bool deep = is_deep(walk, path);
    const struct dirent *entry;
    char inner[SANDBOX_PATH];
    bool fits;

    while (folder && (entry = entries_next(folder))) {
        const char *name = entry->d_name;

        if (walk->found->left == 0) {
            walk->found->partial = true;
            break;
        }
        walk->found->left--;
        if (!entries_is_folder(folder, entry) ||
            (repository && strcmp(name, SUBMODULES) == 0))
            continue;
        fits = entries_join(path, name, inner);
        if (fits && repository && is_own(name) && !is_repository(walk, inner))
            continue;
        if (fits && !deep)
            note(walk, inner, named);
        else
            walk->found->partial = true;
    }
    if (folder)
        (void)closedir(folder); // was only read
}

void submodules_find(int workspace, const char *modules,
                     struct submodules *found)
{
    struct walk walk = {
        .workspace = workspace, .start = strlen(modules), .found = found};
    DIR *folder = entries_open(workspace, modules);
    size_t names = 0;
    size_t inner = 0;

    if (!folder)
        return;
    (void)closedir(folder); // is there
    paths_append(&found->names, modules);
    for (;;)
        if (names < found->names.n)
            list(&walk, found->names.list[names++], true);
        else if (inner < walk.inner.n)
            list(&walk, walk.inner.list[inner++], false);
        else
            break;
    found->partial = found->partial || walk.inner.failed ||
                     found->names.failed || found->repositories.failed;
    paths_release(&walk.inner);
}

void submodules_release(struct submodules *found)
{
    paths_release(&found->repositories);
    paths_release(&found->names);
}
