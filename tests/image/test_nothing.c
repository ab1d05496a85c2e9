/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is laid over files of the kernel, also where /proc is missing. */
#include <stdio.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/namespace.h"
#include "image/nothing.h"
#include "support/check.h"

/* A folder that root could read without any capability. */
#define KERNEL "/sys/firmware"

/* Status of a child that cannot try. */
#define UNABLE 77

static struct hidden hidden;

/* In a child: 0 when nothing is laid over the folder; PROC: there is one. */
static int lay(bool proc)
{
    struct stat before;
    struct stat after;

    if (namespace_enter() < 0 || stat(KERNEL, &before) < 0)
        return UNABLE;
    if (!proc && umount2("/proc", MNT_DETACH) < 0)
        return UNABLE;
    if (!nothing_lay(&hidden) || stat(KERNEL, &after) < 0)
        return 1;
    return before.st_dev == after.st_dev || (after.st_mode & 07777) != 0;
}

static void check_laid(bool proc)
{
    pid_t pid;
    int status;

    if (geteuid() != 0)
        skip(); // they are only hidden from root
    (void)fflush(NULL);
    pid = fork();
    if (pid == 0)
        _exit(lay(proc));
    status = check_wait(pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == UNABLE)
        skip(); // root may lack the right
    assert_int_equal(status, 0);
}

static void files_of_the_kernel_are_hidden(void **state)
{
    (void)state;
    check_laid(true);
}

static void files_of_the_kernel_are_hidden_without_proc(void **state)
{
    (void)state;
    check_laid(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_the_kernel_are_hidden),
        cmocka_unit_test(files_of_the_kernel_are_hidden_without_proc),
    };

    return RUN_TESTS("nothing", tests);
}
