/* SPDX-License-Identifier: GPL-3.0-or-later */
/* linux.c: see linux.h. Where the system refuses something, the functions
   answer as if there were nothing to tell. */
#include "image/linux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <linux/sockios.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "image/names.h"

/* How the names of live images and of their sleeping copies begin. */
#define OUR_NAMES "ecl-mcp-"

/* Bytes of /proc/PID/environ that are read. */
#define ENVIRONMENT_MAX (256u * 1024)

/* Asks for the version of Landlock; not in the headers of older systems. */
enum { LANDLOCK_CREATE_RULESET = 444, LANDLOCK_VERSION = 1 };

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

void linux_mark_programs(void)
{
    char number[16];

    (void)snprintf(number, sizeof number, "%d", (int)getpid());
    (void)setenv(NAME_ENVIRONMENT, number, 1); // without it, orphans end later
}

bool linux_has_environment(pid_t pid, const char *name, const char *value)
{
    char path[64];
    char *text = malloc(ENVIRONMENT_MAX);
    size_t n = 0;
    size_t at = 0;
    bool found = false;
    ssize_t got = 1;
    size_t name_length = strlen(name);
    int fd;

    if (!text)
        return false;
    (void)snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        while (n < ENVIRONMENT_MAX - 1 &&
               (got = read(fd, text + n, ENVIRONMENT_MAX - 1 - n)) > 0)
            n += (size_t)got;
        (void)close(fd); // was only read
    }
    text[n] = '\0';
    while (at < n && !found) {
        const char *entry = text + at;

        found = strncmp(entry, name, name_length) == 0 &&
                entry[name_length] == '=' &&
                strcmp(entry + name_length + 1, value) == 0;
        at += strlen(entry) + 1;
    }
    free(text);
    return found;
}

void linux_set_name(const char *name)
{
    (void)prctl(PR_SET_NAME, name, 0, 0, 0); // fails only for a bad pointer
}

bool linux_has_name(pid_t pid, const char *name)
{
    char path[64];
    char text[32];
    ssize_t n = -1;
    int fd;

    (void)snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, text, sizeof text - 1);
        (void)close(fd); // was only read
    }
    if (n <= 0)
        return false;
    text[n - 1] = '\0'; // in place of the line end
    return strcmp(text, name) == 0;
}

/* Fields of /proc/PID/stat after the name, counted from 0. */
enum { STAT_STATE = 0, STAT_PARENT = 1, STAT_SESSION = 3, STAT_START = 19 };

/* What the system says of a process. */
struct process {
    pid_t pid;
    pid_t parent;
    pid_t session;
    int64_t start; /* in clock ticks since the system's start */
    bool image;    /* one of ours, or a copy of one */
    bool member;   /* of the family in question */
};

struct processes {
    struct process *list;
    size_t n;
    size_t size;
};

/* Field number FIELD of TEXT, which begins after the name; empty when TEXT has
   fewer. */
static const char *stat_field(const char *text, int field)
{
    for (; field > 0 && text; field--)
        text = strchr(text, ' ') ? strchr(text, ' ') + 1 : NULL;
    return text ? text : "";
}

/* Reads about process PID; false when it is gone, or a zombie. */
static bool read_process(pid_t pid, struct process *process)
{
    char path[64];
    char text[1024];
    const char *name;
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
    name = strchr(text, '(');
    fields = strrchr(text, ')'); // the name may contain anything
    if (!name || !fields || fields[1] == '\0')
        return false;
    fields += 2;
    process->pid = pid;
    process->parent = (pid_t)strtol(stat_field(fields, STAT_PARENT), NULL, 10);
    process->session =
        (pid_t)strtol(stat_field(fields, STAT_SESSION), NULL, 10);
    process->start = strtoll(stat_field(fields, STAT_START), NULL, 10);
    process->image = process->session == pid &&
                     strncmp(name, "(" OUR_NAMES, strlen("(" OUR_NAMES)) == 0;
    process->member = false;
    return strchr("ZX", stat_field(fields, STAT_STATE)[0]) == NULL;
}

