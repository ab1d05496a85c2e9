/* SPDX-License-Identifier: GPL-3.0-or-later */
/* syscall_arguments.c: see syscall_arguments.h. Arguments are judged by lists
   of what is allowed: what a newer kernel brings is refused. A filter sees
   numbers only, not the memory to which an argument points. */
#include "image/syscall_arguments.h"

#include <asm/termbits.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <linux/fsverity.h>
#include <linux/ioprio.h>
#include <linux/sockios.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/linux.h"
#include "image/syscall_table.h"

#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Not every header has these; their values are the same everywhere. */
enum {
    NEW_F_DUPFD_QUERY = 1027,
    NEW_F_CREATED_QUERY = 1028,
    NEW_PR_SET_MDWE = 65,
    NEW_PR_GET_MDWE = 66,
    NEW_PR_GET_MEMORY_MERGE = 68,
    NEW_PR_RISCV_V_SET_CONTROL = 69,
    NEW_PR_RISCV_V_GET_CONTROL = 70,
    NEW_PR_RISCV_SET_ICACHE_FLUSH_CTX = 71,
    NEW_PR_GET_SHADOW_STACK_STATUS = 74,
    NEW_PR_SET_SHADOW_STACK_STATUS = 75,
    NEW_PR_LOCK_SHADOW_STACK_STATUS = 76,
    NEW_PR_FUTEX_HASH = 78,
    NEW_PR_GET_AUXV = 0x41555856
};

/* ioctl(2) on terminals of one's own: modes, sizes, jobs, pairs. Missing are
   those that put input into a terminal (TIOCSTI, TIOCLINUX). */
static const uint32_t terminals[] = {
    TCGETS,    TCSETS,    TCSETSW,    TCSETSF,     TCSBRK,     TCSBRKP,
    TCXONC,    TCFLSH,    TIOCEXCL,   TIOCNXCL,    TIOCSCTTY,  TIOCNOTTY,
    TIOCGPGRP, TIOCSPGRP, TIOCGSID,   TIOCGWINSZ,  TIOCSWINSZ, TIOCOUTQ,
    TIOCGETD,  TIOCGPTN,  TIOCSPTLCK, TIOCGPTPEER, TIOCPKT,    TIOCGPTLCK,
    TIOCGPKT,  TIOCGEXCL, TIOCMGET,
#ifdef TCGETS2
    TCGETS2,   TCSETS2,   TCSETSW2,   TCSETSF2,
#endif
};

/* ioctl(2) on files, pipes and sockets: flags of the descriptor, what is
   waiting in it, copies within a file system, and facts. */
static const uint32_t files[] = {
    FIOCLEX,
    FIONCLEX,
    FIONBIO,
    FIONREAD,
    FIOQSIZE,
    FIGETBSZ,
    FICLONE,
    FICLONERANGE,
    FIDEDUPERANGE,
    FS_IOC_FIEMAP,
    FS_IOC_GETFLAGS,
    FS_IOC32_GETFLAGS,
    FS_IOC_GETVERSION,
    FS_IOC32_GETVERSION,
    FS_IOC_FSGETXATTR,
    FS_IOC_GETFSLABEL,
    FS_IOC_MEASURE_VERITY,
    SIOCATMARK,
    SIOCGIFNAME,
    SIOCGIFCONF,
    SIOCGIFFLAGS,
    SIOCGIFADDR,
    SIOCGIFDSTADDR,
    SIOCGIFBRDADDR,
    SIOCGIFNETMASK,
    SIOCGIFMETRIC,
    SIOCGIFMTU,
    SIOCGIFHWADDR,
    SIOCGIFINDEX,
};

/* Requests that are known to do harm, so that the answer names the sandbox:
   signals by way of input and output, input for terminals, changes of files
   that are open for reading only. */
static const uint32_t harmful_requests[] = {
    FIOSETOWN,
    SIOCSPGRP,
    FIOASYNC,
    TIOCSTI,
    TIOCLINUX,
    TIOCCONS,
    TIOCSETD,
    TIOCVHANGUP,
    FS_IOC_SETFLAGS,
    FS_IOC32_SETFLAGS,
    FS_IOC_SETVERSION,
    FS_IOC32_SETVERSION,
    FS_IOC_FSSETXATTR,
    FS_IOC_SETFSLABEL,
    FS_IOC_ENABLE_VERITY,
    FIFREEZE,
    FITHAW,
    FITRIM,
    FIBMAP,
    FS_IOC_SET_ENCRYPTION_POLICY,
};

/* The types of the requests of btrfs and bcachefs, which make and delete
   copies of whole folders. */
static const uint32_t harmful_types[] = {0x94, 0xbc};

/* fcntl(2): copies and flags of a descriptor, locks, pipes and seals. Missing
   are leases, which make others wait, notices about files, and whom input and
   output send signals. */
