/* SPDX-License-Identifier: GPL-3.0-or-later */
/* main.c: ecl-mcp, the MCP server on standard input and output. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "auditfile.h"
#include "loop.h"
#include "options.h"
#include "policyfile.h"
#include "session.h"
#include "supervisor.h"
#include "workspace.h"

/* Bytes of the longest path that is tried. */
#define PATH_SIZE 4096

/* Where the image program is, seen from the folder of this one: beside it in
   a build, below libexec when installed. */
static const char *const IMAGE_PLACES[] = {"ecl-mcp-image",
                                           "../libexec/ecl-mcp/ecl-mcp-image"};

/* One line on standard error. A client that does not read it must not make the
   server wait: then the line is dropped. */
static void print_line(void *context, enum log_level level, struct str line)
{
    struct pollfd fd = {STDERR_FILENO, POLLOUT, 0};
    char text[LIMIT_LOG_LINE + 64];
    int n = snprintf(text, sizeof text, "ecl-mcp: %s: %.*s\n",
                     log_level_name(level), STR_ARG(line));

    (void)context;
    if (n > 0 && poll(&fd, 1, 0) == 1 && (fd.revents & POLLOUT))
        (void)!write(STDERR_FILENO, text,
                     (size_t)n); // a lost log line is no harm
}

/* Finds ecl-mcp-image; the first place is named when it is nowhere. */
static const char *find_image(char path[PATH_SIZE])
{
    char self[PATH_SIZE - 64];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash;
    size_t i;

    self[n > 0 ? n : 0] = '\0';
    slash = strrchr(self, '/');
    if (!slash)
        return IMAGE_PLACES[0];
    *slash = '\0';
    for (i = sizeof IMAGE_PLACES / sizeof IMAGE_PLACES[0]; i-- > 0;) {
        (void)snprintf(path, PATH_SIZE, "%s/%s", self, IMAGE_PLACES[i]);
        if (access(path, X_OK) == 0)
            return path;
    }
    return path;
}

/* Reads the rules of the user, to those of the command line. */
static void read_policy(struct options *options,
                        const struct workspace *workspace,
                        const struct log *log)
{
    struct policy *policy = &options->rules;
    enum status status =
        policyfile_read(policy, options->policy, workspace, session_find_tool);

    (void)status; // without memory there is a fault as well
    if (policy->fault.n > 0)
        log_line(log, LOG_ERROR, "policy: no dangerous tool runs: %.*s",
                 STR_ARG(policy->fault));
}

/* Opens the log of calls. Returns -1, else the exit status. */
static int open_audit(const struct options *options, const struct log *log,
                      struct auditfile **out)
{
    const char *path = options->audit;

    if (options->supervise || (path && strcmp(path, "off") == 0))
        return -1;
    *out = auditfile_new(path, log);
    if (*out)
        return -1;
    if (path) {
        (void)fprintf(stderr, "ecl-mcp: --audit: '%s': %s\n", path,
                      auditfile_reason(errno));
        return 2;
    }
    log_line(log, LOG_WARN, "audit: calls are not logged: there is no HOME");
    return -1;
}

/* Opens the workspace and what depends on it, into CONFIG. NULL: there is none;
   the server goes on without files. */
static struct workspace *open_workspace(struct options *options,
                                        struct files *files,
                                        struct session_config *config)
{
    struct workspace *workspace = workspace_new(
        options->workspace ? options->workspace : ".", options->secrets);

    if (workspace) {
        *files = workspace_files(workspace);
        config->files = files;
    } else {
        log_line(&config->log, LOG_WARN, "files: no workspace: %s",
                 strerror(errno));
    }
    read_policy(options, workspace, &config->log);
    config->policy = &options->rules;
    return workspace;
}

static int serve(struct options *options, const struct log *log,
                 struct auditfile *audit)
{
    char path[PATH_SIZE];
    struct session *session = NULL;
    struct supervisor *supervisor;
    struct workspace *workspace;
    struct files files;
    int status = 1;
    struct supervisor_config images = {find_image(path), options->workspace,
                                       options->memory, options->sandbox, *log};
    struct session_config config = {.max_message = options->max_message,
                                    .max_output = options->max_output,
                                    .memory = options->memory,
                                    .tools = options->tools,
                                    .approval_ms = options->approval_ms,
                                    .log = *log};

    if (getrandom(config.key, sizeof config.key, 0) != sizeof config.key) {
        perror("ecl-mcp: getrandom");
        return 1;
    }
    if (audit)
        config.audit = auditfile_sink(audit);
    workspace = open_workspace(options, &files, &config);
    const char *reach = audit ? auditfile_reach(audit, workspace) : NULL;
    if (reach)
        log_line(log, LOG_WARN, "audit: the log %s", reach);
    supervisor = supervisor_new(&images, loop_now());
    if (!options->supervise)
        session = session_new(&config);
    if (!supervisor || (!session && !options->supervise))
        (void)fputs("ecl-mcp: out of memory\n", stderr);
    else
        status = loop_run(session, supervisor);
    session_free(session);
    supervisor_free(supervisor);
    workspace_free(workspace);
    return status;
}

int main(int argc, char **argv)
{
    struct options options;
    struct auditfile *audit = NULL;
    int status = options_parse(argc, argv, &options);
    struct log log = {options.level, print_line, NULL};

    if (status < 0 && !loop_prepare())
        status = 1;
    if (status < 0)
        status = open_audit(&options, &log, &audit);
    if (status < 0)
        status = serve(&options, &log, audit);
    auditfile_free(audit);
    policy_release(&options.rules);
    return status;
}
