/* SPDX-License-Identifier: GPL-3.0-or-later */
/* main.c: ecl-mcp, the MCP server on standard input and output. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/core.h"
#include "host/host.h"
#include "server/emacs.h"
#include "server/extras.h"
#include "server/link_attach.h"
#include "server/link_own.h"
#include "server/listener.h"
#include "server/loop.h"
#include "server/options.h"

/* Bytes of the longest path to try. */
#define PATH_SIZE 4096

/* Where the image program is, seen from the folder of this one: beside it in a
   build, below libexec when installed. */
static const char *const IMAGE_PLACES[] = {"ecl-mcp-image",
                                           "../libexec/ecl-mcp/ecl-mcp-image"};

/* Prints one line on standard error. A client that does not read it must not
   make the server wait: then the line is dropped. */
static void print_line(void *context, enum log_level level, struct str line)
{
    struct pollfd fd = {STDERR_FILENO, POLLOUT, 0};
    char text[LIMIT_LOG_LINE + 64];
    int n = snprintf(text, sizeof text, "ecl-mcp: %s: %.*s\n",
                     log_level_name(level), STR_ARG(line));

    (void)context;
    if (n > 0 && poll(&fd, 1, 0) == 1 && (fd.revents & POLLOUT))
        (void)!write(STDERR_FILENO, text,
                     (size_t)n); // a lost log line does no harm
}

/* Finds ecl-mcp-image; when it is nowhere, returns the first place. */
static const char *find_image(char path[PATH_SIZE])
{
    char self[PATH_SIZE - 64];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    self[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(self, '/');
    if (!slash)
        return IMAGE_PLACES[0];
    *slash = '\0';
    for (size_t i = sizeof IMAGE_PLACES / sizeof IMAGE_PLACES[0]; i-- > 0;) {
        (void)snprintf(path, PATH_SIZE, "%s/%s", self, IMAGE_PLACES[i]);
        if (access(path, X_OK) == 0)
            return path;
    }
    return path;
}

/* Opens the log of calls. Returns -1, or the exit status after a failure. */
static int open_audit(struct host *host, const struct options *options)
{
    if (options->supervise || host_open_audit(host, options->audit) == ST_OK)
        return -1;
    (void)fprintf(stderr, "ecl-mcp: --audit: '%s': %s\n", options->audit,
                  auditfile_reason(errno));
    return 2;
}

/* The link to the images, wherever they are. NULL: *STATUS is the exit
   status, and standard error says why. */
static struct link *open_link(const struct options *options, struct host *host,
                              int *status)
{
    static char path[PATH_SIZE];
    struct supervisor_config images = {find_image(path), options->workspace,
                                       options->memory, options->sandbox,
                                       host->log};
    struct buf why = BUF_EMPTY;
    struct listener *listener = NULL;
    struct link *link = NULL;

    if (options->listen)
        listener = listener_new(options->listen, &host->log, &why);
    *status = options->listen && !listener ? 2 : 1;
    if (options->attach)
        link = link_attach_new(options->attach, &host->log);
    else if (*status == 1)
        link = link_own_new(&images, listener, host_now());
    if (*status == 2)
        (void)fprintf(stderr, "ecl-mcp: --listen: '%s': %.*s\n",
                      options->listen, STR_ARG(buf_view(&why)));
    else if (!link)
        (void)fputs("ecl-mcp: out of memory\n", stderr);
    buf_release(&why);
    return link;
}

static int serve(const struct options *options, struct host *host)
{
    struct core *core = NULL;
    struct link *link;
    struct emacs *emacs = NULL;
    int status = 1;
    struct core_config config = {.max_message = options->max_message,
                                 .max_output = options->max_output,
                                 .memory =
                                     options->attach ? 0 : options->memory,
                                 .attached = options->attach != NULL,
                                 .tools = options->tools,
                                 .approval_ms = options->approval_ms,
                                 .pid = getpid(),
                                 .editor = emacs_may_come(),
                                 .more_tools = extras.tools,
                                 .more_resources = extras.resources};

    const char *root = options->workspace ? options->workspace : ".";
    if (host_open_workspace(host, root, options->secrets) != ST_OK) {
        if (errno == ENOENT && !options->attach) { // no Lisp can start in it
            (void)fputs("ecl-mcp: the current directory has been removed. "
                        "Start ecl-mcp in another one, or give --workspace "
                        "DIR.\n",
                        stderr);
            return 2;
        }
        log_line(&host->log, LOG_WARN, "files: no workspace: %s",
                 strerror(errno));
    }
    if (options->attach && (options->workspace || options->secrets[0]))
        log_line(&host->log, LOG_WARN,
                 "attach: --workspace and --secret apply to the file tools of "
                 "this server; what Lisp may use is up to the program that "
                 "keeps the images");
    if (host_fill(host, options->policy, &config) != ST_OK) {
        perror("ecl-mcp: getrandom");
        return 1;
    }
    link = open_link(options, host, &status);
    if (link && !options->supervise)
        core = core_new(&config);
    if (core)
        emacs = emacs_new(core, &host->log, host_now());
    if (link && !core && !options->supervise)
        (void)fputs("ecl-mcp: out of memory\n", stderr);
    else if (link)
        status = loop_run(core, link, emacs, host);
    emacs_free(emacs);
    core_free(core);
    link_free(link);
    return status;
}

int main(int argc, char **argv)
{
    struct options options;
    struct host host = {.audit = NULL};
    int status = options_parse(argc, argv, &options);
    struct log log = {options.level, print_line, NULL};

    host_init(&host, &log);
    host.policy = options.rules; // the host owns them from here on
    if (status < 0 && !loop_prepare())
        status = 1;
    if (status < 0)
        status = open_audit(&host, &options);
    if (status < 0)
        status = serve(&options, &host);
    host_release(&host);
    return status;
}
