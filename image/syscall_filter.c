/* SPDX-License-Identifier: GPL-3.0-or-later */
/* syscall_filter.c: see syscall_filter.h. Arguments are compared as the kernel
   takes them: the upper half of an int may have any value, and a comparison
   without a mask must refuse then. */
#include "image/syscall_filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/fsverity.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "image/linux.h"

/* The low half of an argument. */
#define INT_MASK 0xffffffffu

/* Not every header has these. */
#define SYS_SETOWN_EX 15
#define CLONE_USER 0x10000000u

/* Calls that are newer than the library; of one number on all architectures
   that came to Linux in this century. */
enum {
    NEW_FCHMODAT2 = 452,
    NEW_SETXATTRAT = 463,
    NEW_REMOVEXATTRAT = 466,
    NEW_OPEN_TREE_ATTR = 467,
    NEW_FILE_SETATTR = 469
};

/* Calls that concern other processes or the system, or lead around this filter
   or Landlock. */
static const int refused[] = {
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(process_madvise),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(kcmp),
    SCMP_SYS(shmget),
    SCMP_SYS(shmat),
    SCMP_SYS(semget),
    SCMP_SYS(semop),
    SCMP_SYS(msgget),
    SCMP_SYS(msgrcv),
    SCMP_SYS(msgsnd),
    SCMP_SYS(ipc),
    SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load),
    SCMP_SYS(init_module),
    SCMP_SYS(finit_module),
    SCMP_SYS(delete_module),
    SCMP_SYS(mount),
    SCMP_SYS(umount),
    SCMP_SYS(umount2),
    SCMP_SYS(pivot_root),
    SCMP_SYS(chroot),
    SCMP_SYS(move_mount),
    SCMP_SYS(mount_setattr),
    SCMP_SYS(open_tree),
    NEW_OPEN_TREE_ATTR,
    SCMP_SYS(fsopen),
    SCMP_SYS(fsconfig),
    SCMP_SYS(fsmount),
    SCMP_SYS(fspick),
    SCMP_SYS(unshare),
    SCMP_SYS(setns),
    SCMP_SYS(bpf),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(keyctl),
    SCMP_SYS(add_key),
    SCMP_SYS(request_key),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register),
    SCMP_SYS(name_to_handle_at),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(fanotify_init),
    SCMP_SYS(fanotify_mark),
    SCMP_SYS(quotactl),
    SCMP_SYS(quotactl_fd),
    SCMP_SYS(swapon),
    SCMP_SYS(swapoff),
    SCMP_SYS(reboot),
    SCMP_SYS(acct),
    SCMP_SYS(syslog),
    SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname),
    SCMP_SYS(settimeofday),
    SCMP_SYS(stime),
    SCMP_SYS(clock_settime),
    SCMP_SYS(iopl),
    SCMP_SYS(ioperm),
    SCMP_SYS(vhangup),
    SCMP_SYS(lookup_dcookie),
    SCMP_SYS(nfsservctl),
    SCMP_SYS(uselib),
    SCMP_SYS(migrate_pages),
    SCMP_SYS(move_pages),
};

/* Calls for modes, owners, times and attributes, which Landlock does not cover:
   refused when nothing may be changed at all. */
static const int changes[] = {
    SCMP_SYS(chmod),        SCMP_SYS(fchmod),       SCMP_SYS(fchmodat),
    SCMP_SYS(chown),        SCMP_SYS(fchown),       SCMP_SYS(lchown),
    SCMP_SYS(fchownat),     SCMP_SYS(utime),        SCMP_SYS(utimes),
    SCMP_SYS(futimesat),    SCMP_SYS(utimensat),    SCMP_SYS(setxattr),
    SCMP_SYS(lsetxattr),    SCMP_SYS(fsetxattr),    SCMP_SYS(removexattr),
    SCMP_SYS(lremovexattr), SCMP_SYS(fremovexattr), NEW_FCHMODAT2,
    NEW_SETXATTRAT,         NEW_REMOVEXATTRAT,      NEW_FILE_SETATTR,
};

/* Requests of ioctl(2) that send signals by way of input and output, put input
   into a terminal, or change files that are open for reading only. */
static const unsigned requests[] = {
    FIOSETOWN,         SIOCSPGRP,
    TIOCSTI,           TIOCLINUX,
    FS_IOC_SETFLAGS,   FS_IOC32_SETFLAGS,
    FS_IOC_SETVERSION, FS_IOC32_SETVERSION,
    FS_IOC_FSSETXATTR, FS_IOC_ENABLE_VERITY,
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Refuses CALL: when COMPARISON holds, or always when it is NULL. A call that
   the architecture does not have needs no rule. */
static void refuse(scmp_filter_ctx filter, int call,
                   const struct scmp_arg_cmp *comparison)
{
    (void)seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EPERM), call,
                                 comparison ? 1 : 0, comparison);
}

