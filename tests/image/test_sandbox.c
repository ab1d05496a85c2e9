/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The sandbox, in children of this process: one plays the zygote, its child a
   live image that attempts allowed and forbidden things. Every version of
   Landlock up to the kernel's is tried, and none at all. */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/linux.h"
#include "image/sandbox_enter.h"
#include "image/syscall_filter.h"
#include "support/check.h"
#include "support/folder.h"

static char root[] = "/tmp/ecl-mcp-test-XXXXXX";
static pid_t front; // this process
static pid_t zygote;
static pid_t zygote_group;

/* --- The world ---------------------------------------------------------- */

static int set_up(void **state)
{
    char path[100];

    (void)state;
    front = getpid();
    memcpy(root + sizeof root - 7, "XXXXXX", 6);
    if (!mkdtemp(root) || chdir(root) < 0)
        return -1;
    folder_run_in(
        root,
        "mkdir -p ws tmp out/papers xdg/gh user/.ssh user/.config/gcloud "
        "user/.config/ecl-mcp user/.cache/common-lisp user/project/sub "
        "user/.cargo/bin user/.claude user/.local && "
        "for f in ws/old xdg/gh/hosts.yml xdg/other out/ticket out/old "
        "out/npmrc out/env user/.profile user/.ssh/id user/.ssh/other "
        "out/papers/pw.kdbx out/papers/other "
        "user/.config/gcloud/token user/.config/other user/.env.local "
        "user/project/.env user/project/other user/project/sub/.env "
        "user/project/pw.kdbx user/project/vault.KDBX user/.local/.env "
        "user/id_ed25519.pub user/id_ed25519_work user/.bash_history "
        "user/.cargo/credentials.toml user/.cargo/config.toml "
        "user/.cargo/bin/cargo user/.claude/CLAUDE.md "
        "user/.claude/.credentials.json; do echo text >$f; done && "
        "ln -s ../out/npmrc user/.npmrc && ln -s ../user/.ssh/id ws/key && "
        "ln -s .ssh user/keys && ln -s . user/self && "
        "ln -s ../out/papers user/papers && ln -s .ssh/id user/id_rsa && "
        "ln -s ../out/env "
        "user/.env.far && ln user/.bash_history user/linked");
    (void)snprintf(path, sizeof path, "%s/user", root);
    (void)setenv("HOME", path, 1);
    (void)snprintf(path, sizeof path, "%s/tmp", root);
    (void)setenv("TMPDIR", path, 1);
    (void)unsetenv("XDG_CACHE_HOME");
    (void)snprintf(path, sizeof path, "%s/xdg", root);
    (void)setenv("XDG_CONFIG_HOME", path, 1);
    (void)snprintf(path, sizeof path, "FILE:%s/out/ticket", root);
    (void)setenv("KRB5CCNAME", path, 1);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    folder_run_in(root, "cd / && rm -rf \"$OLDPWD\"");
    return chdir("/");
}

/* --- Files -------------------------------------------------------------- */

/* Which files may be opened, in two modes. */
struct opening {
    const char *path;
    int flags;
    bool workspace; /* allowed in that mode */
    bool read_only;
};

#define MAKING (O_WRONLY | O_CREAT)

