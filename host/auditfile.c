/* SPDX-License-Identifier: GPL-3.0-or-later */
/* auditfile.c: several servers may append to the same file: each line is one
   write to a descriptor with O_APPEND. It follows no link in the folders that
   are ours, and writes only to files of the user. */
#include "host/auditfile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "host/exposure.h"
#include "host/resolve.h"

/* "2026-11-28", ".jsonl", and room for what years may become. */
#define DATE_SIZE 32
#define SUFFIX ".jsonl"
#define NAME_SIZE (DATE_SIZE + sizeof SUFFIX)

#define DAY_SECONDS (24 * 60 * 60)

struct auditfile {
    const struct log *log;
    int fd;         /* -1: none is open */
    bool daily;     /* a file for each day, in a folder */
    char *home;     /* the folder is below it; NULL: there is no folder */
    int64_t day;    /* of the open file, since 1970 */
    bool torn;      /* the file ends in the middle of a line */
    uint64_t lost;  /* lines that could not be written */
    struct buf out; /* the line that is being made */
};

/* --- Opening ------------------------------------------------------------ */

static void format_date(int64_t day, char out[DATE_SIZE])
{
    time_t when = (time_t)(day * DAY_SECONDS);
    struct tm tm;

    if (!gmtime_r(&when, &tm) || strftime(out, DATE_SIZE, "%Y-%m-%d", &tm) == 0)
        (void)snprintf(out, DATE_SIZE, "unknown");
}

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
    if (info.st_uid != geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH))) {
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

/* Opens the log NAME in the folder PARENT. A descriptor or -1. */
static int open_log(int parent, const char *name)
{
    int fd = openat(parent, name,
                    O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK |
                        O_NOCTTY | O_CLOEXEC,
                    0600);

    return fd < 0 ? -1 : keep_if(is_ours(fd, S_IFREG), fd);
}

/* Opens the folder NAME in PARENT, which it closes; makes it if it is missing.
   A descriptor or -1. */
static int enter(int parent, const char *name, bool ours)
{
    int flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC | (ours ? O_NOFOLLOW : 0);
    int fd = -1;

    if (mkdirat(parent, name, 0700) == 0 || errno == EEXIST)
        fd = openat(parent, name, flags);
    if (fd >= 0)
        fd = keep_if(!ours || is_ours(fd, S_IFDIR), fd);
    (void)keep_if(false, parent);
    return fd;
}

static int open_folder(const char *home)
{
    int fd = open(home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0)
        fd = enter(fd, ".local", false);
    if (fd >= 0)
        fd = enter(fd, "state", false);
    if (fd >= 0)
        fd = enter(fd, "ecl-mcp", true);
    return fd >= 0 ? enter(fd, "audit", true) : -1;
}

/* Removes the files of the days before FIRST from the folder FD. */
static void remove_old(int fd, int64_t first)
{
    char limit[DATE_SIZE];
    int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;

    format_date(first, limit);
    while (folder && (entry = readdir(folder)) != NULL) {
        const char *name = entry->d_name;
        size_t n = strlen(limit);

        if (strlen(name) == n + strlen(SUFFIX) &&
            strspn(name, "0123456789-") == n && strcmp(name + n, SUFFIX) == 0 &&
            strncmp(name, limit, n) < 0)
            (void)unlinkat(fd, name, 0); // tomorrow it tries again
    }
    if (folder)
        (void)closedir(folder);
    else if (copy >= 0)
        (void)close(copy);
}

/* Opens the file of DAY. A descriptor or -1. */
static int open_day(const char *home, int64_t day)
{
    char date[DATE_SIZE];
    char name[NAME_SIZE];
    int folder = open_folder(home);

    if (folder < 0)
        return -1;
    format_date(day, date);
    (void)snprintf(name, sizeof name, "%s" SUFFIX, date);
    remove_old(folder, day - LIMIT_AUDIT_DAYS);
    int fd = open_log(folder, name);
    (void)keep_if(false, folder);
    return fd;
}

static void close_log(struct auditfile *file)
{
    if (file->fd >= 0)
        (void)close(file->fd);
    file->fd = -1;
    file->torn = false;
}

/* --- Lines -------------------------------------------------------------- */

/* 0 or an errno. */
static int write_line(struct auditfile *file)
{
    ssize_t n;

    if (buf_failed(&file->out))
        return ENOMEM;
    do
        n = write(file->fd, file->out.p, file->out.n);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno;
    file->torn = n > 0 && (size_t)n < file->out.n;
    return (size_t)n < file->out.n ? ENOSPC : 0;
}

const char *auditfile_reason(int error)
{
    switch (error) {
    case ELOOP:
        return "it is a symbolic link, and none is followed";
    case EINVAL:
        return "it is not a file";
    case EPERM:
        return "it or its folder belongs to another user or can be written by "
               "others";
    default:
        return strerror(error);
    }
}

/* Takes note of a success (ERROR 0) or failure; logs a change. */
static void note(struct auditfile *file, int error)
{
    if (error == 0 && file->lost > 0)
        log_line(file->log, LOG_WARN,
                 "audit: calls are logged again, %llu were not",
                 (unsigned long long)file->lost);
    if (error != 0 && file->lost == 0)
        log_line(file->log, LOG_ERROR, "audit: calls are not logged in %s: %s",
                 file->daily ? "~/" AUDITFILE_PLACE : "the file of --audit",
                 auditfile_reason(error));
    file->lost = error == 0 ? 0 : file->lost + 1;
}

/* Opens the file for a line of DAY. 0 or an errno. */
static int open_for(struct auditfile *file, int64_t day)
{
    if (!file->daily || (file->fd >= 0 && file->day == day))
        return 0;
    close_log(file);
    file->fd = open_day(file->home, day);
    file->day = day;
    return file->fd < 0 ? errno : 0;
}

/* The time of BEGAN, "2026-11-28T06:41:24.123Z". */
static void put_time(struct buf *out, int64_t began_ms)
{
    time_t when = (time_t)(began_ms / 1000);
    struct tm tm;
    char text[DATE_SIZE];

    if (gmtime_r(&when, &tm) &&
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm) > 0)
        buf_printf(out, "\"%s.%03dZ\"", text, (int)(began_ms % 1000));
    else
        buf_str(out, STR("null"));
}

