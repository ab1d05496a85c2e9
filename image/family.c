/* SPDX-License-Identifier: GPL-3.0-or-later */
/* family.c: see family.h. A process is asked for its children where the system
   tells (CONFIG_PROC_CHILDREN), which costs as much as the family is large;
   elsewhere all processes are examined. */
#include "image/family.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "image/linux.h"

/* Rounds of stopping: one that finds nobody new is the last. */
#define STOP_ROUNDS 64

/* Milliseconds in which they end: a look at a large family may take long where
   the machine is busy. */
#define STOP_MS 2000

/* Groups that a walk remembers, to stop each once: to stop a group of all for
   each of its members would cost the square of their number. */
#define STOPPED_GROUPS 16

/* Parents that are looked at for one process: evaluated code that forks may put
   some between it and the keeper, and they may end meanwhile. */
#define PARENTS 64

/* Looks, a millisecond apart, that must all find a family empty. */
#define HEAD_LOOKS 3

/* A family so many times as large as it may be is crowded, even if most of it
   should have ended. */
#define SURELY 4

static bool add(struct family *family, struct family_member member)
{
    if (family->n == family->size) {
        size_t size = family->size * 2 + 32;
        struct family_member *list =
            realloc(family->list, size * sizeof *family->list);

        if (!list)
            return false; // the next round finds the others
        family->list = list;
        family->size = size;
    }
    family->list[family->n++] = member;
    return true;
}

void family_release(struct family *family)
{
    free(family->list);
    *family = (struct family){NULL, 0, 0};
}

/* --- Asking for children ------------------------------------------------ */

/* Adds the children that thread THREAD of process PARENT has. False when the
   system does not tell. */