static const uint32_t commands[] = {
    F_DUPFD,
    F_DUPFD_CLOEXEC,
    NEW_F_DUPFD_QUERY,
    NEW_F_CREATED_QUERY,
    F_GETFD,
    F_SETFD,
    F_GETFL,
    F_SETFL,
    F_GETLK,
    F_SETLK,
    F_SETLKW,
    F_GETLK64,
    F_SETLK64,
    F_SETLKW64,
    F_OFD_GETLK,
    F_OFD_SETLK,
    F_OFD_SETLKW,
    F_GETOWN,
    F_GETOWN_EX,
    F_GETSIG,
    F_GETLEASE,
    F_SETPIPE_SZ,
    F_GETPIPE_SZ,
    F_ADD_SEALS,
    F_GET_SEALS,
    F_GET_RW_HINT,
    F_GET_FILE_RW_HINT,
};
static const uint32_t harmful_commands[] = {
    F_SETOWN, F_SETOWN_EX, F_SETSIG, F_SETLEASE, F_NOTIFY,
};

/* prctl(2): what concerns the calling process alone and what runtimes of
   languages use. Missing are core scheduling with others, system calls that are
   dispatched elsewhere, and what moves the records of a process. */
static const uint32_t options[] = {
    PR_SET_NAME,
    PR_GET_NAME,
    PR_SET_PDEATHSIG,
    PR_GET_PDEATHSIG,
    PR_SET_DUMPABLE,
    PR_GET_DUMPABLE,
    PR_GET_KEEPCAPS,
    PR_GET_TIMING,
    PR_SET_SECCOMP,
    PR_GET_SECCOMP,
    PR_CAPBSET_READ,
    PR_CAP_AMBIENT,
    PR_GET_SECUREBITS,
    PR_SET_TIMERSLACK,
    PR_GET_TIMERSLACK,
    PR_MCE_KILL_GET,
    PR_SET_CHILD_SUBREAPER,
    PR_GET_CHILD_SUBREAPER,
    PR_SET_NO_NEW_PRIVS,
    PR_GET_NO_NEW_PRIVS,
    PR_GET_TID_ADDRESS,
    PR_SET_THP_DISABLE,
    PR_GET_THP_DISABLE,
    PR_GET_SPECULATION_CTRL,
    PR_SET_VMA,
    NEW_PR_SET_MDWE,
    NEW_PR_GET_MDWE,
    NEW_PR_GET_MEMORY_MERGE,
    NEW_PR_GET_AUXV,
    NEW_PR_FUTEX_HASH,
#if defined(__x86_64__) || defined(__i386__)
    PR_GET_TSC,
#elif defined(__aarch64__)
    PR_SVE_SET_VL,
    PR_SVE_GET_VL,
    PR_SME_SET_VL,
    PR_SME_GET_VL,
    PR_PAC_RESET_KEYS,
    PR_PAC_SET_ENABLED_KEYS,
    PR_PAC_GET_ENABLED_KEYS,
    PR_SET_TAGGED_ADDR_CTRL,
    PR_GET_TAGGED_ADDR_CTRL,
    NEW_PR_GET_SHADOW_STACK_STATUS,
    NEW_PR_SET_SHADOW_STACK_STATUS,
    NEW_PR_LOCK_SHADOW_STACK_STATUS,
#elif defined(__riscv)
    NEW_PR_RISCV_V_SET_CONTROL,
    NEW_PR_RISCV_V_GET_CONTROL,
    NEW_PR_RISCV_SET_ICACHE_FLUSH_CTX,
    PR_SET_TAGGED_ADDR_CTRL,
    PR_GET_TAGGED_ADDR_CTRL,
    NEW_PR_GET_SHADOW_STACK_STATUS,
    NEW_PR_SET_SHADOW_STACK_STATUS,
    NEW_PR_LOCK_SHADOW_STACK_STATUS,
#elif defined(__powerpc__) || defined(__mips__)
    PR_GET_FP_MODE,
    PR_SET_FP_MODE,
    PR_GET_FPEXC,
    PR_SET_FPEXC,
#endif
};

static void add_ioctl(struct filter_program *program)
{
    size_t call = program_call(program, SCMP_SYS(ioctl));

    program_load(program, 1);
    program_answer_if_any(program, terminals, COUNT(terminals), 0);
    program_answer_if_any(program, files, COUNT(files), 0);
    program_answer_if_any(program, harmful_requests, COUNT(harmful_requests),
                          EPERM);
    for (size_t i = 0; i < COUNT(harmful_types); i++)
        program_answer_if_masked(program, _IOC_TYPEMASK << _IOC_TYPESHIFT,
                                 harmful_types[i] << _IOC_TYPESHIFT, EPERM);
    // as of any file that does not know a request: programs try another way
    program_answer(program, ENOTTY);
    program_end(program, call);
}

