/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where images stand when the server has a terminal, with the real zygote and
   images: in its session, which decides how soon they wake up on a busy
   machine, in groups of their own, and without its terminal. Argument 1 of the
   program is ecl-mcp-image. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/linux.h"
#include "support/check.h"
#include "support/imagehost.h"

/* The number of the terminal of process PID; 0: it has none, -1: no process. */
static long terminal_of(pid_t pid)
{
    char path[64];
    char text[1024] = "";
    char *at;
    FILE *file;

    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    if (!file)
        return -1;
    (void)!fread(text, 1, sizeof text - 1, file); // else there is no name
    (void)fclose(file);                           // was only read
    at = strrchr(text, ')');
    // state, parent, group and session come first
    for (int i = 0; at && i < 5; i++)
        at = strchr(at + 1, ' ');
    return at ? strtol(at, NULL, 10) : -1;
}

/* Makes this process the leader of a session with a terminal. */
static void take_terminal(void)
{
    int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    int other;

    if (setsid() < 0 || terminal < 0 || grantpt(terminal) < 0 ||
        unlockpt(terminal) < 0)
        _exit(2);
    other = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    if (other < 0 || ioctl(other, TIOCSCTTY, 0) < 0)
        _exit(2);
}

static pid_t parent_of(pid_t pid)
{
    pid_t parent = 0;
    int64_t start;

    return linux_find(pid, &parent, &start) ? parent : 0;
}

/* In a child: 0 if all is as it should be, else which step is not. */
static int look_around(void)
{
    pid_t image;
    pid_t keeper;

    take_terminal();
    if (terminal_of(getpid()) <= 0)
        return 3;
    host_start(NULL, ".");
    image = host_image_pid(1);
    keeper = parent_of(image);
    if (terminal_of(image) != 0 || terminal_of(keeper) != 0 ||
        terminal_of(parent_of(keeper)) != 0)
        return 4;
    if (getpgid(image) != image)
        return 5;
    if (getsid(image) != getpid())
        return 6;
    return 0;
}

static void image_stays_in_the_session_without_the_terminal(void **state)
{
    int status = -1;
    pid_t pid;

    (void)state;
    (void)fflush(NULL); // nothing must be printed twice
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(look_around());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(image_stays_in_the_session_without_the_terminal),
    };

    host_use(argc, argv);
    return RUN_TESTS("terminal", tests);
}
