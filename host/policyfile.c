/* SPDX-License-Identifier: GPL-3.0-or-later */
/* policyfile.c: the file is opened once, so what was checked is what is
   read. */
#include "host/policyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "host/exposure.h"
#include "host/ownfile.h"

/* Room for a reason. */
#define WHY_SIZE 300

#define OTHERS_WRITE (S_IWGRP | S_IWOTH)

/* Modes that nobody needs otherwise: evaluated code may have set them. */
static const struct ownfile_mode any_folder = {.has = S_IRWXU};
static const struct ownfile_mode our_folder = {.has = S_IRWXU,
                                               .lacks = OTHERS_WRITE};
static const struct ownfile_mode our_file = {.has = S_IRUSR,
                                             .lacks = OTHERS_WRITE};

/* The file that is read. */
struct source {
    struct policy *policy;
    const char *name;
    const struct workspace *workspace;
    policy_find *find;
    const struct report *report;
    int fd;
};

/* --- Trust --------------------------------------------------------------- */

/* Says that the mode of WHAT was wrong; what others could have written allows
   nothing for now. */
static void report_fixed(const struct source *s, const char *what,
                         const struct ownfile *found)
{
    if (!found->fixed)
        return;
    if (found->shared) {
        s->policy->no_allow = true;
        report_line(s->report, LOG_WARN, "policy",
                    "%s could be written by other users: its mode was %04o and "
                    "has been corrected. Until the next start, the rules in "
                    "%s that allow do not hold. Tell the user to check them.",
                    what, (unsigned)found->was, s->name);
    } else {
        report_line(
            s->report, LOG_WARN, "policy",
            "%s could not be used: its mode was %04o and has been corrected. "
            "The user or evaluated code had changed it; tell the user.",
            what, (unsigned)found->was);
    }
}

/* Why the folder of FD cannot be trusted, as the end of a sentence that begins
   with "it", or NULL. */
static const char *suspect_folder(int fd)
{
    struct stat info;

    if (fd < 0 || fstat(fd, &info) < 0)
        return "is in a folder that cannot be examined";
    if (info.st_uid != geteuid() && info.st_uid != 0)
        return "is in a folder of another user";
    if (ownfile_is_shared(fd))
        return "is in a folder that can be written by other users (chmod go-w "
               "helps)";
    return NULL;
}

/* The same for the folder in which PATH stands. */
static const char *suspect_folder_of(const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    int n = slash ? snprintf(folder, sizeof folder, "%.*s",
                             (int)(slash == path ? 1 : slash - path), path)
                  : snprintf(folder, sizeof folder, ".");
    int fd = n < (int)sizeof folder
                 ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC)
                 : -1;
    const char *why = suspect_folder(fd);

    if (fd >= 0)
        (void)close(fd); // it was only a folder
    return why;
}

/* Why the file cannot be trusted, as the end of a sentence that begins with
   "it", or NULL. *READABLE: its rules can be read nevertheless. */
static const char *suspect(const struct source *s, bool *readable)
{
    struct stat info;
    char real[PATH_MAX];

    *readable = false;
    if (fstat(s->fd, &info) < 0)
        return "cannot be examined";
    if (!S_ISREG(info.st_mode))
        return "is not a file";
    if (info.st_size > (off_t)LIMIT_POLICY)
        return "has more than 256 KiB, the limit of a policy file";
    *readable = true;
    if (info.st_uid != geteuid() && info.st_uid != 0)
        return "belongs to another user";
    if (ownfile_is_shared(s->fd))
        return "can be written by other users (chmod go-w helps)";
    const char *why = exposure_of_file(s->fd, s->workspace);
    if (!why)
        why = suspect_folder_of(s->name);
    if (!why)
        why = exposure_find_path(s->fd, real) ? suspect_folder_of(real)
                                              : suspect_folder(-1);
    return why;
}

/* --- Reading -------------------------------------------------------------- */

/* 0 or an errno. */
static int read_all(int fd, struct buf *out)
{
    ssize_t n = 1;

    while (n > 0 && out->n <= LIMIT_POLICY) {
        char *room = buf_reserve(out, LIMIT_POLICY + 1 - out->n);

        n = room ? read(fd, room, LIMIT_POLICY + 1 - out->n) : 0;
        if (n > 0)
            out->n += (size_t)n;
        else if (n < 0 && errno == EINTR)
            n = 1;
    }
    return n < 0 ? errno : 0;
}

