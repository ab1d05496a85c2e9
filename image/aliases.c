/* SPDX-License-Identifier: GPL-3.0-or-later */
/* aliases.c: see aliases.h. The table of mounts says of each which folder of
   which file system it shows; it writes blanks and the like as \040. */
#include "image/aliases.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "image/folders.h"
#include "image/namespace.h"
#include "image/sandbox.h"

#define TABLE "/proc/self/mountinfo"
#define CHUNK (16u * 1024)

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
    size_t n = word ? strlen(word) : 0;

    if (n == 0 || n >= size)
        return false;
    memcpy(out, word, n + 1);
    return true;
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
    struct statx status;

    if (statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) < 0 ||
        (status.stx_mask & STATX_MNT_ID) == 0)
        return -1;
    return (long)status.stx_mnt_id;
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

/* Reads the table into OUT, ended by a 0. The system writes it anew each time,
   a microsecond for each mount. */
static bool read_table(struct buf *out)
{
    int fd = open(TABLE, O_RDONLY | O_CLOEXEC);
    ssize_t n = -1;
    char *room;

    while (fd >= 0 && (room = buf_reserve(out, CHUNK)) &&
           (n = read(fd, room, CHUNK)) > 0)
        out->n += (size_t)n;
    if (fd >= 0)
        (void)close(fd); // was only read
    buf_byte(out, '\0');
    return n == 0 && !buf_failed(out);
}

/* Takes the first line off *TABLE; false when there is none. One that is no
   mount, or too long, has the number -1. */
static bool take_mount(const char **table, struct mount *out)
{
    static char line[3 * SANDBOX_PATH];
    size_t n = strcspn(*table, "\n");
    bool some = n > 0;

    out->id = -1;
    if (some && n < sizeof line) {
        memcpy(line, *table, n);
        line[n] = '\0';
        if (!read_mount(line, out))
            out->id = -1;
    }
    *table += n;
    *table += **table == '\n';
    return some;
}

/* Calls for each line of TABLE that shows FOLDER of the file system of OWN,
   what is around or in it; other lines do not matter. */
static bool close_all(const char *table, const struct mount *own,
                      const char *folder)
{
    struct mount mount;
    bool done = true;

    while (take_mount(&table, &mount))
        if (mount.id >= 0 && mount.id != own->id &&
            strcmp(mount.system, own->system) == 0 &&
            (is_in(folder, mount.shown) || is_in(mount.shown, folder)))
            done = close_mount(&mount) && done;
    return done;
}

/* Finds the mount with number ID. */
static bool find_mount(const char *table, long id, struct mount *out)
{
    while (take_mount(&table, out))
        if (id >= 0 && out->id == id)
            return true;
    return false;
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
    struct buf table = BUF_EMPTY;
    struct mount own;
    ssize_t n;
    bool done = true;

    (void)snprintf(name, sizeof name, "/proc/self/fd/%d", workspace);
    n = readlink(name, path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    // in a root that is no mount, the table does not tell
    if (n > 0 && read_table(&table) &&
        find_mount(table.p, mount_of(workspace), &own) &&
        name_shown(&own, path, folder))
        done = close_all(table.p, &own, folder);
    buf_release(&table);
    return done;
}