static const struct opening openings[] = {
    {"ws/old", O_RDONLY, true, true},
    {"ws/old", O_RDWR, true, false},
    {"ws/new", MAKING, true, false},
    {"ws/key", O_RDONLY, false, false},
    {"tmp/new", MAKING, true, false},
    {"user/.cache/common-lisp/new", MAKING, false, false}, // of other Lisps
    {"user/.cache/new", MAKING, false, false},
    {"out/old", O_RDONLY, true, true},
    {"out/old", O_WRONLY, false, false},
    {"out/old", O_WRONLY | O_TRUNC, false, false},
    {"out/old", O_RDONLY | O_TRUNC, false, false},
    {"out/new", MAKING, false, false},
    {"out", O_WRONLY | O_TMPFILE, false, false},
    {"out/npmrc", O_RDONLY, false, false},
    {"user", O_RDONLY | O_DIRECTORY, true, true},
    {"user/new", MAKING, false, false},
    {"user/.profile", O_RDONLY, true, true},
    {"user/.profile", O_WRONLY, false, false},
    {"user/.npmrc", O_RDONLY, false, false},
    {"out/env", O_RDONLY, false, false},
    {"user/keys/id", O_RDONLY, false, false},
    {"user/self/.ssh/id", O_RDONLY, false, false},
    {"user/self/.profile", O_RDONLY, true, true},
    {"user/.env.local", O_RDONLY, false, false},
    {"user/.ssh/id", O_RDONLY, false, false},
    {"user/.ssh/../.ssh/id", O_RDONLY, false, false},
    {"user/.ssh/other", O_RDONLY, false, false}, // beside that of a link
    {"user/papers/pw.kdbx", O_RDONLY, false, false},
    {"user/papers/other", O_RDONLY, true, true},
    {"user/.config/other", O_RDONLY, true, true},
    {"user/.config/gcloud/token", O_RDONLY, false, false},
    {"user/.config/ecl-mcp/policy.json", MAKING, false, false},
    {"user/.netrc", MAKING, false, false},
    {"user/project/.env", O_RDONLY, false, false},
    {"user/project/other", O_RDONLY, true, true},
    {"user/project/sub/.env", O_RDONLY, true, true}, // too deep to be found
    {"user/.local/.env", O_RDONLY, true, true},      // not looked at
    {"user/project/pw.kdbx", O_RDONLY, false, false},
    {"user/project/vault.KDBX", O_RDONLY, false, false},
    {"user/id_ed25519.pub", O_RDONLY, true, true},
    {"user/id_ed25519_work", O_RDONLY, false, false},
    {"user/.cargo/credentials.toml", O_RDONLY, false, false},
    {"user/.cargo/config.toml", O_RDONLY, true, true},
    {"user/.cargo/bin/cargo", O_RDONLY, true, true},
    {"user/.claude/.credentials.json", O_RDONLY, false, false},
    {"user/.claude/CLAUDE.md", O_RDONLY, true, true},
    {"user/.bash_history", O_RDONLY, false, false},
    {"xdg/gh/hosts.yml", O_RDONLY, false, false}, // XDG_CONFIG_HOME
    {"xdg/gh/new", MAKING, false, false},
    {"xdg/other", O_RDONLY, true, true},
    {"out/ticket", O_RDONLY, false, false},  // KRB5CCNAME
    {"user/linked", O_RDONLY, false, false}, // the same file
    {"/etc/ssl/certs/ca-certificates.crt", O_RDONLY, true, true},
    {"/usr/bin/env", O_RDONLY, true, true},
    {"/proc/self/status", O_RDONLY, true, true},
    {"/dev/null", O_RDWR, true, true},
    {"/dev/urandom", O_RDONLY, true, true},
    {"/dev/ptmx", O_RDONLY, false, false},
};

/* Whether ERROR means a refusal. 0 does not; other errors are mistakes in this
   test. */
static bool is_refusal(int error)
{
    return error == EACCES || error == EPERM || error == EXDEV ||
           error == ENOSYS;
}

/* In a process in the sandbox: complains when RESULT, of a system call, is not
   as ALLOWED says. */
static int judge(const char *what, long result, bool allowed)
{
    int error = result < 0 ? errno : 0;

    if (allowed ? error == 0 : is_refusal(error))
        return 0;
    (void)fprintf(stderr, "%s: %s, but should be %s\n", what,
                  error ? strerror(error) : "allowed",
                  allowed ? "allowed" : "refused");
    return 1;
}

static int open_and_close(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC | O_NOCTTY, 0600);

    return fd < 0 ? -1 : close(fd);
}

static int attempt_openings(enum sandbox_mode mode)
{
    int wrong = 0;

    for (size_t i = 0; i < COUNT(openings); i++) {
        const struct opening *o = &openings[i];
        bool allowed = mode == SANDBOX_WORKSPACE ? o->workspace : o->read_only;
        struct stat status;

        if (o->path[0] == '/' && stat(o->path, &status) < 0)
            continue; // not every system has it
        wrong += judge(o->path, open_and_close(o->path, o->flags), allowed);
    }
    return wrong;
}

