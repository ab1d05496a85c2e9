/* SPDX-License-Identifier: GPL-3.0-or-later */
/* auditfile.c: several servers may append to the same file: each line is one
   write to a descriptor with O_APPEND. */
#include "host/auditfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "host/disk.h"
#include "host/exposure.h"
#include "host/resolve.h"

#define DAY_SECONDS (24 * 60 * 60)

struct auditfile {
    const struct report *report;
    int fd;         /* -1: none is open */
    pid_t server;   /* this process, which no other one continues */
    bool daily;     /* a file for each day, in a folder */
    char *home;     /* the folder is below it; NULL: there is no folder */
    int64_t day;    /* of the open file, since 1970 */
    off_t full;     /* bytes from which on the open file is full */
    bool torn;      /* the file ends in the middle of a line */
    bool failing;   /* the last attempt failed, which was reported */
    uint64_t lost;  /* lines that could not be written since */
    struct buf out; /* the line that is being made */

    /* Lines that must be on the disk: their number, how many are, and how many
       will be when the thread that waits for that has ended. */
    uint64_t lasting;
    uint64_t settled;
    uint64_t settling;
    struct disk_job *job; /* NULL: there is no thread */
};

/* --- The file ------------------------------------------------------------ */

/* Waits until all lines are on the disk, before another file takes the next. 0
   or an errno. */
static int settle_all(struct auditfile *file)
{
    int error = file->job ? disk_end(file->job) : 0;

    file->job = NULL;
    if (file->settling < file->lasting && file->fd >= 0 &&
        fdatasync(file->fd) < 0)
        error = errno;
    file->settling = file->lasting;
    file->settled = file->lasting;
    return error;
}

