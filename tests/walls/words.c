/* SPDX-License-Identifier: GPL-3.0-or-later */
/* words.c: the constants and the names of system calls that lines of attempts
   may use, see attempt.h. Numbers work, too. */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/sockios.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "walls/attempt.h"

struct word {
    const char *name;
    long value;
};

#define VALUE(name)                                                            \
    {                                                                          \
#name, (long)(name)                                                    \
    }
#define CALL(name)                                                             \
    {                                                                          \
#name, SYS_##name                                                      \
    }

static const struct word constants[] = {VALUE(O_RDONLY),
                                        VALUE(O_WRONLY),
                                        VALUE(O_RDWR),
                                        VALUE(O_CREAT),
                                        VALUE(O_TRUNC),
                                        VALUE(O_APPEND),
                                        VALUE(O_EXCL),
                                        VALUE(O_PATH),
                                        VALUE(O_TMPFILE),
                                        VALUE(O_DIRECTORY),
                                        VALUE(O_NOFOLLOW),
                                        VALUE(O_NOATIME),
                                        VALUE(AT_FDCWD),
                                        VALUE(AT_EMPTY_PATH),
                                        VALUE(AT_REMOVEDIR),
                                        VALUE(AT_SYMLINK_FOLLOW),
                                        VALUE(RENAME_EXCHANGE),
                                        VALUE(RENAME_NOREPLACE),
                                        VALUE(S_IFREG),
                                        VALUE(S_IFCHR),
                                        VALUE(S_IFBLK),
                                        VALUE(S_IFIFO),
                                        VALUE(S_IFSOCK),
                                        VALUE(S_ISUID),
                                        VALUE(S_ISGID),
                                        VALUE(S_ISVTX),
                                        VALUE(AF_UNIX),
                                        VALUE(AF_INET),
                                        VALUE(AF_INET6),
                                        VALUE(AF_NETLINK),
                                        VALUE(AF_PACKET),
                                        VALUE(AF_VSOCK),
                                        VALUE(AF_ALG),
                                        VALUE(AF_KEY),
                                        VALUE(AF_BLUETOOTH),
                                        VALUE(AF_CAN),
                                        VALUE(AF_TIPC),
                                        VALUE(AF_XDP),
                                        VALUE(SOCK_STREAM),
                                        VALUE(SOCK_DGRAM),
                                        VALUE(SOCK_SEQPACKET),
                                        VALUE(SOCK_RAW),
                                        VALUE(SOCK_CLOEXEC),
                                        VALUE(CLONE_NEWUSER),
                                        VALUE(CLONE_NEWNS),
                                        VALUE(CLONE_NEWPID),
                                        VALUE(CLONE_NEWNET),
                                        VALUE(CLONE_NEWIPC),
                                        VALUE(CLONE_NEWUTS),
                                        VALUE(CLONE_NEWCGROUP),
                                        VALUE(CLONE_FS),
                                        VALUE(CLONE_FILES),
                                        VALUE(CLONE_PARENT),
                                        VALUE(CLONE_VM),
                                        VALUE(SIGCHLD),
                                        VALUE(F_SETOWN),
                                        VALUE(F_SETSIG),
                                        VALUE(F_SETLEASE),
                                        VALUE(F_NOTIFY),
                                        VALUE(F_GETOWN),
                                        VALUE(F_SETFL),
                                        VALUE(F_SETPIPE_SZ),
                                        VALUE(F_RDLCK),
                                        VALUE(F_WRLCK),
                                        VALUE(F_DUPFD),
                                        VALUE(F_GETFL),
                                        VALUE(F_ADD_SEALS),
                                        VALUE(F_SET_RW_HINT),
                                        VALUE(O_ASYNC),
                                        VALUE(O_NONBLOCK),
                                        VALUE(TIOCSTI),
                                        VALUE(TIOCLINUX),
                                        VALUE(TIOCCONS),
                                        VALUE(TIOCSETD),
                                        VALUE(TIOCSCTTY),
                                        VALUE(TIOCGWINSZ),
                                        VALUE(TCGETS),
                                        VALUE(FIONREAD),
                                        VALUE(FIONBIO),
                                        VALUE(FIOASYNC),
                                        VALUE(FIOSETOWN),
                                        VALUE(SIOCSPGRP),
                                        VALUE(FIOCLEX),
                                        VALUE(FICLONE),
                                        VALUE(FS_IOC_SETFLAGS),
                                        VALUE(FS_IOC_GETFLAGS),
                                        VALUE(FS_IOC_SETVERSION),
                                        VALUE(FS_IOC_FSSETXATTR),
                                        VALUE(FIFREEZE),
                                        VALUE(FITRIM),
                                        VALUE(FIBMAP),
                                        VALUE(FIGETBSZ),
                                        VALUE(SIOCATMARK),
                                        VALUE(IPC_PRIVATE),
                                        VALUE(IPC_CREAT),
                                        VALUE(IPC_RMID),
                                        VALUE(IPC_STAT),
                                        VALUE(IPC_SET),
                                        VALUE(IPC_NOWAIT),
                                        VALUE(SETVAL),
                                        VALUE(GETVAL),
                                        VALUE(PRIO_PROCESS),
                                        VALUE(PRIO_PGRP),
                                        VALUE(PRIO_USER),
                                        VALUE(RLIMIT_CPU),
                                        VALUE(RLIMIT_NOFILE),
                                        VALUE(RLIMIT_NPROC),
                                        VALUE(PTRACE_ATTACH),
                                        VALUE(PTRACE_SEIZE),
                                        VALUE(PTRACE_TRACEME),
                                        VALUE(PR_SET_NAME),
                                        VALUE(PR_SET_DUMPABLE),
                                        VALUE(PR_SET_PDEATHSIG),
                                        VALUE(PR_SET_SECCOMP),
                                        VALUE(PR_GET_NAME),
                                        VALUE(PR_SET_MM),
                                        VALUE(PR_SCHED_CORE),
                                        VALUE(PR_SET_PTRACER),
                                        VALUE(PR_SET_KEEPCAPS),
                                        VALUE(PR_SET_SECUREBITS),
                                        VALUE(PR_CAPBSET_DROP),
                                        VALUE(PR_SET_NO_NEW_PRIVS),
                                        VALUE(PR_SET_SYSCALL_USER_DISPATCH),
                                        VALUE(PR_SET_CHILD_SUBREAPER),
                                        VALUE(PR_MCE_KILL),
                                        VALUE(PR_SET_TIMERSLACK),
                                        VALUE(PR_SET_TSC),
                                        VALUE(PR_TASK_PERF_EVENTS_DISABLE),
                                        VALUE(SIGCONT),
                                        VALUE(SIGTERM),
                                        VALUE(SIGKILL),
                                        VALUE(SIGSTOP),
                                        VALUE(SIGUSR1),
                                        VALUE(MS_BIND),
                                        VALUE(MS_REMOUNT),
                                        VALUE(MS_PRIVATE),
                                        VALUE(LOCK_EX),
                                        VALUE(LOCK_SH),
                                        VALUE(LOCK_NB),
                                        VALUE(PROT_READ),
                                        VALUE(MAP_SHARED)};

