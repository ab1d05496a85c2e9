/* SPDX-License-Identifier: GPL-3.0-or-later */
/* acts.c: attempts that take more than one system call, see attempt.h. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/sendfile.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "walls/attempt.h"

/* An attempt; A are its arguments, which are as many as its table says. */
typedef long act(char *const *a);

static int number(const char *word)
{
    return (int)strtol(word, NULL, 10);
}

/* do write PATH FLAGS: opens a file and writes to it. */
static long act_write(char *const *a)
{
    long flags = 0;
    int fd = word_value(a[1], &flags)
                 ? open(a[0], (int)flags | O_CLOEXEC | O_NOCTTY, 0600)
                 : -1;

    return fd < 0 ? -1 : (long)write(fd, "x", 1);
}

/* do open PATH FLAGS: opens it and leaves it as it is. */
static long act_open(char *const *a)
{
    long flags = 0;

    return word_value(a[1], &flags)
               ? open(a[0], (int)flags | O_CLOEXEC | O_NOCTTY | O_NONBLOCK,
                      0600)
               : -1;
}

/* do read PATH: reads a byte. */
static long act_read(char *const *a)
{
    char byte;
    int fd = open(a[0], O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    long n = fd < 0 ? -1 : (long)read(fd, &byte, 1);

    if (n == 0)
        errno = ENODATA;
    return n > 0 ? 0 : -1;
}

/* do map PATH: writes to it through memory. */
static long act_map(char *const *a)
{
    int fd = open(a[0], O_RDWR | O_CLOEXEC);
    char *memory =
        fd < 0 ? MAP_FAILED
               : mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (memory == MAP_FAILED)
        return -1;
    memory[0] = 'x';
    return 0;
}

/* do reopen PATH: opens it without rights, then again through /proc. */
static long act_reopen(char *const *a)
{
    char path[64];
    int fd = open(a[0], O_PATH | O_CLOEXEC);

    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return fd < 0 ? -1 : open(path, O_WRONLY | O_CLOEXEC);
}

/* do reread PATH: the same for reading. */
static long act_reread(char *const *a)
{
    char path[64];
    int fd = open(a[0], O_PATH | O_CLOEXEC);

    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return fd < 0 ? -1 : open(path, O_RDONLY | O_CLOEXEC);
}

/* do swing LINK FORBIDDEN ALLOWED: opens a link whose goal changes. */
static long act_swing(char *const *a)
{
    for (int i = 0; i < 200; i++) {
        int fd;

        (void)unlink(a[0]);
        (void)!symlink(i % 2 ? a[1] : a[2], a[0]);
        fd = open(a[0], O_WRONLY | O_CLOEXEC);
        if (fd >= 0 && i % 2)
            return 0;
        if (fd >= 0)
            (void)close(fd);
    }
    return -1;
}

static long connect_to(int fd, const void *address, size_t size)
{
    return fd < 0 ? -1 : connect(fd, address, (socklen_t)size);
}

/* The address NAME, see victim.c. */
static socklen_t unix_address(const char *name, struct sockaddr_un *out)
{
    size_t length = strlen(name);

    *out = (struct sockaddr_un){.sun_family = AF_UNIX};
    if (length >= sizeof out->sun_path)
        length = sizeof out->sun_path - 1;
    memcpy(out->sun_path, name, length);
    if (out->sun_path[0] == '@')
        out->sun_path[0] = '\0';
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
}

/* do connect NAME TYPE: to a Unix socket. */
static long act_connect(char *const *a)
{
    struct sockaddr_un address;
    socklen_t length = unix_address(a[0], &address);
    long type = SOCK_STREAM;

    (void)word_value(a[1], &type);
    return connect_to(socket(AF_UNIX, (int)type, 0), &address, length);
}

/* do connect-pair NAME: with one end of a pair whose other end is closed. */
static long act_connect_pair(char *const *a)
{
    struct sockaddr_un address;
    socklen_t length = unix_address(a[0], &address);
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) < 0)
        return -1;
    (void)close(ends[1]);
    return connect_to(ends[0], &address, length);
}

/* do send-pair NAME: a datagram from an end of a pair. */
static long act_send_pair(char *const *a)
{
    struct sockaddr_un address;
    socklen_t length = unix_address(a[0], &address);
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, ends) < 0)
        return -1;
    return (long)sendto(ends[0], "x", 1, 0, (const struct sockaddr *)&address,
                        length);
}

