/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hidden.c: see hidden.h. */
#include "image/hidden.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/fnv.h"
#include "base/limits.h"
#include "files/secrets.h"
#include "image/folders.h"
#include "image/remembered.h"

/* Never readable: terminals, disks, keys. */
static const char *const hidden_places[] = {"/dev", "/run/secrets", "/run/user",
                                            NULL};

/* What the system lets only root read. */
static const char *const hidden_from_root[] = {
    "/etc/shadow", "/etc/shadow-",     "/etc/gshadow", "/etc/gshadow-",
    "/etc/ssh",    "/etc/ssl/private", NULL,
};

/* Kerberos tickets; their folder, and what their names begin with. */
#define TICKETS "/tmp"
#define TICKET "krb5cc_*"

/* Bytes of a path that may exist: it may be there. */
#define ALL SIZE_MAX

/* --- Lists of paths ------------------------------------------------------- */

void hidden_release(struct hidden *hidden)
{
    hidden_paths_release(&hidden->secrets);
    hidden_paths_release(&hidden->inside);
    hidden_paths_release(&hidden->ways);
    hidden_paths_release(&hidden->looked);
}

void hidden_forget_listings(struct hidden *hidden)
{
    hidden_paths_forget(&hidden->ways);
}

static bool has_bit(const uint64_t *set, size_t bit)
{
    return (set[bit / 64] & 1ull << bit % 64) != 0;
}

static void add_bit(uint64_t *set, size_t bit)
{
    set[bit / 64] |= 1ull << bit % 64;
}

static struct hidden_path *find_path(const struct hidden_paths *paths,
                                     const char *name)
{
    return hidden_paths_find(paths, name, hidden_hash(name));
}

/* Notes in PATH what is at NAME, and for a secret over which something is
   mounted now what there was BEFORE. */
static void identify(struct hidden_path *path, const char *name,
                     const struct hidden *before)
{
    const struct hidden_path *known;
    struct statx status;

    if (statx(AT_FDCWD, name[0] != '\0' ? name : "/", 0,
              STATX_INO | STATX_CTIME, &status) < 0)
        return;
    path->device = makedev(status.stx_dev_major, status.stx_dev_minor);
    path->number = status.stx_ino;
    path->changed.tv_sec = status.stx_ctime.tv_sec;
    path->changed.tv_nsec = status.stx_ctime.tv_nsec;
    if (!before || (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) == 0)
        return;
    known = find_path(&before->secrets, name);
    if (!known)
        return;
    path->device = known->device;
    path->number = known->number;
}

/* Where in the set of names NAME belongs, and the file NUMBER in its own. */
static size_t bit_of_name(const char *name)
{
    uint32_t hash = hidden_hash(name);

    return (hash ^ hash >> 16) % HIDDEN_BITS;
}

static size_t bit_of_file(ino_t number)
{
    return (size_t)(number ^ number >> 12) % HIDDEN_BITS;
}

/* Adds PATH with the name NAME. */
static void take_path(struct hidden *hidden, struct hidden_paths *paths,
                      struct hidden_path path, const char *name)
{
    path.listing = NULL; // another has it
    add_bit(hidden->names, bit_of_name(name + path.start));
    add_bit(hidden->files, bit_of_file(path.number));
    if (!hidden_paths_append(paths, path, name))
        hidden->failed = true;
}

/* Adds the path NAME, unless it is there; PRESENT: there may be something. */
static void add_hashed(struct hidden *hidden, struct hidden_paths *paths,
                       const char *name, uint32_t hash, bool present)
{
    struct hidden_path path = {.hash = hash, .present = present};
    const char *slash = strrchr(name, '/');

    if (hidden_paths_find(paths, name, hash))
        return;
    path.start = slash ? (size_t)(slash - name) + 1 : 0;
    if (present)
        identify(&path, name, hidden->before);
    take_path(hidden, paths, path, name);
}

static void add_path(struct hidden *hidden, struct hidden_paths *paths,
                     const char *name)
{
    add_hashed(hidden, paths, name, hidden_hash(name), true);
}

