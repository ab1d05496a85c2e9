/* SPDX-License-Identifier: GPL-3.0-or-later */
/* syscall_filter.c: see syscall_filter.h. */
#include "image/syscall_filter.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
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

/* In a thread of its own. */
static void *try_to_load(void *filter)
{
    bool done = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && load(filter);

    return done ? filter : NULL;
}

/* Whether the system takes FILTER. A thread tries, and ends with it: a process
   would cost a copy of all that this one has. */
static bool is_taken(struct syscall_filter *filter)
{
    pthread_t thread;
    void *taken = NULL;

    return linux_start(&thread, try_to_load, filter) &&
           pthread_join(thread, &taken) == 0 && taken;
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

bool syscall_filter_prepare(const struct sandbox *sandbox, int landlock,
                            struct syscall_filter *out)
{
    struct filter_program *program = &out->program;

    program_init(program);
    syscall_arguments_add(program, sandbox, landlock);
    for (size_t i = 0; i < syscall_groups_n; i++) {
        const struct syscall_group *group = &syscall_groups[i];

        for (size_t j = 0; j < group->n; j++)
            program_answer_call(program, group->calls[j],
                                answer_of(group, sandbox));
    }
    program_answer(program, ENOSYS);
    out->signals = landlock < LINUX_LANDLOCK_SIGNALS;
    if (!program->failed && is_taken(out))
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
