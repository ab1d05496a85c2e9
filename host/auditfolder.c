/* SPDX-License-Identifier: GPL-3.0-or-later */
/* auditfolder.c: no link is followed in the folders that are ours, and only
   files of the user are written. */
#include "host/auditfolder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"

/* "2026-11-28", ".0001", ".jsonl", and room for what years may become. A full
   file of a day has a number, and by name comes before the one in use. */
#define DATE_SIZE 32
#define SUFFIX ".jsonl"
#define NUMBER_MOST 9999
#define NAME_SIZE (DATE_SIZE + sizeof ".0001" SUFFIX)

#define DAY_SECONDS (24 * 60 * 60)

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

static const struct ownfile_mode any_folder = {.has = S_IRWXU};
static const struct ownfile_mode our_folder = {.has = S_IRWXU,
                                               .lacks = S_IRWXG | S_IRWXO};
static const struct ownfile_mode our_file = {.has = S_IRUSR | S_IWUSR,
                                             .lacks = S_IRWXG | S_IRWXO};
static const struct ownfile_mode named_file = {.has = S_IRUSR | S_IWUSR,
                                               .lacks = OTHERS_WRITE};

/* --- Opening ------------------------------------------------------------- */

/* Whether FD is of TYPE and belongs to this user alone; sets errno. */
static bool is_ours(int fd, mode_t type)
{
    struct stat info;

    if (fstat(fd, &info) < 0)
        return false;
    if ((info.st_mode & S_IFMT) != type) {
        errno = EINVAL;
        return false;
    }
    if (info.st_uid != geteuid() || (info.st_mode & OTHERS_WRITE)) {
        errno = EPERM;
        return false;
    }
    return true;
}

static int keep_if(bool good, int fd)
{
    int error = errno;

    if (good)
        return fd;
    (void)close(fd);
    errno = error;
    return -1;
}

/* Opens NAME in PARENT as ownfile_open does, and reports a wrong mode of WHAT.
 */
static int open_one(int parent, const char *name, int flags,
                    struct ownfile_mode mode, const char *what,
                    const struct report *report)
{
    struct ownfile found;
    int fd = ownfile_open(parent, name, flags | O_CLOEXEC, mode, &found);
    int error = errno;

    if (found.fixed)
        report_line(report, LOG_WARN, "audit",
                    "%s had the mode %04o, which has been corrected. The user "
                    "or evaluated code had changed it; tell the user.",
                    what, (unsigned)found.was);
    errno = error;
    return fd;
}

/* Opens the log NAME in the folder PARENT. A descriptor or -1. */
static int open_log(int parent, const char *name, struct ownfile_mode mode,
                    const char *what, const struct report *report)
{
    int fd = open_one(parent, name,
                      O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK |
                          O_NOCTTY,
                      mode, what, report);

    return fd < 0 ? -1 : keep_if(is_ours(fd, S_IFREG), fd);
}

int auditfolder_open_named(const char *path, const struct report *report)
{
    return open_log(AT_FDCWD, path, named_file, path, report);
}

/* Opens the folder NAME in PARENT, which it closes; makes it if it is missing.
   A descriptor or -1. */
static int enter(int parent, const char *name, bool ours, const char *what,
                 const struct report *report)
{
    int flags = O_RDONLY | O_DIRECTORY | (ours ? O_NOFOLLOW : 0);
    int fd = -1;

    if (mkdirat(parent, name, 0700) == 0 || errno == EEXIST)
        fd = open_one(parent, name, flags, ours ? our_folder : any_folder, what,
                      report);
    if (fd >= 0)
        fd = keep_if(!ours || is_ours(fd, S_IFDIR), fd);
    (void)keep_if(false, parent);
    return fd;
}

static int open_folder(const char *home, const struct report *report)
{
    int fd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0)
        fd = enter(fd, ".local", false, "~/.local", report);
    if (fd >= 0)
        fd = enter(fd, "state", false, "~/.local/state", report);
    if (fd >= 0)
        fd = enter(fd, "ecl-mcp", true, "~/.local/state/ecl-mcp", report);
    return fd < 0 ? -1
                  : enter(fd, "audit", true, "~/" AUDITFOLDER_PLACE, report);
}

/* --- Names --------------------------------------------------------------- */

static void format_date(int64_t day, char out[DATE_SIZE])
{
    time_t when = (time_t)(day * DAY_SECONDS);
    struct tm tm;

    if (!gmtime_r(&when, &tm) || strftime(out, DATE_SIZE, "%Y-%m-%d", &tm) == 0)
        (void)snprintf(out, DATE_SIZE, "unknown");
}

/* The name of the file of DATE that is in use (NUMBER 0) or full. */
static void format_name(const char *date, int number, char out[NAME_SIZE])
{
    if (number == 0)
        (void)snprintf(out, NAME_SIZE, "%s" SUFFIX, date);
    else
        (void)snprintf(out, NAME_SIZE, "%s.%04d" SUFFIX, date, number);
}

