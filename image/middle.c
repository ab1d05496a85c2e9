/* SPDX-License-Identifier: GPL-3.0-or-later */
/* middle.c: see middle.h. */
#include "image/middle.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include <ecl/ecl.h>

#include "image/heap.h"
#include "image/interlude.h"
#include "image/slot.h"

/* Milliseconds after which it is looked again: a tick of the system's clock. */
enum { TICK_MS = 4 };

static struct middle {
    middle_work *work;
    uintptr_t start; /* of the interpreter's code; 0: it was not found */
    uintptr_t end;
    pthread_t thread;
    pid_t process; /* whose timer it is */
    timer_t timer;
    volatile sig_atomic_t watching;
    volatile sig_atomic_t call; /* the interpreter calls one now: SI_TKILL */
    volatile sig_atomic_t due;  /* a tick is, at the next call */
} middle;

typedef cl_object call_any(cl_narg n, cl_objectfn f, cl_object *x);
typedef cl_object call_fixed(cl_narg n, cl_objectfn_fixed f, cl_object *x);
typedef cl_object call_frame(cl_object f, cl_object o);

/* What the interpreter calls for functions that are not interpreted: ECL's own
   functions, or in their places, while a tick is due, those that make up for it
   first. */
struct calls {
    call_any *any;
    call_fixed *fixed;
    call_frame *frame;
    call_frame *generic;
};

static struct calls originals;

/* What the functions of the same names in this program jump to. */
static struct calls calls;

/* Where the interpreter finds what it calls: the entries of its library's table
   of symbols, so that no call takes longer while no tick is due. If they are
   not found, it finds the functions of this program. */
static struct places {
    call_any **any;
    call_fixed **fixed;
    call_frame **frame;
    call_frame **generic;
} places = {&calls.any, &calls.fixed, &calls.frame, &calls.generic};

/* The signal of the timer: SIGRTMAX says that an image is an orphan. */
static int timer_signal(void)
{
    return SIGRTMAX - 1;
}

/* Where the code that CONTEXT describes was interrupted; 0: unknown. */
static uintptr_t interrupted_at(const void *context)
{
    const ucontext_t *user = context;

#if defined __x86_64__
    return (uintptr_t)user->uc_mcontext.gregs[REG_RIP];
#elif defined __aarch64__
    return (uintptr_t)user->uc_mcontext.pc;
#else
    (void)user;
    return 0;
#endif
}

static bool is_interpreting(const void *context)
{
    uintptr_t at = interrupted_at(context);

    return at >= middle.start && at < middle.end;
}

/* Whether Lisp takes interrupts: neither it nor C has them off. Behind those
   that wait while it had them off, it takes them first: a tick would find them,
   and what they mean would leave the handler, with the mask that it has. */
static bool takes_interrupts(cl_env_ptr env)
{
    return env->disable_interrupts == 0 &&
           ECL_SYM_VAL(env, ECL_INTERRUPTS_ENABLED) != ECL_NIL &&
           env->interrupt_struct->pending_interrupt == ECL_NIL;
}

static void work_now(cl_env_ptr env)
{
    struct interlude saved;
    bool more;

    interlude_begin(env, &saved);
    more = middle.work();
    interlude_end(env, &saved);
    if (!more)
        middle_stop();
}

#define FROM() __builtin_return_address(0)

static void tick_at_call(const void *from);

static cl_object late_any(cl_narg n, cl_objectfn function, cl_object *arguments)
{
    tick_at_call(FROM());
    return originals.any(n, function, arguments);
}

static cl_object late_fixed(cl_narg n, cl_objectfn_fixed function,
                            cl_object *arguments)
{
    tick_at_call(FROM());
    return originals.fixed(n, function, arguments);
}

static cl_object late_frame(cl_object frame, cl_object function)
{
    tick_at_call(FROM());
    return originals.frame(frame, function);
}

static cl_object late_generic(cl_object frame, cl_object function)
{
    tick_at_call(FROM());
    return originals.generic(frame, function);
}

static const struct calls late = {late_any, late_fixed, late_frame,
                                  late_generic};

/* A tick is due, or no longer. Other threads may see a mixed table; each of its
   functions does what ECL's does. What has not changed is not written: copies
   of the process share the page. */
static void set_due(bool due)
{
    const struct calls *now = due ? &late : &originals;

    if (middle.due == due)
        return;
    __atomic_store_n(places.any, now->any, __ATOMIC_RELAXED);
    __atomic_store_n(places.fixed, now->fixed, __ATOMIC_RELAXED);
    __atomic_store_n(places.frame, now->frame, __ATOMIC_RELAXED);
    __atomic_store_n(places.generic, now->generic, __ATOMIC_RELAXED);
    middle.due = due; // last: a tick in between may be lost, but nothing stays
}

