/* SPDX-License-Identifier: GPL-3.0-or-later */
/* syscall_filter.c: see syscall_filter.h. */
#include "image/syscall_filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "image/linux.h"
#include "image/syscall_arguments.h"
#include "image/syscall_table.h"

static bool load(const struct syscall_filter *filter)
{
    struct sock_fprog program = {(unsigned short)filter->program.n,
                                 filter->program.steps};

    // mitigations of the processor that make Lisp slow protect nothing here;
    // Linux before 4.17 has no such flag
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                   SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) == 0 ||
           (errno == EINVAL &&
            syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0);
}

/* Whether the system takes filters: of one that is nowhere in memory it says
   just that. To load one takes it 0.2 ms and more, and cannot be undone; an
   image that cannot load its own does not start. */
static bool are_taken(void)
{
    errno = 0;
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                SECCOMP_FILTER_FLAG_SPEC_ALLOW, NULL) < 0 &&
        errno == EINVAL)
        (void)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, NULL);
    return errno == EFAULT;
}

/* What a call of GROUP is answered. */
static int answer_of(const struct syscall_group *group,
                     const struct sandbox *sandbox)
{
    switch (group->answer) {
    case SYSCALL_RUNS:
        return 0;
    case SYSCALL_CHANGES:
        return sandbox->mode == SANDBOX_READ_ONLY ? EPERM : 0;
    case SYSCALL_NETWORK:
        return sandbox->network ? 0 : EPERM;
    case SYSCALL_REFUSED:
        break;
    }
    return EPERM;
}

/* The answer to one call. */
struct answer {
    uint32_t call;
    int error;
};

static int compare(const void *p, const void *q)
{
    const struct answer *a = p;
    const struct answer *b = q;

    return a->call < b->call ? -1 : a->call > b->call;
}

/* The answers of the table in the order of their numbers, one of which several
   calls may share; false without memory. The caller frees LIST. */
static bool list_answers(const struct sandbox *sandbox, struct answer **list,
                         size_t *n)
{
    size_t most = 1; // no table would be no answer

    *n = 0;
    for (size_t i = 0; i < syscall_groups_n; i++)
        most += syscall_groups[i].n;
    *list = calloc(most, sizeof **list);
    for (size_t i = 0; *list && i < syscall_groups_n; i++) {
        const struct syscall_group *group = &syscall_groups[i];

        for (size_t j = 0; j < group->n; j++)
            if (group->calls[j] >= 0) // this architecture has it
                (*list)[(*n)++] = (struct answer){(uint32_t)group->calls[j],
                                                  answer_of(group, sandbox)};
    }
    if (*list)
        qsort(*list, *n, sizeof **list, compare);
    return *list;
}

/* Begins a range of calls at FIRST, unless the one before is alike. */
static void add_range(struct filter_range *ranges, size_t *n, uint32_t first,
                      int error)
{
    if (*n > 0 && ranges[*n - 1].first == first)
        --*n; // it has no calls
    if (*n == 0 || ranges[*n - 1].error != error)
        ranges[(*n)++] = (struct filter_range){first, error};
}

/* Ends PROGRAM with the answers of the table; what has none does not exist. */
static void add_table(struct filter_program *program,
                      const struct sandbox *sandbox)
{
    struct answer *list;
    size_t n;
    bool listed = list_answers(sandbox, &list, &n);
    struct filter_range *ranges =
        listed ? calloc(2 * n + 1, sizeof *ranges) : NULL;
    size_t ranges_n = 0;

    program->failed = program->failed || !ranges;
    if (ranges) {
        add_range(ranges, &ranges_n, 0, ENOSYS);
        for (size_t i = 0; i < n; i++) {
            if (i > 0 && list[i].call == list[i - 1].call) {
                program->failed =
                    program->failed || list[i].error != list[i - 1].error;
                continue; // two names of one call
            }
            add_range(ranges, &ranges_n, list[i].call, list[i].error);
            add_range(ranges, &ranges_n, list[i].call + 1, ENOSYS);
        }
        program_answer_ranges(program, ranges, ranges_n);
    }
    free(ranges);
    free(list);
}

bool syscall_filter_prepare(const struct sandbox *sandbox, int landlock,
                            struct syscall_filter *out)
{
    struct filter_program *program = &out->program;

    program_init(program);
    syscall_arguments_add(program, sandbox, landlock);
    add_table(program, sandbox);
    out->signals = landlock < LINUX_LANDLOCK_SIGNALS;
    if (!program->failed && are_taken())
        return true;
    syscall_filter_release(out);
    return false;
}

/* Refuses signals to KEEPER and the processes of its group. */
static bool spare(pid_t keeper)
{
    const uint32_t targets[] = {(uint32_t)keeper, (uint32_t)-keeper};
    struct syscall_filter more;
    bool done;

    program_init(&more.program);
    syscall_arguments_refuse_signals(&more.program, targets, 2);
    program_answer(&more.program, 0);
    done = !more.program.failed && load(&more);
    syscall_filter_release(&more);
    return done;
}

bool syscall_filter_load(const struct syscall_filter *filter, pid_t keeper)
{
    if (filter->program.n == 0)
        return true;
    return (!filter->signals || spare(keeper)) && load(filter);
}

void syscall_filter_release(struct syscall_filter *filter)
{
    program_release(&filter->program);
    filter->signals = false;
}
