/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fault.c: see fault.h. ECL's own handler signals the condition, and so it does
   still: ours only notes what the system says, before. */
#include "image/fault.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#define GC_THREADS
#include <gc/gc.h>

#include <ecl/ecl.h>

#include "base/limits.h"
#include "image/interlude.h"

/* Bytes of the line, and of the name of a place in code in it. */
enum { LINE = 512, NAME = 200 };

/* Bytes of the stack that a handler has at least used when the next one is
   called, and how many faults may come within each other. */
enum { WITHIN = 1024, MOST_WITHIN = 4 };

/* SIGSEGV and SIGBUS: what ECL does about them. */
static struct sigaction lisp_violation;
static struct sigaction lisp_bus_error;

/* The last fault. */
static struct {
    volatile sig_atomic_t known;
    pthread_t thread;
    uintptr_t stack; /* where its handler had it */
    unsigned within; /* how many faults before it were being handled */
    uintptr_t address;
    uintptr_t code;   /* where the code was that did it, */
    uintptr_t caller; /* and, if that is no code, what has called it; or 0 */
    int reason;       /* si_code */
    enum { READ, WRITTEN, RUN, USED } access;
} fault;

/* The environment of a thread is made read-only to find out when an interrupt
   can be taken: that is no fault. */
static bool is_environment(const void *address)
{
    uintptr_t env = (uintptr_t)ecl_process_env_unsafe();
    uintptr_t at = (uintptr_t)address;

    return env != 0 && at >= env && at < env + sizeof(struct cl_env_struct);
}

/* What was done to the address, and by what code. */
static void note_code(const ucontext_t *user)
{
#if defined __x86_64__
    enum { WRITES = 2, FETCHES = 16 }; // bits of the processor's error code
    greg_t error = user->uc_mcontext.gregs[REG_ERR];
    uintptr_t stack = (uintptr_t)user->uc_mcontext.gregs[REG_RSP];
    cl_env_ptr env = ecl_process_env_unsafe();

    fault.code = (uintptr_t)user->uc_mcontext.gregs[REG_RIP];
    fault.access = error & FETCHES ? RUN : error & WRITES ? WRITTEN : READ;
    // a call of what is no code has just left there where it came from
    if (fault.access == RUN && env && stack % sizeof stack == 0 &&
        stack > (uintptr_t)&error && stack < (uintptr_t)env->cs_org)
        memcpy(&fault.caller, (const void *)stack, sizeof fault.caller);
#elif defined __aarch64__
    fault.code = (uintptr_t)user->uc_mcontext.pc;
    fault.caller = (uintptr_t)user->uc_mcontext.regs[30];
    fault.access = fault.code == fault.address ? RUN : USED;
#else
    (void)user;
    fault.code = 0;
    fault.access = USED;
#endif
}

/* Whether the handler, whose stack is at STACK, was called while that of the
   last fault has not returned, which it need not do, as far as can be told. */
static bool is_within(uintptr_t stack)
{
    return fault.known && pthread_equal(fault.thread, pthread_self()) &&
           stack + WITHIN < fault.stack;
}

/* ECL takes a second fault at an address, NULL for example, for one in a
   handler of the first, however much later it comes, and leaves the evaluation.
   Unless it is one: makes ECL forget the address, if it will signal a condition
   now. */
static void forget_address(void)
{
    cl_env_ptr env = ecl_process_env_unsafe();

    if (env && fault.within <= MOST_WITHIN && env->disable_interrupts == 0 &&
        ECL_SYM_VAL(env, ECL_INTERRUPTS_ENABLED) != ECL_NIL)
        env->fault_address = env;
}

