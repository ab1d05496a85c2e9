/* SPDX-License-Identifier: GPL-3.0-or-later */
/* workspace.c: see workspace.h. */
#include "host/workspace.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "files/secrets.h"
#include "host/file.h"
#include "host/home.h"
#include "host/location.h"

/* The work (base/strand.h) of finding out about an entry of a folder. */
#define ENTRY 512

/* --- Folders -------------------------------------------------------------- */

static enum files_kind kind_in_list(mode_t mode)
{
    if (S_ISREG(mode))
        return FILES_FILE;
    if (S_ISDIR(mode))
        return FILES_FOLDER;
    return S_ISLNK(mode) ? FILES_LINK : FILES_OTHER;
}

static int by_name(const void *a, const void *b)
{
    const struct files_entry *one = a;
    const struct files_entry *other = b;

    return strcmp(one->name.p, other->name.p); // both end with a NUL
}

static bool is_secret(const struct location *location, struct str name)
{
    struct str path = name;

    if (location->name.n > 0)
        path = arena_printf(location->arena, "%.*s/%.*s",
                            STR_ARG(location->name), STR_ARG(name));
    return path.n == 0 || location_is_secret(location->workspace, path);
}

/* Fills the next entry of OUT for NAME in FOLDER; leaves out what has gone
   meanwhile. */
static enum files_result add_entry(const struct location *location, DIR *folder,
                                   const char *name, struct files_folder *out)
{
    struct files_entry *entry = &out->entries[out->count];
    struct stat info;

    if (fstatat(dirfd(folder), name, &info, AT_SYMLINK_NOFOLLOW) < 0)
        return FILES_OK;
    if (arena_str(location->arena, str_from(name), &entry->name) != ST_OK)
        return FILES_NOMEM;
    entry->kind = kind_in_list(info.st_mode);
    entry->size = (uint64_t)info.st_size;
    entry->changed_ms =
        (int64_t)info.st_mtim.tv_sec * 1000 + info.st_mtim.tv_nsec / 1000000;
    entry->secret = is_secret(location, entry->name);
    out->count++;
    return FILES_OK;
}

static enum files_result read_folder(const struct location *location,
                                     DIR *folder, struct files_folder *out)
{
    enum files_result result = FILES_OK;
    struct dirent *found;

    out->entries = arena_array(location->arena, LIMIT_FOLDER_ENTRIES,
                               sizeof *out->entries);
    if (!out->entries)
        return FILES_NOMEM;
    while (result == FILES_OK && (found = readdir(folder)) != NULL) {
        if (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0)
            continue;
        if (out->count == LIMIT_FOLDER_ENTRIES) {
            out->cut = true;
            break;
        }
        result = add_entry(location, folder, found->d_name, out);
        if (result == FILES_OK && arena_spend(location->arena, ENTRY) != ST_OK)
            result = FILES_NOMEM;
    }
    qsort(out->entries, out->count, sizeof *out->entries, by_name);
    return result;
}

/* Opens the folder of LOCATION, whose name is set. NULL with errno. */
static DIR *open_folder(const struct location *location)
{
    char last[NAME_MAX + 1];
    int parent =
        location_open_parent(location->workspace, location->name, false, last);
    DIR *folder = NULL;
    int fd = -1;

    if (parent >= 0)
        fd = openat(parent, last,
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0)
        folder = fdopendir(fd);
    int error = errno;
    if (parent >= 0)
        (void)close(parent);
    if (!folder && fd >= 0)
        (void)close(fd);
    errno = error;
    return folder;
}

/* --- The functions of files.h --------------------------------------------- */

static enum files_result locate_file(void *context, struct arena *arena,
                                     struct str path, struct files_place *out,
                                     struct str *problem)
{
    struct location location = {context, arena, path, STR(""), problem};
    enum files_result result = location_find(&location);

    if (result != FILES_OK)
        return result;
    *out = (struct files_place){.asked = path,
                                .name = location.name.n > 0 ? location.name
                                                            : STR("."),
                                .linked = file_is_linked(&location)};
    return FILES_OK;
}

/* KNOWN is NULL when the file was not read before. */
static enum files_result read_or_compare(struct location *location,
                                         struct str name, uint64_t max,
                                         const struct files_content *known,
                                         struct files_content *out)
{
    enum files_result result = location_take(location, name);

