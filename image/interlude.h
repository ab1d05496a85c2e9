/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interlude.h: Lisp does something else in the middle of any code, and comes
   back: where the collector finds finalizers, a tick comes or an interrupt
   does. C of ECL keeps what it is about to use in the thread's environment: it
   stores the function that it calls, for example, and allocates the list of its
   arguments then. What belongs to that code is saved here; without that it
   would call another function, with what is no code of it. */
#ifndef IMAGE_INTERLUDE_H
#define IMAGE_INTERLUDE_H

#include <signal.h>
#include <stdbool.h>

#include <ecl/ecl.h>

/* What belongs to a thread, and code that runs in between would change. */
struct interlude {
    struct ecl_stack_frame in_use; /* of Lisp's stack, for who looks there */
    cl_object function;
    cl_object stack_frame;
    cl_object packages;
    cl_object packages_p;
    cl_object *limit;       /* of Lisp's stack, for other code */
    struct ecl_frame *exit; /* where a non-local exit goes that was begun */
    struct ecl_frame frame;
    struct ecl_bds_frame binding;
    cl_object registers[ECL_BIGNUM_REGISTER_NUMBER];
    cl_index nvalues;
    cl_object values[ECL_MULTIPLE_VALUES_LIMIT];
};

/* Before ECL boots: each stack of Lisp gets a reserve for what comes in the
   middle of other code and cannot wait for room. */
void interlude_reserve_room(void);

/* After a non-local exit out of something like that, which may have left the
   reserve to other code. */
void interlude_restore_reserve(cl_env_ptr env);

/* Whether Lisp can do something else without a stack, or the table of special
   variables, that grows: it would be elsewhere, and the code in whose middle
   this is goes on in the old one. */
bool interlude_has_room(cl_env_ptr env);

/* Lets the table of special variables grow if it must. Not in the middle of
   anything. */
void interlude_make_room(cl_env_ptr env);

/* To be called while interrupts are not off in C: while one waits, nothing can
   be written to ENV. A non-local exit may come in between. */
void interlude_begin(cl_env_ptr env, struct interlude *saved);
void interlude_end(cl_env_ptr env, const struct interlude *saved);

/* Calls FUNCTION with interrupts on. False when there is no room. */
bool interlude_call(cl_env_ptr env, cl_object function);

/* In a handler of SIGNAL: has ECL's own HANDLER take it, which calls Lisp
   unless interrupts are off. */
void interlude_handle(const struct sigaction *handler, int signal,
                      siginfo_t *info, void *context);

/* Once, before INTERLUDE_LETS_WRITE. */
void interlude_prepare(void);

/* In a handler of a fault at ADDRESS: true when it may return, because code has
   written to the environment in the one moment in which it must not. */
bool interlude_lets_write(const void *address, void *context);

#endif
