/* SPDX-License-Identifier: GPL-3.0-or-later */
/* temporary.c: see temporary.h. Whoever has locked a folder may use or remove
   it: a folder that is being made and one that is being removed cannot be
   confused, for one of the two does not get the lock. Where folders cannot be
   locked, a file beside it is. */
#include "supervisor/temporary.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/linux.h"
#include "supervisor/removal.h"

/* Random bytes of a name, and the end of that of a file beside it; names that
   are tried. */
#define RANDOM_BYTES 8
#define LOCK ".lock"
#define NAMES_TRIED 16

/* Folders that the server's loop looks at before it starts a sweeper: most
   often those of a few supervisors that run, and a process takes longer than to
   ask for so many locks. */
#define FOLDERS_LOOKED_AT 32

/* Where, in the common folder, the folder waits on which the next zygote mounts
   the way from TMPDIR to the images' /tmp (link_to in image/mounts.c): some
   file systems make a folder the more slowly, the more were removed lately. */
#define WAY "way"

/* The sweeper runs while Lisp boots and must not slow that down. */
#define SWEEPER_NICE 10

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); // nothing was written to it
    *fd = -1;
}

/* The name of the folder in which those of this user's supervisors are, and
   END. */
static void put_common(char name[TEMPORARY_NAME], const char *end)
{
    (void)snprintf(name, TEMPORARY_NAME, "ecl-mcp-%u%s", (unsigned)geteuid(),
                   end);
}

/* Whether NAME may be one that add_random has put to an empty one. */
static bool is_random(const char *name)
{
    return strlen(name) == 2 * RANDOM_BYTES &&
           strspn(name, "0123456789abcdef") == 2 * RANDOM_BYTES;
}

static bool add_random(char name[TEMPORARY_NAME])
{
    unsigned char random[RANDOM_BYTES];

    if (!linux_random(random, sizeof random))
        return false;
    for (size_t i = 0, n = strlen(name); i < RANDOM_BYTES; i++, n += 2)
        (void)snprintf(name + n, 3, "%02x", random[i]);
    return true;
}

/* --- The lock ------------------------------------------------------------- */

/* Opens the folder NAME of PARENT if it is the user's own. -1: errno says why
   not. */
static int open_own(int parent, const char *name, struct stat *status)
{
    int fd =
        openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0 && (fstat(fd, status) < 0 || status->st_uid != geteuid())) {
        close_fd(&fd);
        errno = EPERM;
    }
    return fd;
}

/* Whether NAME of PARENT is still the file with STATUS: another process may
   have removed it meanwhile. */
static bool is_still(int parent, const char *name, const struct stat *status)
{
    struct stat found;

    return fstatat(parent, name, &found, AT_SYMLINK_NOFOLLOW) == 0 &&
           status->st_dev == found.st_dev && status->st_ino == found.st_ino;
}

/* Locks FD, which is open on NAME of PARENT. 0, or the fault. */
static int lock_open(int fd, int parent, const char *name,
                     const struct stat *status)
{
    if (flock(fd, LOCK_EX | LOCK_NB) < 0)
        return errno;
    return is_still(parent, name, status) ? 0 : ENOENT;
}

/* Whether FAULT says that such files cannot be locked here: NFS locks only what
   is open for writing, and some file systems nothing. */
static bool is_unable(int fault)
{
    return fault == EBADF || fault == EINVAL || fault == ENOLCK ||
           fault == EOPNOTSUPP || fault == ENOSYS;
}

/* Closes *FD if there is a FAULT, which becomes errno; returns it. */
static int settle(int *fd, int fault)
{
    if (fault != 0)
        close_fd(fd);
    errno = fault;
    return *fd;
}

/* Writes to FILE the name of the file that is locked in the place of the folder
   NAME. */
static void put_lock(char file[TEMPORARY_NAME], const char *name)
{
    (void)snprintf(file, TEMPORARY_NAME, "%.*s" LOCK, 2 * RANDOM_BYTES, name);
}

/* Locks the file beside the folder NAME of PARENT, as take_lock does. */
static int lock_beside(int parent, const char *name)
{
    char file[TEMPORARY_NAME];
    struct stat status;
    int fault;
    int fd;

    put_lock(file, name);
    fd = openat(parent, file,
                O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    fault = fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) ||
                    status.st_uid != geteuid()
                ? EPERM
                : lock_open(fd, parent, file, &status);
    if (is_unable(fault))
        (void)unlinkat(parent, file, 0); // it serves nobody
    return settle(&fd, fault);
}

