/* SPDX-License-Identifier: GPL-3.0-or-later */
/* aliases.c: see aliases.h. The table of mounts says of each which folder of
   which file system it shows; it writes blanks and the like as \040. */
#include "image/aliases.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/folders.h"
#include "image/namespace.h"
#include "image/sandbox.h"

#define TABLE "/proc/self/mountinfo"

/* A line of the table. */
struct mount {
    long id;
    char system[32]; /* the numbers of the device */
    char shown[SANDBOX_PATH];
    char place[SANDBOX_PATH];
};

/* Writes what TEXT means in its place. */
static void decode(char *text)
{
    char *to = text;

    for (const char *from = text; *from != '\0'; to++) {
        if (from[0] == '\\' && from[1] >= '0' && from[1] <= '3' &&
            from[2] >= '0' && from[2] <= '7' && from[3] >= '0' &&
            from[3] <= '7') {
            *to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 +
                         (from[3] - '0'));
            from += 4;
        } else {
            *to = *from++;
        }
    }
    *to = '\0';
}

/* Takes the next word off *REST; false when there is none, or it is too
   long. */
static bool take_word(char **rest, char *out, size_t size)
{
    const char *word = strsep(rest, " ");
    int n = word ? snprintf(out, size, "%s", word) : -1;

    return n > 0 && (size_t)n < size;
}

static bool read_mount(char *line, struct mount *mount)
{
    char id[24];
    char parent[24];

    if (!take_word(&line, id, sizeof id) ||
        !take_word(&line, parent, sizeof parent) ||
        !take_word(&line, mount->system, sizeof mount->system) ||
        !take_word(&line, mount->shown, sizeof mount->shown) ||
        !take_word(&line, mount->place, sizeof mount->place))
        return false;
    mount->id = strtol(id, NULL, 10);
    decode(mount->shown);
    decode(mount->place);
    return true;
}

/* Whether PATH is FOLDER or in it. */
static bool is_in(const char *path, const char *folder)
{
    size_t n = strcmp(folder, "/") == 0 ? 0 : strlen(folder);

    return strncmp(path, folder, n) == 0 && (path[n] == '/' || path[n] == '\0');
}

/* The number of the mount to which FD belongs; -1: unknown. */
static long mount_of(int fd)
{
    static const char key[] = "mnt_id:";
    char name[48];
    char line[200];
    long id = -1;
    FILE *facts;

    (void)snprintf(name, sizeof name, "/proc/self/fdinfo/%d", fd);
    facts = fopen(name, "re");
    while (facts && id < 0 && fgets(line, sizeof line, facts))
        if (strncmp(line, key, sizeof key - 1) == 0)
            id = strtol(line + sizeof key - 1, NULL, 10);
    if (facts)
        (void)fclose(facts); // was only read
    return id;
}

/* Makes the mount at PLACE read-only, if it is the topmost there. */
static bool close_mount(const struct mount *mount)
{
    int fd = folders_find(mount->place);
    bool done = fd < 0 || mount_of(fd) != mount->id || namespace_seal(fd) == 0;

    if (fd >= 0)
        (void)close(fd); // was only a name
    return done;
}

/* Calls for each line of the table that shows FOLDER of the file system of OWN,
   what is around or in it; other lines do not matter. */
static bool close_all(FILE *table, const struct mount *own, const char *folder)
{
    char *line = NULL;
    size_t size = 0;
    bool done = true;

    rewind(table);
    while (getline(&line, &size, table) > 0) {
        struct mount mount;

        if (read_mount(line, &mount) && mount.id != own->id &&
            strcmp(mount.system, own->system) == 0 &&
            (is_in(folder, mount.shown) || is_in(mount.shown, folder)))
            done = close_mount(&mount) && done;
    }
    free(line);
    return done;
}

/* Finds the mount with number ID. */
static bool find_mount(FILE *table, long id, struct mount *out)
{
    char *line = NULL;
    size_t size = 0;
    bool found = false;

    while (!found && getline(&line, &size, table) > 0)
        found = read_mount(line, out) && out->id == id;
    free(line);
    return found;
}

/* Writes to OUT which folder of its file system PATH is, which lies in the
   mount OWN. */
static bool name_shown(const struct mount *own, const char *path,
                       char out[SANDBOX_PATH])
{
    size_t n = strcmp(own->place, "/") == 0 ? 0 : strlen(own->place);
    const char *shown = strcmp(own->shown, "/") == 0 ? "" : own->shown;
    int length = is_in(path, own->place)
                     ? snprintf(out, SANDBOX_PATH, "%s%s", shown, path + n)
                     : -1;

    return length > 0 && length < SANDBOX_PATH;
}

bool aliases_close(int workspace)
{
    char name[40];
    char path[SANDBOX_PATH];
    char folder[SANDBOX_PATH];
    struct mount own;
    FILE *table = fopen(TABLE, "re");
    ssize_t n;
    bool done = true;

    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", workspace);
    n = readlink(name, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    // in a root that is no mount, the table does not tell
    if (table && n > 0 && find_mount(table, mount_of(workspace), &own) &&
        name_shown(&own, path, folder))
        done = close_all(table, &own, folder);
    if (table)
        (void)fclose(table); // was only read
    return done;
}