bool hidden_has(const struct hidden *hidden, const char *way, const char *name,
                dev_t device, ino_t number)
{
    return (has_bit(hidden->files, bit_of_file(number)) ||
            has_bit(hidden->names, bit_of_name(name))) &&
           (hidden_paths_have(&hidden->secrets, way, name, device, number) ||
            hidden_paths_have_file(&hidden->inside, device, number) ||
            hidden_paths_have(&hidden->ways, way, name, device, number));
}

/* --- Secrets -------------------------------------------------------------- */

/* Notes the folders on the way to PATH, "" for the root. There is nothing after
   the first EXISTING bytes of it. */
static void note_ways(struct hidden *hidden, const char *path, size_t existing)
{
    char way[SANDBOX_PATH];
    uint32_t hash = FNV_START;

    for (size_t i = 0; path[i] != '\0'; i++) {
        way[i] = '\0';
        if (path[i] == '/')
            add_hashed(hidden, &hidden->ways, way, hash, i <= existing);
        way[i] = path[i];
        hash = fnv_add(hash, (unsigned char)path[i]);
    }
}

/* Notes the file NAME in FOLDER if it has another name. False: no room. */
static bool note_file(struct hidden *hidden, int folder, const char *name)
{
    struct stat status;

    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISREG(status.st_mode) || status.st_nlink == 1 ||
        hidden_paths_have_file(&hidden->inside, status.st_dev, status.st_ino))
        return true;
    if (hidden->inside.n >= LIMIT_SECRET_INSIDE) {
        hidden->unsought |= SANDBOX_UNSOUGHT_INSIDE;
        return false;
    }
    take_path(
        hidden, &hidden->inside,
        (struct hidden_path){.device = status.st_dev, .number = status.st_ino},
        "");
    return true;
}

/* The next entry of OPEN, or NULL, but for "." and "..", if *LEFT is not 0. */
static const struct dirent *next_entry(struct hidden *hidden, DIR *open,
                                       size_t *left)
{
    const struct dirent *entry;

    do
        entry = open ? readdir(open) : NULL;
    while (entry && (strcmp(entry->d_name, ".") == 0 ||
                     strcmp(entry->d_name, "..") == 0));
    if (entry && *left == 0) {
        hidden->unsought |= SANDBOX_UNSOUGHT_NAMES;
        return NULL;
    }
    *left -= entry != NULL;
    return entry;
}

/* Notes the files directly in the secret PATH, if that is a folder, which have
   another name. */
static void note_inside(struct hidden *hidden, const char *path)
{
    DIR *open = opendir(path);
    size_t left = LIMIT_SECRET_NAMES;
    const struct dirent *entry;

    while ((entry = next_entry(hidden, open, &left)) &&
           note_file(hidden, dirfd(open), entry->d_name))
        continue;
    if (open)
        (void)closedir(open); // was only read
}

/* PATH must stay hidden, and the path to which its links lead. Only the first
   EXISTING bytes of it may exist. False: there is nothing yet. */
static bool hide_path(struct hidden *hidden, const char *path, size_t existing)
{
    const struct hidden_path *added;
    uint32_t hash = hidden_hash(path);
    char real[SANDBOX_PATH];

    add_hashed(hidden, &hidden->secrets, path, hash, existing == ALL);
    note_ways(hidden, path, existing);
    added = hidden_paths_find(&hidden->secrets, path, hash);
    if (!added || added->number == 0)
        return false;
    (void)note_file(hidden, AT_FDCWD, path); // false: it has said so
    if (folders_lead_straight(path) || !realpath(path, real) ||
        strcmp(real, path) == 0)
        return true;
    add_path(hidden, &hidden->secrets, real);
    note_ways(hidden, real, ALL);
    (void)note_file(hidden, AT_FDCWD, real);
    return true;
}

/* The same, with what is directly in PATH. */
static void hide(struct hidden *hidden, const char *path, size_t existing)
{
    if (hide_path(hidden, path, existing))
        note_inside(hidden, path);
}