static void refuse_when(scmp_filter_ctx filter, int call,
                        struct scmp_arg_cmp comparison)
{
    refuse(filter, call, &comparison);
}

/* Allows no sockets, or those of the internet only. Sockets of the file system
   lead to key agents, containers and editors, and are never allowed. A pair is
   connected and stays so, except for datagrams, which can go anywhere. */
static void refuse_sockets(scmp_filter_ctx filter, bool network)
{
    if (network) {
        refuse_when(filter, SCMP_SYS(socket), SCMP_A0(SCMP_CMP_LT, AF_INET, 0));
        for (unsigned type = AF_INET + 1; type < AF_INET6; type++)
            refuse_when(filter, SCMP_SYS(socket),
                        SCMP_A0(SCMP_CMP_EQ, type, 0));
        refuse_when(filter, SCMP_SYS(socket),
                    SCMP_A0(SCMP_CMP_GT, AF_INET6, 0));
    } else {
        refuse(filter, SCMP_SYS(socket), NULL);
    }
    for (unsigned type = 0; type < 16; type++)
        if (type != SOCK_STREAM && type != SOCK_SEQPACKET)
            refuse_when(filter, SCMP_SYS(socketpair),
                        SCMP_A1(SCMP_CMP_MASKED_EQ, 15, type));
    refuse_when(filter, SCMP_SYS(socketpair), SCMP_A0(SCMP_CMP_GT, AF_UNIX, 0));
}

/* Refuses what is done to other processes by their numbers; 0 is the caller. */
static void refuse_others(scmp_filter_ctx filter)
{
    refuse_when(filter, SCMP_SYS(prlimit64), SCMP_A0(SCMP_CMP_NE, 0, 0));
    refuse_when(filter, SCMP_SYS(setpriority), SCMP_A1(SCMP_CMP_NE, 0, 0));
    refuse_when(filter, SCMP_SYS(ioprio_set), SCMP_A1(SCMP_CMP_NE, 0, 0));
    refuse_when(filter, SCMP_SYS(sched_setscheduler),
                SCMP_A0(SCMP_CMP_NE, 0, 0));
    refuse_when(filter, SCMP_SYS(sched_setparam), SCMP_A0(SCMP_CMP_NE, 0, 0));
    refuse_when(filter, SCMP_SYS(sched_setattr), SCMP_A0(SCMP_CMP_NE, 0, 0));
    for (size_t i = 0; i < COUNT(requests); i++)
        refuse_when(filter, SCMP_SYS(ioctl),
                    SCMP_A1(SCMP_CMP_MASKED_EQ, INT_MASK, requests[i]));
    refuse_when(filter, SCMP_SYS(fcntl),
                SCMP_A1(SCMP_CMP_MASKED_EQ, INT_MASK, F_SETOWN));
    refuse_when(filter, SCMP_SYS(fcntl),
                SCMP_A1(SCMP_CMP_MASKED_EQ, INT_MASK, SYS_SETOWN_EX));
}

/* Refuses namespaces of users, which would give new rights over old
   interfaces. */
static void refuse_namespaces(scmp_filter_ctx filter)
{
    refuse_when(filter, SCMP_SYS(clone),
                SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_USER, CLONE_USER));
    // its arguments are in memory, out of reach; libraries then use clone
    (void)seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
}

/* Refuses truncation, which needs no right to write where Landlock does not
   cover it. */
static void refuse_truncation(scmp_filter_ctx filter)
{
    struct scmp_arg_cmp reading =
        SCMP_A1(SCMP_CMP_MASKED_EQ, O_TRUNC | O_ACCMODE, O_TRUNC | O_RDONLY);

    refuse(filter, SCMP_SYS(truncate), NULL);
    refuse(filter, SCMP_SYS(truncate64), NULL);
    refuse(filter, SCMP_SYS(open), &reading);
    refuse_when(
        filter, SCMP_SYS(openat),
        SCMP_A2(SCMP_CMP_MASKED_EQ, O_TRUNC | O_ACCMODE, O_TRUNC | O_RDONLY));
    // its arguments are in memory, out of reach; programs then use openat
    (void)seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(openat2),
                           0);
}

/* Refuses signals to all processes at once: Landlock would spare those of
   others, but not the sleeping copies of an image. */
static void refuse_signals_to_all(scmp_filter_ctx filter)
{
    refuse_when(filter, SCMP_SYS(kill),
                SCMP_A0(SCMP_CMP_MASKED_EQ, INT_MASK, (unsigned)-1));
}

