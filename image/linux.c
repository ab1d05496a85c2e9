/* SPDX-License-Identifier: GPL-3.0-or-later */
/* linux.c: see linux.h. Everything here degrades to "cannot tell" where the
   system refuses it. */
#include "linux.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <unistd.h>

/* Bytes of /proc/PID/environ that are looked at. */
#define ENVIRONMENT_MAX (256u * 1024)

void linux_adopt_orphans(void)
{
    // where it is refused, orphans go to init and end by their closed pipes
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void linux_signal_on_orphaned(int signal)
{
    // where it is refused, the end of the socket still ends an idle image
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

/* Whether process PID is in session SID and no zombie. */
static bool is_in_session(pid_t pid, pid_t sid)
{
    char path[64];
    char text[512];
    char *at;
    char state;
    long found;
    ssize_t n = -1;
    int fd;

    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        n = read(fd, text, sizeof text - 1);
        (void)close(fd); // was only read
    }
    if (n <= 0)
        return false;
    text[n] = '\0';
    at = strrchr(text, ')'); // the name may contain anything
    if (!at || at[1] == '\0' || at[2] == '\0')
        return false;
    state = at[2];
    (void)strtol(at + 3, &at, 10); // parent
    (void)strtol(at, &at, 10);     // process group
    found = strtol(at, &at, 10);
    return found == sid && state != 'Z' && state != 'X';
}

size_t linux_session(pid_t sid, int signal)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    size_t n = 0;

    if (!folder)
        return 0;
    while ((entry = readdir(folder))) {
        char *end;
        long pid = strtol(entry->d_name, &end, 10);

        if (pid <= 0 || *end != '\0' || !is_in_session((pid_t)pid, sid))
            continue;
        n++;
        if (signal != 0)
            (void)kill((pid_t)pid, signal); // it may just have ended
    }
    (void)closedir(folder); // was only read
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

bool linux_random(void *p, size_t n)
{
    return getrandom(p, n, 0) == (ssize_t)n;
}