/* Whether file NUMBER on DEVICE is one of the secrets, or directly in one. */
static bool is_secret(const struct hidden *hidden, dev_t device, ino_t number)
{
    return hidden_paths_have_file(&hidden->secrets, device, number) ||
           hidden_paths_have_file(&hidden->inside, device, number);
}

/* Joins FOLDER and NAME; false when that is too long. */
static bool join(char path[SANDBOX_PATH], const char *folder, const char *name)
{
    size_t folder_n = strlen(folder);
    size_t name_n = strlen(name);

    if (folder_n + name_n + 2 > SANDBOX_PATH)
        return false;
    memcpy(path, folder, folder_n); // of hundreds of names, snprintf is slow
    path[folder_n] = '/';
    memcpy(path + folder_n + 1, name, name_n + 1);
    return true;
}

/* Hides the entries of FOLDER whose names fit PATTERN, one name, or when that
   is NULL all whose names are secret (MORE are further patterns), and other
   names of secrets that are known. Looks at *LEFT entries at most, and counts
   them off. */
static void hide_entries(struct hidden *hidden, const char *folder,
                         const char *pattern, const char *const *more,
                         size_t *left)
{
    DIR *open = opendir(folder);
    const struct dirent *entry;
    struct stat status;
    bool known = open && fstat(dirfd(open), &status) == 0;
    char path[SANDBOX_PATH];

    while (known && (entry = next_entry(hidden, open, left))) {
        struct str name = str_from(entry->d_name);

        if ((pattern ? secrets_name_fits(name, str_from(pattern))
                     : secrets_match(name, more) ||
                           is_secret(hidden, status.st_dev, entry->d_ino)) &&
            join(path, folder, entry->d_name))
            hide(hidden, path, ALL);
    }
    if (open)
        (void)closedir(open); // was only read
}

