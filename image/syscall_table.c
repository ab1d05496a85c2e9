/* SPDX-License-Identifier: GPL-3.0-or-later */
/* syscall_table.c: see syscall_table.h. In none of these lists, and therefore
   without an existence for evaluated code, are calls of programs of the past
   (such as create_module), of architectures without a user of Lisp, and these:
   memfd_secret, for which nothing needs to be hidden here, and openat2 and
   clone3, whose arguments a filter cannot see. Programs then use openat and
   clone. Nobody calls uretprobe but the kernel's own trampoline for tracing,
   which newer kernels let pass by the filter. */
#include "image/syscall_table.h"

#include <seccomp.h>

/* Memory of the caller. */
static const int memory[] = {
    SCMP_SYS(brk),
    SCMP_SYS(mmap),
    SCMP_SYS(mmap2),
    SCMP_SYS(munmap),
    SCMP_SYS(mprotect),
    SCMP_SYS(mremap),
    SCMP_SYS(madvise),
    SCMP_SYS(msync),
    SCMP_SYS(mincore),
    SCMP_SYS(mlock),
    SCMP_SYS(mlock2),
    SCMP_SYS(munlock),
    SCMP_SYS(mlockall),
    SCMP_SYS(munlockall),
    SCMP_SYS(remap_file_pages),
    SCMP_SYS(pkey_alloc),
    SCMP_SYS(pkey_free),
    SCMP_SYS(pkey_mprotect),
    SCMP_SYS(mbind),
    SCMP_SYS(get_mempolicy),
    SCMP_SYS(set_mempolicy),
    SCMP_SYS(set_mempolicy_home_node),
    SCMP_SYS(membarrier),
    SCMP_SYS(memfd_create),
    NEW_MAP_SHADOW_STACK,
    NEW_MSEAL,
};

/* Its processes and threads. What of clone(2) is allowed is in
   syscall_arguments.c. */
static const int processes[] = {
    SCMP_SYS(fork),
    SCMP_SYS(vfork),
    SCMP_SYS(execve),
    SCMP_SYS(execveat),
    SCMP_SYS(exit),
    SCMP_SYS(exit_group),
    SCMP_SYS(wait4),
    SCMP_SYS(waitid),
    SCMP_SYS(waitpid),
    SCMP_SYS(set_tid_address),
    SCMP_SYS(set_robust_list),
    SCMP_SYS(get_robust_list),
    SCMP_SYS(futex),
    SCMP_SYS(futex_time64),
    SCMP_SYS(futex_waitv),
    NEW_FUTEX_WAKE,
    NEW_FUTEX_WAIT,
    NEW_FUTEX_REQUEUE,
    SCMP_SYS(rseq),
    SCMP_SYS(gettid),
    SCMP_SYS(getpid),
    SCMP_SYS(getppid),
    SCMP_SYS(getpgid),
    SCMP_SYS(getpgrp),
    SCMP_SYS(getsid),
    SCMP_SYS(setsid),
    SCMP_SYS(pidfd_open),
    SCMP_SYS(restart_syscall),
    SCMP_SYS(sched_yield),
    SCMP_SYS(personality),
    SCMP_SYS(arch_prctl),
    SCMP_SYS(get_thread_area),
    SCMP_SYS(set_thread_area),
    SCMP_SYS(get_tls),
    SCMP_SYS(set_tls),
    SCMP_SYS(cacheflush),
    SCMP_SYS(riscv_flush_icache),
    SCMP_SYS(swapcontext),
};

/* Walls of its own, which can only make these narrower. */
static const int walls[] = {
    SCMP_SYS(seccomp),           SCMP_SYS(landlock_create_ruleset),
    SCMP_SYS(landlock_add_rule), SCMP_SYS(landlock_restrict_self),
    NEW_LSM_GET_SELF_ATTR,       NEW_LSM_LIST_MODULES,
};