static void tick(int signal, siginfo_t *info, void *context)
{
    int error = errno;
    // a stop may leave raise(3), and code may block the signal: neither counts
    bool asked = info->si_code == SI_TKILL && middle.call;

    (void)signal;
    middle.call = false;
    if (middle.watching && pthread_equal(pthread_self(), middle.thread)) {
        cl_env_ptr env = ecl_process_env();
        bool here = asked || is_interpreting(context);

        set_due(!here);
        if (here && takes_interrupts(env) && interlude_has_room(env))
            work_now(env);
    }
    errno = error;
}

/* A tick is due, and something is called from FROM: makes up for it if that is
   the code of the interpreter. Copies of the process have no timer. */
static __attribute__((noinline)) void tick_at_call(const void *from)
{
    uintptr_t at = (uintptr_t)from;

    if (at < middle.start || at >= middle.end ||
        !pthread_equal(pthread_self(), middle.thread))
        return;
    set_due(false);
    if (middle.process != getpid())
        return;
    middle.call = true;
    (void)raise(timer_signal()); // unless it is blocked, it is handled here
    middle.call = false;
}

/* Where the places were not found, these are called a million times in a
   second, and only jump: they have no frame, and what they jump to returns to
   where they were called from. */
#ifdef __clang__
#define JUMP
#else
#define JUMP __attribute__((optimize("O2")))
#endif

JUMP cl_object APPLY(cl_narg n, cl_objectfn f, cl_object *x)
{
    return calls.any(n, f, x);
}

JUMP cl_object APPLY_fixed(cl_narg n, cl_objectfn_fixed f, cl_object *x)
{
    return calls.fixed(n, f, x);
}

JUMP cl_object ecl_apply_from_stack_frame(cl_object f, cl_object o)
{
    return calls.frame(f, o);
}

JUMP cl_object _ecl_standard_dispatch(cl_object frame, cl_object fun)
{
    return calls.generic(frame, fun);
}

/* Stores in *FUNCTION the library's definition of NAME; if it has none, nobody
   calls ours either. Stores in *PLACE where the library finds it, if it can be
   told, and there the function itself, not ours. */
static void find_original(void *function, void *place, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    void **slot = slot_find(found);

    memcpy(function, &found, sizeof found);
    if (!slot)
        return;
    *slot = found;
    memcpy(place, &slot, sizeof slot);
}

__attribute__((constructor)) static void find_originals(void)
{
    find_original(&originals.any, &places.any, "APPLY");
    find_original(&originals.fixed, &places.fixed, "APPLY_fixed");
    find_original(&originals.frame, &places.frame,
                  "ecl_apply_from_stack_frame");
    find_original(&originals.generic, &places.generic,
                  "_ecl_standard_dispatch");
    calls = originals;
}

/* Finds the code of the interpreter. */
static void find_interpreter(void)
{
    void *code = dlsym(RTLD_DEFAULT, "ecl_interpret");
    void *symbol = NULL;
    Dl_info found;

    if (!code || dladdr1(code, &found, &symbol, RTLD_DL_SYMENT) == 0 || !symbol)
        return;
    middle.start = (uintptr_t)found.dli_saddr;
    middle.end = middle.start + ((const ElfW(Sym) *)symbol)->st_size;
}

void middle_prepare(middle_work *work)
{
    struct sigaction action = {.sa_sigaction = tick,
                               .sa_flags = SA_SIGINFO | SA_RESTART};

    middle.work = work;
    middle.thread = pthread_self();
    find_interpreter();
    (void)sigemptyset(&action.sa_mask);
    (void)sigaddset(&action.sa_mask, SIGINT); // no stop in the middle of this
    (void)sigaddset(&action.sa_mask, HEAP_LATE_SIGNAL);
    (void)sigaction(timer_signal(), &action, NULL);
}

/* Timers do not survive fork(2): makes one for this process. */
static bool make_timer(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL,
                             .sigev_signo = timer_signal()};

    if (middle.process == getpid())
        return true;
    middle.watching = false;
    if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &middle.timer) < 0)
        return false;
    middle.process = getpid();
    return true;
}

void middle_watch(int64_t ms)
{
    struct itimerspec when = {.it_value = {ms / 1000, ms % 1000 * 1000 * 1000},
                              .it_interval = {0, TICK_MS * 1000 * 1000}};

    if (when.it_value.tv_sec == 0 && when.it_value.tv_nsec == 0)
        when.it_value = when.it_interval;
    if (middle.start == 0 || !make_timer() || middle.watching)
        return;
    interlude_make_room(ecl_process_env());
    middle.watching = timer_settime(middle.timer, 0, &when, NULL) == 0;
}

void middle_stop(void)
{
    const struct itimerspec never = {.it_interval = {0, 0}};

    if (!middle.watching || middle.process != getpid())
        return;
    middle.watching = false;
    set_due(false);
    (void)timer_settime(middle.timer, 0, &never, NULL); // it exists
}