static void close_log(struct auditfile *file)
{
    (void)settle_all(file); // what is lost then was never promised
    if (file->fd >= 0)
        (void)close(file->fd);
    file->fd = -1;
    file->torn = false;
    file->full = LIMIT_AUDIT_FILE;
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

/* Takes note of a success (ERROR 0) or failure; reports a change. */
static void note(struct auditfile *file, int error)
{
    if (error == 0 && file->failing)
        report_line(file->report, LOG_WARN, "audit",
                    "calls are logged again; %llu were not",
                    (unsigned long long)file->lost);
    if (error != 0 && !file->failing)
        report_line(
            file->report, LOG_ERROR, "audit", "calls are not logged in %s: %s",
            file->daily ? "~/" AUDITFOLDER_PLACE : "the file of --audit",
            auditfile_reason(error));
    file->failing = error != 0;
}

/* Opens the file of DAY. 0 or an errno. */
static int open_day(struct auditfile *file, int64_t day)
{
    close_log(file);
    file->fd = auditfolder_open(file->home, day, file->report);
    file->day = day;
    return file->fd < 0 ? errno : 0;
}

/* Begins another file when the open one is full; without success, it goes on
   for as much again. */
static void rotate(struct auditfile *file, off_t size)
{
    int fd = auditfolder_rotate(file->home, file->day, file->fd, file->report);

    if (fd < 0) {
        file->full = size + LIMIT_AUDIT_FILE;
        return;
    }
    close_log(file);
    file->fd = fd;
}

/* Makes the file ready for a line of DAY. 0 or an errno. Who asks for the times
   of a file, as fstat(2) does, gets an exact one at the next write, which puts
   it into the journal of the file system: 2 µs for each line. */
static int open_for(struct auditfile *file, int64_t day)
{
    struct statx info = {.stx_nlink = 0};

    if (file->fd >= 0 &&
        statx(file->fd, "", AT_EMPTY_PATH, STATX_NLINK | STATX_SIZE, &info) < 0)
        return errno;
    if (!file->daily)
        return info.stx_nlink > 0 ? 0 : ENOENT; // somebody has removed it
    if (file->day != day || info.stx_nlink == 0)
        return open_day(file, day);
    if ((off_t)info.stx_size >= file->full)
        rotate(file, (off_t)info.stx_size);
    return 0;
}

/* Writes the last N digits of VALUE. */
static void put_digits(char *out, int value, size_t n)
{
    for (; n > 0; value /= 10)
        out[--n] = (char)('0' + value % 10);
}

/* The time of BEGAN, "2026-11-28T06:41:24.123Z". */
static void put_time(struct buf *out, int64_t began_ms)
{
    time_t when = (time_t)(began_ms / 1000);
    struct tm tm;
    char text[] = "\"0000-00-00T00:00:00.000Z\"";

    if (began_ms < 0 || !gmtime_r(&when, &tm) || tm.tm_year > 9999 - 1900) {
        buf_str(out, STR("null"));
        return;
    }
    put_digits(text + 1, tm.tm_year + 1900, 4);
    put_digits(text + 6, tm.tm_mon + 1, 2);
    put_digits(text + 9, tm.tm_mday, 2);
    put_digits(text + 12, tm.tm_hour, 2);
    put_digits(text + 15, tm.tm_min, 2);
    put_digits(text + 18, tm.tm_sec, 2);
    put_digits(text + 21, (int)(began_ms % 1000), 3);
    buf_append(out, text, sizeof text - 1);
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
    buf_str(out, STR(",\"server\":"));
    buf_int(out, file->server);
    buf_byte(out, ',');
    if (file->lost > 0)
        buf_printf(out, "\"lost\":%llu,", (unsigned long long)file->lost);
    buf_str(out, members);
    buf_byte(out, '\n');
}

/* Lets a thread wait until the lines so far are on the disk. Without one, waits
   for it. 0 or an errno. */
static int begin_settling(struct auditfile *file)
{
    file->job = disk_begin(file->fd);
    file->settling = file->lasting;
    if (file->job)
        return 0;
    file->settled = file->lasting;
    return fdatasync(file->fd) < 0 ? errno : 0;
}

bool auditfile_is_settled(struct auditfile *file, uint64_t line)
{
    if (file->settled >= line || !file->job || !disk_is_done(file->job))
        return file->settled >= line;
    int error = disk_end(file->job);
    file->job = NULL;
    file->settled = file->settling;
    if (error == 0 && file->settled < file->lasting)
        error = begin_settling(file);
    if (error != 0) {
        note(file, error);
        file->lost++;
    }
    return file->settled >= line;
}

uint64_t auditfile_append(struct auditfile *file, int64_t now_ms,
                          int64_t age_ms, struct str members, bool lasting)
{
    int error = open_for(file, now_ms / 1000 / DAY_SECONDS);

    if (error == 0) {
        compose(file, now_ms - age_ms, members);
        error = write_line(file);
    }
    if (error == 0 && lasting) {
        file->lasting++;
        error = file->job ? 0 : begin_settling(file);
    }
    note(file, error);
    file->lost = error == 0 ? 0 : file->lost + 1;
    return error == 0 && lasting ? file->lasting : 0;
}

int64_t auditfile_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_REALTIME, &now); // exists everywhere
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static uint64_t append(void *context, int64_t age_ms, struct str members,
                       bool lasting)
{
    return auditfile_append(context, auditfile_now(), age_ms, members, lasting);
}

static bool is_settled(void *context, uint64_t line)
{
    return auditfile_is_settled(context, line);
}

void auditfile_begin(struct auditfile *file, int64_t now_ms)
{
    note(file, open_for(file, now_ms / 1000 / DAY_SECONDS));
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

struct auditfile *auditfile_new(const char *path, const struct report *report)
{
    struct auditfile *file = malloc(sizeof *file);

    if (!file)
        return NULL;
    *file = (struct auditfile){.report = report,
                               .fd = -1,
                               .server = getpid(),
                               .daily = path == NULL,
                               .full = LIMIT_AUDIT_FILE};
    if (path)
        file->fd = auditfolder_open_named(path, report);
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
    int n = snprintf(path, sizeof path, "%s/" AUDITFOLDER_PLACE, file->home);
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
    return (struct audit_sink){append, is_settled, file};
}