/* Looking at scheduling, limits and the system, and changing its own limits. */
static const int looking[] = {
    SCMP_SYS(sched_getaffinity),
    SCMP_SYS(sched_getattr),
    SCMP_SYS(sched_getparam),
    SCMP_SYS(sched_getscheduler),
    SCMP_SYS(sched_get_priority_max),
    SCMP_SYS(sched_get_priority_min),
    SCMP_SYS(sched_rr_get_interval),
    SCMP_SYS(sched_rr_get_interval_time64),
    SCMP_SYS(getpriority),
    SCMP_SYS(ioprio_get),
    SCMP_SYS(getcpu),
    SCMP_SYS(getrlimit),
    SCMP_SYS(ugetrlimit),
    SCMP_SYS(setrlimit),
    SCMP_SYS(getrusage),
    SCMP_SYS(times),
    SCMP_SYS(uname),
    SCMP_SYS(olduname),
    SCMP_SYS(oldolduname),
    SCMP_SYS(sysinfo),
    SCMP_SYS(ustat),
    SCMP_SYS(nice),
};

/* Who the caller is. It has no right to become anybody else. */
static const int identity[] = {
    SCMP_SYS(getuid),      SCMP_SYS(getuid32),    SCMP_SYS(geteuid),
    SCMP_SYS(geteuid32),   SCMP_SYS(getgid),      SCMP_SYS(getgid32),
    SCMP_SYS(getegid),     SCMP_SYS(getegid32),   SCMP_SYS(getresuid),
    SCMP_SYS(getresuid32), SCMP_SYS(getresgid),   SCMP_SYS(getresgid32),
    SCMP_SYS(getgroups),   SCMP_SYS(getgroups32), SCMP_SYS(setuid),
    SCMP_SYS(setuid32),    SCMP_SYS(setgid),      SCMP_SYS(setgid32),
    SCMP_SYS(setreuid),    SCMP_SYS(setreuid32),  SCMP_SYS(setregid),
    SCMP_SYS(setregid32),  SCMP_SYS(setresuid),   SCMP_SYS(setresuid32),
    SCMP_SYS(setresgid),   SCMP_SYS(setresgid32), SCMP_SYS(setfsuid),
    SCMP_SYS(setfsuid32),  SCMP_SYS(setfsgid),    SCMP_SYS(setfsgid32),
    SCMP_SYS(setgroups),   SCMP_SYS(setgroups32), SCMP_SYS(capget),
    SCMP_SYS(capset),      SCMP_SYS(umask),
};

/* Handling signals. Who may be sent one is for Landlock and
   syscall_arguments.c. */
static const int signals[] = {
    SCMP_SYS(rt_sigaction),
    SCMP_SYS(rt_sigpending),
    SCMP_SYS(rt_sigprocmask),
    SCMP_SYS(rt_sigreturn),
    SCMP_SYS(rt_sigsuspend),
    SCMP_SYS(rt_sigtimedwait),
    SCMP_SYS(rt_sigtimedwait_time64),
    SCMP_SYS(sigaction),
    SCMP_SYS(sigaltstack),
    SCMP_SYS(signal),
    SCMP_SYS(sigpending),
    SCMP_SYS(sigprocmask),
    SCMP_SYS(sigreturn),
    SCMP_SYS(sigsuspend),
    SCMP_SYS(sgetmask),
    SCMP_SYS(ssetmask),
    SCMP_SYS(pause),
    SCMP_SYS(alarm),
    SCMP_SYS(getitimer),
    SCMP_SYS(setitimer),
    SCMP_SYS(signalfd),
    SCMP_SYS(signalfd4),
};

/* Clocks. To set one takes a right that Lisp has not, so adjtimex(2) only
   reads. */
static const int clocks[] = {
    SCMP_SYS(time),
    SCMP_SYS(gettimeofday),
    SCMP_SYS(clock_gettime),
    SCMP_SYS(clock_gettime64),
    SCMP_SYS(clock_getres),
    SCMP_SYS(clock_getres_time64),
    SCMP_SYS(clock_nanosleep),
    SCMP_SYS(clock_nanosleep_time64),
    SCMP_SYS(nanosleep),
    SCMP_SYS(adjtimex),
    SCMP_SYS(clock_adjtime),
    SCMP_SYS(clock_adjtime64),
    SCMP_SYS(timer_create),
    SCMP_SYS(timer_delete),
    SCMP_SYS(timer_getoverrun),
    SCMP_SYS(timer_gettime),
    SCMP_SYS(timer_gettime64),
    SCMP_SYS(timer_settime),
    SCMP_SYS(timer_settime64),
    SCMP_SYS(timerfd_create),
    SCMP_SYS(timerfd),
    SCMP_SYS(timerfd_gettime),
    SCMP_SYS(timerfd_gettime64),
    SCMP_SYS(timerfd_settime),
    SCMP_SYS(timerfd_settime64),
};

