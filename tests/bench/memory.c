/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memory.c: see memory.h. */
#include "bench/memory.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The line "FIELD: N kB" of /proc/PID/FILE, in megabytes. */
static double field_of(pid_t pid, const char *file, const char *field)
{
    char path[64];
    char line[256];
    size_t n = strlen(field);
    double found = 0;
    FILE *stream;

    (void)snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    stream = fopen(path, "re");
    if (!stream)
        return 0;
    while (found == 0 && fgets(line, sizeof line, stream))
        if (strncmp(line, field, n) == 0 && line[n] == ':')
            found = strtod(line + n + 1, NULL) / 1024;
    (void)fclose(stream); // it was only read
    return found;
}

static pid_t parent_of(pid_t pid)
{
    char path[64];
    char line[512];
    const char *end;
    long parent = 0;
    FILE *stream;

    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    stream = fopen(path, "re");
    if (!stream)
        return 0;
    // "PID (NAME) STATE PARENT …", where NAME may hold anything
    if (fgets(line, sizeof line, stream) && (end = strrchr(line, ')')) &&
        strlen(end) > 4)
        parent = strtol(end + 4, NULL, 10);
    (void)fclose(stream); // it was only read
    return (pid_t)parent;
}

static bool descends(pid_t pid, pid_t ancestor)
{
    while (pid > 1) {
        pid = parent_of(pid);
        if (pid == ancestor)
            return true;
    }
    return false;
}

/* Calls VISIT with each descendant of ANCESTOR and TOTAL. */
static void each_below(pid_t ancestor, void (*visit)(pid_t pid, double *total),
                       double *total)
{
    DIR *folder = opendir("/proc");
    const struct dirent *entry;

    if (!folder)
        return;
    while ((entry = readdir(folder))) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);

        if (pid > 0 && descends(pid, ancestor))
            visit(pid, total);
    }
    (void)closedir(folder); // it was only read
}

static void add_pss(pid_t pid, double *total)
{
    *total += field_of(pid, "smaps_rollup", "Pss");
}

static void take_peak(pid_t pid, double *total)
{
    double peak = field_of(pid, "status", "VmHWM");

    if (peak > *total)
        *total = peak;
}

static void count(pid_t pid, double *total)
{
    (void)pid;
    *total += 1;
}

double memory_of(pid_t pid, const char *field)
{
    return field_of(pid, "status", field);
}

double memory_below(pid_t pid)
{
    double total = 0;

    each_below(pid, add_pss, &total);
    return total;
}

double memory_peak_below(pid_t pid)
{
    double total = 0;

    each_below(pid, take_peak, &total);
    return total;
}

double memory_processes(pid_t pid)
{
    double total = 0;

    each_below(pid, count, &total);
    return total;
}
