/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the folders of the sandbox lie, and what is laid over them. Children of
   this process play the zygote and its images. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/landlock.h"
#include "image/linux.h"
#include "image/sandbox_enter.h"
#include "support/check.h"

static char root[] = "/tmp/ecl-mcp-test-XXXXXX";

static void in_root(const char *commands)
{
    char command[2000];

    if (snprintf(command, sizeof command, "cd '%s' && %s", root, commands) <
            0 ||
        system(command) != 0) // NOLINT(cert-env33-c): a fixed text
        fail_msg("cannot %s", commands);
}

static void set_path(const char *name, const char *folder)
{
    char path[100];

    (void)snprintf(path, sizeof path, "%s/%s", root, folder);
    (void)setenv(name, path, 1); // NOLINT(concurrency-mt-unsafe)
}

static int set_up(void **state)
{
    (void)state;
    memcpy(root + sizeof root - 7, "XXXXXX", 6);
    if (!mkdtemp(root) || chdir(root) < 0)
        return -1;
    in_root("mkdir -p tmp/a/project user/project user/.ssh && "
            "echo text >user/.ssh/id");
    set_path("HOME", "user");
    set_path("TMPDIR", "tmp");
    (void)unsetenv("XDG_CACHE_HOME");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    in_root("cd / && rm -rf \"$OLDPWD\"");
    return chdir("/");
}

static bool is_writable(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    return fd >= 0 && close(fd) == 0;
}

static int wait_for(pid_t pid)
{
    int status = -1;

    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

/* --- Folders that code moves -------------------------------------------- */

/* In a child: what ACT returns in an image. */
static int in_image(struct landlock *landlock, const struct sandbox *sandbox,
                    const struct sandbox_places *places, int (*act)(void))
{
    pid_t pid = -1;

    if (landlock_renew(landlock, sandbox, places) == ST_OK)
        pid = fork();
    if (pid == 0)
        _exit(landlock_confine(landlock) == ST_OK ? act() : 100);
    return wait_for(pid);
}

/* The folder that holds the workspace goes, and a link to the home comes. */
static int swap(void)
{
    return rename("tmp/a", "tmp/b") < 0 || symlink("../user", "tmp/a") < 0;
}

static int write_behind_the_link(void)
{
    return is_writable("tmp/a/project/new") + is_writable("user/project/new") +
           !is_writable("tmp/b/project/new");
}

static NO_RETURN void swap_in_one_image(void)
{
    static struct sandbox_places places;
    struct sandbox sandbox = {SANDBOX_WORKSPACE, false, NULL};
    struct landlock landlock;

    sandbox_find_places(&sandbox, "tmp/a/project", getenv("TMPDIR"), &places);
    landlock_open(&landlock, linux_landlock_version(), &places);
    if (!linux_give_up_rights() ||
        in_image(&landlock, &sandbox, &places, swap) != 0)
        _exit(1);
    _exit(in_image(&landlock, &sandbox, &places, write_behind_the_link) != 0);
}

static void mounts_follow_no_folder_that_moves(void **state)
{
    pid_t pid;

    (void)state;
    if (linux_landlock_version() < 2)
        skip(); // folders cannot be moved
    (void)fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        swap_in_one_image();
    assert_int_equal(wait_for(pid), 0);
    assert_true(is_writable("tmp/a/project/control")); // without a sandbox
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(mounts_follow_no_folder_that_moves),
    };

    return RUN_TESTS("mounts", tests);
}