/* Waiting for events; asynchronous reading and writing of open files, which
   nobody begins (few). */
static const int waiting[] = {
    SCMP_SYS(poll),
    SCMP_SYS(ppoll),
    SCMP_SYS(ppoll_time64),
    SCMP_SYS(select),
    SCMP_SYS(_newselect),
    SCMP_SYS(pselect6),
    SCMP_SYS(pselect6_time64),
    SCMP_SYS(epoll_create),
    SCMP_SYS(epoll_create1),
    SCMP_SYS(epoll_ctl),
    SCMP_SYS(epoll_wait),
    SCMP_SYS(epoll_pwait),
    SCMP_SYS(epoll_pwait2),
    SCMP_SYS(eventfd),
    SCMP_SYS(eventfd2),
    SCMP_SYS(inotify_init),
    SCMP_SYS(inotify_init1),
    SCMP_SYS(inotify_add_watch),
    SCMP_SYS(inotify_rm_watch),
    SCMP_SYS(io_destroy),
    SCMP_SYS(io_submit),
    SCMP_SYS(io_cancel),
    SCMP_SYS(io_getevents),
    SCMP_SYS(io_pgetevents),
    SCMP_SYS(io_pgetevents_time64),
};

/* What is done with open files, pipes and connected pairs of sockets. */
static const int descriptors[] = {
    SCMP_SYS(read),
    SCMP_SYS(write),
    SCMP_SYS(readv),
    SCMP_SYS(writev),
    SCMP_SYS(pread64),
    SCMP_SYS(pwrite64),
    SCMP_SYS(preadv),
    SCMP_SYS(pwritev),
    SCMP_SYS(preadv2),
    SCMP_SYS(pwritev2),
    SCMP_SYS(lseek),
    SCMP_SYS(_llseek),
    SCMP_SYS(close),
    SCMP_SYS(close_range),
    SCMP_SYS(dup),
    SCMP_SYS(dup2),
    SCMP_SYS(dup3),
    SCMP_SYS(pipe),
    SCMP_SYS(pipe2),
    SCMP_SYS(sendfile),
    SCMP_SYS(sendfile64),
    SCMP_SYS(splice),
    SCMP_SYS(tee),
    SCMP_SYS(vmsplice),
    SCMP_SYS(copy_file_range),
    SCMP_SYS(flock),
    SCMP_SYS(fsync),
    SCMP_SYS(fdatasync),
    SCMP_SYS(sync),
    SCMP_SYS(syncfs),
    SCMP_SYS(sync_file_range),
    SCMP_SYS(sync_file_range2),
    SCMP_SYS(arm_sync_file_range),
    SCMP_SYS(readahead),
    SCMP_SYS(fadvise64),
    SCMP_SYS(fadvise64_64),
    SCMP_SYS(arm_fadvise64_64),
    SCMP_SYS(fallocate),
    SCMP_SYS(ftruncate),
    SCMP_SYS(ftruncate64),
    NEW_CACHESTAT,
    SCMP_SYS(getrandom),
    SCMP_SYS(shutdown),
    SCMP_SYS(getsockname),
    SCMP_SYS(getpeername),
    SCMP_SYS(getsockopt),
    SCMP_SYS(setsockopt),
    SCMP_SYS(send),
    SCMP_SYS(sendto),
    SCMP_SYS(sendmsg),
    SCMP_SYS(sendmmsg),
    SCMP_SYS(recv),
    SCMP_SYS(recvfrom),
    SCMP_SYS(recvmsg),
    SCMP_SYS(recvmmsg),
    SCMP_SYS(recvmmsg_time64),
};