bool linux_find(pid_t pid, pid_t *parent, int64_t *start)
{
    struct process process;

    if (!read_process(pid, &process))
        return false;
    *parent = process.parent;
    *start = process.start;
    return true;
}

/* Reads about all processes; about some, or none, without memory. */
static struct processes read_processes(void)
{
    struct processes all = {NULL, 0, 0};
    DIR *folder = opendir("/proc");
    const struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        char *end;
        pid_t pid = (pid_t)strtol(entry->d_name, &end, 10);

        if (pid <= 0 || *end != '\0')
            continue;
        if (all.n == all.size) {
            size_t size = all.size * 2 + 128;
            struct process *list = realloc(all.list, size * sizeof *all.list);

            if (!list)
                break; // the next round finds the others
            all.list = list;
            all.size = size;
        }
        if (read_process(pid, &all.list[all.n]))
            all.n++;
    }
    if (folder)
        (void)closedir(folder); // was only read
    return all;
}

static const struct process *find(const struct processes *all, pid_t pid)
{
    for (size_t i = 0; i < all->n; i++)
        if (all->list[i].pid == pid)
            return &all->list[i];
    return NULL;
}

/* Whether PROCESS belongs to image SID: by its session, by its parent, or by
   its environment when its parent is gone and we or a child of ours adopted it.
 */
static bool is_member(const struct processes *all,
                      const struct process *process, pid_t sid)
{
    const struct process *parent = find(all, process->parent);
    char number[16];

    if (process->session == sid)
        return true;
    if (process->image || !parent)
        return false;
    if (parent->member)
        return true;
    if (parent->pid != getpid() && parent->parent != getpid())
        return false;
    (void)snprintf(number, sizeof number, "%d", (int)sid);
    return linux_has_environment(process->pid, NAME_ENVIRONMENT, number);
}

/* Marks the members of the family of image SID. */
static void mark_members(struct processes *all, pid_t sid)
{
    bool more = true;

    while (more) {
        more = false;
        for (size_t i = 0; i < all->n; i++) {
            struct process *process = &all->list[i];

            if (process->member || !is_member(all, process, sid))
                continue;
            process->member = true;
            more = true;
        }
    }
}

bool linux_has_unread(int socket)
{
    int bytes = 0;

    return ioctl(socket, SIOCOUTQ, &bytes) == 0 && bytes > 0;
}

static int64_t clock_ms(clockid_t clock)
{
    struct timespec now;

    if (clock_gettime(clock, &now) < 0)
        return 0;
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* The monotonic time MS in clock ticks since the system's start, rounded down:
   a process that was started in the same tick counts as later. */
static int64_t ticks_at(int64_t ms)
{
    int64_t asleep = clock_ms(CLOCK_BOOTTIME) - clock_ms(CLOCK_MONOTONIC);

    return ms < 0 ? 0 : (ms + asleep) * sysconf(_SC_CLK_TCK) / 1000;
}

size_t linux_family(pid_t sid, int64_t since_ms, int signal)
{
    struct processes all = read_processes();
    int64_t start = ticks_at(since_ms);
    size_t n = 0;

    mark_members(&all, sid);
    for (size_t i = 0; i < all.n; i++) {
        const struct process *process = &all.list[i];

        if (!process->member || process->start < start ||
            (process->pid == sid && since_ms >= 0))
            continue;
        n++;
        if (signal != 0)
            (void)kill(process->pid, signal); // it may just have ended
    }
    free(all.list);
    return n;
}

size_t linux_memory(pid_t pid)
{
    char path[64];
    FILE *file;
    char *line = NULL;
    size_t size = 0;
    size_t kilobytes = 0;

    (void)snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    file = fopen(path, "re");
    if (!file)
        return 0;
    while (kilobytes == 0 && getline(&line, &size, file) > 0)
        if (strncmp(line, "Pss:", 4) == 0)
            kilobytes = strtoul(line + 4, NULL, 10);
    free(line);
    (void)fclose(file); // was only read
    return kilobytes * 1024;
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
