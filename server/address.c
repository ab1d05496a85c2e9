/* SPDX-License-Identifier: GPL-3.0-or-later */
/* address.c: see address.h. */
#include "server/address.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

bool address_default(char path[ADDRESS_SIZE])
{
    const char *home = getenv("HOME");
    int n;

    if (!home || home[0] != '/')
        return false;
    n = snprintf(path, ADDRESS_SIZE, "%s/.local/state/ecl-mcp/image.sock",
                 home);
    return n > 0 && (size_t)n < ADDRESS_SIZE;
}

bool address_fill(const char *path, struct sockaddr_un *address)
{
    size_t n = strlen(path);

    if (n == 0 || n >= ADDRESS_SIZE)
        return false;
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    memcpy(address->sun_path, path, n);
    return true;
}

int address_connect(const char *path)
{
    struct sockaddr_un address;
    int error = ENAMETOOLONG;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    if (address_fill(path, &address)) {
        const struct sockaddr *to = (const struct sockaddr *)&address;

        if (connect(fd, to, sizeof address) == 0)
            return fd;
        error = errno;
    }
    (void)close(fd); // nothing is buffered in it
    errno = error;
    return -1;
}

bool address_is_ours(int socket, pid_t *pid)
{
    struct ucred peer;
    socklen_t n = sizeof peer;

    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &n) < 0 ||
        peer.uid != geteuid())
        return false;
    *pid = peer.pid;
    return true;
}