/* do bind-pair PATH: a name for an end of a pair. */
static long act_bind_pair(char *const *a)
{
    struct sockaddr_un address;
    socklen_t length = unix_address(a[0], &address);
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
        return -1;
    return bind(ends[0], (const struct sockaddr *)&address, length);
}

static struct sockaddr_in local_port(const char *number)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
        .sin_port = htons((unsigned short)strtol(number, NULL, 10))};

    return address;
}

/* do tcp PORT: connects to it. */
static long act_tcp(char *const *a)
{
    struct sockaddr_in address = local_port(a[0]);

    return connect_to(socket(AF_INET, SOCK_STREAM, 0), &address,
                      sizeof address);
}

/* do udp PORT: sends to it. */
static long act_udp(char *const *a)
{
    struct sockaddr_in address = local_port(a[0]);
    int fd = socket(AF_INET, SOCK_DGRAM, 0);

    return fd < 0
               ? -1
               : (long)sendto(fd, "x", 1, 0, (const struct sockaddr *)&address,
                              sizeof address);
}

/* do serve PORT: listens. */
static long act_serve(char *const *a)
{
    struct sockaddr_in address = local_port(a[0]);
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    return fd < 0 || bind(fd, (const struct sockaddr *)&address,
                          sizeof address) < 0
               ? -1
               : listen(fd, 1);
}

/* do socket-option FAMILY TYPE OPTION: sets it to 1, and 60 seconds. */
static long act_socket_option(char *const *a)
{
    const struct linger value = {1, 60};
    int pair[2] = {socket(number(a[0]), number(a[1]), 0), -1};

    if (number(a[0]) == 0 && socketpair(AF_UNIX, number(a[1]), 0, pair) < 0)
        return -1; // family 0: a pair
    return setsockopt(pair[0], SOL_SOCKET, number(a[2]), &value, sizeof value);
}

/* do own-signals PID COMMAND: input and output are to signal PID. */
static long act_own_signals(char *const *a)
{
    long command = 0;
    int ends[2];

    if (!word_value(a[1], &command) || pipe(ends) < 0)
        return -1;
    return fcntl(ends[0], (int)command, number(a[0]));
}

/* do queue PID: queues a signal. */
static long act_queue(char *const *a)
{
    siginfo_t info;

    memset(&info, 0, sizeof info);
    info.si_code = SI_QUEUE;
    return syscall(SYS_rt_sigqueueinfo, number(a[0]), SIGUSR1, &info);
}

/* do trace PID: stops and reads it. */
static long act_trace(char *const *a)
{
    int pid = number(a[0]);
    int status;

    if (ptrace(PTRACE_ATTACH, pid, 0, 0) < 0)
        return -1;
    (void)waitpid(pid, &status, 0);
    return ptrace(PTRACE_DETACH, pid, 0, 0);
}

/* do vm-read PID ADDRESS, do vm-write PID ADDRESS: its memory. */
static long act_vm_read(char *const *a)
{
    char here[8];
    struct iovec local = {here, sizeof here};
    struct iovec remote = {(void *)strtol(a[1], NULL, 0), sizeof here};

    return process_vm_readv(number(a[0]), &local, 1, &remote, 1, 0);
}

static long act_vm_write(char *const *a)
{
    char here[8] = "written";
    struct iovec local = {here, sizeof here};
    struct iovec remote = {(void *)strtol(a[1], NULL, 0), sizeof here};

    return process_vm_writev(number(a[0]), &local, 1, &remote, 1, 0);
}

/* do take-fd PID FD: a descriptor of another process. */
static long act_take_fd(char *const *a)
{
    long fd = syscall(SYS_pidfd_open, number(a[0]), 0);

    return fd < 0 ? fd : syscall(SYS_pidfd_getfd, fd, number(a[1]), 0);
}

/* do read-shared ID: System V's shared memory of another program. */
static long act_read_shared(char *const *a)
{
    void *memory = shmat(number(a[0]), NULL, 0);

    return memory == (void *)-1 ? -1 : *(volatile char *)memory;
}