static void note(int signal, siginfo_t *info, void *context)
{
    const struct sigaction *lisp =
        signal == SIGBUS ? &lisp_bus_error : &lisp_violation;
    uintptr_t stack = (uintptr_t)&lisp;

    if (interlude_lets_write(info->si_addr, context))
        return;
    if (!is_environment(info->si_addr)) {
        fault.within = is_within(stack) ? fault.within + 1 : 0;
        forget_address();
        fault.known = false;
        fault.thread = pthread_self();
        fault.stack = stack;
        fault.address = (uintptr_t)info->si_addr;
        fault.reason = info->si_code;
        fault.caller = 0;
        note_code(context);
        fault.known = true;
    }
    lisp->sa_sigaction(signal, info, context);
}

/* Writes to TEXT the function that has the code at ADDRESS. False: none has. */
static bool name_code(uintptr_t address, char text[NAME])
{
    const char *file;
    const char *slash;
    Dl_info found;

    if (address == 0 || dladdr((const void *)address, &found) == 0 ||
        !found.dli_fname)
        return false;
    slash = strrchr(found.dli_fname, '/');
    file = slash ? slash + 1 : found.dli_fname;
    if (found.dli_sname)
        (void)snprintf(text, NAME, "%.80s+0x%" PRIxPTR " in %.80s",
                       found.dli_sname, address - (uintptr_t)found.dli_saddr,
                       file);
    else
        (void)snprintf(text, NAME, "%.80s+0x%" PRIxPTR, file,
                       address - (uintptr_t)found.dli_fbase);
    return true;
}

/* What is at the address. */
static const char *place(void)
{
    cl_env_ptr env = ecl_process_env();
    uintptr_t top = (uintptr_t)env->cs_org;
    uintptr_t size = env->cs_size + LIMIT_LISP_STACK_SAFETY;
    char text[NAME];

    if (fault.address <= top && fault.address >= top - size)
        return "the C stack, or what guards it";
    if (GC_is_heap_ptr((void *)fault.address))
        return "the heap";
    if (name_code(fault.address, text))
        return "code or its data";
    return fault.reason == SEGV_MAPERR ? "nothing" : "memory of another kind";
}

static void describe(char line[LINE])
{
    static const char *const verbs[] = {[READ] = "read",
                                        [WRITTEN] = "written",
                                        [RUN] = "called",
                                        [USED] = "used"};
    uintptr_t by = fault.caller != 0 ? fault.caller : fault.code;
    char code[NAME];

    if (fault.reason <= 0) { // SI_USER and others
        (void)snprintf(line, LINE,
                       "Another process, or kill, sent the signal.");
        return;
    }
    if (!name_code(by, code))
        (void)snprintf(code, sizeof code, "what is no code, at 0x%" PRIxPTR,
                       by);
    if (fault.reason == SI_KERNEL) // the system does not tell it
        (void)snprintf(line, LINE, "No possible address was used by %s.", code);
    else
        (void)snprintf(line, LINE, "Address 0x%" PRIxPTR " (%s) was %s by %s.",
                       fault.address, place(), verbs[fault.access], code);
}

/* LAST-FAULT */
static cl_object last_fault(void)
{
    cl_env_ptr env = ecl_process_env();
    char line[LINE];

    if (!fault.known || !pthread_equal(fault.thread, pthread_self()))
        ecl_return1(env, ECL_NIL);
    describe(line);
    ecl_return1(env, ecl_make_simple_base_string(line, -1));
}

void fault_forget(void)
{
    fault.known = false;
}

/* Has NOTE called first for SIGNAL, which ECL handles as *LISP says. */
static void watch(int signal, struct sigaction *lisp)
{
    struct sigaction action;

    if (sigaction(signal, NULL, lisp) < 0 || !(lisp->sa_flags & SA_SIGINFO))
        return; // ECL leaves it to the system
    action = *lisp;
    action.sa_sigaction = note;
    (void)sigaction(signal, &action, NULL);
}

void fault_begin(void)
{
    interlude_prepare();
    watch(SIGSEGV, &lisp_violation);
    watch(SIGBUS, &lisp_bus_error);
    ecl_def_c_function(ecl_make_symbol("LAST-FAULT", "ECL-MCP"),
                       (cl_objectfn_fixed)last_fault, 0);
}
