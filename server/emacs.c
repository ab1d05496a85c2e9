/* SPDX-License-Identifier: GPL-3.0-or-later */
/* emacs.c: see emacs.h. An Emacs that hangs reads no more: what waits for it
   grows to LIMIT_EDITOR_BACKLOG, and then it counts as gone. */
#include "server/emacs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "server/address.h"

/* Bytes read at a time, and how often in one round: the client must be heard,
   too. */
#define CHUNK (64u * 1024)
#define CHUNKS 16

struct emacs {
    struct core *core;
    const struct log *log;
    char path[ADDRESS_SIZE];
    int fd;           /* -1: not connected */
    int64_t tried_ms; /* of the last look for it */
    bool refused;     /* logged that another user owns the socket */
    char *chunk;
};

/* Where Emacs would listen; false: nowhere. */
static bool find_path(char *path, size_t size)
{
    const char *named = getenv("ECL_MCP_EMACS");
    const char *home = getenv("HOME");
    int n = 0;

    if (named && strcmp(named, "off") == 0)
        return false;
    if (named && named[0] != '\0')
        n = snprintf(path, size, "%s", named);
    else if (home && home[0] == '/')
        n = snprintf(path, size, "%s/.local/state/ecl-mcp/emacs.sock", home);
    return n > 0 && (size_t)n < size;
}

bool emacs_may_come(void)
{
    char path[ADDRESS_SIZE];

    return find_path(path, sizeof path);
}

/* Warns when the path that was named is too long for a socket. */
static void check_path(const struct log *log)
{
    const char *named = getenv("ECL_MCP_EMACS");
    char path[ADDRESS_SIZE];

    if (named && strcmp(named, "off") != 0 && !find_path(path, sizeof path))
        log_line(log, LOG_WARN,
                 "editor: ECL_MCP_EMACS: no socket has a path of %zu bytes",
                 strlen(named));
}

static void hang_up(struct emacs *emacs, int64_t now_ms)
{
    (void)close(emacs->fd);
    emacs->fd = -1;
    emacs->tried_ms = now_ms;
    core_editor_close(emacs->core, now_ms);
}

/* Tries to connect; a Unix socket connects or refuses at once. */
static void try_connect(struct emacs *emacs, int64_t now_ms)
{
    int fd = address_connect(emacs->path);
    pid_t pid;

    emacs->tried_ms = now_ms;
    if (fd < 0)
        return;
    if (!address_is_ours(fd, &pid)) {
        (void)close(fd); // nothing was said
        if (!emacs->refused)
            log_line(emacs->log, LOG_WARN,
                     "editor: %s belongs to another user and is not used",
                     emacs->path);
        emacs->refused = true;
        return;
    }
    emacs->fd = fd;
    core_editor_open(emacs->core, now_ms);
}

struct emacs *emacs_new(struct core *core, const struct log *log,
                        int64_t now_ms)
{
    struct emacs *emacs = calloc(1, sizeof *emacs);

    if (!emacs)
        return NULL;
    *emacs = (struct emacs){.core = core, .log = log, .fd = -1};
    emacs->chunk = malloc(CHUNK);
    check_path(log);
    if (!emacs->chunk || !find_path(emacs->path, sizeof emacs->path)) {
        emacs_free(emacs);
        return NULL;
    }
    try_connect(emacs, now_ms);
    return emacs;
}

void emacs_free(struct emacs *emacs)
{
    if (!emacs)
        return;
    if (emacs->fd >= 0)
        (void)close(emacs->fd);
    free(emacs->chunk);
    free(emacs);
}

void emacs_want(struct emacs *emacs, int64_t now_ms)
{
    if (emacs && emacs->fd < 0 &&
        now_ms - emacs->tried_ms >= LIMIT_EDITOR_WANTED_MS)
        try_connect(emacs, now_ms);
}

struct pollfd emacs_fd(const struct emacs *emacs)
{
    struct pollfd fd = {-1, 0, 0};

    if (!emacs || emacs->fd < 0)
        return fd;
    fd.fd = emacs->fd;
    if (core_wants_editor(emacs->core))
        fd.events |= POLLIN;
    if (core_editor_output(emacs->core)->n > 0)
        fd.events |= POLLOUT;
    return fd;
}

/* Reads at least once: poll(2) always reports the end of the connection. */
static void read_all(struct emacs *emacs, int64_t now_ms)
{
    for (int i = 0; i < CHUNKS && emacs->fd >= 0; i++) {
        if (i > 0 && !core_wants_editor(emacs->core))
            return;
        ssize_t n = recv(emacs->fd, emacs->chunk, CHUNK, MSG_DONTWAIT);

        if (n > 0) {
            core_editor_feed(emacs->core, emacs->chunk, (size_t)n, now_ms);
        } else if (n < 0 && errno == EINTR) {
            continue;
        } else {
            if (n == 0 || errno != EAGAIN)
                hang_up(emacs, now_ms);
            return;
        }
    }
}

static void write_all(struct emacs *emacs, int64_t now_ms)
{
    struct buf *out = core_editor_output(emacs->core);

    while (emacs->fd >= 0 && out->n > 0) {
        ssize_t n =
            send(emacs->fd, out->p, out->n, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n > 0) {
            buf_consume(out, (size_t)n);
        } else if (n < 0 && errno == EAGAIN) {
            break;
        } else if (n == 0 || errno != EINTR) {
            hang_up(emacs, now_ms);
            return;
        }
    }
    if (out->n >= LIMIT_EDITOR_BACKLOG) {
        log_line(emacs->log, LOG_WARN,
                 "editor: it leaves %zu bytes unread; the limit is %u", out->n,
                 LIMIT_EDITOR_BACKLOG);
        hang_up(emacs, now_ms);
    }
}

void emacs_run(struct emacs *emacs, const struct pollfd *fd, int64_t now_ms)
{
    if (!emacs)
        return;
    if (emacs->fd >= 0 && fd->fd == emacs->fd &&
        (fd->revents & (POLLIN | POLLHUP | POLLERR)))
        read_all(emacs, now_ms);
    if (emacs->fd >= 0)
        write_all(emacs, now_ms);
    if (emacs->fd < 0 && now_ms >= emacs_deadline(emacs))
        try_connect(emacs, now_ms);
}

int64_t emacs_deadline(const struct emacs *emacs)
{
    if (!emacs || emacs->fd >= 0)
        return -1;
    return emacs->tried_ms + LIMIT_EDITOR_RETRY_MS;
}