static void add_fcntl(struct filter_program *program, int number)
{
    size_t call = program_call(program, number);

    program_load(program, 1);
    program_answer_if_any(program, commands, COUNT(commands), 0);
    program_answer_if_any(program, harmful_commands, COUNT(harmful_commands),
                          EPERM);
    program_answer(program, EINVAL);
    program_end(program, call);
}

static void add_prctl(struct filter_program *program)
{
    size_t call = program_call(program, SCMP_SYS(prctl));

    program_load(program, 0);
    program_answer_if_any(program, options, COUNT(options), 0);
    program_answer(program, EINVAL);
    program_end(program, call);
}

/* Runs call NUMBER if its ARGUMENT has none of BITS. */
static void add_without_bits(struct filter_program *program, int number,
                             unsigned argument, uint32_t bits)
{
    size_t call = program_call(program, number);
    size_t i;

    program_load(program, argument);
    i = program_if_bits(program, bits);
    program_answer(program, EPERM);
    program_end(program, i);
    program_answer(program, 0);
    program_end(program, call);
}

/* Runs call NUMBER if its ARGUMENT is VALUE. */
static void add_with_value(struct filter_program *program, int number,
                           unsigned argument, uint32_t value)
{
    size_t call = program_call(program, number);

    program_load(program, argument);
    program_answer_if(program, value, 0);
    program_answer(program, EPERM);
    program_end(program, call);
}

/* A call that opens files: whoever is to create one gives no rights of its
   owner or group to those who run it. TRUNCATION: what is opened for reading
   may not be truncated. */
static void add_open(struct filter_program *program, int number, unsigned flags,
                     bool truncation)
{
    const uint32_t creating = O_CREAT | (O_TMPFILE & ~O_DIRECTORY);
    size_t call = program_call(program, number);
    size_t create;
    size_t rights;

    program_load(program, flags);
    if (truncation)
        program_answer_if_masked(program, O_TRUNC | O_ACCMODE,
                                 O_TRUNC | O_RDONLY, EPERM);
    create = program_if_bits(program, creating);
    program_load(program, flags + 1);
    rights = program_if_bits(program, S_ISUID | S_ISGID);
    program_answer(program, EPERM);
    program_end(program, rights);
    program_end(program, create);
    program_answer(program, 0);
    program_end(program, call);
}

/* Modes of files: nobody may get a file that runs with the rights of this user
   or its group. mkdir(2) ignores these bits. */
static void add_modes(struct filter_program *program, bool read_only,
                      bool truncation)
{
    const uint32_t bits = S_ISUID | S_ISGID;
    const int changes[] = {SCMP_SYS(chmod), SCMP_SYS(fchmod),
                           SCMP_SYS(fchmodat), NEW_FCHMODAT2};

    for (size_t i = 0; i < COUNT(changes); i++)
        if (read_only)
            program_answer_call(program, changes[i], EPERM);
        else
            add_without_bits(program, changes[i], i < 2 ? 1 : 2, bits);
    add_without_bits(program, SCMP_SYS(mknod), 1, bits);
    add_without_bits(program, SCMP_SYS(mknodat), 2, bits);
    add_without_bits(program, SCMP_SYS(creat), 1, bits);
    add_open(program, SCMP_SYS(open), 1, truncation);
    add_open(program, SCMP_SYS(openat), 2, truncation);
    program_answer_call(program, SCMP_SYS(truncate), truncation ? EPERM : 0);
    program_answer_call(program, SCMP_SYS(truncate64), truncation ? EPERM : 0);
}

/* No sockets, or those of the internet only. Sockets of the file system lead to
   key agents, containers and editors, and are never allowed. A pair is
   connected and stays so, except for datagrams, which can go anywhere. */
static void add_sockets(struct filter_program *program, bool network)
{
    const uint32_t internet[] = {AF_INET, AF_INET6};
    const uint32_t type = 15; // the other bits are flags
    size_t call = program_call(program, SCMP_SYS(socket));
    size_t pair;

    program_load(program, 0);
    program_answer_if_any(program, internet, network ? COUNT(internet) : 0, 0);
    program_answer(program, EPERM);
    program_end(program, call);

    call = program_call(program, SCMP_SYS(socketpair));
    program_load(program, 0);
    pair = program_if(program, AF_UNIX);
    program_load(program, 1);
    program_answer_if_masked(program, type, SOCK_STREAM, 0);
    program_answer_if_masked(program, type, SOCK_SEQPACKET, 0);
    program_end(program, pair);
    program_answer(program, EPERM);
    program_end(program, call);
}

/* A socket that lingers holds up whoever closes it last. A descriptor can be
   sent to the supervisor, which would wait for a minute, and all clients with
   it. */