/* Reads the entries of WAY. */
static void read_way(const struct hidden *hidden, const struct hidden_path *way)
{
    int fd = open(way->name[0] != '\0' ? way->name : "/",
                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    listing_read_way(way->listing, fd, hidden->more);
    if (fd >= 0)
        (void)close(fd); // was only read
}

/* Lists the folder PATH, which becomes a way, unless it has been listed: the
   rules need that, too. What is in a home (IS_HOME) may be remembered. NULL:
   without memory. */
static const struct listing *list_way(struct hidden *hidden, const char *path,
                                      bool is_home)
{
    struct hidden_path *way;

    // how it looked before is noted first
    note_ways(hidden, path, ALL);
    add_path(hidden, &hidden->ways, path);
    way = find_path(&hidden->ways, path);
    if (!way)
        return NULL;
    if (!way->listing) {
        way->listing = calloc(1, sizeof *way->listing);
        if (way->listing &&
            !(is_home && remembered_recall(way, hidden->more, way->listing))) {
            read_way(hidden, way);
            if (is_home)
                remembered_note(way, hidden->more, way->listing);
        }
    }
    hidden->failed = hidden->failed || !way->listing;
    return way->listing;
}

/* Whether LISTING, which may be NULL, may have the first name of PATTERN. */
static bool may_have(const struct listing *listing, const char *pattern)
{
    return !listing || strcspn(pattern, "*") < LISTING_START ||
           listing_may_have(listing, pattern);
}

/* How many bytes of PATH may exist: what PATTERN names in a folder that has the
   entries of LISTING. Most folders of programs do not, and their names need not
   be looked up one by one. */
static size_t existing_of(struct hidden *hidden, char *path,
                          const char *pattern, const struct listing *listing)
{
    size_t home_n = strlen(path) - strlen(pattern) - 1;
    const char *name = pattern;

    while (may_have(listing, name)) {
        const char *slash = strchr(name, '/');
        size_t end = slash ? home_n + 1 + (size_t)(slash - pattern) : 0;

        if (!slash || !listing)
            return ALL;
        path[end] = '\0';
        listing = list_way(hidden, path, false);
        path[end] = '/';
        name = slash + 1;
    }
    return home_n + (size_t)(name - pattern);
}

/* Hides what the PATTERN names in the folder HOME, whose LISTING may be NULL. A
   star counts in its last name; that folder is then a way even if nothing fits
   yet. */
static void hide_pattern(struct hidden *hidden, const char *home,
                         const char *pattern, const struct listing *listing)
{
    const char *slash = strrchr(pattern, '/');
    const char *star = strchr(pattern, '*');
    char path[SANDBOX_PATH];
    size_t existing;
    size_t left = LIMIT_SECRET_NAMES;

    if (!join(path, home, pattern) || (star && (!slash || star < slash)))
        return;
    existing = existing_of(hidden, path, pattern, listing);
    if (!star)
        hide(hidden, path, existing);
    if (!star || existing != ALL)
        return;
    path[strlen(home) + 1 + (size_t)(slash - pattern)] = '\0';
    if (access(path, F_OK) < 0)
        return;
    note_ways(hidden, path, ALL);
    add_path(hidden, &hidden->ways, path);
    hide_entries(hidden, path, slash + 1, NULL, &left);
}

/* Hides what PATTERNS (NULL: none) name in HOME; of those, only the patterns
   apply that begin with its part of the home folder. */
static void hide_patterns(struct hidden *hidden, const struct home *home,
                          const char *const *patterns,
                          const struct listing *listing)
{
    size_t n = strlen(home->within);
    const char *path = home->path[1] == '\0' ? "" : home->path;

    for (size_t i = 0; patterns && patterns[i]; i++) {
        const char *pattern = patterns[i];

        if (n > 0 &&
            (strncmp(pattern, home->within, n) != 0 || pattern[n] != '/'))
            continue;
        hide_pattern(hidden, path, n > 0 ? pattern + n + 1 : pattern, listing);
    }
}

/* Whether code may write to the folder PATH, and so may read all in it. */
static bool is_writable(const struct sandbox_places *places, const char *path)
{
    for (size_t i = 0; i < SANDBOX_N; i++) {
        size_t n = strlen(places->writable[i]);

        if (!places->refused[i] && n > 0 &&
            strncmp(places->writable[i], path, n) == 0 &&
            (path[n] == '/' || path[n] == '\0'))
            return true;
    }
    return false;
}

/* Hides secrets in those folders that were looked at from FIRST on. */
static void hide_in_folders(struct hidden *hidden, size_t first,
                            const char *const *more)
{
    size_t names = LIMIT_SECRET_NAMES;

    for (size_t i = first; i < hidden->looked.n; i++)
        hide_entries(hidden, hidden->looked.list[i].name, NULL, more, &names);
}

/* Hides secrets directly in HOME, which has the entries of LISTING, and, unless
   that is the root, whose folders are no user's, directly in its folders. A
   home may hold very many names. */
static void hide_in_home(struct hidden *hidden, const char *home,
                         const struct listing *listing,
                         const struct sandbox *sandbox,
                         const struct sandbox_places *places)
{
    size_t folders = LIMIT_SECRET_FOLDERS;
    size_t first = hidden->looked.n;
    size_t inside;
    char path[SANDBOX_PATH];

    for (size_t i = 0; i < listing->n; i++) {
        const char *name = listing_name(listing, i);

        if (secrets_match(str_from(name), sandbox->secrets) &&
            join(path, home, name))
            hide(hidden, path, ALL);
        if (home[0] == '\0' || name[0] == '.' ||
            listing->list[i].type == DT_REG || !join(path, home, name) ||
            !listing_is_folder(listing, i, path) || is_writable(places, path))
            continue;
        if (folders == 0) {
            hidden->unsought |= SANDBOX_UNSOUGHT_FOLDERS;
            continue;
        }
        folders--;
        add_path(hidden, &hidden->looked, path);
    }
    inside = hidden->inside.n;
    hide_in_folders(hidden, first, sandbox->secrets);
    if (hidden->inside.n > inside) // their other names may have come before
        hide_in_folders(hidden, first, sandbox->secrets);
}

static void hide_home(struct hidden *hidden, const struct home *home,
                      const struct sandbox *sandbox,
                      const struct sandbox_places *places)
{
    const char *path = home->path[1] == '\0' ? "" : home->path;
    const struct listing *listing =
        list_way(hidden, path, home->within[0] == '\0');
    size_t all = SIZE_MAX; // too many to be kept are still looked at

    hide_patterns(hidden, home, secrets_patterns, listing);
    hide_patterns(hidden, home, sandbox->secrets, listing);
    if (home->within[0] == '\0' && listing)
        hide_in_home(hidden, path, listing, sandbox, places);
    if (home->within[0] == '\0' && listing && !listing->read)
        hide_entries(hidden, path, NULL, sandbox->secrets, &all);
}

/* Their folder does not count as looked at: it changes all the time. */
void hidden_add_tickets(struct hidden *hidden)
{
    size_t left = LIMIT_SECRET_NAMES;

    hide_entries(hidden, TICKETS, TICKET, NULL, &left);
}

/* Hides the tickets where CACHE says that they are. */
static void hide_cache(struct hidden *hidden, const char *cache)
{
    bool one_of_many = cache && strncmp(cache, "DIR::", 5) == 0;
    char path[SANDBOX_PATH];
    char *slash;

    if (one_of_many || (cache && strncmp(cache, "FILE:", 5) == 0))
        cache += 5;
    else if (cache && strncmp(cache, "DIR:", 4) == 0)
        cache += 4;
    if (!cache || !folders_copy_plain(path, cache))
        return;
    slash = strrchr(path, '/');
    if (one_of_many && slash > path)
        *slash = '\0'; // the others are beside it
    hide(hidden, path, ALL);
}

/* The usual ticket may have another name in a home. The others are not sought.
 */
static void note_usual_ticket(struct hidden *hidden)
{
    char path[sizeof TICKETS + 32];

    (void)snprintf(path, sizeof path, TICKETS "/krb5cc_%u", geteuid());
    (void)note_file(hidden, AT_FDCWD, path); // false: it has said so
}

/* Adds the secrets of the homes, and the tickets. */
static void hide_secrets(struct hidden *hidden, const struct sandbox *sandbox,
                         const struct sandbox_places *places)
{
    if (places->own_tmp && !hidden->before)
        note_usual_ticket(hidden); // before the homes are looked at
    for (size_t i = 0; i < HOMES_MAX; i++)
        if (places->homes[i].path[0] == '/')
            hide_home(hidden, &places->homes[i], sandbox, places);
    if (!places->own_tmp)
        hidden_add_tickets(hidden);
    hide_cache(hidden, places->tickets);
}

enum status hidden_find(struct hidden *hidden, const struct sandbox *sandbox,
                        const struct sandbox_places *places,
                        const struct hidden *before)
{
    *hidden = (struct hidden){.before = before, .more = sandbox->secrets};
    // what is in those of the system has no other names
    for (size_t i = 0; hidden_places[i]; i++)
        (void)hide_path(hidden, hidden_places[i], ALL);
    for (size_t i = 0; geteuid() == 0 && hidden_from_root[i]; i++)
        (void)hide_path(hidden, hidden_from_root[i], ALL);
    hidden->system = hidden->secrets.n;
    // under mounts, the other names of the others cannot be seen
    for (size_t i = 0; before && i < before->inside.n; i++)
        take_path(hidden, &hidden->inside, before->inside.list[i], "");
    hide_secrets(hidden, sandbox, places);
    // what comes where a listing had nothing changes the folder around it; a
    // link that leads nowhere yet does not
    for (size_t i = 0; i < hidden->ways.n; i++)
        if (hidden->ways.list[i].present &&
            !find_path(&hidden->looked, hidden->ways.list[i].name))
            take_path(hidden, &hidden->looked, hidden->ways.list[i],
                      hidden->ways.list[i].name);
    for (size_t i = 0; i < hidden->ways.n; i++)
        hidden->ways.list[i].secret = hidden_paths_hold(
            &hidden->secrets, &hidden->ways, hidden->ways.list[i].name);
    hidden->before = NULL;
    hidden->more = NULL;
    return hidden->failed ? ST_NOMEM : ST_OK;
}