static int attempt_changes(enum sandbox_mode mode, int version)
{
    bool may = mode == SANDBOX_WORKSPACE;
    int wrong = 0;

    wrong += judge("mkdir inside", mkdir("ws/folder", 0700), may);
    wrong += judge("rmdir inside", may ? rmdir("ws/folder") : 0, true);
    wrong += judge("symlink inside", symlink("old", "ws/link"), may);
    wrong += judge("unlink inside", unlink(may ? "ws/link" : "ws/old"), may);
    wrong += judge("mkdir outside", mkdir("out/folder", 0700), false);
    wrong += judge("symlink outside", symlink("old", "out/link"), false);
    wrong += judge("unlink outside", unlink("out/old"), false);
    wrong += judge("unlink a secret", unlink("user/.ssh/id"), false);
    wrong += judge("rename outside", rename("out/old", "out/b"), false);
    wrong += judge("rename out", rename("ws/old", "out/b"), false);
    wrong += judge("rename in", rename("out/old", "ws/b"), false);
    wrong += judge("rename a secret in", rename("user/.ssh", "ws/b"), false);
    wrong += judge("link a secret", link("user/.ssh/id", "ws/b"), false);
    wrong += judge("link from outside", link("out/old", "ws/b"), false);
    wrong += judge("truncate outside", truncate("out/old", 0), false);
    wrong += judge("device", mknod("ws/dev", S_IFCHR | 0600, 0x103), false);
    wrong += judge("chmod inside", chmod("ws/old", 0600), may);
    wrong +=
        judge("fchmodat2 inside", syscall(452, AT_FDCWD, "ws/old", 0600, 0),
              may && syscall(452, -1, "", 0, 0) < 0 && errno != ENOSYS);
    wrong +=
        judge("move inside", rename("ws/old", "tmp/old"), may && version >= 2);
    if (may && version >= 2)
        wrong += judge("move back", rename("tmp/old", "ws/old"), true);
    return wrong;
}

/* --- Other processes ---------------------------------------------------- */

static long queue_signal(void)
{
    siginfo_t info;

    memset(&info, 0, sizeof info);
    info.si_code = SI_QUEUE;
    return syscall(SYS_rt_sigqueueinfo, front, SIGCONT, &info);
}

static long signal_by_pidfd(void)
{
    long fd = syscall(SYS_pidfd_open, front, 0);

    return fd < 0 ? fd : syscall(SYS_pidfd_send_signal, fd, SIGCONT, NULL, 0);
}

static long own_signals_to(pid_t pid)
{
    int ends[2];
    int result;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
        return 0; // a mistake in this test
    result = fcntl(ends[0], F_SETOWN, pid);
    (void)close(ends[0]);
    (void)close(ends[1]);
    return result;
}

static long signal_a_child(void)
{
    pid_t pid = fork();
    int status = 0;

    if (pid == 0)
        for (;;)
            (void)pause();
    if (pid < 0 || kill(pid, SIGKILL) < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    return WIFSIGNALED(status) ? 0 : -1;
}

/* In a child, for this process leads a group already. */
static long join(pid_t group)
{
    int status = 1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(setpgid(0, group) < 0 ? errno : 0);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return -1;
    errno = WEXITSTATUS(status);
    return errno == 0 ? 0 : -1;
}

static int attempt_signals(void)
{
    int wrong = 0;

    wrong += judge("kill the front", kill(front, SIGCONT), false);
    wrong += judge("kill the zygote", kill(zygote, SIGCONT), false);
    wrong += judge("kill the keeper", kill(getppid(), SIGCONT), false);
    wrong += judge("kill the keeper's group", kill(-getppid(), SIGCONT), false);
    wrong += judge("tgkill", syscall(SYS_tgkill, front, front, SIGCONT), false);
    wrong += judge("tkill", syscall(SYS_tkill, front, SIGCONT), false);
    wrong += judge("rt_sigqueueinfo", queue_signal(), false);
    wrong += judge("pidfd_send_signal", signal_by_pidfd(), false);
    wrong += judge("F_SETOWN", own_signals_to(front), false);
    wrong += judge("kill a child", signal_a_child(), true);
    wrong += judge("kill nobody", kill(getpid(), 0), true);
    wrong += judge("join the zygote's group", join(zygote_group), false);
    wrong += judge("make a group", join(0), true);
    return wrong;
}

static int attempt_looking(void)
{
    char path[64];
    char byte;
    struct iovec here = {&byte, 1};
    struct iovec there = {&front, 1};
    struct rlimit limit = {1, 1};
    int wrong = 0;

    wrong += judge("ptrace", ptrace(PTRACE_SEIZE, front, 0, 0), false);
    wrong += judge("process_vm_readv",
                   process_vm_readv(front, &here, 1, &there, 1, 0), false);
    wrong += judge("prlimit", prlimit(front, RLIMIT_CPU, &limit, NULL), false);
    wrong +=
        judge("setpriority", setpriority(PRIO_PROCESS, (id_t)front, 19), false);
    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)front);
    wrong += judge(path, open_and_close(path, O_RDONLY), false);
    (void)snprintf(path, sizeof path, "/proc/%d/mem", (int)front);
    wrong += judge(path, open_and_close(path, O_RDONLY), false);
    (void)snprintf(path, sizeof path, "/proc/%d/root/etc/passwd", (int)front);
    wrong += judge(path, open_and_close(path, O_RDONLY), false);
    return wrong;
}