    *out = (struct files_content){.name = STR("")};
    if (result == FILES_OK)
        result = file_read(location, max, known, out);
    if (result == FILES_OK && !out->exists)
        return location_fail(location, ENOENT);
    return result;
}

static enum files_result read_file(void *context, struct arena *arena,
                                   const struct files_place *place,
                                   uint64_t max, struct files_content *out,
                                   struct str *problem)
{
    struct location location = {context, arena, place->asked, STR(""), problem};

    return read_or_compare(&location, place->name, max, NULL, out);
}

static enum files_result read_file_again(void *context, struct arena *arena,
                                         const struct files_place *place,
                                         const struct files_content *known,
                                         struct files_content *out,
                                         struct str *problem)
{
    struct location location = {context, arena, place->asked, STR(""), problem};

    return read_or_compare(&location, place->name, LIMIT_FILE, known, out);
}

static enum files_result write_file(void *context, struct arena *arena,
                                    const struct files_content *expected,
                                    struct str bytes, struct str *problem)
{
    struct location location = {context, arena, expected->name, STR(""),
                                problem};
    enum files_result result = location_take(&location, expected->name);

    return result == FILES_OK ? file_write(&location, expected, bytes) : result;
}

static enum files_result remove_file(void *context, struct arena *arena,
                                     const struct files_content *expected,
                                     struct str *problem)
{
    struct location location = {context, arena, expected->name, STR(""),
                                problem};
    enum files_result result = location_take(&location, expected->name);

    return result == FILES_OK ? file_remove(&location, expected) : result;
}

static enum files_result move_file(void *context, struct arena *arena,
                                   const struct files_content *expected,
                                   const struct files_place *to,
                                   struct str *problem)
{
    struct location location = {context, arena, expected->name, STR(""),
                                problem};
    struct location target = {context, arena, to->asked, STR(""), problem};
    enum files_result result = location_take(&location, expected->name);

    if (result == FILES_OK)
        result = location_take(&target, to->name);
    return result == FILES_OK ? file_move(&location, expected, &target)
                              : result;
}

static enum files_result list_folder(void *context, struct arena *arena,
                                     const struct files_place *place,
                                     struct files_folder *out,
                                     struct str *problem)
{
    struct location location = {context, arena, place->asked, STR(""), problem};
    enum files_result result = location_take(&location, place->name);

    if (result != FILES_OK)
        return result;
    DIR *folder = open_folder(&location);
    if (!folder)
        return errno == ENOTDIR ? location_refuse(&location, FILES_REFUSED,
                                                  "it is not a folder.")
                                : location_fail(&location, errno);
    *out = (struct files_folder){.name = location.name.n > 0 ? location.name
                                                             : STR(".")};
    result = read_folder(&location, folder, out);
    (void)closedir(folder);
    return result;
}

/* --- The workspace -------------------------------------------------------- */

bool workspace_contains(const struct workspace *workspace, const char *path)
{
    struct str name;

    return location_below(workspace, path, &name);
}

bool workspace_takes_secret(const char *pattern)
{
    return secrets_is_pattern(str_from(pattern));
}

struct workspace *workspace_new(const char *root, const char *const *secrets)
{
    struct workspace *workspace = calloc(1, sizeof *workspace);

    if (!workspace)
        return NULL;
    workspace->secrets = secrets;
    workspace->fd = -1;
    if (realpath(root, workspace->root))
        workspace->fd =
            open(workspace->root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (workspace->fd < 0) {
        int error = errno;

        workspace_free(workspace);
        errno = error;
        return NULL;
    }
    struct str in_home;
    if (home_below(workspace->root, &in_home))
        memcpy(workspace->in_home, in_home.p, in_home.n); // zeros follow
    if (strcmp(workspace->root, "/") == 0)
        workspace->root[0] = '\0';
    return workspace;
}

void workspace_free(struct workspace *workspace)
{
    if (!workspace)
        return;
    if (workspace->fd >= 0)
        (void)close(workspace->fd);
    free(workspace);
}

struct files workspace_files(struct workspace *workspace)
{
    return (struct files){.context = workspace,
                          .root = workspace->root[0] != '\0' ? workspace->root
                                                             : "/",
                          .locate = locate_file,
                          .read = read_file,
                          .read_again = read_file_again,
                          .list = list_folder,
                          .write = write_file,
                          .remove = remove_file,
                          .move = move_file};
}
