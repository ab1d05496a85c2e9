;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; native.lisp: the few functions that need a line of C. ECL's interpreter
;;;; cannot load this file, only its compiler.

(in-package #:ecl-mcp)

(ffi:clines "
#include <errno.h>
#include <gc/gc.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
")

(defun start-measuring-collections ()
  "Makes the collector keep the time its collections take."
  (ffi:c-inline () () :void "GC_start_performance_measurement();"
                :one-liner nil))

(defun collection-milliseconds ()
  "Returns the milliseconds the collector has taken since it measures."
  (ffi:c-inline () () :unsigned-long "GC_get_full_gc_total_time()"
                :one-liner t))

(defun bytes-allocated ()
  "Returns the bytes allocated since the process was started."
  (ffi:c-inline () () :unsigned-long "(unsigned long)GC_get_total_bytes()"
                :one-liner t))

(defun bytes-in-use ()
  "Returns the bytes of the heap that are not free."
  (ffi:c-inline () () :unsigned-long
                "(unsigned long)(GC_get_heap_size() - GC_get_free_bytes())"
                :one-liner t))

(defun forget-column (stream)
  "Makes STREAM believe that it is at the start of a line."
  (ffi:c-inline (stream) (:object) :void
                "if (ECL_ANSI_STREAM_P(#0)) (#0)->stream.column = 0;"
                :one-liner nil))

(defun throw-past-cleanups (tag)
  "Throws NIL to TAG without running the cleanup forms between. The last means
before the process is killed."
  (ffi:c-inline (tag) (:object) :void "{
    cl_env_ptr env = ecl_process_env();
    ecl_frame_ptr frame = env->frs_top;
    while (frame > env->frs_org && frame->frs_val != #0)
        --frame;
    if (frame->frs_val == #0) {
        env->values[0] = ECL_NIL;
        env->nvalues = 1;
        env->frs_top = frame;
        ecl_unwind(env, frame);
    }
  }" :one-liner nil))

;;; Children

(ffi:clines "
extern char **environ;

static int ecl_mcp_spawn(const char *command)
{
    char *argv[] = {\"sh\", \"-c\", (char *)command, NULL};
    pid_t pid;

    return posix_spawn(&pid, \"/bin/sh\", NULL, NULL, argv, environ) ? -1 : pid;
}

static int ecl_mcp_wait(int pid)
{
    int status = -1;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}
")

(defun spawn-shell (command)
  "Starts a shell that runs COMMAND, a simple base string, and returns its
process id, or -1."
  (ffi:c-inline (command) (:object) :int
                "ecl_mcp_spawn((const char *)(#0)->base_string.self)"
                :one-liner t))

(defun wait-for-child (pid)
  "Waits for the end of the child PID and returns its status, as wait(2) does."
  (ffi:c-inline (pid) (:int) :int "ecl_mcp_wait(#0)" :one-liner t))

(defun kill-child (pid)
  "Ends the child PID at once."
  (ffi:c-inline (pid) (:int) :void "kill(#0, SIGKILL);" :one-liner nil)
  (wait-for-child pid))

;;; Threads

(defun current-thread ()
  "Returns the thread that calls. MP:*CURRENT-PROCESS* is another one in a thread
that is about to end, in which a signal may still be handled."
  (ffi:c-inline () () :object "ecl_process_env()->own_process" :one-liner t))

;;; The arguments of calls that the interpreter makes

(ffi:clines "
/* The interpreter keeps the description of the call that it makes beside its
   entry of the invocation history. Looks for it there, by marks that nothing
   else has, and only reads within the stack of a function that has not
   returned. NULL: not found. */
static struct ecl_stack_frame *
ecl_mcp_call_of(cl_env_ptr env, struct ecl_ihs_frame *ihs)
{
    cl_object *here = (cl_object *)ihs;
    int i;

    for (i = -24; i < 24; i++) {
        int step = i < 0 ? -(i + 25) : i;
        struct ecl_stack_frame *call = (struct ecl_stack_frame *)(here + step);

        if (call->t == t_frame && call->env == env && call->stack == NULL)
            return call;
    }
    return NULL;
}

/* The arguments of the call that the interpreted function at INDEX of the
   history is making, as a list; 0 when they are not known. */
static cl_object ecl_mcp_arguments_at(cl_index index)
{
    cl_env_ptr env = ecl_process_env();
    struct ecl_ihs_frame *ihs = env->ihs_top;
    struct ecl_stack_frame *call;
    cl_object list = ECL_NIL;
    cl_index i;

    while (ihs != NULL && ihs->index > index)
        ihs = ihs->next;
    if (ihs == NULL || ecl_t_of(ihs->function) != t_bytecodes)
        return ecl_make_fixnum(0);
    call = ecl_mcp_call_of(env, ihs);
    if (call == NULL || call->base == NULL || call->size > 64 ||
        call->base < env->stack || call->base + call->size > env->stack_top)
        return ecl_make_fixnum(0);
    for (i = call->size; i > 0; i--)
        list = ecl_cons(call->base[i - 1], list);
    return list;
}
")

(defun pending-arguments (index)
  "Returns the arguments of the call that the interpreted function at INDEX of
the invocation history is making, as far as can be told, and T; NIL and NIL when
they are not known."
  (let ((arguments (ffi:c-inline (index) (:fixnum) :object
                                 "ecl_mcp_arguments_at(#0)" :one-liner t)))
    (if (listp arguments)
        (values arguments t)
        (values nil nil))))

(defun function-code (function)
  "Returns the interpreted code that the closure FUNCTION runs, or FUNCTION."
  (ffi:c-inline (function) (:object) :object
                "(ecl_t_of(#0) == t_bclosure ? (#0)->bclosure.code : (#0))"
                :one-liner t))
