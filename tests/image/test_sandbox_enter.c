/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Entering the sandbox as the image program does, in children of this
   process. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/filter_program.h"
#include "image/linux.h"
#include "image/sandbox_enter.h"
#include "support/check.h"
#include "support/folder.h"

static char root[] = "/tmp/ecl-mcp-test-XXXXXX";

static int set_up(void **state)
{
    char path[100];

    (void)state;
    memcpy(root + sizeof root - 7, "XXXXXX", 6);
    if (!mkdtemp(root) || chdir(root) < 0)
        return -1;
    folder_run_in(root, "mkdir -p ws tmp out user/.cache");
    (void)snprintf(path, sizeof path, "%s/user", root);
    (void)setenv("HOME", path, 1);
    (void)snprintf(path, sizeof path, "%s/tmp", root);
    (void)setenv("TMPDIR", path, 1);
    (void)unsetenv("XDG_CACHE_HOME");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    folder_run_in(root, "cd / && rm -rf \"$OLDPWD\"");
    return chdir("/");
}

static int open_and_close(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC | O_NOCTTY, 0600);

    return fd < 0 ? -1 : close(fd);
}

static pid_t wait_for(pid_t pid, int *status)
{
    pid_t done;

    do
        done = waitpid(pid, status, 0);
    while (done < 0 && errno == EINTR);
    return done;
}

/* In a child: checks what holds in every MODE, OFF included. */
static NO_RETURN void attempt_limits(enum sandbox_mode mode)
{
    static struct sandbox_places places;
    struct sandbox sandbox = {.mode = mode};
    struct sandbox_prepared prepared;
    struct sandbox_state reported;
    struct rlimit limit;
    int wrong = 0;
    int fd;

    sandbox_find_places(&sandbox, "ws", getenv("TMPDIR"), &places);
    sandbox_begin(&sandbox, &prepared);
    reported = sandbox_enter_zygote(&sandbox, &places, &prepared);
    if (!reported.known ||
        sandbox_enter_image(&sandbox, &places, &prepared) != ST_OK)
        _exit(100);
    if (mode != SANDBOX_OFF && (reported.landlock != linux_landlock_version() ||
                                !reported.seccomp || !reported.rights))
        _exit(101);
    (void)signal(SIGXFSZ, SIG_IGN);
    fd = open("tmp/large", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, (off_t)LIMIT_FILE_WRITTEN) < 0 ||
        ftruncate(fd, (off_t)LIMIT_FILE_WRITTEN + 1) == 0 || errno != EFBIG)
        wrong += 1;
    if (getrlimit(RLIMIT_CORE, &limit) < 0 || limit.rlim_max != 0)
        wrong += 2;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 ||
        limit.rlim_max > LIMIT_DESCRIPTORS)
        wrong += 4;
    if ((open_and_close("out/fresh", O_WRONLY | O_CREAT) == 0) !=
        (mode == SANDBOX_OFF))
        wrong += 8;
    _exit(wrong);
}

static void sandbox_limits_in_every_mode(void **state)
{
    enum sandbox_mode modes[] = {SANDBOX_WORKSPACE, SANDBOX_OFF};

    (void)state;
    if (linux_landlock_version() == 0)
        skip();
    for (size_t i = 0; i < COUNT(modes); i++) {
        int status = -1;
        pid_t pid;

        (void)fflush(NULL);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            attempt_limits(modes[i]);
        assert_int_equal(wait_for(pid, &status), pid);
        assert_int_equal(status, 0);
    }
}

static void sandbox_makes_the_cache(void **state)
{
    static struct sandbox_places places;
    struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE};
    struct sandbox_prepared prepared;
    int status = -1;
    pid_t pid;

    (void)state;
    folder_run_in(
        root, "rm -r user/.cache && mkdir real && ln -s ../real user/.cache");
    (void)fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        sandbox_find_places(&sandbox, "ws", getenv("TMPDIR"), &places);
        sandbox_begin(&sandbox, &prepared);
        (void)sandbox_enter_zygote(&sandbox, &places, &prepared);
        _exit(sandbox_enter_image(&sandbox, &places, &prepared) != ST_OK ||
              chdir(places.writable[SANDBOX_CACHE]) < 0 ||
              open_and_close("new", O_WRONLY | O_CREAT) != 0 ||
              open_and_close("../new", O_WRONLY | O_CREAT) == 0);
    }
    assert_int_equal(wait_for(pid, &status), pid);
    assert_int_equal(status, 0);
    folder_run_in(root, "test -f real/ecl-mcp/lisp-$(id -u)/new && "
                        "test $(stat -c %a real/ecl-mcp/lisp-$(id -u)) = 700");
}

/* In a child: an image whose system no longer takes filters. */
static NO_RETURN void enter_too_late(void)
{
    static struct sandbox_places places;
    struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE};
    struct sandbox_prepared prepared;
    struct sock_filter nothing = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
    struct sock_fprog many = {BPF_MAXINSNS, NULL};
    static struct sock_filter filled[BPF_MAXINSNS];

    sandbox_find_places(&sandbox, "ws", getenv("TMPDIR"), &places);
    sandbox_begin(&sandbox, &prepared);
    if (!sandbox_enter_zygote(&sandbox, &places, &prepared).seccomp)
        _exit(101);
    for (size_t i = 0; i < COUNT(filled); i++)
        filled[i] = nothing;
    many.filter = filled;
    // the kernel has a limit for all filters of a process
    for (; many.len > 0; many.len /= 2)
        while (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &many) == 0)
            continue;
    _exit(sandbox_enter_image(&sandbox, &places, &prepared) == ST_IO ? 0 : 1);
}

static void sandbox_keeps_its_promise_or_fails(void **state)
{
    int status = -1;
    pid_t pid;

    (void)state;
    (void)fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        enter_too_late();
    assert_int_equal(wait_for(pid, &status), pid);
    assert_int_equal(status, 0);
}

/* Elsewhere no call of the program would be known. */
static void sandbox_knows_the_architecture(void **state)
{
    struct filter_program program;

    (void)state;
    program_init(&program);
    assert_false(program.failed);
    assert_int_equal(program.steps[1].k, seccomp_arch_native());
    program_release(&program);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sandbox_limits_in_every_mode),
        TEST(sandbox_makes_the_cache),
        TEST(sandbox_keeps_its_promise_or_fails),
        TEST(sandbox_knows_the_architecture),
    };

    return RUN_TESTS("sandbox_enter", tests);
}
