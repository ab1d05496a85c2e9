/* SPDX-License-Identifier: GPL-3.0-or-later */
/* temporary.c: see temporary.h. Whoever has the lock of a folder may use or
   remove it: a folder that is being made and one that is being removed cannot
   be confused, for one of the two does not get the lock. */
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
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/linux.h"
#include "supervisor/removal.h"

#define LOCK_NAME "lock"
#define INSIDE "tmp"

/* Random bytes of a name; names that are tried. */
#define RANDOM_BYTES 8
#define NAMES_TRIED 16

/* Names that this process looks at before it starts a sweeper: most often there
   is nothing to do, and a process takes longer than to read so many. */
#define NAMES_LOOKED_AT 1000

/* The sweeper runs while Lisp boots and must not slow that down. */
#define SWEEPER_NICE 10

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now); // exists everywhere
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); // nothing was written to it
    *fd = -1;
}

/* The start of the names of this user's folders. */
static void put_prefix(char name[TEMPORARY_NAME])
{
    (void)snprintf(name, TEMPORARY_NAME, "ecl-mcp-%u-", (unsigned)geteuid());
}

/* Whether NAME may be the name of a folder of this user's supervisors, which
   begins with PREFIX. */
static bool is_ours(const char *name, const char *prefix)
{
    size_t n = strlen(prefix);

    return strncmp(name, prefix, n) == 0 &&
           strlen(name + n) == 2 * RANDOM_BYTES &&
           strspn(name + n, "0123456789abcdef") == 2 * RANDOM_BYTES;
}

static bool make_name(char name[TEMPORARY_NAME])
{
    unsigned char random[RANDOM_BYTES];

    if (!linux_random(random, sizeof random))
        return false;
    put_prefix(name);
    for (size_t i = 0, n = strlen(name); i < RANDOM_BYTES; i++, n += 2)
        (void)snprintf(name + n, 3, "%02x", random[i]);
    return true;
}

/* --- The lock ------------------------------------------------------------- */

/* Locks the folder FOLDER by the file in it, which is made if it is missing. A
   descriptor; -1: another process has the lock, or it cannot be taken. */
static int take_lock(int folder)
{
    struct stat ours;
    struct stat found;
    int fd =
        openat(folder, LOCK_NAME,
               O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);

    // whoever removes the folder removes the file first
    if (fd >= 0 &&
        (flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &ours) < 0 ||
         fstatat(folder, LOCK_NAME, &found, AT_SYMLINK_NOFOLLOW) < 0 ||
         ours.st_ino != found.st_ino || !S_ISREG(ours.st_mode)))
        close_fd(&fd);
    return fd;
}

/* Opens the folder NAME of PARENT if it is the user's own. */
static int open_own(int parent, const char *name)
{
    struct stat status;
    int fd =
        openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

    if (fd >= 0 && (fstat(fd, &status) < 0 || status.st_uid != geteuid()))
        close_fd(&fd);
    return fd;
}

/* Removes the folder NAME, which FOLDER is open on and this process has locked,
   from PARENT. */
static void remove_locked(int parent, int folder, const char *name,
                          int64_t until_ms)
{
    if (removal_of_folder(folder, INSIDE, until_ms) &&
        unlinkat(folder, LOCK_NAME, 0) == 0)
        (void)unlinkat(parent, name, AT_REMOVEDIR); // not if it has more
}

/* --- What others have left ------------------------------------------------ */

static void sweep_folder(int parent, const char *name, int64_t until_ms)
{
    int folder = open_own(parent, name);
    int lock = folder < 0 ? -1 : take_lock(folder);

    if (lock >= 0)
        remove_locked(parent, folder, name, until_ms);
    close_fd(&lock);
    close_fd(&folder);
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
    char prefix[TEMPORARY_NAME];

    put_prefix(prefix);
    while (folder && now_ms() < until_ms && (entry = readdir(folder)))
        if (is_ours(entry->d_name, prefix))
            sweep_folder(parent, entry->d_name, until_ms);
    if (folder)
        (void)closedir(folder); // was only read
}

