/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where the folders of the sandbox lie, and what is laid over them. Children of
   this process play the zygote and its images. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/covers.h"
#include "image/landlock.h"
#include "image/linux.h"
#include "image/sandbox_enter.h"
#include "support/check.h"
#include "support/folder.h"

/* A zygote's, as the image program has them. */
static struct sandbox sandbox;
static struct sandbox_places places;
static struct sandbox_prepared prepared;

static char root[] = "/tmp/ecl-mcp-test-XXXXXX";

static void set_path(const char *name, const char *below)
{
    char path[100];

    (void)snprintf(path, sizeof path, "%s/%s", root, below);
    (void)setenv(name, path, 1); // NOLINT(concurrency-mt-unsafe)
}

/* Kerberos' name for a file in the /tmp of all programs. */
static char ticket[60];

static int set_up(void **state)
{
    (void)state;
    memcpy(root + sizeof root - 7, "XXXXXX", 6);
    if (!mkdtemp(root) || chdir(root) < 0)
        return -1;
    folder_run_in(root, "mkdir -p tmp/a/project user/project user/.ssh && "
                        "echo text >user/.ssh/id; "
                        "echo text >/tmp/krb5cc_$(basename \"$PWD\")");
    (void)snprintf(ticket, sizeof ticket, "/tmp/krb5cc_%s",
                   strrchr(root, '/') + 1);
    set_path("HOME", "user");
    set_path("TMPDIR", "tmp");
    (void)unsetenv("XDG_CACHE_HOME");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    folder_run_in(root, "cd / && rm -rf \"$OLDPWD\"");
    return chdir("/") + unlink(ticket);
}

static bool is_writable(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    return fd >= 0 && close(fd) == 0;
}

/* --- Folders that code moves -------------------------------------------- */

/* In a child: what ACT returns in an image. */
static int in_image(struct landlock *landlock, int (*act)(void))
{
    pid_t pid = -1;

    if (landlock_renew(landlock, &sandbox, &places) == ST_OK)
        pid = fork();
    if (pid == 0)
        _exit(landlock_confine(landlock) == ST_OK ? act() : 100);
    return check_wait(pid);
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
    struct landlock landlock;

    sandbox_find_places(&sandbox, "tmp/a/project", getenv("TMPDIR"), &places);
    landlock_open(&landlock, linux_landlock_version(), &places, NULL);
    if (!linux_give_up_rights() || in_image(&landlock, swap) != 0)
        _exit(1);
    _exit(in_image(&landlock, write_behind_the_link) != 0);
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
    assert_int_equal(check_wait(pid), 0);
    assert_true(is_writable("tmp/a/project/control")); // without a sandbox
}

/* --- In a namespace ----------------------------------------------------- */

/* In a child: becomes a zygote; its status is 77 where the system has no
   namespaces. */
static void be_zygote(const char *workspace)
{
    struct sandbox_state state;

    sandbox_find_places(&sandbox, workspace, getenv("TMPDIR"), &places);
    sandbox_begin(&sandbox, &prepared);
    state = sandbox_enter_zygote(&sandbox, &places, &prepared);
    if (!state.known)
        _exit(101);
    if (state.mounts == 0)
        _exit(77);
}

/* In a zygote: what ACT returns in an image. */
static int in_new_image(int (*act)(void))
{
    pid_t pid = fork();

    if (pid == 0)
        _exit(sandbox_enter_image(&sandbox, &places, &prepared) == ST_OK ? act()
                                                                         : 100);
    return check_wait(pid);
}