/* Files by name, which are for Landlock. */
static const int names[] = {
    SCMP_SYS(stat),       SCMP_SYS(stat64),     SCMP_SYS(lstat),
    SCMP_SYS(lstat64),    SCMP_SYS(fstat),      SCMP_SYS(fstat64),
    SCMP_SYS(newfstatat), SCMP_SYS(fstatat64),  SCMP_SYS(oldstat),
    SCMP_SYS(oldlstat),   SCMP_SYS(oldfstat),   SCMP_SYS(statx),
    SCMP_SYS(statfs),     SCMP_SYS(statfs64),   SCMP_SYS(fstatfs),
    SCMP_SYS(fstatfs64),  NEW_STATMOUNT,        NEW_LISTMOUNT,
    SCMP_SYS(access),     SCMP_SYS(faccessat),  SCMP_SYS(faccessat2),
    SCMP_SYS(readlink),   SCMP_SYS(readlinkat), SCMP_SYS(getcwd),
    SCMP_SYS(chdir),      SCMP_SYS(fchdir),     SCMP_SYS(getdents),
    SCMP_SYS(getdents64), SCMP_SYS(readdir),    SCMP_SYS(mkdir),
    SCMP_SYS(mkdirat),    SCMP_SYS(rmdir),      SCMP_SYS(unlink),
    SCMP_SYS(unlinkat),   SCMP_SYS(rename),     SCMP_SYS(renameat),
    SCMP_SYS(renameat2),  SCMP_SYS(link),       SCMP_SYS(linkat),
    SCMP_SYS(symlink),    SCMP_SYS(symlinkat),  SCMP_SYS(getxattr),
    SCMP_SYS(lgetxattr),  SCMP_SYS(fgetxattr),  NEW_GETXATTRAT,
    SCMP_SYS(listxattr),  SCMP_SYS(llistxattr), SCMP_SYS(flistxattr),
    NEW_LISTXATTRAT,      NEW_FILE_GETATTR,
};

/* Owners, times and attributes, which Landlock does not cover. Modes are in
   syscall_arguments.c. */
static const int changes[] = {
    SCMP_SYS(chown),        SCMP_SYS(chown32),     SCMP_SYS(fchown),
    SCMP_SYS(fchown32),     SCMP_SYS(lchown),      SCMP_SYS(lchown32),
    SCMP_SYS(fchownat),     SCMP_SYS(utime),       SCMP_SYS(utimes),
    SCMP_SYS(futimesat),    SCMP_SYS(utimensat),   SCMP_SYS(utimensat_time64),
    SCMP_SYS(setxattr),     SCMP_SYS(lsetxattr),   SCMP_SYS(fsetxattr),
    NEW_SETXATTRAT,         SCMP_SYS(removexattr), SCMP_SYS(lremovexattr),
    SCMP_SYS(fremovexattr), NEW_REMOVEXATTRAT,
};

/* Sockets that are not pairs. What sockets there may be is in
   syscall_arguments.c. */
static const int network[] = {
    SCMP_SYS(bind),   SCMP_SYS(connect), SCMP_SYS(listen),
    SCMP_SYS(accept), SCMP_SYS(accept4),
};

/* Memory, descriptors and events of other processes. */
static const int others[] = {
    SCMP_SYS(ptrace),
    SCMP_SYS(process_vm_readv),
    SCMP_SYS(process_vm_writev),
    SCMP_SYS(process_madvise),
    SCMP_SYS(process_mrelease),
    SCMP_SYS(pidfd_getfd),
    SCMP_SYS(kcmp),
    SCMP_SYS(migrate_pages),
    SCMP_SYS(move_pages),
    SCMP_SYS(perf_event_open),
    SCMP_SYS(fanotify_init),
    SCMP_SYS(fanotify_mark),
};

/* Shared memory, semaphores and queues of System V and of POSIX. They reach
   other programs of the user, and their numbers and names are no secret, so
   not even those that exist may be used. */
static const int shared[] = {
    SCMP_SYS(shmget),          SCMP_SYS(shmat),
    SCMP_SYS(shmdt),           SCMP_SYS(shmctl),
    SCMP_SYS(semget),          SCMP_SYS(semop),
    SCMP_SYS(semtimedop),      SCMP_SYS(semtimedop_time64),
    SCMP_SYS(semctl),          SCMP_SYS(msgget),
    SCMP_SYS(msgsnd),          SCMP_SYS(msgrcv),
    SCMP_SYS(msgctl),          SCMP_SYS(ipc),
    SCMP_SYS(mq_open),         SCMP_SYS(mq_unlink),
    SCMP_SYS(mq_timedsend),    SCMP_SYS(mq_timedsend_time64),
    SCMP_SYS(mq_timedreceive), SCMP_SYS(mq_timedreceive_time64),
    SCMP_SYS(mq_notify),       SCMP_SYS(mq_getsetattr),
};