/* Removes the file beside the folder NAME of PARENT; it is locked, or there is
   none. */
static void remove_lock(int parent, const char *name)
{
    char file[TEMPORARY_NAME];

    put_lock(file, name);
    (void)unlinkat(parent, file, 0); // nearly always there is none
}

/* Locks the folder NAME of PARENT. A descriptor, whose end is that of the lock;
   -1 with errno: EWOULDBLOCK when another process has it. */
static int take_lock(int parent, const char *name)
{
    struct stat ours;
    int fd = open_own(parent, name, &ours);
    int fault = fd < 0 ? errno : lock_open(fd, parent, name, &ours);

    if (fd < 0 || !is_unable(fault))
        return settle(&fd, fault);
    close_fd(&fd);
    fd = lock_beside(parent, name);
    if (fd < 0 || is_still(parent, name, &ours))
        return fd;
    remove_lock(parent, name);
    return settle(&fd, ENOENT);
}

/* --- What others have left ------------------------------------------------ */

static void sweep_folder(int parent, const char *name, int64_t until_ms)
{
    int lock;

    removal_make_readable(parent, name); // code may have changed that
    lock = take_lock(parent, name);
    if (lock >= 0) {
        (void)removal_of_folder(parent, name, until_ms); // or the next one does
        remove_lock(parent, name);
    }
    close_fd(&lock);
}

/* Whether NAME of PARENT is the file beside a folder that is gone, whose name
   FOLDER gets. */
static bool is_lock_alone(int parent, const char *name,
                          char folder[TEMPORARY_NAME])
{
    (void)snprintf(folder, TEMPORARY_NAME, "%.*s", 2 * RANDOM_BYTES, name);
    return is_random(folder) && strcmp(name + 2 * RANDOM_BYTES, LOCK) == 0 &&
           faccessat(parent, folder, F_OK, AT_SYMLINK_NOFOLLOW) != 0;
}

/* Removes NAME of PARENT if it is such a file. */
static void sweep_lock(int parent, const char *name)
{
    char folder[TEMPORARY_NAME];
    int lock;

    if (!is_lock_alone(parent, name, folder))
        return;
    lock = lock_beside(parent, folder);
    if (lock >= 0)
        remove_lock(parent, folder);
    close_fd(&lock);
}