/* do namespace FLAGS: a child in new namespaces. */
static long act_namespace(char *const *a)
{
    long flags = 0;
    long pid;

    (void)word_value(a[0], &flags);
    pid = syscall(SYS_clone, flags | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        _exit(0);
    return pid;
}

/* do call-32 NUMBER: a call of the older architecture of this processor. */
static long act_foreign(char *const *a)
{
#ifdef __x86_64__
    long result = strtol(a[0], NULL, 0);

    __asm__ volatile("int $0x80" : "+a"(result) : : "memory");
    if (result < 0) {
        errno = (int)-result;
        return -1;
    }
    return result;
#else
    (void)a;
    errno = ENOSYS;
    return -1;
#endif
}

/* do new-rights: whether a program could have more rights than this one. */
static long act_new_rights(char *const *a)
{
    (void)a;
    errno = EPERM;
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0 ? 0 : -1;
}

/* do rights: whether this process has any. */
static long act_rights(char *const *a)
{
    struct {
        unsigned version;
        int pid;
    } head = {0x20080522, 0};
    unsigned data[6] = {0};

    (void)a;
    if (syscall(SYS_capget, &head, data) < 0)
        return -1;
    errno = EPERM;
    return data[1] || data[4] ? 0 : -1;
}

/* do exchange A B: swaps two names, and swaps them back. */
static long act_exchange(char *const *a)
{
    long swapped = renameat2(AT_FDCWD, a[0], AT_FDCWD, a[1], RENAME_EXCHANGE);

    return swapped < 0
               ? swapped
               : renameat2(AT_FDCWD, a[0], AT_FDCWD, a[1], RENAME_EXCHANGE);
}

/* do link-nameless FOLDER NAME: a file of FOLDER without a name gets one. */
static long act_link_nameless(char *const *a)
{
    char path[64];
    int fd = open(a[0], O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600);

    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return fd < 0 ? -1
                  : linkat(AT_FDCWD, path, AT_FDCWD, a[1], AT_SYMLINK_FOLLOW);
}

/* do run-nameless PATH: a program that is in no file writes to it. */
static long act_run_nameless(char *const *a)
{
    char command[600];
    char shell[] = "sh";
    char option[] = "-c";
    char *argv[] = {shell, option, command, NULL};
    char *none[] = {NULL};
    int from = open("/bin/sh", O_RDONLY | O_CLOEXEC);
    int fd = memfd_create("walls", MFD_CLOEXEC);

    (void)snprintf(command, sizeof command, "echo x >%s", a[0]);
    while (from >= 0 && sendfile(fd, from, NULL, 1 << 20) > 0)
        continue;
    return syscall(SYS_execveat, fd, "", argv, none, AT_EMPTY_PATH);
}

/* do unlock PATH: makes a shared mapping of what is open for reading
   writable. */
static long act_unlock(char *const *a)
{
    int fd = open(a[0], O_RDONLY | O_CLOEXEC);
    char *memory =
        fd < 0 ? MAP_FAILED : mmap(NULL, 1, PROT_READ, MAP_SHARED, fd, 0);

    return memory == MAP_FAILED ? -1
                                : mprotect(memory, 1, PROT_READ | PROT_WRITE);
}

/* do widen PATH: enters rules of its own, which allow everything everywhere,
   then writes to PATH. */
static long act_widen(char *const *a)
{
    const uint64_t all = (1ull << 13) - 1;
    struct {
        uint64_t allowed;
        int32_t folder;
    } __attribute__((packed)) rule = {all, open("/", O_PATH | O_CLOEXEC)};
    long set = syscall(444, &all, sizeof all, 0);

    // where there is no Landlock, nothing is narrow
    if (set >= 0)
        (void)syscall(445, set, 1, &rule, 0);
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (set >= 0 && syscall(446, set, 0) < 0)
        return -1;
    return open(a[0], O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
}

/* Answers the question that comes from FD: the call shall go on. */
static void let_go_on(int fd)
{
    struct seccomp_notif question;
    struct seccomp_notif_resp answer;

    memset(&question, 0, sizeof question);
    if (ioctl(fd, SECCOMP_IOCTL_NOTIF_RECV, &question) < 0)
        return;
    memset(&answer, 0, sizeof answer);
    answer.id = question.id;
    answer.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE;
    (void)ioctl(fd, SECCOMP_IOCTL_NOTIF_SEND, &answer); // it may be gone
}

/* do own-filter: a filter of its own asks whether a socket may be made, and the
   answer is yes. */
static long act_own_filter(char *const *a)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof code[0], code};
    int status = 0;
    long fd;
    pid_t pid;

    (void)a;
    (void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                 SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
    if (fd < 0)
        return -1;
    pid = fork();
    if (pid == 0)
        _exit(socket(AF_UNIX, SOCK_STREAM, 0) < 0 ? errno : 0);
    for (struct pollfd ready = {(int)fd, POLLIN, 0};
         waitpid(pid, &status, WNOHANG) == 0;)
        if (poll(&ready, 1, 10) > 0 && ready.revents & POLLIN)
            let_go_on((int)fd);
    errno = WIFEXITED(status) ? WEXITSTATUS(status) : EPERM;
    return errno ? -1 : 0;
}

/* do watch-most: takes more than half of what the user may have of inotify(7).
   What it has is given back when it ends. */
static long act_watch_most(char *const *a)
{
    long most = 0;
    FILE *file = fopen("/proc/sys/fs/inotify/max_user_instances", "re");

    (void)a;
    if (!file || fscanf(file, "%ld", &most) != 1) // NOLINT(cert-err34-c)
        return -1;
    (void)fclose(file);
    // others may have some for a while
    for (long i = 0, tries = 0; i <= most / 2 && tries < 50;)
        if (inotify_init1(IN_CLOEXEC) >= 0)
            i++;
        else if (errno != EMFILE || ++tries == 50)
            return -1;
        else
            (void)usleep(20000);
    return 0;
}

/* do timer PID: a timer that signals a thread of PID. */
static long act_timer(char *const *a)
{
    struct sigevent event;
    int id;

    memset(&event, 0, sizeof event);
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGUSR1;
    event._sigev_un._tid = number(a[0]);
    return syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &id);
}