/* Runs PLAY, which ends its process, in a child. */
static void play(void (*play_it)(void))
{
    int status;
    pid_t pid;

    (void)fflush(NULL);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        play_it();
    status = check_wait(pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

static void make_repository(void)
{
    folder_run_in(
        root,
        "mkdir -p ws/.git/hooks ws/.git/info ws/.git/objects "
        "ws/.git/modules/sub/hooks ws/.claude ws/inner/.git/hooks "
        "ws/private ws/plain && cd ws && for f in .git/config "
        ".git/hooks/old .git/info/attributes .git/modules/sub/config "
        ".mcp.json .claude/settings.json inner/.git/config inner/.envrc "
        "private/notes private/other plain/.vimrc plain/.mcp.json; do echo "
        "text >$f; done");
}

/* Paths in the workspace, and whether evaluated code may write there. */
static const struct {
    const char *path;
    bool writable;
} files[] = {
    {"ws/.git/config", false},
    {"ws/.git/hooks/old", false},
    {"ws/.git/hooks/new", false},
    {"ws/.git/info/attributes", false},
    {"ws/.git/modules/sub/config", false},
    {"ws/.git/modules/sub/hooks/new", false},
    {"ws/.mcp.json", false},
    {"ws/.claude/settings.json", false},
    {"ws/.claude/new", false},
    {"ws/inner/.git/config", false},
    {"ws/inner/.git/hooks/new", false},
    {"ws/inner/.envrc", false},
    {"ws/private/notes", false},
    {"ws/private/other", true},
    {"ws/.git/index", true},
    {"ws/.git/objects/new", true},
    {"ws/inner/new", true},
    {"ws/plain/.mcp.json", true}, // no program looks there
    {"ws/new", true},
};

/* Names that must stay where they are. */
static const char *const fixed[] = {
    "ws/.git",         "ws/.git/hooks",   "ws/.git/config",
    "ws/.git/info",    "ws/.git/modules", "ws/.git/modules/sub",
    "ws/.mcp.json",    "ws/.claude",      "ws/inner/.git",
    "ws/inner/.envrc", "ws/private",      "ws/private/notes",
};

static int complain(const char *path, bool writable)
{
    (void)fprintf(stderr, "%s is %s\n", path,
                  writable ? "writable" : "not writable");
    return 1;
}

static int write_and_move(void)
{
    int wrong = 0;

    for (size_t i = 0; i < COUNT(files); i++)
        if (is_writable(files[i].path) !=
            (files[i].writable || sandbox.unprotected))
            wrong += complain(files[i].path, !files[i].writable);
    for (size_t i = 0; i < COUNT(fixed); i++) {
        bool moved = rename(fixed[i], "ws/elsewhere") == 0;

        if (moved && rename("ws/elsewhere", fixed[i]) < 0)
            return 99;
        if (moved != sandbox.unprotected ||
            (!moved && errno != EBUSY && errno != EROFS && errno != EXDEV))
            wrong += complain(fixed[i], moved);
    }
    return wrong;
}

static NO_RETURN void write_in_image(void)
{
    static const char *const protects[] = {"private/notes", "*.none", NULL};

    sandbox.protects = protects;
    be_zygote("ws");
    _exit(in_new_image(write_and_move) != 0);
}

static NO_RETURN void write_unprotected(void)
{
    sandbox.unprotected = true;
    write_in_image();
}

static void mounts_cover_what_others_run(void **state)
{
    (void)state;
    make_repository();
    play(write_in_image);
    play(write_unprotected); // shows that the attempts mean something
}

/* --- What comes later --------------------------------------------------- */

static int make_settings(void)
{
    return !is_writable("ws/.envrc") || mkdir("ws/.vscode", 0700) < 0 ||
           !is_writable("ws/.vscode/tasks.json");
}

static int write_settings(void)
{
    return is_writable("ws/.envrc") + is_writable("ws/.vscode/tasks.json") +
           is_writable("ws/.vscode/new") + (rename("ws/.vscode", "ws/v") == 0);
}

static NO_RETURN void make_in_image(void)
{
    be_zygote("ws");
    if (in_new_image(make_settings) != 0)
        _exit(1);
    sandbox_tend(&sandbox, &prepared); // nobody has heard of them yet
    if (!is_writable("ws/.envrc"))
        _exit(2);
    sandbox_cover(&sandbox, &prepared);
    _exit(in_new_image(write_settings));
}

static void mounts_cover_what_was_told(void **state)
{
    (void)state;
    make_repository();
    play(make_in_image);
}

static int write_config(void)
{
    return is_writable("ws/.git/config");
}

/* Another program replaces a file, and takes the cover off with it. */
static NO_RETURN void replace_from_outside(void)
{
    struct pollfd events = {.events = POLLIN};
    int ends[2];
    char byte;
    pid_t other;

    if (pipe(ends) < 0)
        _exit(101);
    other = fork();
    if (other == 0 && read(ends[0], &byte, 1) == 1) {
        folder_run_in(root,
                      "cd ws/.git && mv config.new config && touch $(seq 500)");
        _exit(0);
    }
    be_zygote("ws");
    if (in_new_image(write_config) != 0 || write(ends[1], "", 1) != 1 ||
        check_wait(other) != 0)
        _exit(1);
    if (!is_writable("ws/.git/config"))
        _exit(2); // then this shows nothing
    events.fd = sandbox_events(&prepared);
    if (poll(&events, 1, 10000) != 1)
        _exit(3);
    sandbox_tend(&sandbox, &prepared);
    if (poll(&events, 1, 0) != 1) // not before code makes no more names
        _exit(4);
    _exit(in_new_image(write_config));
}

static void mounts_cover_again(void **state)
{
    (void)state;
    make_repository();
    folder_run_in(root, "echo other >ws/.git/config.new");
    play(replace_from_outside);
}

/* --- Secrets ------------------------------------------------------------ */

static bool can_list(const char *path)
{
    DIR *names = opendir(path);

    return names && closedir(names) == 0;
}

static bool can_read(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    return fd >= 0 && close(fd) == 0;
}

static int look_at_secrets(void)
{
    return can_list("user/.ssh") + 2 * can_read("user/.ssh/id") +
           4 * can_read("user/.netrc") + 8 * can_read("linked/npmrc") +
           16 * can_list("linked/keys") +
           32 * can_read("user/.git-credentials") + 64 * !can_list("user") +
           128 * !can_read("user/plain");
}

static NO_RETURN void look_in_image(void)
{
    be_zygote("ws");
    if (sandbox.mode == SANDBOX_WORKSPACE &&
        !is_writable("user/.git-credentials")) // it comes late
        _exit(101);
    _exit(in_new_image(look_at_secrets));
}

static NO_RETURN void look_read_only(void)
{
    sandbox.mode = SANDBOX_READ_ONLY;
    look_in_image();
}

static void mounts_hide_secrets(void **state)
{
    (void)state;
    folder_run_in(root,
                  "mkdir -p ws linked/keys user/.gnupg && rmdir user/.gnupg && "
                  "echo text | tee user/.netrc linked/npmrc >user/plain && "
                  "ln -s ../linked/npmrc user/.npmrc && "
                  "ln -s ../linked/keys user/.gnupg");
    assert_true(can_list("user/.ssh") && can_read("linked/npmrc"));
    play(look_in_image);
    play(look_read_only);
}

/* In a child: other programs replace a secret, and a file that is covered, all
   the time. */
static NO_RETURN void keep_replacing(void)
{
    linux_signal_on_orphaned(SIGKILL);
    for (;;)
        if (!is_writable("new") || rename("new", "user/.netrc") < 0 ||
            !is_writable("new") || rename("new", "ws/.git/config") < 0)
            _exit(1);
}

static NO_RETURN void see_all_parts(void)
{
    const uint32_t wanted = SANDBOX_MOUNTS_SECRETS | SANDBOX_MOUNTS_COVERS;

    be_zygote("ws");
    _exit((prepared.mounts.parts & wanted) == wanted ? 0 : 1);
}

/* One that is gone when it is to be covered must not leave the others bare. */
static void mounts_cover_what_changes_meanwhile(void **state)
{
    enum { TRIES = 50 };
    pid_t pid;

    (void)state;
    make_repository();
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        keep_replacing();
    for (int i = 0; i < TRIES; i++)
        play(see_all_parts);
    assert_int_equal(kill(pid, SIGKILL), 0);
    (void)check_wait(pid);
}

/* --- The temporary folder ----------------------------------------------- */

/* In the current folder, the workspace. ROOT is below /tmp. */
static int use_temporary(void)
{
    char mine[100];
    char other[100];
    char own[100];

    (void)snprintf(mine, sizeof mine, "%s/own/tmp/ecl-mcp-mine", root);
    (void)snprintf(other, sizeof other, "%s/other", root);
    (void)snprintf(own, sizeof own, "%s/own/tmp", root);
    return !is_writable("/tmp/ecl-mcp-mine") +
           2 * (access("/var/tmp/ecl-mcp-mine", F_OK) < 0) +
           4 * !can_read(mine) + 8 * !is_writable("new") +
           16 * can_read(other) + 32 * is_writable(other) +
           64 * (rename(root, "/tmp/moved") == 0 || unlink(own) == 0) +
           128 * can_read(ticket);
}

static NO_RETURN void use_in_image(void)
{
    if (chdir("ws") < 0)
        _exit(101);
    be_zygote(NULL);
    if ((prepared.mounts.parts & SANDBOX_MOUNTS_TEMPORARY) == 0)
        _exit(102);
    _exit(in_new_image(use_temporary));
}

static void mounts_give_images_a_tmp_of_their_own(void **state)
{
    (void)state;
    folder_run_in(root, "mkdir -p ws own/tmp && echo text >other");
    assert_true(can_read(ticket));
    set_path("TMPDIR", "own/tmp");
    (void)setenv("HOME", "/nonexistent", 1); // NOLINT(concurrency-mt-unsafe)
    play(use_in_image);
    assert_true(can_read("own/tmp/ecl-mcp-mine") && can_read("ws/new"));
    assert_false(can_read("/tmp/ecl-mcp-mine"));
}

static int write_below_tmp(void)
{
    return is_writable("user/new") + is_writable("user/.ssh/new") +
           can_read("user/.ssh/id") + can_read(ticket) +
           !is_writable("tmp/new") + !is_writable("ws/new");
}

static NO_RETURN void write_near_home(void)
{
    be_zygote("ws");
    _exit((prepared.mounts.parts & SANDBOX_MOUNTS_TEMPORARY) != 0 ||
          in_new_image(write_below_tmp) != 0);
}

/* What lies in a folder that may be written may be written. */
static void mounts_leave_a_tmp_with_a_home(void **state)
{
    (void)state;
    folder_run_in(root, "mkdir ws");
    play(write_near_home);
}

/* --- Without namespaces ------------------------------------------------- */

/* As containers do: the system refuses the call. */
static void refuse_namespaces(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {COUNT(code), code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        _exit(101);
}

static int do_without(void)
{
    return !is_writable("ws/.mcp.json") + !is_writable("tmp/new") +
           can_read("user/.ssh/id") + can_read(ticket) +
           is_writable("user/new");
}

static NO_RETURN void enter_without(void)
{
    struct sandbox_state state;

    refuse_namespaces();
    sandbox_find_places(&sandbox, "ws", getenv("TMPDIR"), &places);
    sandbox_begin(&sandbox, &prepared);
    state = sandbox_enter_zygote(&sandbox, &places, &prepared);
    if (!state.known || state.mounts != 0 || state.mounts_fault != EPERM)
        _exit(102);
    _exit(in_new_image(do_without));
}

static void mounts_are_done_without(void **state)
{
    (void)state;
    if (linux_landlock_version() == 0)
        skip();
    make_repository();
    play(enter_without);
}

/* Code can make as many files as it likes whose names fit a pattern with a
   star: they keep neither the server nor what has a fixed name from its turn.
 */
static void covers_are_few(void **state)
{
    struct covers covers = {.repository = false};
    char path[100];
    int workspace;

    (void)state;
    (void)snprintf(path, sizeof path,
                   "seq -f 'user/project/%%.0f.code-workspace' %d | "
                   "xargs touch user/project/.nvim.lua",
                   LIMIT_COVERS + 10);
    folder_run_in(root, path);
    workspace = open("user/project", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(workspace >= 0);
    covers_find_roots(workspace, &covers);
    covers_list(workspace, &sandbox, &covers);
    assert_int_equal(covers.closed.n + covers.fixed.n, LIMIT_COVERS);
    assert_true(paths_has(&covers.closed, ".nvim.lua"));
    covers_release(&covers);
    assert_int_equal(close(workspace), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(mounts_follow_no_folder_that_moves),
        TEST(mounts_cover_what_others_run),
        TEST(mounts_cover_what_was_told),
        TEST(mounts_cover_again),
        TEST(mounts_hide_secrets),
        TEST(mounts_cover_what_changes_meanwhile),
        TEST(mounts_give_images_a_tmp_of_their_own),
        TEST(mounts_leave_a_tmp_with_a_home),
        TEST(mounts_are_done_without),
        TEST(covers_are_few),
    };

    return RUN_TESTS("mounts", tests);
}
