/* SPDX-License-Identifier: GPL-3.0-or-later */
/* policyfile.c: the file is opened once, so what was checked is what is
   read. */
#include "host/policyfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/limits.h"
#include "host/exposure.h"

/* Room for a reason. */
#define WHY_SIZE 300

/* Why the file of FD cannot be trusted, as the end of a sentence that begins
   with "it", or NULL. */
static const char *suspicion(int fd, const struct workspace *workspace)
{
    struct stat info;

    if (fstat(fd, &info) < 0)
        return "cannot be examined";
    if (!S_ISREG(info.st_mode))
        return "is not a file";
    if (info.st_uid != geteuid() && info.st_uid != 0)
        return "belongs to another user";
    if (info.st_mode & (S_IWGRP | S_IWOTH))
        return "can be written by other users (chmod go-w helps)";
    if (info.st_size > (off_t)LIMIT_POLICY)
        return "has more than 256 KiB, the limit of a policy file";
    return exposure_of_file(fd, workspace);
}

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

static enum status read_open(struct policy *policy, struct str name, int fd,
                             const struct workspace *workspace,
                             policy_find *find)
{
    struct buf text = BUF_EMPTY;
    const char *why = suspicion(fd, workspace);
    int error = why ? 0 : read_all(fd, &text);
    enum status status;
    char problem[WHY_SIZE];

    if (why) {
        (void)snprintf(problem, sizeof problem, "it %s", why);
        status = policy_fail(policy, name, problem);
    } else if (error != 0) {
        status = policy_fail(policy, name, strerror(error));
    } else if (buf_failed(&text)) {
        status = fail_memory(policy, name);
    } else {
        status = policy_read(policy, name, buf_view(&text), find);
    }
    buf_release(&text);
    return status;
}

/* The default path, which the caller frees; NULL without HOME, or without
   memory: then *STATUS is ST_NOMEM. */
static char *default_path(enum status *status)
{
    const char *home = getenv("HOME");

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
                            policy_find *find)
{
    enum status status = ST_OK;
    char *found = path ? NULL : default_path(&status);
    const char *name = path ? path : found;

    if (status != ST_OK)
        return fail_memory(policy, STR(POLICYFILE_PLACE));
    if (!name)
        return ST_OK;
    int fd = open(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd >= 0) {
        status = read_open(policy, str_from(name), fd, workspace, find);
        (void)close(fd);
    } else if (path || (errno != ENOENT && errno != ENOTDIR)) {
        status = policy_fail(policy, str_from(name), strerror(errno));
    }
    free(found);
    return status;
}
