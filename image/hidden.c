/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hidden.c: see hidden.h. */
#include "image/hidden.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/limits.h"
#include "files/secrets.h"

/* Never readable: terminals, disks, keys. */
static const char *const hidden_places[] = {
    "/dev",
    "/run/secrets",
    "/run/user",
    NULL,
};

/* What the system lets only root read. */
static const char *const hidden_from_root[] = {
    "/etc/shadow", "/etc/shadow-",     "/etc/gshadow", "/etc/gshadow-",
    "/etc/ssh",    "/etc/ssl/private", NULL,
};

/* Kerberos tickets; their folder, and what their names begin with. */
#define TICKETS "/tmp"
#define TICKET "krb5cc_*"

/* --- Lists of paths ------------------------------------------------------- */

static void release_paths(struct hidden_paths *paths)
{
    for (size_t i = 0; i < paths->n; i++)
        free(paths->list[i].name);
    free(paths->list);
    *paths = (struct hidden_paths){NULL, 0, 0};
}

void hidden_release(struct hidden *hidden)
{
    release_paths(&hidden->secrets);
    release_paths(&hidden->ways);
    release_paths(&hidden->looked);
}

static bool has_path(const struct hidden_paths *paths, const char *name)
{
    for (size_t i = 0; i < paths->n; i++)
        if (strcmp(paths->list[i].name, name) == 0)
            return true;
    return false;
}

static bool reserve(struct hidden_paths *paths)
{
    size_t cap = paths->cap * 2 + 64;
    struct hidden_path *list;

    if (paths->n < paths->cap)
        return true;
    list = realloc(paths->list, cap * sizeof *list);
    if (!list)
        return false;
    paths->list = list;
    paths->cap = cap;
    return true;
}

static void add_path(struct hidden *hidden, struct hidden_paths *paths,
                     const char *name)
{
    struct hidden_path path = {.name = NULL};
    const char *slash = strrchr(name, '/');
    struct stat status;

    if (has_path(paths, name))
        return;
    if (reserve(paths))
        path.name = strdup(name);
    hidden->failed = hidden->failed || !path.name;
    if (!path.name)
        return;
    path.start = slash ? (size_t)(slash - name) + 1 : 0;
    if (stat(name[0] != '\0' ? name : "/", &status) == 0) {
        path.device = status.st_dev;
        path.number = status.st_ino;
    }
    paths->list[paths->n++] = path;
}

static bool paths_have(const struct hidden_paths *paths, const char *way,
                       const char *name, dev_t device, ino_t number)
{
    size_t n = strlen(way);

    for (size_t i = 0; i < paths->n; i++) {
        const struct hidden_path *path = &paths->list[i];

        if (path->number != 0 && path->number == number &&
            path->device == device)
            return true;
        if (path->start == n + 1 && strcmp(path->name + n + 1, name) == 0 &&
            memcmp(path->name, way, n) == 0)
            return true;
    }
    return false;
}

bool hidden_has(const struct hidden *hidden, const char *way, const char *name,
                dev_t device, ino_t number)
{
    return paths_have(&hidden->secrets, way, name, device, number) ||
           paths_have(&hidden->ways, way, name, device, number);
}

/* --- Secrets -------------------------------------------------------------- */

/* Notes the folders on the way to PATH, "" for the root. */
static void note_ways(struct hidden *hidden, const char *path)
{
    char way[SANDBOX_PATH];

    for (size_t i = 0; path[i] != '\0'; i++) {
        way[i] = '\0';
        if (path[i] == '/')
            add_path(hidden, &hidden->ways, way);
        way[i] = path[i];
    }
}

/* PATH must stay hidden, and the path to which its links lead. */
static void hide(struct hidden *hidden, const char *path)
{
    char real[SANDBOX_PATH];

    add_path(hidden, &hidden->secrets, path);
    note_ways(hidden, path);
    if (!realpath(path, real) || strcmp(real, path) == 0)
        return;
    add_path(hidden, &hidden->secrets, real);
    note_ways(hidden, real);
}

/* Joins FOLDER and NAME; false when that is too long. */
static bool join(char path[SANDBOX_PATH], const char *folder, const char *name)
{
    int n = snprintf(path, SANDBOX_PATH, "%s/%s", folder, name);

    return n > 0 && n < SANDBOX_PATH;
}

/* Hides the entries of FOLDER whose names fit PATTERN, one name, or when that
   is NULL all whose names are secret (MORE are further patterns). Looks at
   *LEFT entries at most, and counts them off. */
static void hide_entries(struct hidden *hidden, const char *folder,
                         const char *pattern, const char *const *more,
                         size_t *left)
{
    DIR *open = opendir(folder[0] != '\0' ? folder : "/");
    const struct dirent *entry;
    char path[SANDBOX_PATH];

    while (open && *left > 0 && (entry = readdir(open))) {
        struct str name = str_from(entry->d_name);

        --*left;
        if ((pattern ? secrets_name_fits(name, str_from(pattern))
                     : secrets_match(name, more)) &&
            join(path, folder, entry->d_name))
            hide(hidden, path);
    }
    if (open)
        (void)closedir(open); // was only read
}

/* Hides what the PATTERN names in the folder HOME. A star counts in its last
   name; that folder is then a way even if nothing fits yet. */