/* Whether something may be left: a folder of another supervisor, which may
   still run, or too many names to look at here. */
static bool may_be_left(const struct temporary *temporary)
{
    DIR *folder = open_names(temporary->parent);
    const struct dirent *entry = NULL;
    char prefix[TEMPORARY_NAME];
    bool found = false;
    int n = 0;

    put_prefix(prefix);
    while (folder && !found && n < NAMES_LOOKED_AT &&
           (entry = readdir(folder))) {
        found = is_ours(entry->d_name, prefix) &&
                strcmp(entry->d_name, temporary->name) != 0;
        n++;
    }
    if (folder)
        (void)closedir(folder); // was only read
    return found || n == NAMES_LOOKED_AT;
}

/* In a process of its own: nobody waits until much is removed. */
void temporary_clean(struct temporary *temporary)
{
    pid_t parent = getpid();
    pid_t pid = -1;

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
    if (dup2(temporary->parent, STDIN_FILENO) < 0)
        _exit(1);
    linux_close_from(STDIN_FILENO + 1);
    temporary_sweep(STDIN_FILENO, now_ms() + LIMIT_TEMPORARY_SWEEP_MS);
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

/* Makes a folder in the parent and locks it. False: errno says why not. */
static bool make_folder(struct temporary *temporary)
{
    for (int i = 0; i < NAMES_TRIED; i++) {
        if (!make_name(temporary->name))
            return false;
        if (mkdirat(temporary->parent, temporary->name, 0700) < 0) {
            if (errno == EEXIST)
                continue;
            return false;
        }
        temporary->folder = open_own(temporary->parent, temporary->name);
        if (temporary->folder >= 0)
            temporary->lock = take_lock(temporary->folder);
        if (temporary->lock >= 0)
            return mkdirat(temporary->folder, INSIDE, 0700) == 0;
        close_fd(&temporary->folder); // another process is removing it
    }
    return false;
}

/* Makes the folder below BASE. False: errno says why not. */
static bool make_below(struct temporary *temporary, const char *base)
{
    char real[SANDBOX_PATH];
    int error;
    int n = -1;

    if (!realpath(base, real))
        return false;
    temporary->parent =
        open(real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (temporary->parent >= 0 && make_folder(temporary))
        n = snprintf(temporary->path, sizeof temporary->path, "%s/%s/" INSIDE,
                     strcmp(real, "/") == 0 ? "" : real, temporary->name);
    if (n > 0 && (size_t)n < sizeof temporary->path)
        return true;
    error = n > 0 ? ENAMETOOLONG : errno;
    temporary->path[0] = '\0';
    if (temporary->lock >= 0)
        remove_locked(temporary->parent, temporary->folder, temporary->name, 0);
    close_fd(&temporary->lock);
    close_fd(&temporary->folder);
    close_fd(&temporary->parent);
    errno = error;
    return false;
}

void temporary_open(struct temporary *temporary, const struct log *log)
{
    const char *usual = getenv("TMPDIR");
    bool made = false;

    *temporary = (struct temporary){.parent = -1, .folder = -1, .lock = -1};
    if (usual && usual[0] == '/') {
        made = make_below(temporary, usual);
        if (!made)
            log_line(log, LOG_WARN,
                     "sandbox: no temporary folder can be made in %s (TMPDIR): "
                     "%s; using /tmp",
                     usual, strerror(errno));
    }
    if (!made && !make_below(temporary, "/tmp"))
        log_line(log, LOG_WARN,
                 "sandbox: Lisp has no temporary folder: none can be made in "
                 "/tmp: %s",
                 strerror(errno));
}

void temporary_close(struct temporary *temporary)
{
    stop_sweeper(temporary);
    if (temporary->path[0] == '\0')
        return;
    remove_locked(temporary->parent, temporary->folder, temporary->name,
                  now_ms() + LIMIT_TEMPORARY_END_MS);
    close_fd(&temporary->lock);
    close_fd(&temporary->folder);
    close_fd(&temporary->parent);
    temporary->path[0] = '\0';
}