static enum status fail_memory(struct policy *policy, struct str name)
{
    enum status status = policy_fail(policy, name, "there is no memory for it");

    (void)status; // the fault is set in any case
    return ST_NOMEM;
}

/* Reads the rules of the file, whether it can be trusted or not: those that
   deny or ask hold in any case. */
static enum status read_rules(const struct source *s)
{
    struct str name = str_from(s->name);
    struct buf text = BUF_EMPTY;
    int error = read_all(s->fd, &text);
    enum status status;

    if (error != 0)
        status = policy_fail(s->policy, name, strerror(error));
    else if (buf_failed(&text))
        status = fail_memory(s->policy, name);
    else
        status = policy_read(s->policy, name, buf_view(&text), s->find);
    buf_release(&text);
    return status;
}

static enum status read_open(const struct source *s)
{
    bool readable;
    const char *why = suspect(s, &readable);
    char problem[WHY_SIZE];
    enum status status = ST_OK;

    if (why) {
        (void)snprintf(problem, sizeof problem, "it %s", why);
        status = policy_fail(s->policy, str_from(s->name), problem);
    }
    return status == ST_OK && readable ? read_rules(s) : status;
}

/* Opens NAME in the folder PARENT, and says when its mode was wrong. */
static int open_one(const struct source *s, int parent, const char *name,
                    int flags, struct ownfile_mode mode, const char *what)
{
    struct ownfile found;
    int fd =
        ownfile_open(parent, name, flags | O_RDONLY | O_CLOEXEC, mode, &found);
    int error = errno;

    report_fixed(s, what, &found);
    errno = error;
    return fd;
}

#define FILE_FLAGS (O_NONBLOCK | O_NOCTTY)

/* Opens the folder NAME in PARENT, which it closes. */
static int enter(const struct source *s, int parent, const char *name,
                 struct ownfile_mode mode, const char *what)
{
    int fd = open_one(s, parent, name, O_DIRECTORY, mode, what);
    int error = errno;

    (void)close(parent); // it was only a folder
    errno = error;
    return fd;
}

/* Opens POLICYFILE_PLACE below HOME. A descriptor or -1 with errno. */
static int open_default(const struct source *s, const char *home)
{
    int fd = open(home, O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0)
        fd = enter(s, fd, ".config", any_folder, "~/.config");
    if (fd >= 0)
        fd = enter(s, fd, "ecl-mcp", our_folder, "~/.config/ecl-mcp");
    if (fd < 0)
        return -1;
    int file = open_one(s, fd, "policy.json", FILE_FLAGS, our_file,
                        "~/" POLICYFILE_PLACE);
    int error = errno;
    (void)close(fd);
    errno = error;
    return file;
}

/* The default path, which the caller frees; NULL without HOME, or without
   memory: then *STATUS is ST_NOMEM. */
static char *default_path(const char *home, enum status *status)
{
    if (!home || home[0] != '/')
        return NULL;
    size_t n = strlen(home) + sizeof "/" POLICYFILE_PLACE;
    char *path = malloc(n);
    if (path)
        (void)snprintf(path, n, "%s/%s", home, POLICYFILE_PLACE);
    else
        *status = ST_NOMEM;
    return path;
}

enum status policyfile_read(struct policy *policy, const char *path,
                            const struct workspace *workspace,
                            policy_find *find, const struct report *report)
{
    const char *home = getenv("HOME");
    enum status status = ST_OK;
    char *found = path ? NULL : default_path(home, &status);
    struct source source = {
        policy, path ? path : found, workspace, find, report, -1};

    if (status != ST_OK)
        return fail_memory(policy, STR(POLICYFILE_PLACE));
    if (!source.name)
        return ST_OK;
    source.fd =
        path ? open_one(&source, AT_FDCWD, path, FILE_FLAGS, our_file, path)
             : open_default(&source, home);
    if (source.fd >= 0) {
        status = read_open(&source);
        (void)close(source.fd);
    } else if (path || (errno != ENOENT && errno != ENOTDIR)) {
        status = policy_fail(policy, str_from(source.name), strerror(errno));
    }
    free(found);
    return status;
}
