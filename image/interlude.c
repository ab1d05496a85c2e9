/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interlude.c: see interlude.h. */
#include "image/interlude.h"

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#define GC_THREADS /* declares what is for threads, too */
#include <gc/gc.h>

#include "base/limits.h"

/* Entries of each of Lisp's stacks that must be free; its own margins come on
   top. */
enum { ROOM = 4096, FRAMES_ROOM = 64 };

/* Entries at the end of Lisp's stack that only an interlude may use. ECL keeps
   two of its margins there, and needs the two that it has by itself. */
enum { RESERVE = ROOM, LISP_MARGIN = 128 };

/* The same for special variables that Lisp binds for the first time: more than
   all that starting a job, or taking it over, can bind. */
enum { VARIABLES_ROOM = 128, VARIABLES_TRIES = 16 * VARIABLES_ROOM };

/* Entries above the top of Lisp's stack that the interpreter may be writing:
   the values of a function, and some more. */
enum { IN_USE = 2 * ECL_MULTIPLE_VALUES_LIMIT };

/* In no header of ECL. The registers have the numbers that arithmetic works on;
   their digits are in memory that is never collected. */
extern void ecl_init_bignum_registers(cl_env_ptr env);
extern void ecl_clear_bignum_registers(cl_env_ptr env);

/* Special variables that can be bound for the first time before the table of
   their values grows, and is elsewhere. */
static cl_index free_variables(cl_env_ptr env)
{
#ifdef ECL_THREADS
    cl_index size = env->thread_local_bindings_size;
    cl_index used = cl_core.last_var_index;

    return size > used ? size - used : 0;
#else
    (void)env;
    return VARIABLES_ROOM; // there is no table
#endif
}

/* By binding what fills it. Variables that are garbage leave their places to
   others, so these are held. */
void interlude_make_room(cl_env_ptr env)
{
    cl_object held = ECL_NIL;

    for (int i = 0; i < VARIABLES_TRIES; i++) {
        if (free_variables(env) >= VARIABLES_ROOM)
            break;
        held = ecl_cons(cl_make_symbol(ecl_symbol_name(ECL_T)), held);
        ecl_bds_bind(env, ECL_CONS_CAR(held), held);
        ecl_bds_unwind1(env);
    }
}

void interlude_reserve_room(void)
{
    ecl_set_option(ECL_OPT_LISP_STACK_SAFETY_AREA, LISP_MARGIN + RESERVE / 2);
}

void interlude_restore_reserve(cl_env_ptr env)
{
    env->stack_limit = env->stack + env->stack_limit_size;
}

static bool stacks_have_room(cl_env_ptr env)
{
    volatile char here = 0;

    return (uintptr_t)&here >
               (uintptr_t)env->cs_limit + LIMIT_LISP_STACK_SAFETY &&
           env->stack_limit - env->stack_top > ROOM &&
           env->frs_limit - env->frs_top > FRAMES_ROOM &&
           env->bds_limit - env->bds_top > FRAMES_ROOM;
}

bool interlude_has_room(cl_env_ptr env)
{
    return stacks_have_room(env) && free_variables(env) >= VARIABLES_ROOM;
}

void interlude_begin(cl_env_ptr env, struct interlude *saved)
{
    saved->function = env->function;
    saved->stack_frame = env->stack_frame;
    saved->packages = env->packages_to_be_created;
    saved->packages_p = env->packages_to_be_created_p;
    saved->exit = env->nlj_fr;
    saved->frame = env->frs_top[1]; // may be about to be used
    saved->binding = env->bds_top[1];
    saved->nvalues = env->nvalues;
    memcpy(saved->values, env->values, sizeof saved->values);
    memcpy(saved->registers, env->big_register, sizeof saved->registers);
    saved->in_use = (struct ecl_stack_frame){.t = t_frame,
                                             .stack = env->stack,
                                             .base = env->stack_top,
                                             .size = IN_USE,
                                             .env = env};
    env->stack_top += IN_USE;
    saved->limit = env->stack_limit;
    env->stack_limit = env->stack + env->stack_size - 2 * LISP_MARGIN;
    ecl_init_bignum_registers(env);
}

