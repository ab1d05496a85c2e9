/* SPDX-License-Identifier: GPL-3.0-or-later */
/* host.c: see host.h. */
#include "host/host.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/types.h>
#include <time.h>

#include "base/strand.h"
#include "host/policyfile.h"

void host_init(struct host *host, const struct log *log)
{
    *host = (struct host){.log = *log};
    host->report = (struct report){&host->log, &host->notices};
    policy_init(&host->policy);
}

void host_release(struct host *host)
{
    auditfile_free(host->audit);
    workspace_free(host->workspace);
    policy_release(&host->policy);
    buf_release(&host->notices);
    *host = (struct host){.audit = NULL};
}

enum status host_open_audit(struct host *host, const char *path)
{
    const char *home = getenv("HOME");

    if (path && strcmp(path, "off") == 0)
        return ST_OK;
    host->audit = auditfile_new(path, &host->report);
    if (!host->audit && path)
        return ST_IO;
    if (!host->audit)
        report_line(&host->report, LOG_WARN, "audit",
                    home && home[0] != '\0' && home[0] != '/'
                        ? "calls are not logged: HOME is not an absolute path, "
                          "and counts as none, also in Lisp"
                        : "calls are not logged: there is no HOME");
    return ST_OK;
}

enum status host_open_workspace(struct host *host, const char *root,
                                const char *const *secrets)
{
    host->workspace = workspace_new(root, secrets);
    if (!host->workspace)
        return ST_IO;
    host->files = workspace_files(host->workspace);
    return ST_OK;
}

static int64_t microseconds(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now); // exists everywhere
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

enum status host_fill(struct host *host, const char *policy,
                      struct core_config *config)
{
    enum status status = policyfile_read(&host->policy, policy, host->workspace,
                                         core_find_tool, &host->report);

    (void)status; // running out of memory leaves a fault, too
    if (host->policy.fault.n > 0)
        log_line(&host->log, LOG_ERROR, "policy: only safe tools run: %.*s",
                 STR_ARG(host->policy.fault));
    config->log = host->log;
    config->policy = &host->policy;
    config->notices = &host->notices;
    if (host->workspace)
        config->files = &host->files;
    if (host->audit)
        config->audit = auditfile_sink(host->audit);
    strand_use_clock(microseconds);
    if (getrandom(config->key, sizeof config->key, 0) !=
        (ssize_t)sizeof config->key)
        return ST_IO;
    return ST_OK;
}

void host_begin_audit(struct host *host)
{
    const char *exposure;

    if (!host->audit)
        return;
    auditfile_begin(host->audit, auditfile_now());
    exposure = auditfile_exposure(host->audit, host->workspace);
    if (exposure)
        log_line(&host->log, LOG_WARN, "audit: the log %s", exposure);
}

int64_t host_now(void)
{
    return microseconds() / 1000;
}
