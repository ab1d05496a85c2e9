/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collector.c: interrupts are off while a thread is in the collector. ECL sees
   to that where it allocates, but not where it gives something back, has
   finalizers run, or uses a weak table: an interrupt that came there had Lisp
   wait for the collector's lock, which this thread has, for ever. These
   definitions in the program take the place of those in the library, which ECL
   calls through its table of symbols. A library that does not would only be as
   it was before. */
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/types.h>
#include <unistd.h>

#define GC_THREADS /* declares what is for threads, too */
#include <gc/gc.h>

#include <ecl/ecl.h>

typedef void register_any(void *, GC_finalization_proc, void *,
                          GC_finalization_proc *, void **);

/* What the collector calls for an object, and with what. */
struct finalizer {
    GC_finalization_proc function;
    void *data;
};

static struct {
    void (*free)(void *);
    void *(*call)(GC_fn_type, void *);
    register_any *finalize;
    register_any *finalize_last;
    int (*link)(void **, const void *);
    int (*unlink)(void **);
    int (*invoke)(void);
    pid_t (*fork)(void);
} originals;

/* The functions of ECL that the collector calls for finalizers, and those in
   their places. The finalizers themselves are Lisp, and take interrupts. */
enum { FUNCTIONS = 2 };

static GC_finalization_proc functions[FUNCTIONS];

/* Finalizers are called in this thread, with interrupts off in between. */
static __thread bool invoking;

/* When a finalizer has been called, ECL looks at the type of OBJECT, to close a
   stream for example. It does so for a cons, too, which has none: it takes the
   second byte of its car for it. */
static void call(int function, void *object, void *data)
{
    cl_object finalizer = data;

    if (!ECL_CONSP((cl_object)object))
        functions[function](object, data);
    else if (finalizer && finalizer != ECL_NIL && finalizer != ECL_T)
        (void)cl_funcall(2, finalizer, object);
}

static void finalize(int function, void *object, void *data)
{
    cl_env_ptr env = ecl_process_env_unsafe();

    if (!invoking || !env) {
        call(function, object, data);
        return;
    }
    ecl_enable_interrupts_env(env);
    call(function, object, data); // may leave it all
    ecl_disable_interrupts_env(env);
}

static void finalize_first(void *object, void *data)
{
    finalize(0, object, data);
}

static void finalize_second(void *object, void *data)
{
    finalize(1, object, data);
}

static const GC_finalization_proc in_places[FUNCTIONS] = {finalize_first,
                                                          finalize_second};

/* What is registered for FUNCTION: itself if there are too many. */
static GC_finalization_proc in_place_of(GC_finalization_proc function)
{
    for (int i = 0; function && i < FUNCTIONS; i++) {
        if (!functions[i])
            functions[i] = function;
        if (functions[i] == function)
            return in_places[i];
    }
    return function;
}

/* The other way round. */
static GC_finalization_proc behind(GC_finalization_proc registered)
{
    for (int i = 0; registered && i < FUNCTIONS; i++)
        if (in_places[i] == registered)
            return functions[i];
    return registered;
}

/* Stores in *FUNCTION, unless it is known, the collector's definition of NAME.
 */
static void find(void *function, const char *name)
{
    static void *const unknown;
    void *found;

    if (memcmp(function, &unknown, sizeof unknown) != 0)
        return;
    found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

/* Returns what END gets. Before a thread has an environment, and while it is
   set up, it takes no interrupts. */
static int begin(cl_env_ptr env)
{
    int disabled = env ? env->disable_interrupts : 1;

    if (!disabled)
        ecl_disable_interrupts_env(env);
    return disabled;
}

/* An interrupt that has come meanwhile is taken now. */
static void end(cl_env_ptr env, int disabled)
{
    if (!disabled)
        ecl_enable_interrupts_env(env);
}

void GC_free(void *p)
{
    cl_env_ptr env = ecl_process_env_unsafe();
    int disabled = begin(env);

    find(&originals.free, "GC_free");
    originals.free(p);
    end(env, disabled);
}

void *GC_call_with_alloc_lock(GC_fn_type function, void *data)
{
    cl_env_ptr env = ecl_process_env_unsafe();
    int disabled = begin(env);
    void *value;

    find(&originals.call, "GC_call_with_alloc_lock");
    value = originals.call(function, data);
    end(env, disabled);
    return value;
}

/* What both of these do, by ORIGINAL of the collector, whose name is NAME. */
static void watch(register_any **original, const char *name, void *object,
                  struct finalizer new, struct finalizer *old)
{
    cl_env_ptr env = ecl_process_env_unsafe();
    int disabled = begin(env);

    find(original, name);
    (*original)(object, in_place_of(new.function), new.data, &old->function,
                &old->data);
    old->function = behind(old->function);
    end(env, disabled);
}

static void tell(struct finalizer old, GC_finalization_proc *function,
                 void **data)
{
    if (function)
        *function = old.function;
    if (data)
        *data = old.data;
}

void GC_register_finalizer_no_order(void *object, GC_finalization_proc function,
                                    void *data, GC_finalization_proc *before,
                                    void **data_before)
{
    struct finalizer old = {NULL, NULL};

    watch(&originals.finalize, "GC_register_finalizer_no_order", object,
          (struct finalizer){function, data}, &old);
    tell(old, before, data_before);
}

void GC_register_finalizer_unreachable(void *object,
                                       GC_finalization_proc function,
                                       void *data, GC_finalization_proc *before,
                                       void **data_before)
{
    struct finalizer old = {NULL, NULL};

    watch(&originals.finalize_last, "GC_register_finalizer_unreachable", object,
          (struct finalizer){function, data}, &old);
    tell(old, before, data_before);
}

int GC_general_register_disappearing_link(void **link, const void *object)
{
    cl_env_ptr env = ecl_process_env_unsafe();
    int disabled = begin(env);
    int value;

    find(&originals.link, "GC_general_register_disappearing_link");
    value = originals.link(link, object);
    end(env, disabled);
    return value;
}

int GC_unregister_disappearing_link(void **link)
{
    cl_env_ptr env = ecl_process_env_unsafe();
    int disabled = begin(env);
    int value;

    find(&originals.unlink, "GC_unregister_disappearing_link");
    value = originals.unlink(link);
    end(env, disabled);
    return value;
}

int GC_invoke_finalizers(void)
{
    cl_env_ptr env = ecl_process_env_unsafe();
    int disabled = begin(env);
    int count;

    find(&originals.invoke, "GC_invoke_finalizers");
    invoking = !disabled;
    count = originals.invoke();
    invoking = false;
    end(env, disabled);
    return count;
}

/* In a copy of the process: an interrupt that came while it was made was meant
   for the other one, and has made the environment read-only here, too. Behind
   those that have waited longer, it stays. */
static void forget_interrupts(cl_env_ptr env, bool waited)
{
    (void)mprotect(env, sizeof *env, PROT_READ | PROT_WRITE);
    if (!waited)
        env->interrupt_struct->pending_interrupt = ECL_NIL;
    ecl_enable_interrupts_env(env);
}

/* The collector's lock is taken while the process is copied, which takes half a
   millisecond and more. */
pid_t fork(void)
{
    cl_env_ptr env = ecl_process_env_unsafe();
    bool waited = env && env->interrupt_struct->pending_interrupt != ECL_NIL;
    int disabled = begin(env);
    pid_t pid;
    int error;

    find(&originals.fork, "fork");
    pid = originals.fork();
    error = errno;
    if (pid == 0 && !disabled)
        forget_interrupts(env, waited);
    else
        end(env, disabled);
    errno = error;
    return pid;
}