/* --- Sockets and the system --------------------------------------------- */

static long make_socket(unsigned long domain, int type)
{
    long fd = syscall(SYS_socket, domain, type, 0);

    return fd < 0 ? fd : close((int)fd);
}

static long make_pair(int type)
{
    int ends[2];

    if (socketpair(AF_UNIX, type, 0, ends) < 0)
        return -1;
    (void)close(ends[0]);
    return close(ends[1]);
}

static int attempt_sockets(bool network)
{
    const unsigned long upper = 1ul << 32;
    int wrong = 0;

    wrong += judge("unix", make_socket(AF_UNIX, SOCK_STREAM), false);
    wrong +=
        judge("unix + 2^32", make_socket(upper + AF_UNIX, SOCK_STREAM), false);
    wrong += judge("IPv4", make_socket(AF_INET, SOCK_STREAM), network);
    wrong += judge("IPv6", make_socket(AF_INET6, SOCK_DGRAM), network);
    wrong += judge("netlink", make_socket(AF_NETLINK, SOCK_RAW), false);
    wrong += judge("packet", make_socket(AF_PACKET, SOCK_RAW), false);
    wrong += judge("vsock", make_socket(40, SOCK_STREAM), false);
    wrong += judge("stream pair", make_pair(SOCK_STREAM | SOCK_CLOEXEC), true);
    wrong += judge("packet pair", make_pair(SOCK_SEQPACKET), true);
    wrong +=
        judge("datagram pair", make_pair(SOCK_DGRAM | SOCK_CLOEXEC), false);
    wrong += judge("raw pair", make_pair(SOCK_RAW), false);
    return wrong;
}

static bool has_capabilities(void)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

    if (syscall(SYS_capget, &head, data) < 0)
        return true;
    return data[0].permitted != 0 || data[1].permitted != 0 ||
           (geteuid() == 0 && prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN) != 0);
}

/* A system call of another architecture, whose numbers the filter does not
   know. A kernel without that architecture ends the calling process. */
static long call_foreign(void)
{
#ifdef __x86_64__
    pid_t pid = fork();
    int status = 0;

    if (pid == 0) {
        long result = -ENOSYS;

        __asm__ volatile("int $0x80" : "=a"(result) : "a"(20) : "memory");
        _exit(result == -ENOSYS);
    }
    if (pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) &&
        WEXITSTATUS(status) == 0)
        return 0;
#endif
    errno = ENOSYS;
    return -1;
}

/* Changes the flags of a file that is open for reading. */
static long set_flags(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int flags = FS_NODUMP_FL;
    int result;

    if (fd < 0)
        return 0; // a mistake in this test
    result = ioctl(fd, FS_IOC_SETFLAGS, &flags);
    (void)close(fd);
    return result;
}

static int attempt_system(void)
{
    int wrong = 0;

    wrong += judge("another architecture", call_foreign(), false);
    wrong += judge("flags of a file", set_flags("out/old"), false);

    wrong += judge("unshare", unshare(CLONE_NEWUSER), false);
    wrong += judge("clone", syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0), //
                   false);
    wrong += judge("clone3", syscall(SYS_clone3, NULL, 0), false);
    wrong += judge("setns", setns(0, 0), false);
    wrong += judge("mount", mount("none", "ws", "tmpfs", 0, NULL), false);
    wrong += judge("chroot", chroot("ws"), false);
    wrong += judge("bpf", syscall(SYS_bpf, 0, NULL, 0), false);
    wrong +=
        judge("perf", syscall(SYS_perf_event_open, NULL, 0, -1, -1, 0), false);
    wrong += judge("shmget", syscall(SYS_shmget, 1, 1, 0600), false);
    wrong += judge("keyctl", syscall(SYS_keyctl, 0, 0, 0, 0, 0), false);
    wrong += judge("userfaultfd", syscall(SYS_userfaultfd, 0), false);
    wrong += judge("io_uring", syscall(SYS_io_uring_setup, 1, NULL), false);
    wrong += judge("handle", syscall(SYS_open_by_handle_at, 0, NULL, 0), false);
    wrong += judge("module", syscall(SYS_finit_module, 0, "", 0), false);
    wrong += judge("TIOCSTI", ioctl(0, TIOCSTI, ""), false);
    wrong += judge("no_new_privs",
                   prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : -1, true);
    wrong += judge("capabilities", has_capabilities() ? -1 : 0, true);
    return wrong;
}