/* Opens the folder PARENT to read its names. NULL: it cannot be. */
static DIR *open_names(int parent)
{
    int copy = openat(parent, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = copy < 0 ? NULL : fdopendir(copy);

    if (!folder)
        close_fd(&copy);
    return folder;
}

void temporary_sweep(int parent, int64_t until_ms)
{
    DIR *folder = open_names(parent);
    const struct dirent *entry;

    while (folder && linux_now_ms() < until_ms && (entry = readdir(folder)))
        if (is_random(entry->d_name))
            sweep_folder(parent, entry->d_name, until_ms);
        else
            sweep_lock(parent, entry->d_name);
    if (folder)
        (void)closedir(folder); // was only read
}

/* The same with what was left where another user had taken the name of the
   common folder: in folders of BASE with longer names. */
static void sweep_alone(int base, int64_t until_ms)
{
    DIR *folder = open_names(base);
    const struct dirent *entry;
    char start[TEMPORARY_NAME];
    struct stat status;
    size_t n;

    put_common(start, "-");
    n = strlen(start);
    while (folder && linux_now_ms() < until_ms && (entry = readdir(folder))) {
        const char *name = entry->d_name;
        int parent = strncmp(name, start, n) == 0 && is_random(name + n)
                         ? open_own(base, name, &status)
                         : -1;

        if (parent < 0)
            continue;
        temporary_sweep(parent, until_ms);
        (void)unlinkat(base, name, AT_REMOVEDIR); // if nothing is in it
        close_fd(&parent);
    }
    if (folder)
        (void)closedir(folder); // was only read
}

/* Whether the folder NAME of PARENT is that of a supervisor that runs. */
static bool is_in_use(int parent, const char *name)
{
    int lock = take_lock(parent, name);
    bool used = lock < 0 && errno == EWOULDBLOCK;

    close_fd(&lock);
    return used;
}

/* Whether NAME, in the folder of all supervisors, was left by one that no
   longer runs. */
static bool is_left(const struct temporary *temporary, const char *name)
{
    char folder[TEMPORARY_NAME];

    if (!is_random(name))
        return is_lock_alone(temporary->parent, name, folder);
    return strcmp(name, temporary->name) != 0 &&
           !is_in_use(temporary->parent, name);
}

/* Whether something may be left, or too much to look at here. */
static bool may_be_left(const struct temporary *temporary)
{
    DIR *folder = open_names(temporary->parent);
    const struct dirent *entry = NULL;
    bool found = temporary->alone;
    int n = 0;

    while (folder && !found && n < FOLDERS_LOOKED_AT &&
           (entry = readdir(folder))) {
        found = is_left(temporary, entry->d_name);
        n++;
    }
    if (folder)
        (void)closedir(folder); // was only read
    return found || n == FOLDERS_LOOKED_AT;
}

/* In a process of its own: nobody waits until much is removed. */
void temporary_clean(struct temporary *temporary, int64_t now_ms)
{
    pid_t parent = getpid();
    pid_t pid = -1;
    int64_t until = now_ms + LIMIT_TEMPORARY_SWEEP_MS;

    if (temporary->path[0] != '\0' && may_be_left(temporary))
        pid = fork();
    if (pid > 0)
        temporary->sweeper = pid;
    if (pid != 0)
        return;
    linux_signal_on_orphaned(SIGKILL);
    (void)!nice(SWEEPER_NICE); // raising it is always allowed
    if (getppid() != parent)
        _exit(0);
    // the pipes to the client must not stay open here
    if (dup2(temporary->alone ? temporary->base : temporary->parent,
             STDIN_FILENO) < 0)
        _exit(1);
    linux_close_from(STDIN_FILENO + 1);
    if (temporary->alone)
        sweep_alone(STDIN_FILENO, until);
    else
        temporary_sweep(STDIN_FILENO, until);
    _exit(0);
}

bool temporary_note_exit(struct temporary *temporary, pid_t pid)
{
    bool ours = pid > 0 && pid == temporary->sweeper;

    if (ours)
        temporary->sweeper = 0;
    return ours;
}

static void stop_sweeper(struct temporary *temporary)
{
    pid_t done;

    if (temporary->sweeper <= 0)
        return;
    (void)kill(temporary->sweeper, SIGKILL); // it may have ended
    do
        done = waitpid(temporary->sweeper, NULL, 0);
    while (done < 0 && errno == EINTR);
    temporary->sweeper = 0;
}

/* --- The folder of this supervisor ---------------------------------------- */

/* Opens the folder for those of this user's supervisors, which is made if it is
   missing. A folder that others have made, or a link, is left alone: a name of
   this supervisor's own serves. False: errno says why not. */
static bool open_parent(struct temporary *temporary)
{
    struct stat status;

    put_common(temporary->common, "");
    temporary->alone = false;
    for (int i = 0; i < NAMES_TRIED; i++) {
        if (mkdirat(temporary->base, temporary->common, 0700) < 0 &&
            errno != EEXIST)
            return false;
        temporary->parent =
            open_own(temporary->base, temporary->common, &status);
        if (temporary->parent >= 0 && ((status.st_mode & 07777) == 0700 ||
                                       fchmod(temporary->parent, 0700) == 0))
            return true;
        close_fd(&temporary->parent);
        if (errno == ENOENT)
            continue; // another supervisor that ended has removed it
        put_common(temporary->common, "-");
        temporary->alone = true;
        if (!add_random(temporary->common))
            return false;
    }
    return false;
}

/* Makes a folder in the parent and locks it. False: errno says why not. */
static bool make_folder(struct temporary *temporary)
{
    for (int i = 0; i < NAMES_TRIED; i++) {
        temporary->name[0] = '\0';
        if ((temporary->parent < 0 && !open_parent(temporary)) ||
            !add_random(temporary->name))
            return false;
        if (mkdirat(temporary->parent, temporary->name, 0700) < 0) {
            if (errno == ENOENT)
                close_fd(&temporary->parent); // it was removed, as above
            else if (errno != EEXIST)
                return false;
            continue;
        }
        temporary->lock = take_lock(temporary->parent, temporary->name);
        if (temporary->lock >= 0)
            return true;
        if (errno != EWOULDBLOCK && errno != ENOENT) {
            int fault = errno; // the file system may lock nothing

            (void)unlinkat(temporary->parent, temporary->name, AT_REMOVEDIR);
            errno = fault;
            return false;
        }
    }
    return false;
}

/* Whether the folder NAME of PARENT is as the zygote makes one. */
static bool is_as_made(int parent, const char *name)
{
    struct stat status;
    int folder = open_own(parent, name, &status);
    DIR *names = folder >= 0 ? open_names(folder) : NULL;
    int n = 0;

    while (names && n < 3 && readdir(names)) // "." and ".."
        n++;
    if (names)
        (void)closedir(names); // was only read
    close_fd(&folder);
    return n == 2 && (status.st_mode & 07777) == 0700;
}

/* Takes the folder WAY in, if one waits: the zygote makes what is missing. */
static void take_way(const struct temporary *temporary)
{
    (void)renameat(temporary->parent, WAY, temporary->lock, temporary->common);
}

/* Leaves it for the next supervisor. Code cannot have reached it below what was
   mounted on it, so it is as it was, unless the user has put something there.
 */
static void leave_way(const struct temporary *temporary)
{
    if (!temporary->reached && !temporary->alone &&
        is_as_made(temporary->lock, temporary->common))
        (void)renameat2(temporary->lock, temporary->common, temporary->parent,
                        WAY, RENAME_NOREPLACE); // another may wait
}

/* Removes the folder, until UNTIL_MS. */
static void remove_folder(struct temporary *temporary, int64_t until_ms)
{
    if (temporary->lock >= 0) {
        leave_way(temporary);
        (void)removal_of_folder(temporary->parent, temporary->name, until_ms);
        remove_lock(temporary->parent, temporary->name);
    }
    close_fd(&temporary->lock);
    close_fd(&temporary->parent);
    // that of all stays: some file systems make a folder the more slowly, the
    // more were removed lately
    if (temporary->alone)
        (void)unlinkat(temporary->base, temporary->common, AT_REMOVEDIR);
    close_fd(&temporary->base);
    temporary->path[0] = '\0';
}

/* Whether all programs can use the folder PATH: Lisp takes some characters for
   those of patterns, lines of C that include a file cannot have others, and ECL
   before version 24 writes those that are not in ASCII otherwise. */
static bool is_usable(const char *path)
{
    for (; *path; path++)
        if (*path < ' ' || *path > '~' || strchr("\"*?\\", *path))
            return false;
    return true;
}

/* Makes the folder below BASE. False: errno says why not; EILSEQ: its name is
   not usable. */
static bool make_below(struct temporary *temporary, const char *base)
{
    char real[SANDBOX_PATH];
    int error;
    int n = -1;

    if (!realpath(base, real))
        return false;
    if (!is_usable(real)) {
        errno = EILSEQ;
        return false;
    }
    temporary->base =
        open(real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (temporary->base >= 0 && make_folder(temporary))
        n = snprintf(temporary->path, sizeof temporary->path, "%s/%s/%s",
                     strcmp(real, "/") == 0 ? "" : real, temporary->common,
                     temporary->name);
    if (n > 0 && (size_t)n < sizeof temporary->path) {
        take_way(temporary);
        return true;
    }
    error = n > 0 ? ENAMETOOLONG : errno;
    remove_folder(temporary, 0);
    errno = error;
    return false;
}

void temporary_open(struct temporary *temporary, const struct log *log)
{
    const char *usual = getenv("TMPDIR");
    bool made = false;

    *temporary = (struct temporary){.base = -1, .parent = -1, .lock = -1};
    if (usual && usual[0] == '/') {
        made = make_below(temporary, usual);
        if (!made)
            log_line(log, LOG_WARN,
                     "sandbox: no temporary folder can be made in %s (TMPDIR): "
                     "%s; using /tmp",
                     usual,
                     errno == EILSEQ ? "Lisp or C cannot use all characters of "
                                       "its name"
                                     : strerror(errno));
    }
    if (!made && !make_below(temporary, "/tmp"))
        log_line(log, LOG_WARN,
                 "sandbox: Lisp has no temporary folder: none can be made in "
                 "/tmp: %s",
                 strerror(errno));
}

void temporary_close(struct temporary *temporary, int64_t now_ms)
{
    stop_sweeper(temporary);
    if (temporary->path[0] != '\0')
        remove_folder(temporary, now_ms + LIMIT_TEMPORARY_END_MS);
}