static void add_socket_options(struct filter_program *program)
{
    size_t call = program_call(program, SCMP_SYS(setsockopt));
    size_t level;

    program_load(program, 1);
    level = program_if(program, SOL_SOCKET);
    program_load(program, 2);
    program_answer_if(program, SO_LINGER, EPERM);
    program_end(program, level);
    program_answer(program, 0);
    program_end(program, call);
}

/* No namespaces, which would give new rights over old interfaces, and no
   brothers: what an image starts stays below it. */
static void add_clone(struct filter_program *program)
{
    const uint32_t namespaces = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
                                CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                                CLONE_NEWNET;
#if defined(__s390__)
    const unsigned flags = 1;
#else
    const unsigned flags = 0;
#endif

    add_without_bits(program, SCMP_SYS(clone), flags,
                     namespaces | CLONE_PARENT);
}

/* What is done to processes by their numbers: to the caller only, which is 0. A
   thread cannot name itself by its number, since a filter cannot know it. */
static void add_numbers(struct filter_program *program)
{
    const int calls[] = {SCMP_SYS(prlimit64), SCMP_SYS(sched_setaffinity),
                         SCMP_SYS(sched_setscheduler), SCMP_SYS(sched_setparam),
                         SCMP_SYS(sched_setattr)};
    // these name a kind, then a number of it
    const int kinds[][2] = {{SCMP_SYS(setpriority), PRIO_PROCESS},
                            {SCMP_SYS(ioprio_set), IOPRIO_WHO_PROCESS}};

    for (size_t i = 0; i < COUNT(calls); i++)
        add_with_value(program, calls[i], 0, 0);
    for (size_t i = 0; i < COUNT(kinds); i++) {
        size_t call = program_call(program, kinds[i][0]);
        size_t process;

        program_load(program, 0);
        process = program_if(program, (uint32_t)kinds[i][1]);
        program_load(program, 1);
        program_answer_if(program, 0, 0);
        program_end(program, process);
        program_answer(program, EPERM);
        program_end(program, call);
    }
}

static const int signalling[] = {SCMP_SYS(kill), SCMP_SYS(tkill),
                                 SCMP_SYS(tgkill), SCMP_SYS(rt_sigqueueinfo),
                                 SCMP_SYS(rt_tgsigqueueinfo)};

void syscall_arguments_refuse_signals(struct filter_program *program,
                                      const uint32_t *targets, size_t n)
{
    for (size_t i = 0; i < COUNT(signalling); i++) {
        size_t call = program_call(program, signalling[i]);

        program_load(program, 0);
        program_answer_if_any(program, targets, n, EPERM);
        program_answer(program, 0);
        program_end(program, call);
    }
}

/* Signals to all processes at once are always refused: Landlock would spare
   those of others, but not the sleeping copies of an image. */
static void add_signals(struct filter_program *program, int landlock)
{
    const uint32_t targets[] = {(uint32_t)-1, (uint32_t)getpid(),
                                (uint32_t)getppid(), (uint32_t)-getpgrp()};
    // 0 is its own group, and ours has no other number in some namespaces
    size_t known = getpgrp() == 0 ? COUNT(targets) - 1 : COUNT(targets);
    bool covered = landlock >= LINUX_LANDLOCK_SIGNALS;

    syscall_arguments_refuse_signals(program, targets, covered ? 1 : known);
    // a descriptor does not tell of which process it is
    program_answer_call(program, SCMP_SYS(pidfd_send_signal),
                        covered ? 0 : EPERM);
}

/* Images are in the session of the server: what is in its group gets the
   signals that are meant for it, and sends some to it. A group from outside
   this namespace of processes has no number here, and 0 means a process's own.
 */
static void add_groups(struct filter_program *program)
{
    size_t call = program_call(program, SCMP_SYS(setpgid));
    pid_t group = getpgrp();

    program_load(program, 1);
    if (group != 0)
        program_answer_if(program, (uint32_t)group, EPERM);
    program_answer(program, 0);
    program_end(program, call);
}

void syscall_arguments_add(struct filter_program *program,
                           const struct sandbox *sandbox, int landlock)
{
    add_ioctl(program);
    add_fcntl(program, SCMP_SYS(fcntl));
    if (SCMP_SYS(fcntl64) >= 0) // only where numbers have 32 bits
        add_fcntl(program, SCMP_SYS(fcntl64));
    add_prctl(program);
    add_modes(program, sandbox->mode == SANDBOX_READ_ONLY,
              landlock < LINUX_LANDLOCK_TRUNCATION);
    add_sockets(program, sandbox->network);
    add_socket_options(program);
    add_clone(program);
    add_numbers(program);
    add_signals(program, landlock);
    add_groups(program);
}