/* do connect-stream NAME: an end of a pair leaves it and connects anew. */
static long act_connect_stream(char *const *a)
{
    struct sockaddr_un address;
    struct sockaddr none = {.sa_family = AF_UNSPEC};
    socklen_t length = unix_address(a[0], &address);
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0)
        return -1;
    (void)close(ends[1]);
    (void)shutdown(ends[0], SHUT_RDWR);
    (void)connect(ends[0], &none, sizeof none);
    return connect_to(ends[0], &address, length);
}

/* do listen-pair: an end of a pair waits for others. */
static long act_listen_pair(char *const *a)
{
    int ends[2];

    (void)a;
    return socketpair(AF_UNIX, SOCK_STREAM, 0, ends) < 0 ? -1
                                                         : listen(ends[0], 1);
}

static const struct {
    const char *name;
    int arguments;
    act *run;
} acts[] = {
    {"write", 2, act_write},
    {"open", 2, act_open},
    {"read", 1, act_read},
    {"map", 1, act_map},
    {"reopen", 1, act_reopen},
    {"reread", 1, act_reread},
    {"swing", 3, act_swing},
    {"connect", 2, act_connect},
    {"connect-pair", 1, act_connect_pair},
    {"send-pair", 1, act_send_pair},
    {"bind-pair", 1, act_bind_pair},
    {"tcp", 1, act_tcp},
    {"udp", 1, act_udp},
    {"serve", 1, act_serve},
    {"socket-option", 3, act_socket_option},
    {"own-signals", 2, act_own_signals},
    {"queue", 1, act_queue},
    {"trace", 1, act_trace},
    {"vm-read", 2, act_vm_read},
    {"vm-write", 2, act_vm_write},
    {"take-fd", 2, act_take_fd},
    {"read-shared", 1, act_read_shared},
    {"namespace", 1, act_namespace},
    {"call-32", 1, act_foreign},
    {"exchange", 2, act_exchange},
    {"link-nameless", 2, act_link_nameless},
    {"run-nameless", 1, act_run_nameless},
    {"unlock", 1, act_unlock},
    {"widen", 1, act_widen},
    {"own-filter", 0, act_own_filter},
    {"watch-most", 0, act_watch_most},
    {"timer", 1, act_timer},
    {"connect-stream", 1, act_connect_stream},
    {"listen-pair", 0, act_listen_pair},
    {"new-rights", 0, act_new_rights},
    {"rights", 0, act_rights},
};

long act_run(char *const *words, int n)
{
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++)
        if (strcmp(acts[i].name, words[0]) == 0 && acts[i].arguments == n - 1)
            return acts[i].run(words + 1);
    (void)fprintf(stderr, "no act %s with %d arguments\n", words[0], n - 1);
    _exit(200);
}
