/* SPDX-License-Identifier: GPL-3.0-or-later */
/* linux.c: see linux.h. Where the system refuses something, the functions
   answer as if there were nothing to tell. */
#include "image/linux.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <linux/sockios.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"

/* Asks for the version of Landlock; not in the headers of older systems. */
enum { LANDLOCK_CREATE_RULESET = 444, LANDLOCK_VERSION = 1 };

/* Bytes of a thread's stack: many paths. */
#define THREAD_STACK (1024u * 1024)

void linux_adopt_orphans(void)
{
    // if refused, orphans go to init, and end when their pipes close
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void linux_signal_on_orphaned(int signal)
{
    // if refused, the end of the socket still ends an idle image
    (void)prctl(PR_SET_PDEATHSIG, signal, 0, 0, 0);
}

size_t linux_children(pid_t *pids, size_t max)
{
    char path[64];
    FILE *file;
    char *line = NULL;
    char *at;
    size_t size = 0;
    size_t n = 0;

    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children",
                   (int)getpid());
    file = fopen(path, "re");
    if (!file)
        return 0;
    at = getline(&line, &size, file) > 0 ? line : NULL;
    while (at && n < max) {
        char *end;
        long pid = strtol(at, &end, 10);

        if (end == at || pid <= 0)
            break;
        pids[n++] = (pid_t)pid;
        at = end;
    }
    free(line);
    (void)fclose(file); // was only read
    return n;
}

void linux_leave_terminal(void)
{
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    bool none = fd < 0 && errno == ENXIO;

    if (fd >= 0)
        none = ioctl(fd, TIOCNOTTY) == 0;
    if (fd >= 0)
        (void)close(fd); // nothing was written
    if (!none)
        (void)setsid(); // slower, and fails only for the leader of a group
}

void linux_set_name(const char *name)
{
    (void)prctl(PR_SET_NAME, name, 0, 0, 0); // fails only for a bad pointer
}

/* Fields of /proc/PID/stat after the name, counted from 0. */
enum { STAT_STATE = 0, STAT_PARENT = 1, STAT_THREADS = 17, STAT_START = 19 };

/* Field number FIELD of TEXT, which begins after the name; empty when TEXT has
   fewer. */
static const char *stat_field(const char *text, int field)
{
    for (; field > 0 && text; field--)
        text = strchr(text, ' ') ? strchr(text, ' ') + 1 : NULL;
    return text ? text : "";
}

bool linux_find(pid_t pid, pid_t *parent, int64_t *start)
{
    char path[64];
    char text[1024];
    const char *fields;
    ssize_t n = -1;
    int fd;

    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, text, sizeof text - 1);
        (void)close(fd); // was only read
    }
    text[n > 0 ? n : 0] = '\0';
    fields = strrchr(text, ')'); // the name may contain anything
    if (!fields || fields[1] == '\0')
        return false;
    fields += 2;
    *parent = (pid_t)strtol(stat_field(fields, STAT_PARENT), NULL, 10);
    *start = strtoll(stat_field(fields, STAT_START), NULL, 10);
    // its first thread may end while others run
    return !strchr("ZX", stat_field(fields, STAT_STATE)[0]) ||
           strtol(stat_field(fields, STAT_THREADS), NULL, 10) > 1;
}

/* Fills FILE with the program that process PID runs. */
static bool find_program(pid_t pid, struct stat *file)
{
    char path[64];

    (void)snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    return stat(path, file) == 0;
}

bool linux_is_fork(pid_t pid, pid_t of)
{
    char path[64];
    struct stat threads;
    struct stat its;
    struct stat ours;

    if (!find_program(of, &ours))
        return true; // the system does not tell
    (void)snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    // this folder has a link for each thread, and two more
    return stat(path, &threads) == 0 && threads.st_nlink <= 3 &&
           find_program(pid, &its) && its.st_dev == ours.st_dev &&
           its.st_ino == ours.st_ino;
}