static void compose(struct auditfile *file, int64_t began_ms,
                    struct str members)
{
    struct buf *out = &file->out;

    buf_reset(out);
    if (file->torn)
        buf_byte(out, '\n'); // ends the torn line
    buf_str(out, STR("{\"time\":"));
    put_time(out, began_ms);
    buf_printf(out, ",\"server\":%d,", (int)getpid());
    if (file->lost > 0)
        buf_printf(out, "\"lost\":%llu,", (unsigned long long)file->lost);
    buf_str(out, members);
    buf_byte(out, '\n');
}

void auditfile_append(struct auditfile *file, int64_t now_ms, int64_t age_ms,
                      struct str members, bool lasting)
{
    int error = open_for(file, now_ms / 1000 / DAY_SECONDS);

    if (error == 0) {
        compose(file, now_ms - age_ms, members);
        error = write_line(file);
    }
    if (error == 0 && lasting && fdatasync(file->fd) < 0)
        error = errno;
    note(file, error);
}

static void append(void *context, int64_t age_ms, struct str members,
                   bool lasting)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now); // exists everywhere
    auditfile_append(context,
                     (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000, age_ms,
                     members, lasting);
}

/* --- All of it ---------------------------------------------------------- */

/* A copy of HOME, or NULL with errno. */
static char *find_home(void)
{
    const char *home = getenv("HOME");

    if (!home || home[0] != '/') {
        errno = ENOENT;
        return NULL;
    }
    size_t n = strlen(home) + 1;
    char *copy = malloc(n);
    return copy ? memcpy(copy, home, n) : NULL;
}

struct auditfile *auditfile_new(const char *path, const struct log *log)
{
    struct auditfile *file = malloc(sizeof *file);

    if (!file)
        return NULL;
    *file = (struct auditfile){.log = log, .fd = -1, .daily = path == NULL};
    if (path)
        file->fd = open_log(AT_FDCWD, path);
    else
        file->home = find_home();
    if (file->fd >= 0 || file->home)
        return file;
    int error = errno;
    free(file);
    errno = error;
    return NULL;
}

const char *auditfile_exposure(const struct auditfile *file,
                               const struct workspace *workspace)
{
    char path[PATH_MAX];
    char real[PATH_MAX];
    bool missing;

    if (!file->daily)
        return exposure_of_file(file->fd, workspace);
    int n = snprintf(path, sizeof path, "%s/" AUDITFILE_PLACE, file->home);
    if (n < 0 || (size_t)n >= sizeof path ||
        resolve_path(path, real, &missing) != 0)
        return NULL; // it cannot be opened, which is said then
    return exposure_of_path(real, workspace);
}

void auditfile_free(struct auditfile *file)
{
    if (!file)
        return;
    close_log(file);
    buf_release(&file->out);
    free(file->home);
    free(file);
}

struct audit_sink auditfile_sink(struct auditfile *file)
{
    return (struct audit_sink){append, file};
}