/* What the whole machine has few of: requests of asynchronous input and output,
   which databases need (fs.aio-max-nr). Programs do without. */
static const int few[] = {
    SCMP_SYS(io_setup),
};

/* Mounts and namespaces. */
static const int places[] = {
    SCMP_SYS(mount),         SCMP_SYS(umount),    SCMP_SYS(umount2),
    SCMP_SYS(pivot_root),    SCMP_SYS(chroot),    SCMP_SYS(move_mount),
    SCMP_SYS(mount_setattr), SCMP_SYS(open_tree), NEW_OPEN_TREE_ATTR,
    SCMP_SYS(fsopen),        SCMP_SYS(fsconfig),  SCMP_SYS(fsmount),
    SCMP_SYS(fspick),        SCMP_SYS(unshare),   SCMP_SYS(setns),
};

/* Ways around this filter or Landlock, and attributes of files that are open
   for reading only. */
static const int ways_around[] = {
    SCMP_SYS(io_uring_setup),
    SCMP_SYS(io_uring_enter),
    SCMP_SYS(io_uring_register),
    SCMP_SYS(name_to_handle_at),
    SCMP_SYS(open_by_handle_at),
    SCMP_SYS(userfaultfd),
    SCMP_SYS(bpf),
    NEW_LSM_SET_SELF_ATTR,
    NEW_FILE_SETATTR,
    SCMP_SYS(modify_ldt),
    SCMP_SYS(vm86),
    SCMP_SYS(vm86old),
};

/* Keys, and the system as a whole. */
static const int whole_system[] = {
    SCMP_SYS(keyctl),          SCMP_SYS(add_key),
    SCMP_SYS(request_key),     SCMP_SYS(kexec_load),
    SCMP_SYS(kexec_file_load), SCMP_SYS(init_module),
    SCMP_SYS(finit_module),    SCMP_SYS(delete_module),
    SCMP_SYS(quotactl),        SCMP_SYS(quotactl_fd),
    SCMP_SYS(swapon),          SCMP_SYS(swapoff),
    SCMP_SYS(reboot),          SCMP_SYS(acct),
    SCMP_SYS(syslog),          SCMP_SYS(sethostname),
    SCMP_SYS(setdomainname),   SCMP_SYS(settimeofday),
    SCMP_SYS(stime),           SCMP_SYS(clock_settime),
    SCMP_SYS(clock_settime64), SCMP_SYS(iopl),
    SCMP_SYS(ioperm),          SCMP_SYS(vhangup),
    SCMP_SYS(lookup_dcookie),  SCMP_SYS(nfsservctl),
    SCMP_SYS(uselib),
};

#define GROUP(answer, calls)                                                   \
    {                                                                          \
        answer, calls, sizeof(calls) / sizeof(calls)[0]                        \
    }

const struct syscall_group syscall_groups[] = {
    GROUP(SYSCALL_RUNS, memory),          GROUP(SYSCALL_RUNS, processes),
    GROUP(SYSCALL_RUNS, walls),           GROUP(SYSCALL_RUNS, looking),
    GROUP(SYSCALL_RUNS, identity),        GROUP(SYSCALL_RUNS, signals),
    GROUP(SYSCALL_RUNS, clocks),          GROUP(SYSCALL_RUNS, waiting),
    GROUP(SYSCALL_RUNS, descriptors),     GROUP(SYSCALL_RUNS, names),
    GROUP(SYSCALL_CHANGES, changes),      GROUP(SYSCALL_NETWORK, network),
    GROUP(SYSCALL_REFUSED, others),       GROUP(SYSCALL_REFUSED, shared),
    GROUP(SYSCALL_REFUSED, places),       GROUP(SYSCALL_REFUSED, ways_around),
    GROUP(SYSCALL_REFUSED, whole_system), GROUP(SYSCALL_REFUSED, few),
};

const size_t syscall_groups_n =
    sizeof syscall_groups / sizeof syscall_groups[0];