/* The number of the file NAME of some day: 0 in use, -1 for another file. */
static int number_of(const char *name)
{
    char date[DATE_SIZE];
    size_t n = strspn(name, "0123456789-");
    const char *rest = name + n;

    if (n == 0 || n >= sizeof date)
        return -1;
    if (strcmp(rest, SUFFIX) == 0)
        return 0;
    bool numbered = rest[0] == '.' && strspn(rest + 1, "0123456789") == 4 &&
                    strcmp(rest + 5, SUFFIX) == 0;
    return numbered ? (int)strtol(rest + 1, NULL, 10) : -1;
}

/* Opens the folder FD for reading its names. NULL: it cannot be. */
static DIR *open_names(int fd)
{
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = copy < 0 ? NULL : fdopendir(copy);

    if (!names && copy >= 0)
        (void)close(copy); // it was only a folder
    return names;
}

/* Removes the files of the days before FIRST from the folder FD. */
static void remove_old(int fd, int64_t first)
{
    char limit[DATE_SIZE];
    DIR *names = open_names(fd);
    const struct dirent *entry;

    format_date(first, limit);
    size_t n = strlen(limit);
    while (names && (entry = readdir(names)) != NULL) {
        const char *name = entry->d_name;

        if (number_of(name) >= 0 && strspn(name, "0123456789-") == n &&
            strncmp(name, limit, n) < 0)
            (void)unlinkat(fd, name, 0); // tomorrow it tries again
    }
    if (names)
        (void)closedir(names);
}

/* --- The file of a day --------------------------------------------------- */

static int open_in_use(int folder, int64_t day, const struct report *report)
{
    char date[DATE_SIZE];
    char name[NAME_SIZE];

    format_date(day, date);
    format_name(date, 0, name);
    return open_log(folder, name, our_file, "the log of the day", report);
}

int auditfolder_open(const char *home, int64_t day, const struct report *report)
{
    int folder = open_folder(home, report);

    if (folder < 0)
        return -1;
    remove_old(folder, day - LIMIT_AUDIT_DAYS);
    int fd = open_in_use(folder, day, report);
    (void)keep_if(false, folder);
    return fd;
}

/* The full files of DATE in FOLDER: the number of the last one (0: none), and
   of the first. */
static void find_full(int folder, const char *date, int *first, int *last)
{
    DIR *names = open_names(folder);
    const struct dirent *entry;
    size_t n = strlen(date);

    *first = 0;
    *last = 0;
    while (names && (entry = readdir(names)) != NULL) {
        int number =
            strncmp(entry->d_name, date, n) == 0 && entry->d_name[n] == '.'
                ? number_of(entry->d_name)
                : -1;

        if (number > *last)
            *last = number;
        if (number > 0 && (*first == 0 || number < *first))
            *first = number;
    }
    if (names)
        (void)closedir(names);
}

/* Removes the full files of DATE from FIRST on that are too many when LAST is
   the last. */
static void remove_first(int folder, const char *date, int first, int last,
                         const struct report *report)
{
    char name[NAME_SIZE];

    for (; first > 0 && first <= last - LIMIT_AUDIT_PARTS; first++) {
        format_name(date, first, name);
        if (unlinkat(folder, name, 0) == 0)
            report_line(report, LOG_WARN, "audit",
                        "the log of %s is larger than %u files of %u MiB: its "
                        "oldest file, %s, was removed. Tell the user.",
                        date, LIMIT_AUDIT_PARTS, LIMIT_AUDIT_FILE >> 20, name);
    }
}

static bool is_same(int fd, int other)
{
    struct stat a;
    struct stat b;

    return fstat(fd, &a) == 0 && fstat(other, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Gives the file of DATE that is in use the next number. 0 or an errno. */
static int number_it(int folder, const char *date, const struct report *report)
{
    char from[NAME_SIZE];
    char to[NAME_SIZE];
    int first;
    int last;

    find_full(folder, date, &first, &last);
    if (last >= NUMBER_MOST)
        return EFBIG;
    format_name(date, 0, from);
    format_name(date, last + 1, to);
    // another server may be doing the same: no file is ever replaced
    if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) < 0)
        return errno;
    remove_first(folder, date, first > 0 ? first : last + 1, last + 1, report);
    return 0;
}

/* auditfolder_rotate in FOLDER. */
static int rotate(int folder, int64_t day, int fd, const struct report *report)
{
    char date[DATE_SIZE];
    int in_use = open_in_use(folder, day, report);

    if (in_use < 0 || !is_same(in_use, fd))
        return in_use; // another server was faster
    (void)keep_if(false, in_use);
    format_date(day, date);
    int error = number_it(folder, date, report);
    if (error == 0)
        return open_in_use(folder, day, report);
    errno = error;
    return -1;
}

int auditfolder_rotate(const char *home, int64_t day, int fd,
                       const struct report *report)
{
    int folder = open_folder(home, report);

    if (folder < 0)
        return -1;
    int in_use = rotate(folder, day, fd, report);
    (void)keep_if(false, folder);
    return in_use;
}