static const struct word calls[] = {
    CALL(open),
    CALL(openat),
    CALL(openat2),
    CALL(creat),
    CALL(mkdir),
    CALL(mkdirat),
    CALL(mknod),
    CALL(mknodat),
    CALL(unlink),
    CALL(unlinkat),
    CALL(rmdir),
    CALL(rename),
    CALL(renameat),
    CALL(renameat2),
    CALL(link),
    CALL(linkat),
    CALL(symlink),
    CALL(symlinkat),
    CALL(truncate),
    CALL(ftruncate),
    CALL(chmod),
    CALL(fchmod),
    CALL(fchmodat),
    CALL(chown),
    CALL(fchown),
    CALL(lchown),
    CALL(fchownat),
    CALL(utime),
    CALL(utimes),
    CALL(utimensat),
    CALL(setxattr),
    CALL(lsetxattr),
    CALL(fsetxattr),
    CALL(removexattr),
    CALL(getxattr),
    CALL(stat),
    CALL(statfs),
    CALL(access),
    CALL(readlink),
    CALL(chdir),
    CALL(getdents64),
    CALL(execve),
    CALL(flock),
    CALL(fcntl),
    CALL(ioctl),
    CALL(prctl),
    CALL(socket),
    CALL(socketpair),
    CALL(connect),
    CALL(bind),
    CALL(listen),
    CALL(kill),
    CALL(tkill),
    CALL(tgkill),
    CALL(rt_sigqueueinfo),
    CALL(rt_tgsigqueueinfo),
    CALL(pidfd_open),
    CALL(pidfd_send_signal),
    CALL(pidfd_getfd),
    CALL(ptrace),
    CALL(process_vm_readv),
    CALL(process_vm_writev),
    CALL(process_madvise),
    CALL(process_mrelease),
    CALL(kcmp),
    CALL(get_robust_list),
    CALL(prlimit64),
    CALL(setpriority),
    CALL(getpriority),
    CALL(ioprio_set),
    CALL(ioprio_get),
    CALL(sched_setaffinity),
    CALL(sched_getaffinity),
    CALL(sched_setscheduler),
    CALL(sched_setparam),
    CALL(sched_setattr),
    CALL(migrate_pages),
    CALL(move_pages),
    CALL(unshare),
    CALL(setns),
    CALL(clone),
    CALL(clone3),
    CALL(mount),
    CALL(umount2),
    CALL(pivot_root),
    CALL(chroot),
    CALL(move_mount),
    CALL(mount_setattr),
    CALL(open_tree),
    CALL(fsopen),
    CALL(fsconfig),
    CALL(fsmount),
    CALL(fspick),
    CALL(bpf),
    CALL(perf_event_open),
    CALL(keyctl),
    CALL(add_key),
    CALL(request_key),
    CALL(io_uring_setup),
    CALL(io_uring_enter),
    CALL(io_uring_register),
    CALL(userfaultfd),
    CALL(name_to_handle_at),
    CALL(open_by_handle_at),
    CALL(fanotify_init),
    CALL(fanotify_mark),
    CALL(inotify_init1),
    CALL(io_setup),
    CALL(inotify_add_watch),
    CALL(quotactl),
    CALL(quotactl_fd),
    CALL(swapon),
    CALL(swapoff),
    CALL(reboot),
    CALL(acct),
    CALL(syslog),
    CALL(sethostname),
    CALL(setdomainname),
    CALL(settimeofday),
    CALL(clock_settime),
    CALL(clock_adjtime),
    CALL(adjtimex),
    CALL(kexec_load),
    CALL(kexec_file_load),
    CALL(init_module),
    CALL(finit_module),
    CALL(delete_module),
    CALL(vhangup),
    CALL(memfd_create),
    CALL(memfd_secret),
    CALL(shmget),
    CALL(shmat),
    CALL(shmdt),
    CALL(shmctl),
    CALL(semget),
    CALL(semop),
    CALL(semtimedop),
    CALL(semctl),
    CALL(msgget),
    CALL(msgsnd),
    CALL(msgrcv),
    CALL(msgctl),
    CALL(mq_open),
    CALL(mq_unlink),
    CALL(mq_timedsend),
    CALL(mq_timedreceive),
    CALL(mq_notify),
    CALL(mq_getsetattr),
    CALL(setuid),
    CALL(setgid),
    CALL(setgroups),
    CALL(setresuid),
    CALL(capset),
    CALL(setsid),
    CALL(getpid),
    CALL(gettid),
    CALL(personality),
    CALL(seccomp),
    CALL(landlock_create_ruleset),
    CALL(membarrier),
    CALL(rseq),
    CALL(epoll_create1),
    CALL(eventfd2),
    CALL(timerfd_create),
    CALL(signalfd4),
    CALL(pipe2),
    CALL(close_range),
    CALL(sync_file_range),
    CALL(fallocate),
    CALL(copy_file_range),
    CALL(splice),
    CALL(madvise),
    CALL(mlock),
#ifdef SYS_iopl
    CALL(iopl),
    CALL(ioperm),
    CALL(modify_ldt),
    CALL(arch_prctl),
#endif
};

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

static bool find(const struct word *table, size_t n, const char *name,
                 size_t length, long *out)
{
    for (size_t i = 0; i < n; i++)
        if (strncmp(table[i].name, name, length) == 0 &&
            table[i].name[length] == '\0') {
            *out = table[i].value;
            return true;
        }
    return false;
}

/* The value of the number of LENGTH bytes at TEXT. */
static bool number(const char *text, size_t length, long *out)
{
    char *end;

    if (length == 0)
        return false;
    errno = 0;
    *out = (long)strtoul(text, &end, 0);
    return end == text + length && errno == 0;
}

bool word_value(const char *word, long *out)
{
    long all = 0;

    for (;;) {
        size_t length = strcspn(word, "|");
        long value;

        if (!number(word, length, &value) &&
            !find(constants, COUNT(constants), word, length, &value))
            return false;
        all |= value;
        if (word[length] == '\0')
            break;
        word += length + 1;
    }
    *out = all;
    return true;
}

long word_call(const char *name)
{
    long value;

    if (number(name, strlen(name), &value) ||
        find(calls, COUNT(calls), name, strlen(name), &value))
        return value;
    return -1;
}