bool linux_has_unread(int socket)
{
    int bytes = 0;

    return ioctl(socket, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

void linux_own_page(void *p)
{
    volatile char *byte = p;

    *byte = *byte;
}

size_t linux_waiting(int fd)
{
    int bytes = 0;

    return ioctl(fd, FIONREAD, &bytes) < 0 ? 0 : (size_t)bytes;
}

static int64_t clock_ms(clockid_t clock)
{
    struct timespec now;

    if (clock_gettime(clock, &now) < 0)
        return 0;
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t linux_now_ms(void)
{
    return clock_ms(CLOCK_MONOTONIC);
}

int64_t linux_ticks(int64_t ms)
{
    int64_t asleep = clock_ms(CLOCK_BOOTTIME) - linux_now_ms();

    return (ms + asleep) * sysconf(_SC_CLK_TCK) / 1000;
}

/* Writes TEXT to the file PATH, which exists. */
static bool write_file(const char *path, const char *text)
{
    size_t n = strlen(text);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool done;

    if (fd < 0)
        return false;
    done = write(fd, text, n) == (ssize_t)n;
    (void)close(fd); // the kernel has taken it or not
    return done;
}

void linux_offer_memory(void)
{
    static const char path[] = "/proc/self/oom_score_adj";
    char text[32] = "";
    int fd = open(path, O_RDWR | O_CLOEXEC);
    long score;
    int n;

    if (fd < 0)
        return;
    (void)!read(fd, text, sizeof text - 1); // else it counts as 0
    score = strtol(text, NULL, 10) + LIMIT_OOM_SCORE;
    n = snprintf(text, sizeof text, "%ld", score < 1000 ? score : 1000);
    (void)!write(fd, text, (size_t)n); // raising it is always allowed
    (void)close(fd);                   // the kernel has taken it or not
}

/* Whether OBJECT was relocated in segments that nobody can write now: those are
   no longer as they are in its file. */
static bool has_relocated_text(const struct dl_phdr_info *object)
{
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        const ElfW(Dyn) * entry;

        if (segment->p_type != PT_DYNAMIC)
            continue;
        entry = (const void *)(object->dlpi_addr + segment->p_vaddr);
        for (; entry->d_tag != DT_NULL; entry++)
            if (entry->d_tag == DT_TEXTREL ||
                (entry->d_tag == DT_FLAGS && entry->d_un.d_val & DF_TEXTREL))
                return true;
    }
    return false;
}

/* Lets the segments of a program or library go that nobody can write. */
static int let_go(struct dl_phdr_info *object, size_t size, void *page)
{
    const uintptr_t mask = *(const uintptr_t *)page - 1;

    (void)size;
    if (has_relocated_text(object))
        return 0;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + segment->p_vaddr;
        uintptr_t end = (start + segment->p_memsz) & ~mask;

        start = (start + mask) & ~mask;
        if (segment->p_type == PT_LOAD && !(segment->p_flags & PF_W) &&
            start < end) // refused, they stay
            (void)madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void linux_let_code_go(void)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

    (void)dl_iterate_phdr(let_go, &page);
}

void linux_go_ahead(void)
{
    const struct sched_param lowest = {1};

    // if refused, it competes with the others
    (void)sched_setscheduler(0, SCHED_FIFO, &lowest);
}

bool linux_go_behind(void)
{
    const struct sched_param none = {0};

    return sched_getscheduler(0) == SCHED_OTHER ||
           sched_setscheduler(0, SCHED_OTHER, &none) == 0;
}

bool linux_is_at_least(int major, int minor)
{
    struct utsname name;
    char *end;
    long is_major;
    long is_minor;

    if (uname(&name) < 0)
        return false;
    is_major = strtol(name.release, &end, 10);
    is_minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
    return is_major > major || (is_major == major && is_minor >= minor);
}

bool linux_enter_users(void)
{
    char users[64];
    char groups[64];

    (void)snprintf(users, sizeof users, "%u %u 1\n", geteuid(), geteuid());
    (void)snprintf(groups, sizeof groups, "%u %u 1\n", getegid(), getegid());
    return unshare(CLONE_NEWUSER) == 0 &&
           write_file("/proc/self/setgroups", "deny") &&
           write_file("/proc/self/uid_map", users) &&
           write_file("/proc/self/gid_map", groups) && linux_give_up_rights();
}

size_t linux_memory(pid_t pid)
{
    char path[64];
    char text[200];
    char *end;
    ssize_t n;
    int fd;

    (void)snprintf(path, sizeof path, "/proc/%d/statm", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    n = read(fd, text, sizeof text - 1);
    (void)close(fd); // was only read
    text[n > 0 ? n : 0] = '\0';
    (void)strtoul(text, &end, 10); // addresses
    size_t resident = strtoul(end, &end, 10);
    size_t shared = strtoul(end, &end, 10); // of files
    return resident > shared
               ? (resident - shared) * (size_t)sysconf(_SC_PAGESIZE)
               : 0;
}

/* Gives up all rights but those of KEPT, a capability; -1: all. */
static bool give_up_but(int kept)
{
    struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct left[_LINUX_CAPABILITY_U32S_3];
    bool plain = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
    unsigned long right = 0;

    // the next two need a right that only root has, and only root needs them
    while (prctl(PR_CAPBSET_DROP, right, 0, 0, 0) == 0)
        right++;
    (void)prctl(PR_SET_SECUREBITS, SECURE_ALL_BITS | SECURE_ALL_LOCKS, 0, 0, 0);
    (void)prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
    memset(left, 0, sizeof left);
    if (kept >= 0)
        left[CAP_TO_INDEX(kept)].effective =
            left[CAP_TO_INDEX(kept)].permitted = CAP_TO_MASK(kept);
    return syscall(SYS_capset, &head, left) == 0 && plain;
}

bool linux_give_up_rights(void)
{
    return give_up_but(-1);
}

bool linux_keep_mounting(void)
{
    return give_up_but(CAP_SYS_ADMIN);
}

void linux_hide(void)
{
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); // fails only for other values
}

void linux_close_from(int first)
{
    if (close_range((unsigned)first, ~0u, 0) == 0)
        return;
    // Linux before 5.9
    for (int fd = first, end = (int)sysconf(_SC_OPEN_MAX); fd < end; fd++)
        (void)close(fd);
}

bool linux_random(void *p, size_t n)
{
    return getrandom(p, n, 0) == (ssize_t)n;
}

int linux_landlock_version(void)
{
    long version = syscall(LANDLOCK_CREATE_RULESET, NULL, 0, LANDLOCK_VERSION);

    return version > 0 ? (int)version : 0;
}

bool linux_start(pthread_t *thread, void *run(void *), void *argument)
{
    pthread_attr_t attributes;
    sigset_t all;
    sigset_t before;
    bool done;

    if (pthread_attr_init(&attributes) != 0)
        return false;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before); // cannot fail
    done = pthread_attr_setstacksize(&attributes, THREAD_STACK) == 0 &&
           pthread_create(thread, &attributes, run, argument) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL); // cannot fail
    (void)pthread_attr_destroy(&attributes);
    return done;
}