static void hide_pattern(struct hidden *hidden, const char *home,
                         const char *pattern)
{
    const char *slash = strrchr(pattern, '/');
    char path[SANDBOX_PATH];
    size_t left = LIMIT_SECRET_NAMES;

    if (!join(path, home, pattern))
        return;
    if (!strchr(pattern, '*')) {
        hide(hidden, path);
        return;
    }
    if (!slash || strchr(pattern, '*') < slash)
        return;
    path[strlen(home) + 1 + (size_t)(slash - pattern)] = '\0';
    if (access(path, F_OK) < 0)
        return;
    note_ways(hidden, path);
    add_path(hidden, &hidden->ways, path);
    hide_entries(hidden, path, slash + 1, NULL, &left);
}

/* Hides what PATTERNS (NULL: none) name in HOME; of those, only the patterns
   apply that begin with its part of the home folder. */
static void hide_patterns(struct hidden *hidden, const struct home *home,
                          const char *const *patterns)
{
    size_t n = strlen(home->within);
    const char *path = home->path[1] == '\0' ? "" : home->path;

    for (size_t i = 0; patterns && patterns[i]; i++) {
        const char *pattern = patterns[i];

        if (n > 0 &&
            (strncmp(pattern, home->within, n) != 0 || pattern[n] != '/'))
            continue;
        hide_pattern(hidden, path, n > 0 ? pattern + n + 1 : pattern);
    }
}

static bool is_folder(int folder, const struct dirent *entry)
{
    struct stat status;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR;
    return fstatat(folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(status.st_mode);
}

/* Whether code may write to the folder PATH, and so may read all in it. */
static bool is_writable(const struct sandbox_places *places, const char *path)
{
    for (size_t i = 0; i < SANDBOX_N; i++)
        if (!places->refused[i] && strcmp(places->writable[i], path) == 0)
            return true;
    return false;
}

/* Hides secrets directly in the folders of HOME. */
static void hide_in_folders(struct hidden *hidden, const char *home,
                            const struct sandbox *sandbox,
                            const struct sandbox_places *places)
{
    DIR *open = opendir(home[0] != '\0' ? home : "/");
    size_t folders = LIMIT_SECRET_FOLDERS;
    size_t names = LIMIT_SECRET_NAMES;
    const struct dirent *entry;
    char path[SANDBOX_PATH];

    while (open && folders > 0 && (entry = readdir(open))) {
        if (entry->d_name[0] == '.' || !is_folder(dirfd(open), entry) ||
            !join(path, home, entry->d_name) || is_writable(places, path))
            continue;
        folders--;
        add_path(hidden, &hidden->looked, path);
        hide_entries(hidden, path, NULL, sandbox->secrets, &names);
    }
    if (open)
        (void)closedir(open); // was only read
}

static void hide_home(struct hidden *hidden, const struct home *home,
                      const struct sandbox *sandbox,
                      const struct sandbox_places *places)
{
    const char *path = home->path[1] == '\0' ? "" : home->path;
    size_t left = SIZE_MAX;

    hide_patterns(hidden, home, secrets_patterns);
    hide_patterns(hidden, home, sandbox->secrets);
    note_ways(hidden, path);
    add_path(hidden, &hidden->ways, path);
    if (home->within[0] != '\0')
        return;
    hide_entries(hidden, path, NULL, sandbox->secrets, &left);
    if (path[0] != '\0') // the folders of the root are no user's
        hide_in_folders(hidden, path, sandbox, places);
}

/* Hides the tickets that exist, also where CACHE says. Their folder does not
   count as looked at: it changes all the time. */
static void hide_tickets(struct hidden *hidden, const char *cache)
{
    size_t left = LIMIT_SECRET_NAMES;

    hide_entries(hidden, TICKETS, TICKET, NULL, &left);
    if (cache && strncmp(cache, "FILE:", 5) == 0)
        cache += 5;
    else if (cache && strncmp(cache, "DIR:", 4) == 0)
        cache += 4;
    if (cache && cache[0] == '/' && cache[1] != '\0' &&
        strlen(cache) < SANDBOX_PATH)
        hide(hidden, cache);
}

/* Adds the secrets of the homes, and the tickets. */
static void hide_secrets(struct hidden *hidden, const struct sandbox *sandbox,
                         const struct sandbox_places *places)
{
    for (size_t i = 0; i < HOMES_MAX; i++)
        if (places->homes[i].path[0] == '/')
            hide_home(hidden, &places->homes[i], sandbox, places);
    hide_tickets(hidden, places->tickets);
}

enum status hidden_find(struct hidden *hidden, const struct sandbox *sandbox,
                        const struct sandbox_places *places)
{
    *hidden = (struct hidden){.failed = false};
    for (size_t i = 0; hidden_places[i]; i++)
        hide(hidden, hidden_places[i]);
    for (size_t i = 0; geteuid() == 0 && hidden_from_root[i]; i++)
        hide(hidden, hidden_from_root[i]);
    hidden->system = hidden->secrets.n;
    hide_secrets(hidden, sandbox, places);
    for (size_t i = 0; i < hidden->ways.n; i++)
        add_path(hidden, &hidden->looked, hidden->ways.list[i].name);
    return hidden->failed ? ST_NOMEM : ST_OK;
}
