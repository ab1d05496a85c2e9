/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lingering.c: see lingering.h. */
#include "support/lingering.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/check.h"

int lingering_open(int *far, int seconds)
{
    const struct linger linger = {1, seconds};
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof address;
    char block[4096] = "";
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_true(listener >= 0 && fd >= 0);
    assert_return_code(bind(listener, (struct sockaddr *)&address, n), 0);
    assert_return_code(listen(listener, 1), 0);
    assert_return_code(getsockname(listener, (struct sockaddr *)&address, &n),
                       0);
    assert_return_code(connect(fd, (struct sockaddr *)&address, n), 0);
    *far = accept(listener, NULL, NULL);
    assert_true(*far >= 0);
    (void)close(listener);
    while (send(fd, block, sizeof block, MSG_DONTWAIT) > 0)
        continue;
    assert_return_code(
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof linger), 0);
    return fd;
}