/* --- In the sandbox ----------------------------------------------------- */

struct trial {
    struct sandbox sandbox;
    int version; /* of Landlock */
};

/* In the image: returns how many attempts did not end as they should. */
static int attempt_all(const struct trial *c)
{
    int wrong = 0;

    if (c->version > 0) {
        wrong += attempt_openings(c->sandbox.mode);
        wrong += attempt_changes(c->sandbox.mode, c->version);
    }
    wrong += attempt_signals();
    wrong += attempt_looking();
    wrong += attempt_sockets(c->sandbox.network);
    wrong += attempt_system();
    return wrong;
}

static pid_t wait_for(pid_t pid, int *status)
{
    pid_t done;

    do
        done = waitpid(pid, status, 0);
    while (done < 0 && errno == EINTR);
    return done;
}

/* Ends with the status of child PID. */
static NO_RETURN void end_as(pid_t pid)
{
    int status = 0;

    if (pid < 0 || wait_for(pid, &status) != pid || !WIFEXITED(status))
        _exit(103);
    _exit(WEXITSTATUS(status));
}

/* Becomes the keeper of an image, in a group of its own. */
static NO_RETURN void be_keeper(const struct trial *c,
                                const struct sandbox_places *places,
                                struct sandbox_prepared *prepared)
{
    pid_t pid;

    if (setpgid(0, 0) < 0 || unshare(CLONE_FS) < 0) // in no filter yet
        _exit(104);
    pid = fork();
    if (pid == 0) {
        if (setpgid(0, 0) < 0 ||
            sandbox_enter_image(&c->sandbox, places, prepared) != ST_OK)
            _exit(102);
        _exit(attempt_all(c));
    }
    end_as(pid);
}

/* In the zygote: gives up its rights, forks a keeper, and ends with the image's
   status. */
static NO_RETURN void be_zygote(const struct trial *c)
{
    static struct sandbox_places places;
    static struct sandbox_prepared prepared;
    pid_t pid;

    zygote = getpid();
    zygote_group = getpgrp();
    sandbox_find_places(&c->sandbox, "ws", getenv("TMPDIR"), &places);
    landlock_open(&prepared.landlock, c->version, &places, NULL);
    if (!linux_give_up_rights() ||
        !syscall_filter_prepare(&c->sandbox, c->version, &prepared.filter))
        _exit(101);
    pid = fork();
    if (pid == 0)
        be_keeper(c, &places, &prepared);
    end_as(pid);
}

static void enter_and_attempt(enum sandbox_mode mode, bool network)
{
    struct trial c = {{.mode = mode, .network = network}, 0};
    int newest = linux_landlock_version();

    for (; c.version <= newest; c.version++) {
        int status = -1;
        pid_t pid;

        (void)fflush(NULL); // nothing must be printed twice
        if (c.version == 0)
            linux_hide(); // as sandbox_hide_process does then
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            be_zygote(&c);
        assert_int_equal(wait_for(pid, &status), pid);
        (void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
            fail_msg("with Landlock %d: status %x", c.version,
                     (unsigned)status);
    }
}

static void sandbox_keeps_to_the_workspace(void **state)
{
    (void)state;
    enter_and_attempt(SANDBOX_WORKSPACE, false);
}

static void sandbox_allows_the_internet_alone(void **state)
{
    (void)state;
    enter_and_attempt(SANDBOX_WORKSPACE, true);
}

static void sandbox_changes_nothing_read_only(void **state)
{
    (void)state;
    enter_and_attempt(SANDBOX_READ_ONLY, false);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(sandbox_keeps_to_the_workspace),
        TEST(sandbox_allows_the_internet_alone),
        TEST(sandbox_changes_nothing_read_only),
    };

    return RUN_TESTS("sandbox", tests);
}