/* Refuses signals to TARGETS, N of them. */
static void refuse_signals(scmp_filter_ctx filter, const pid_t *targets,
                           size_t n)
{
    const int calls[] = {SCMP_SYS(kill), SCMP_SYS(tkill), SCMP_SYS(tgkill),
                         SCMP_SYS(rt_sigqueueinfo),
                         SCMP_SYS(rt_tgsigqueueinfo)};

    for (size_t i = 0; i < COUNT(calls); i++)
        for (size_t j = 0; j < n; j++)
            refuse_when(
                filter, calls[i],
                SCMP_A0(SCMP_CMP_MASKED_EQ, INT_MASK, (unsigned)targets[j]));
    refuse(filter, SCMP_SYS(pidfd_send_signal), NULL);
}

/* A filter without rules, or NULL. */
static scmp_filter_ctx new_filter(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

    // calls of another architecture do not exist
    if (filter)
        (void)seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH,
                               SCMP_ACT_ERRNO(ENOSYS));
    return filter;
}

/* Reads the program of FILTER into OUT. */
static bool export_program(scmp_filter_ctx filter, struct syscall_filter *out)
{
    const size_t largest = BPF_MAXINSNS * sizeof out->program[0];
    int fd = memfd_create("filter", MFD_CLOEXEC);
    ssize_t size = -1;

    out->program = malloc(largest);
    if (out->program && fd >= 0 && seccomp_export_bpf(filter, fd) == 0)
        size = pread(fd, out->program, largest, 0);
    if (size > 0)
        out->n = (size_t)size / sizeof out->program[0];
    if (fd >= 0)
        (void)close(fd);
    return out->n > 0;
}

static bool load(const struct syscall_filter *filter)
{
    struct sock_fprog program = {(unsigned short)filter->n, filter->program};

    // mitigations of the processor that make Lisp slow protect nothing here;
    // Linux before 4.17 has no such flag
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                   SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0 ||
           (errno == EINVAL &&
            syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0);
}

/* Whether a child of this process can load FILTER. */
static bool is_taken(const struct syscall_filter *filter)
{
    int status = -1;
    pid_t pid = fork();

    if (pid == 0)
        _exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && load(filter) ? 0
                                                                          : 1);
    while (pid > 0 && waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return pid > 0 && status == 0;
}

static void add_rules(scmp_filter_ctx filter, const struct sandbox *sandbox,
                      int landlock)
{
    const pid_t targets[] = {getpid(), getppid(), -getpgrp()};

    for (size_t i = 0; i < COUNT(refused); i++)
        refuse(filter, refused[i], NULL);
    for (size_t i = 0; sandbox->mode == SANDBOX_READ_ONLY && i < COUNT(changes);
         i++)
        refuse(filter, changes[i], NULL);
    refuse_sockets(filter, sandbox->network);
    refuse_others(filter);
    refuse_namespaces(filter);
    if (landlock < LINUX_LANDLOCK_TRUNCATION)
        refuse_truncation(filter);
    refuse_signals_to_all(filter);
    if (landlock < LINUX_LANDLOCK_SIGNALS)
        refuse_signals(filter, targets, COUNT(targets));
    (void)seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, 2);
}

bool syscall_filter_prepare(const struct sandbox *sandbox, int landlock,
                            struct syscall_filter *out)
{
    scmp_filter_ctx filter = new_filter();
    bool done = false;

    *out = (struct syscall_filter){.program = NULL};
    if (!filter)
        return false;
    add_rules(filter, sandbox, landlock);
    done = export_program(filter, out) && is_taken(out);
    seccomp_release(filter);
    if (!done)
        syscall_filter_release(out);
    out->signals = done && landlock < LINUX_LANDLOCK_SIGNALS;
    return done;
}

/* Refuses signals to KEEPER and the processes of its group. */
static bool spare(pid_t keeper)
{
    const pid_t targets[] = {keeper, -keeper};
    struct syscall_filter more = {.program = NULL};
    scmp_filter_ctx filter = new_filter();
    bool done = false;

    if (!filter)
        return false;
    refuse_signals(filter, targets, COUNT(targets));
    done = export_program(filter, &more) && load(&more);
    seccomp_release(filter);
    syscall_filter_release(&more);
    return done;
}

bool syscall_filter_load(const struct syscall_filter *filter, pid_t keeper)
{
    if (!filter->program)
        return true;
    return (!filter->signals || spare(keeper)) && load(filter);
}

void syscall_filter_release(struct syscall_filter *filter)
{
    free(filter->program);
    *filter = (struct syscall_filter){.program = NULL};
}
