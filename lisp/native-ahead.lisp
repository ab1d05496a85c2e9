;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; native-ahead.lisp: what the copy that compiles ahead (ahead.lisp) needs in C:
;;;; how it is made, that it can change nothing outside of its folder, and the
;;;; files that both sides know.

(in-package #:ecl-mcp)

(ffi:clines "
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
")

;;; Processes

(ffi:clines "
/* The descriptors of the original that a copy keeps. */
struct ecl_mcp_kept {
    int fds[3];
    size_t n;
    int read; // so are files that are only read, with a position of the copy's own
};

/* Opens the file of FD again, if it is one that is open for reading only.
   Returns a descriptor, or -1. */
static int ecl_mcp_open_again(int fd)
{
    char name[32];
    struct stat status;
    off_t position = lseek(fd, 0, SEEK_CUR);
    int flags = fcntl(fd, F_GETFL);
    int again;

    if (flags < 0 || flags & O_PATH || (flags & O_ACCMODE) != O_RDONLY ||
        fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))
        return -1;
    (void)snprintf(name, sizeof name, \"/proc/self/fd/%d\", fd);
    again = open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (again >= 0)
        (void)lseek(again, position, SEEK_SET);
    return again;
}

/* Makes descriptor FD a copy of NOWHERE, or what KEPT says. */
static int ecl_mcp_leave_file(int fd, int nowhere,
                              const struct ecl_mcp_kept *kept)
{
    int again = -1;
    int done;

    for (size_t i = 0; i < kept->n; i++)
        if (fd == kept->fds[i])
            return 1;
    if (kept->read)
        again = ecl_mcp_open_again(fd);
    done = dup3(again < 0 ? nowhere : again, fd, fd > 2 ? O_CLOEXEC : 0) >= 0;
    if (again >= 0)
        close(again);
    return done || fd == nowhere;
}

/* Makes all descriptors lead nowhere, but what is KEPT. Streams of the original
   still have them, so no other file may get their numbers. False when they cannot
   be found. */
static int ecl_mcp_leave_files(const struct ecl_mcp_kept *kept)
{
    int fd = open(\"/dev/null\", O_RDWR | O_CLOEXEC);
    DIR *folder = opendir(\"/proc/self/fd\");
    struct dirent *entry;

    if (fd < 0 || !folder)
        return 0;
    while ((entry = readdir(folder))) {
        int other = atoi(entry->d_name);

        if (entry->d_name[0] != '.' && other != dirfd(folder) &&
            !ecl_mcp_leave_file(other, fd, kept))
            return 0;
    }
    closedir(folder);
    return 1;
}

/* Copies SIZE bytes at FROM to TO through a pipe, ENDS: what cannot be read, as
   after the end of a file that has become shorter, is left out. */
static void ecl_mcp_copy_memory(const int ends[2], char *to, const char *from,
                                size_t size)
{
    enum { PART = 4096 }; // for which a pipe has room

    for (size_t at = 0; at < size; at += PART) {
        ssize_t n = write(ends[1], from + at, PART);

        if (n > 0 && read(ends[0], to + at, (size_t)n) != n)
            return;
    }
}

/* Replaces SIZE bytes at START, with the rights in MODE, by a copy. */
static int ecl_mcp_own_part(const int ends[2], char *start, size_t size,
                            const char *mode)
{
    int rights = (mode[0] == 'r' ? PROT_READ : 0) |
                 (mode[1] == 'w' ? PROT_WRITE : 0) |
                 (mode[2] == 'x' ? PROT_EXEC : 0);
    char *copy = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (copy == MAP_FAILED)
        return 0;
    if (rights & PROT_READ)
        ecl_mcp_copy_memory(ends, copy, start, size);
    return mprotect(copy, size, rights) == 0 &&
           mremap(copy, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, start) !=
               MAP_FAILED;
}

/* Makes the memory that this process shares with files and other processes its
   own, with what is in it now. False when that is too much, or not possible. */
static int ecl_mcp_own_memory(void)
{
    enum { MOST = 256 << 20 };
    FILE *maps = fopen(\"/proc/self/maps\", \"re\");
    char *line = NULL;
    size_t room = 0;
    size_t all = 0;
    int ends[2] = {-1, -1};
    int done = maps && pipe2(ends, O_CLOEXEC) == 0;

    while (done && getline(&line, &room, maps) > 0) {
        size_t start;
        size_t end;
        char mode[5];

        if (sscanf(line, \"%zx-%zx %4s\", &start, &end, mode) != 3 ||
            mode[3] != 's')
            continue;
        all += end - start;
        done = all <= MOST &&
               ecl_mcp_own_part(ends, (char *)start, end - start, mode);
    }
    free(line);
    if (maps)
        fclose(maps);
    return done; // descriptors are closed with the others
}

/* Reads a byte, or that nobody is there to write one. */
static void ecl_mcp_await_byte(int fd)
{
    char byte;

    while (read(fd, &byte, 1) < 0 && errno == EINTR)
        continue;
}

/* What makes a copy end: its group, the end of the thread that made it, whose
   process is PARENT, and SECONDS, whatever code does to handlers of signals. */
static int ecl_mcp_bind_scout(pid_t parent, int seconds)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                             .sigev_signo = SIGKILL};
    struct itimerspec when = {.it_value.tv_sec = seconds};
    timer_t timer;

    (void)setpgid(0, 0);
    (void)prctl(PR_SET_NAME, \"mcp-ahead\");
    (void)signal(SIGINT, SIG_DFL);
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent &&
           timer_create(CLOCK_MONOTONIC, &event, &timer) == 0 &&
           timer_settime(timer, 0, &when, NULL) == 0;
}

/* A copy in a group of its own, which ends with the thread that makes it, and
   after SECONDS in any case. The thread goes on when that is sure: of threads
   that have ended before, no copy would hear. */
static int ecl_mcp_fork_scout(int seconds)
{
    pid_t parent = getpid();
    pid_t pid;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) < 0)
        return -1;
    pid = fork();
    if (pid == 0) {
        if (!ecl_mcp_bind_scout(parent, seconds) ||
            write(ends[1], \"\", 1) != 1 || !ecl_mcp_own_memory() ||
            !ecl_mcp_leave_files(&(struct ecl_mcp_kept){.n = 0}))
            _exit(1);
        return 0;
    }
    (void)close(ends[1]);
    if (pid > 0) {
        (void)setpgid(pid, pid); // whoever comes first
        ecl_mcp_await_byte(ends[0]);
    }
    (void)close(ends[0]);
    return pid;
}

static int ecl_mcp_processors(void)
{
    cpu_set_t set;
    long all = sysconf(_SC_NPROCESSORS_ONLN); // more than SET has room for

    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set)
           : all > 0                                   ? (int)all
                                                       : 1;
}

/* How many processes and threads run now or wait for a processor. */
static int ecl_mcp_running(void)
{
    FILE *file = fopen(\"/proc/loadavg\", \"re\");
    int n = -1;

    if (file) {
        if (fscanf(file, \"%*f %*f %*f %d\", &n) != 1)
            n = -1;
        fclose(file);
    }
    return n;
}
")

(defun fork-scout (seconds)
  "Copies this process, as FORK-PROCESS does. The copy is in a process group of
its own, shares no memory, all of its descriptors lead nowhere, and it ends after
SECONDS. Returns 0 in the copy, the process id of the copy in the original, or -1
on failure."
  (ffi:c-inline (seconds) (:int) :int "ecl_mcp_fork_scout(#0)" :one-liner t))

(defun kill-group (pid)
  "Kills the child PID and all of its process group. Returns its status when it
has ended, as wait(2) does."
  (ffi:c-inline (pid) (:int) :void "kill(-(#0), SIGKILL); kill(#0, SIGKILL);"
                :one-liner nil)
  (wait-for-child pid))

(defun child-ended-p (pid)
  "True when the child PID has ended, by itself or not."
  (ffi:c-inline (pid) (:int) :bool "{
    siginfo_t end = {.si_pid = 0};
    (void)waitid(P_PID, (id_t)#0, &end, WEXITED | WNOHANG | WNOWAIT);
    @(return) = end.si_pid != 0;
  }" :one-liner nil))

(defun current-process-id ()
  "Returns the process id of this process."
  (ffi:c-inline () () :int "(int)getpid()" :one-liner t))

(defun processor-count ()
  "Returns how many processors this process may use."
  (ffi:c-inline () () :int "ecl_mcp_processors()" :one-liner t))

(defun running-count ()
  "Returns how many processes of this machine run now or wait for a processor,
this one included, or a number below 1 when that is not known."
  (ffi:c-inline () () :int "ecl_mcp_running()" :one-liner t))

;;; Confinement

(ffi:clines "
/* Landlock, whose headers older systems lack. All rights of its first version
   that change something, and those that later versions add. */
#define ECL_MCP_CREATE_RULESET 444
#define ECL_MCP_ADD_RULE 445
#define ECL_MCP_RESTRICT_SELF 446
#define ECL_MCP_TO_WRITE (1ull << 1)
#define ECL_MCP_TO_TRUNCATE (1ull << 14)
#define ECL_MCP_TO_CHANGE (ECL_MCP_TO_WRITE | ((1ull << 13) - (1ull << 4)))

struct ecl_mcp_ruleset { uint64_t files, network, scoped; };
struct ecl_mcp_rule { uint64_t allowed; int32_t folder; }
    __attribute__((packed));

static int ecl_mcp_allow(int set, const char *path, uint64_t rights)
{
    struct ecl_mcp_rule rule = {rights, open(path, O_PATH | O_CLOEXEC)};
    long done;

    if (rule.folder < 0)
        return 0;
    done = syscall(ECL_MCP_ADD_RULE, set, 1, &rule, 0);
    close(rule.folder);
    return done == 0;
}

/* Only what is below PATH can be changed, if it is not empty, and /dev/null
   written. Returns the version of Landlock that sees to it, or 0. */
static int ecl_mcp_landlock(const char *path)
{
    long version = syscall(ECL_MCP_CREATE_RULESET, NULL, 0, 1);
    uint64_t truncate = version >= 3 ? ECL_MCP_TO_TRUNCATE : 0;
    struct ecl_mcp_ruleset rules = {
        ECL_MCP_TO_CHANGE | truncate | (version >= 2 ? 1ull << 13 : 0) |
            (version >= 5 ? 1ull << 15 : 0),
        version >= 4 ? 3 : 0, version >= 6 ? 3 : 0};
    uint64_t inside = rules.files & ~((1ull << 6) | (1ull << 11));
    int set;
    int done;

    if (version < 1)
        return 0;
    set = (int)syscall(ECL_MCP_CREATE_RULESET, &rules,
                       version >= 6 ? 24 : version >= 4 ? 16 : 8, 0);
    if (set < 0)
        return 0;
    done = (*path == 0 || ecl_mcp_allow(set, path, inside)) &&
           ecl_mcp_allow(set, \"/dev/null\", ECL_MCP_TO_WRITE | truncate) &&
           prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(ECL_MCP_RESTRICT_SELF, set, 0) == 0;
    close(set);
    return done ? (int)version : 0;
}
")

(ffi:clines "
#if defined(__x86_64__)
#define ECL_MCP_ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ECL_MCP_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif
#ifdef ECL_MCP_ARCHITECTURE

/* What others would notice, and Landlock does not cover. Nobody can leave the
   process group, either, by which all of this ends. Whom signals reach, Landlock
   knows only since version 6. */
static const uint32_t ecl_mcp_refused[] = {
    SYS_socket, SYS_flock, SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo,
    SYS_pidfd_send_signal, SYS_ptrace, SYS_process_vm_writev, SYS_setpgid,
    SYS_setsid, SYS_setpriority, SYS_sched_setaffinity, SYS_sched_setscheduler,
    SYS_sched_setparam, SYS_sched_setattr, SYS_ioprio_set, SYS_shmget,
    SYS_shmat, SYS_shmctl, SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl,
    SYS_semget, SYS_semop, SYS_semtimedop, SYS_semctl, SYS_mq_open,
    SYS_mq_unlink, SYS_fchmod, SYS_fchmodat, SYS_fchown, SYS_fchownat,
    SYS_utimensat, SYS_setxattr, SYS_lsetxattr, SYS_fsetxattr, SYS_removexattr,
    SYS_lremovexattr, SYS_fremovexattr, SYS_mount, SYS_umount2, SYS_pivot_root,
    SYS_chroot, SYS_unshare, SYS_setns, SYS_sethostname, SYS_setdomainname,
    SYS_settimeofday, SYS_clock_settime, SYS_adjtimex, SYS_clock_adjtime,
    SYS_reboot, SYS_swapon, SYS_swapoff, SYS_init_module, SYS_finit_module,
    SYS_delete_module, SYS_kexec_load, SYS_quotactl, SYS_acct, SYS_syslog,
    SYS_vhangup, SYS_add_key, SYS_request_key, SYS_keyctl, SYS_bpf,
    SYS_perf_event_open, SYS_open_by_handle_at, SYS_truncate,
#ifdef __x86_64__
    SYS_chmod, SYS_chown, SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat,
#endif
    425, 429, 430, 431, 432, 437, 438, 440, 442, 452, 463, 466, 469,
    /* newer than old headers: io_uring_setup, move_mount, fsopen, fsconfig,
       fsmount, openat2, pidfd_getfd, process_madvise, mount_setattr, fchmodat2,
       setxattrat, removexattrat, file_setattr */
};

/* What fcntl(2) may do: copies and flags of descriptors, pipes and seals, and
   looking at locks. All kinds of locks and leases would hold up others, and
   signals that files send go to whom one likes. */
static const uint32_t ecl_mcp_commands[] = {
    F_DUPFD, F_DUPFD_CLOEXEC, F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_GETLK,
    F_GETOWN,
    11, 16, 36, 1025, 1027, 1028, 1031, 1032, 1033, 1034, 1035, 1037,
    /* GNU's: F_GETSIG, F_GETOWN_EX, F_OFD_GETLK, F_GETLEASE, F_DUPFD_QUERY,
       F_CREATED_QUERY, F_SETPIPE_SZ, F_GETPIPE_SZ, F_ADD_SEALS, F_GET_SEALS,
       F_GET_RW_HINT, F_GET_FILE_RW_HINT */
};
#endif
")

(ffi:clines "
#define ECL_MCP_STEP(code, value, yes, no)                                     \\
    (struct sock_filter){code, yes, no, value}
#define ECL_MCP_LOAD(field)                                                    \\
    ECL_MCP_STEP(BPF_LD | BPF_W | BPF_ABS,                                     \\
                 (uint32_t)offsetof(struct seccomp_data, field), 0, 0)
#define ECL_MCP_IF(test, value, yes, no)                                       \\
    ECL_MCP_STEP(BPF_JMP | BPF_K | (test), value, yes, no)
#define ECL_MCP_ANSWER(answer) ECL_MCP_STEP(BPF_RET | BPF_K, answer, 0, 0)

/* Refuses call NUMBER when FLAGS, an argument, would truncate a file that is
   opened for reading: the first versions of Landlock let that pass. */
#define ECL_MCP_UNLESS_TRUNCATING(number, flags)                               \\
    ECL_MCP_IF(BPF_JEQ, number, 0, 5), ECL_MCP_LOAD(flags),                    \\
        ECL_MCP_STEP(BPF_ALU | BPF_AND | BPF_K, O_TRUNC | O_ACCMODE, 0, 0),    \\
        ECL_MCP_IF(BPF_JEQ, O_TRUNC | O_RDONLY, 0, 1),                         \\
        ECL_MCP_ANSWER(SECCOMP_RET_ERRNO | EPERM),                             \\
        ECL_MCP_ANSWER(SECCOMP_RET_ALLOW)

/* Refuses call NUMBER unless its first argument is THIS process or 0: it, or its
   group. The collector of a process with threads sends signals to these. */
#define ECL_MCP_UNLESS_OWN(number, this)                                       \\
    ECL_MCP_IF(BPF_JEQ, number, 0, 5), ECL_MCP_LOAD(args[0]),                  \\
        ECL_MCP_IF(BPF_JEQ, this, 2, 0), ECL_MCP_IF(BPF_JEQ, 0, 1, 0),         \\
        ECL_MCP_ANSWER(SECCOMP_RET_ERRNO | EPERM),                             \\
        ECL_MCP_ANSWER(SECCOMP_RET_ALLOW)

/* Refuses call NUMBER when FLAGS, an argument, ask for a child that is a child of
   the parent: what belongs to the copy descends from it. */
#define ECL_MCP_UNLESS_BROTHER(number, flags)                                  \\
    ECL_MCP_IF(BPF_JEQ, number, 0, 5), ECL_MCP_LOAD(flags),                    \\
        ECL_MCP_STEP(BPF_ALU | BPF_AND | BPF_K, CLONE_PARENT, 0, 0),           \\
        ECL_MCP_IF(BPF_JEQ, 0, 1, 0),                                          \\
        ECL_MCP_ANSWER(SECCOMP_RET_ERRNO | EPERM),                             \\
        ECL_MCP_ANSWER(SECCOMP_RET_ALLOW)

/* Requests of ioctl that are allowed: about terminals, and of a descriptor. Others
   change files that are open for reading only. */
static const uint32_t ecl_mcp_requests[] = {
    TCGETS, TIOCGWINSZ, TIOCGPGRP, FIONREAD, FIONBIO, FIOCLEX, FIONCLEX,
    0x802c542a, // TCGETS2
};

/* LANDLOCK is its version, or 0. */
static int ecl_mcp_filter(int landlock)
{
#ifdef ECL_MCP_ARCHITECTURE
    enum {
        N = sizeof ecl_mcp_refused / sizeof *ecl_mcp_refused,
        COMMANDS = sizeof ecl_mcp_commands / sizeof *ecl_mcp_commands,
        REQUESTS = sizeof ecl_mcp_requests / sizeof *ecl_mcp_requests,
        ROOM = 96
    };
    const uint32_t own = (uint32_t)getpid();
    const struct sock_filter first[] = {
        ECL_MCP_LOAD(arch),
        ECL_MCP_IF(BPF_JEQ, ECL_MCP_ARCHITECTURE, 1, 0),
        ECL_MCP_ANSWER(SECCOMP_RET_KILL),
        ECL_MCP_LOAD(nr),
        ECL_MCP_IF(BPF_JGE, 0x40000000, 0, 1), // another view of the calls
        ECL_MCP_ANSWER(SECCOMP_RET_KILL),
        ECL_MCP_UNLESS_TRUNCATING(SYS_openat, args[2]),
#ifdef SYS_open
        ECL_MCP_UNLESS_TRUNCATING(SYS_open, args[1]),
#endif
        ECL_MCP_UNLESS_BROTHER(SYS_clone, args[0]),
        ECL_MCP_IF(BPF_JEQ, 435, 0, 1), // clone3: its flags are in memory
        ECL_MCP_ANSWER(SECCOMP_RET_ERRNO | ENOSYS), // so the library takes clone
        ECL_MCP_UNLESS_OWN(SYS_prlimit64, own),
        ECL_MCP_UNLESS_OWN(SYS_kill, own),
        ECL_MCP_UNLESS_OWN(SYS_tkill, own),
        ECL_MCP_UNLESS_OWN(SYS_tgkill, own),
    };
    struct sock_filter steps[2 * (N + COMMANDS + REQUESTS) + ROOM];
    // the last three are 18 steps; programs that fail send themselves signals
    unsigned short n = sizeof first / sizeof *first - (landlock >= 6 ? 18 : 0);
    struct sock_fprog program;

    memcpy(steps, first, sizeof first);
    for (size_t i = 0; i < N; i++) {
        steps[n++] = ECL_MCP_IF(BPF_JEQ, ecl_mcp_refused[i], 0, 1);
        steps[n++] = ECL_MCP_ANSWER(SECCOMP_RET_ERRNO | EPERM);
    }
    steps[n++] = ECL_MCP_IF(BPF_JEQ, SYS_ioctl, 0, 2 * REQUESTS + 2);
    steps[n++] = ECL_MCP_LOAD(args[1]);
    for (size_t i = 0; i < REQUESTS; i++) {
        steps[n++] = ECL_MCP_IF(BPF_JEQ, ecl_mcp_requests[i], 0, 1);
        steps[n++] = ECL_MCP_ANSWER(SECCOMP_RET_ALLOW);
    }
    steps[n++] = ECL_MCP_ANSWER(SECCOMP_RET_ERRNO | ENOTTY);
    steps[n++] = ECL_MCP_IF(BPF_JEQ, SYS_fcntl, 1, 0);
    steps[n++] = ECL_MCP_ANSWER(SECCOMP_RET_ALLOW);
    steps[n++] = ECL_MCP_LOAD(args[1]);
    for (size_t i = 0; i < COMMANDS; i++) {
        steps[n++] = ECL_MCP_IF(BPF_JEQ, ecl_mcp_commands[i], 0, 1);
        steps[n++] = ECL_MCP_ANSWER(SECCOMP_RET_ALLOW);
    }
    steps[n++] = ECL_MCP_ANSWER(SECCOMP_RET_ERRNO | EPERM);
    program = (struct sock_fprog){n, steps};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0;
#else
    return 0;
#endif
}
")

(defun confine-process (folder)
  "Lets this process and what it starts change nothing outside of FOLDER, a simple
base string that may be empty, for ever: no files, no processes, no network. False
when the system cannot do all of that; what it can do it does."
  (ffi:c-inline (folder) (:object) :bool "{
    int landlock = ecl_mcp_landlock((const char *)(#0)->base_string.self);
    int filter = ecl_mcp_filter(landlock);
    @(return) = landlock > 0 && filter;
  }" :one-liner nil))

;;; What is open

(defun stream-descriptor (stream)
  "Returns the descriptor of STREAM, or -1."
  (or (ignore-errors
       (ffi:c-inline (stream) (:object) :int
                     "ecl_fixnum(si_file_stream_fd(#0))" :one-liner t))
      -1))

(defun leave-files (answer output error-output)
  "Makes descriptors and memory of this process, a copy, lead to nothing that others
have: only the descriptors ANSWER, OUTPUT and ERROR-OUTPUT do, and the standard ones,
which become the last two. Files that are only read stay, but not their positions.
True on success."
  (ffi:c-inline (answer output error-output) (:int :int :int) :bool "{
    const struct ecl_mcp_kept kept = {{#0, #1, #2}, 3, 1};
    int memory = ecl_mcp_own_memory();
    int files = ecl_mcp_leave_files(&kept);
    if (files && #1 >= 0)
        (void)dup2(#1, 1);
    if (files && #2 >= 0)
        (void)dup2(#2, 2);
    @(return) = memory && files;
  }" :one-liner nil))

;;; Files

(ffi:clines "
/* Makes the pipe NAME, which must not exist, open for reading: nobody sees it
   otherwise. Returns its descriptor, which programs inherit, or -1. A lock would
   say the same, but who may lock one file may lock all that it may read. */
static int ecl_mcp_claim(const char *name)
{
    char new[PATH_MAX];
    int fd;
    int done;

    (void)snprintf(new, sizeof new, \"%s.%d\", name, (int)getpid());
    if (mkfifo(new, 0600) < 0)
        return -1;
    fd = open(new, O_RDONLY | O_NONBLOCK);
    done = fd >= 0 && link(new, name) == 0;
    (void)unlink(new);
    if (!done && fd >= 0)
        close(fd);
    return done ? fd : -1;
}

/* Whether somebody has the pipe NAME open for reading: else it cannot be opened
   for writing. */
static int ecl_mcp_is_claimed(const char *name)
{
    struct stat status;
    int fd = open(name, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
    int claimed = fd >= 0 && fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode);

    if (fd >= 0)
        close(fd);
    return claimed;
}

/* Makes FROM the file TO, as if it had been written now. */
static int ecl_mcp_take(const char *from, const char *to)
{
    return utimensat(AT_FDCWD, from, NULL, 0) == 0 && rename(from, to) == 0;
}
")

(defun claim-file (name)
  "Makes the file NAME, a simple base string, and keeps it open. Returns a
descriptor to close, which programs that are started meanwhile inherit, or -1 when
there is one."
  (ffi:c-inline (name) (:object) :int
                "ecl_mcp_claim((const char *)(#0)->base_string.self)"
                :one-liner t))

(defun claimed-p (name)
  "True while somebody has the file NAME open, a simple base string, that CLAIM-FILE
has made."
  (ffi:c-inline (name) (:object) :bool
                "ecl_mcp_is_claimed((const char *)(#0)->base_string.self)"
                :one-liner t))

(defun take-file (from to)
  "Moves the file FROM to TO, simple base strings, and dates it now. Where nothing
can move to another folder, as with the first version of Landlock, TO is a copy.
True on success."
  (or (ffi:c-inline (from to) (:object :object) :bool
                    "ecl_mcp_take((const char *)(#0)->base_string.self,
                                  (const char *)(#1)->base_string.self)"
                    :one-liner t)
      (copy-native-file from to)))