static bool add_children_of(struct family *family, pid_t parent, long thread)
{
    char text[4096];
    pid_t pid = 0;
    ssize_t n;
    int fd;

    (void)snprintf(text, sizeof text, "/proc/%d/task/%ld/children", (int)parent,
                   thread);
    fd = open(text, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    // numbers, each with a space after it
    while ((n = read(fd, text, sizeof text)) > 0)
        for (ssize_t i = 0; i < n; i++) {
            if (text[i] >= '0' && text[i] <= '9') {
                pid = pid * 10 + (text[i] - '0');
                continue;
            }
            if (pid > 0)
                (void)add(family,
                          (struct family_member){.pid = pid, .parent = parent});
            pid = 0;
        }
    (void)close(fd); // was only read
    return true;
}

/* Adds the children of process PARENT, whichever thread started them. */
static bool add_children(struct family *family, pid_t parent)
{
    char path[64];
    struct stat threads;
    const struct dirent *entry;
    DIR *folder;

    (void)snprintf(path, sizeof path, "/proc/%d/task", (int)parent);
    // this folder has a link for each thread, and two more
    if (stat(path, &threads) == 0 && threads.st_nlink <= 3)
        return add_children_of(family, parent, parent);
    folder = opendir(path);
    if (!folder)
        return false;
    while ((entry = readdir(folder)))
        if (entry->d_name[0] != '.')
            (void)add_children_of(family, parent,
                                  strtol(entry->d_name, NULL, 10));
    (void)closedir(folder); // was only read
    return true;
}

/* --- Examining all processes -------------------------------------------- */

/* All processes of the system, with their parents. */
static struct family read_all(void)
{
    struct family all = {NULL, 0, 0};
    DIR *folder = opendir("/proc");
    const struct dirent *entry;
    int64_t start;

    while (folder && (entry = readdir(folder))) {
        struct family_member process = {0};
        char *end;

        process.pid = (pid_t)strtol(entry->d_name, &end, 10);
        if (process.pid > 0 && *end == '\0' &&
            linux_find(process.pid, &process.parent, &start))
            (void)add(&all, process);
    }
    if (folder)
        (void)closedir(folder); // was only read
    return all;
}

static int by_parent(const void *a, const void *b)
{
    const struct family_member *one = a;
    const struct family_member *two = b;

    return (one->parent > two->parent) - (one->parent < two->parent);
}

/* Adds the children of process PARENT, of ALL that are in order. */
static void pick_children(struct family *family, const struct family *all,
                          pid_t parent)
{
    size_t from = 0;
    size_t to = all->n;

    while (from < to) {
        size_t middle = from + (to - from) / 2;

        if (all->list[middle].parent < parent)
            from = middle + 1;
        else
            to = middle;
    }
    for (; from < all->n && all->list[from].parent == parent; from++)
        (void)add(family, all->list[from]);
}

/* --- The family --------------------------------------------------------- */

static bool is_one_of(pid_t pid, const struct family_spared *spared)
{
    for (size_t i = 0; spared && i < spared->n; i++)
        if (spared->pids[i] == pid)
            return true;
    return false;
}

/* What a walk through a family does on its way. */
struct walk {
    const struct family_spared *spared;
    size_t most;                  /* ends after so many */
    bool stops;                   /* all but spared ones */
    pid_t groups[STOPPED_GROUPS]; /* that it has stopped last */
    size_t groups_n;              /* in all */
};

static bool is_spared(const struct family_member *member,
                      const struct family_spared *spared)
{
    return member->spared || (spared && member->below);
}

/* Whether the family has made GROUP, in which process PID of it is: it has made
   the session, or its member leads the group, or the image that SPARED tells of
   did. Code can join other groups of the session that it shares with us. */
static bool is_ours(const struct family *family,
                    const struct family_spared *spared, pid_t pid, pid_t group)
{
    if (group <= 1 || group == getpgrp())
        return false;
    if (getsid(pid) != getsid(0) || (spared && group == spared->group))
        return true;
    for (size_t i = 0; i < family->n; i++)
        if (family->list[i].pid == group)
            return true;
    return false;
}

/* Whether WALK has just stopped GROUP; from now on it has. */
static bool has_stopped(struct walk *walk, pid_t group)
{
    for (size_t i = 0; i < walk->groups_n && i < STOPPED_GROUPS; i++)
        if (walk->groups[i] == group)
            return true;
    walk->groups[walk->groups_n++ % STOPPED_GROUPS] = group;
    return false;
}

/* Stops MEMBER and its whole group. */
static void stop_member(const struct family *family, struct walk *walk,
                        const struct family_member *member)
{
    pid_t group = getpgid(member->pid);

    if (is_ours(family, walk->spared, member->pid, group) &&
        !has_stopped(walk, group))
        (void)kill(-group, SIGSTOP); // it may just have ended
    (void)kill(member->pid, SIGSTOP);
}

/* The members from FIRST on are new; BELOW: they descend from the image that
   stays. They are stopped at once: against a fork bomb no time must be lost. */
static void meet(struct family *family, struct walk *walk, size_t first,
                 bool below)
{
    for (; first < family->n; first++) {
        struct family_member *member = &family->list[first];

        member->below = below;
        member->spared = is_one_of(member->pid, walk->spared);
        if (walk->stops && !is_spared(member, walk->spared))
            stop_member(family, walk, member);
    }
}

static void go(struct family *family, pid_t root, struct walk *walk)
{
    struct family all = {NULL, 0, 0};

    family->n = 0;
    if (!add_children(family, root)) {
        all = read_all();
        if (all.n > 0)
            qsort(all.list, all.n, sizeof *all.list, by_parent);
        pick_children(family, &all, root);
    }
    meet(family, walk, 0, false);
    for (size_t next = 0; next < family->n && family->n <= walk->most; next++) {
        pid_t pid = family->list[next].pid;
        bool below = family->list[next].below ||
                     (walk->spared && walk->spared->image == pid);
        size_t first = family->n;

        if (all.n > 0)
            pick_children(family, &all, pid);
        else
            (void)add_children(family, pid); // it may just have ended
        meet(family, walk, first, below);
    }
    family_release(&all);
}

void family_find(struct family *family, pid_t root,
                 const struct family_spared *spared)
{
    struct walk walk = {.spared = spared, .most = SIZE_MAX};

    go(family, root, &walk);
}

bool family_descends(pid_t pid, pid_t root)
{
    pid_t at = pid;
    int64_t start;

    if (root <= 0)
        return false; // there is no such process
    for (int looks = 0; looks < PARENTS; looks++) {
        pid_t child = at;

        if (!linux_find(child, &at, &start)) {
            if (child == pid)
                return false;
            at = pid; // its parent has just ended: it has another one now
        } else if (at == root) {
            return true;
        } else if (at <= 1) {
            return false;
        }
    }
    return false;
}

bool family_is_crowded(pid_t root, const struct family_spared *spared,
                       size_t most, size_t *n)
{
    size_t spared_n = spared ? spared->n : 0;
    struct walk walk = {.spared = spared, .most = SURELY * most + spared_n};
    struct family family = {NULL, 0, 0};
    size_t living = 0;
    bool crowded;
    pid_t parent;
    int64_t start;

    *n = 0;
    go(&family, root, &walk);
    for (size_t i = 0; i < family.n; i++)
        if (!family.list[i].spared)
            ++*n;
    crowded = *n > SURELY * most;
    // looking at each costs more, and only matters now
    for (size_t i = 0; *n > most && !crowded && i < family.n; i++)
        if (!family.list[i].spared &&
            linux_find(family.list[i].pid, &parent, &start))
            crowded = ++living > most;
    family_release(&family);
    return crowded;
}

/* Stops all but SPARED ones that one walk finds. Returns another number when
   these are others. */
static uint64_t stop_once(pid_t root, const struct family_spared *spared)
{
    struct walk walk = {.spared = spared, .most = SIZE_MAX, .stops = true};
    struct family family = {NULL, 0, 0};
    uint64_t sum;

    go(&family, root, &walk);
    sum = family.n;
    for (size_t i = 0; i < family.n; i++)
        sum = sum * 31 + (uint64_t)family.list[i].pid;
    family_release(&family);
    return sum;
}

void family_stop(pid_t root, const struct family_spared *spared)
{
    const int64_t end = linux_now_ms() + STOP_MS;
    uint64_t before = 0;
    uint64_t sum = 1;

    for (int round = 0; round < STOP_ROUNDS && sum != before &&
                        (round == 0 || linux_now_ms() < end);
         round++) {
        before = sum;
        sum = stop_once(root, spared);
    }
}

size_t family_kill(pid_t root, const struct family_spared *spared,
                   uint64_t *who)
{
    struct family family = {NULL, 0, 0};
    size_t n = 0;

    *who = 0;
    family_stop(root, spared);
    // found first, then killed: who has ended has no children to find
    family_find(&family, root, spared);
    for (size_t i = 0; i < family.n; i++)
        if (!is_spared(&family.list[i], spared)) {
            (void)kill(family.list[i].pid, SIGKILL); // it may have ended
            // in any order
            *who += (uint64_t)family.list[i].pid * 0x9e3779b97f4a7c15u;
            n++;
        }
    family_release(&family);
    return n;
}

/* Whether somebody of the family of ROOT is left. */
static bool has_family(pid_t root)
{
    struct family family = {NULL, 0, 0};
    bool left = false;
    pid_t parent;
    int64_t start;

    family_find(&family, root, NULL);
    for (size_t i = 0; i < family.n && !left; i++)
        left = linux_find(family.list[i].pid, &parent, &start);
    family_release(&family);
    return left;
}

void family_end_head(pid_t head)
{
    bool left = false;

    // one look may miss those who have just changed parents
    for (int look = 0; look < HEAD_LOOKS && !left; look++) {
        left = has_family(head);
        if (!left)
            (void)usleep(1000);
    }
    (void)kill(head, left ? SIGCONT : SIGKILL); // it may just have ended
}

void family_continue(pid_t root, const struct family_spared *spared)
{
    struct family family = {NULL, 0, 0};

    family_find(&family, root, spared);
    for (size_t i = 0; i < family.n; i++)
        if (family.list[i].spared)
            (void)kill(family.list[i].pid, SIGCONT); // it may have ended
    family_release(&family);
}