void interlude_end(cl_env_ptr env, const struct interlude *saved)
{
    ecl_clear_bignum_registers(env);
    env->stack_top -= IN_USE;
    if (env->stack == saved->in_use.stack) // else it has grown
        env->stack_limit = saved->limit;
    memcpy(env->big_register, saved->registers, sizeof saved->registers);
    memcpy(env->values, saved->values, sizeof saved->values);
    env->nvalues = saved->nvalues;
    env->bds_top[1] = saved->binding;
    env->frs_top[1] = saved->frame;
    env->nlj_fr = saved->exit;
    env->packages_to_be_created_p = saved->packages_p;
    env->packages_to_be_created = saved->packages;
    env->stack_frame = saved->stack_frame;
    env->function = saved->function;
}

bool interlude_call(cl_env_ptr env, cl_object function)
{
    struct interlude saved;
    int disabled = env->disable_interrupts;

    if (!interlude_has_room(env))
        return false;
    env->disable_interrupts = 0; // first: an interrupt that waits comes here
    interlude_begin(env, &saved);
    (void)cl_funcall(1, function);
    interlude_end(env, &saved);
    env->disable_interrupts = disabled;
    return true;
}

/* While interrupts are off in C and one waits, ECL has made the environment
   read-only, so that whoever turns them on faults and takes it. Its handler
   would write there for the next one, with all signals blocked, faults as well:
   the system ends the process then. */
static void make_writable(cl_env_ptr env)
{
    // it begins a page of its own, unless ECL does not do that
    (void)mprotect(env, sizeof *env, PROT_READ | PROT_WRITE);
}

/* Handlers run with all signals blocked, until ECL's own has Lisp called. What
   is allocated before that may have to wait for the collector of another
   thread, which waits for this one to stop. */
static void let_collect(void)
{
    sigset_t stop;

    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, GC_get_suspend_signal());
    (void)pthread_sigmask(SIG_UNBLOCK, &stop, NULL); // cannot fail
}

void interlude_handle(const struct sigaction *handler, int signal,
                      siginfo_t *info, void *context)
{
    cl_env_ptr env = ecl_process_env_unsafe();
    struct interlude saved;

    if (!env || env->disable_interrupts != 0) { // it will wait in a list
        if (env)
            make_writable(env);
        handler->sa_sigaction(signal, info, context);
        return;
    }
    let_collect();
    interlude_begin(env, &saved);
    handler->sa_sigaction(signal, info, context);
    interlude_end(env, &saved);
}

/* ECL's own C, where it binds a special variable, has interrupts off for a
   single instruction, which writes to the environment. One that comes just then
   makes that read-only, and ECL ends the evaluation, as for a fault in C. So
   this instruction is executed as in a debugger, and then the environment is
   read-only again: the next one turns interrupts on, and has to notice. */
#ifdef __x86_64__

/* The flag of the processor that has it trap behind an instruction. */
enum { TRAP_FLAG = 0x100 };

static __thread volatile sig_atomic_t writing;

static void written(int signal, siginfo_t *info, void *context)
{
    cl_env_ptr env = ecl_process_env_unsafe();
    ucontext_t *user = context;

    if (!writing || info->si_code != TRAP_TRACE) {
        struct sigaction action = {.sa_handler = SIG_DFL};

        (void)sigaction(signal, &action, NULL);
        (void)raise(signal); // comes when this returns
        return;
    }
    writing = false;
    user->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
    if (env->disable_interrupts != 0)
        (void)mprotect(env, sizeof *env, PROT_READ);
}

void interlude_prepare(void)
{
    struct sigaction action = {.sa_sigaction = written, .sa_flags = SA_SIGINFO};

    (void)sigfillset(&action.sa_mask);
    (void)sigaction(SIGTRAP, &action, NULL);
}

bool interlude_lets_write(const void *address, void *context)
{
    cl_env_ptr env = ecl_process_env_unsafe();
    ucontext_t *user = context;
    uintptr_t at = (uintptr_t)address;

    if (!env || at < (uintptr_t)(&env->disable_interrupts + 1) ||
        at >= (uintptr_t)(env + 1) || env->disable_interrupts == 0)
        return false; // whether one waits or its list was full
    make_writable(env);
    writing = true;
    user->uc_mcontext.gregs[REG_EFL] |= TRAP_FLAG;
    return true;
}

#else

void interlude_prepare(void)
{
}

bool interlude_lets_write(const void *address, void *context)
{
    (void)address;
    (void)context;
    return false;
}

#endif
