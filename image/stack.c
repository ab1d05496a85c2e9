/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stack.c: see stack.h. */
#include "image/stack.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <ecl/ecl.h>

#include "base/limits.h"

/* Where ECL finds an overflow. */
static char *first_limit;

/* The page of an address on the stack, as a number: what is done to it concerns
   no object that the compiler knows. */
static uintptr_t page_of(const volatile void *p)
{
    uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);

    return (uintptr_t)p / size * size;
}

/* Grows the stack of this thread to the limit that the supervisor has set for
   the program, as far as the system allows. Only one page of it is touched;
   read(2) fails where a plain access could end the process. */
static void grow(void)
{
    struct rlimit limit;
    volatile char here = 0;
    uintptr_t far = page_of(&here) - LIMIT_C_STACK + LIMIT_LISP_STACK_SAFETY;
    int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

    if (zero < 0)
        return;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur >= LIMIT_C_STACK)
        (void)!read(zero, (void *)far, 1);
    (void)close(zero); // was only read
}

/* ECL believes the limit that it finds to be the size of every thread's stack,
   and checks for overflow there. */
static void set_limit(void)
{
    struct rlimit limit;
    pthread_attr_t attributes;

    if (getrlimit(RLIMIT_STACK, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max < LIMIT_LISP_STACK ? limit.rlim_max
                                                           : LIMIT_LISP_STACK;
        (void)setrlimit(RLIMIT_STACK, &limit); // else ECL finds the old one
    }
    if (pthread_attr_init(&attributes) != 0)
        return; // then the stacks of threads are not as large as ECL thinks
    (void)pthread_attr_setstacksize(&attributes, limit.rlim_cur);
    (void)pthread_setattr_default_np(&attributes);
    (void)pthread_attr_destroy(&attributes);
}

void stack_boot(void)
{
    ecl_set_option(ECL_OPT_C_STACK_SAFETY_AREA, LIMIT_LISP_STACK_SAFETY);
    grow();
    set_limit();
}

void stack_begin(void)
{
    first_limit = ecl_process_env()->cs_limit;
}

bool stack_has_overflowed(void)
{
    return ecl_process_env()->cs_limit != first_limit;
}

void stack_restore(void)
{
    cl_env_ptr env = ecl_process_env();
    volatile char here = 0;
    uintptr_t end = page_of(env->cs_org) - LIMIT_C_STACK;
    uintptr_t start = page_of(&here) - LIMIT_LISP_STACK_SAFETY;

    if (!stack_has_overflowed())
        return;
    env->cs_limit = first_limit;
    // gives the pages that the overflow has touched back to the system
    (void)madvise((void *)end, (size_t)(start - end), MADV_DONTNEED);
}
