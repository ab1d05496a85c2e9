;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; native-exits.lisp: leaves a call that is on the stack, whatever its code is,
;;;; as a throw would if its caller had a tag for it. ECL's records say what the
;;;; stacks of Lisp were when the call began; the tables that C compilers write
;;;; for unwinding say what the registers were. Needs C, and for now amd64.

(in-package #:ecl-mcp)

(ffi:clines "
#include <dlfcn.h>
#include <gc/gc.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GLIBC__)
#include <unwind.h>
#define ECL_MCP_CAN_LEAVE

/* In native-code.lisp. */
struct ecl_stack_frame *ecl_mcp_call_of(cl_env_ptr env,
                                        struct ecl_ihs_frame *ihs)
    __attribute__((visibility(\"hidden\")));

/* The caller of the C function that has RECORD in its frame: where it goes on,
   and its registers. It ends where something begins that can keep values on the
   stack of Lisp without a sign: behind frames of APPLY, which passes on arguments
   of the interpreter, and frames too small for that. */
struct ecl_mcp_caller {
    uintptr_t record;
    uintptr_t before;    /* the end of the frame that was looked at last */
    uintptr_t before_ip; /* and its place in the code */
    bool ends;
    uintptr_t ip;
    uintptr_t sp;
    uintptr_t end;
    uintptr_t rbx, rbp, r12, r13, r14, r15;
};

static void ecl_mcp_take_caller(struct ecl_mcp_caller *caller,
                                struct _Unwind_Context *context)
{
    caller->ip = _Unwind_GetIP(context);
    caller->sp = _Unwind_GetCFA(context);
    caller->rbx = _Unwind_GetGR(context, 3);
    caller->rbp = _Unwind_GetGR(context, 6);
    caller->r12 = _Unwind_GetGR(context, 12);
    caller->r13 = _Unwind_GetGR(context, 13);
    caller->r14 = _Unwind_GetGR(context, 14);
    caller->r15 = _Unwind_GetGR(context, 15);
}

/* Whether IP is in APPLY: ECL's, or ours in its place, which only calls it. */
static bool ecl_mcp_is_apply(uintptr_t ip)
{
    void *function = _Unwind_FindEnclosingFunction((void *)(ip - 1));

    return function == (void *)APPLY || function == dlsym(RTLD_NEXT, \"APPLY\");
}

/* Sees each frame of C, the innermost first. The stack pointer of one is the end
   of the frame before it. */
static _Unwind_Reason_Code ecl_mcp_look_at_frame(struct _Unwind_Context *context,
                                                 void *argument)
{
    struct ecl_mcp_caller *caller = argument;
    uintptr_t sp = _Unwind_GetCFA(context);

    if (caller->ip != 0) {
        caller->end = sp;
        caller->ends = sp - caller->before > 16 &&
                       !ecl_mcp_is_apply(caller->before_ip);
    } else if (caller->before != 0 && caller->before <= caller->record &&
               caller->record < sp) {
        ecl_mcp_take_caller(caller, context);
    }
    caller->before = sp;
    caller->before_ip = _Unwind_GetIP(context);
    return caller->ends ? _URC_NORMAL_STOP : _URC_NO_REASON;
}

/* How far below the top of Lisp's stack BASE was, which may be in a stack that
   has become too small since; -1: it is in none. */
static cl_fixnum ecl_mcp_stack_index(const cl_object *base)
{
    const cl_object *start = GC_base((void *)base);

    return start != NULL ? base - start : -1;
}

/* Where the arguments end that are open in the stack of Lisp at AT, a place in the
   stack of C, or begin unless END is true; -1: there are none. */
static cl_fixnum ecl_mcp_open_at(cl_env_ptr env, uintptr_t at, bool end)
{
    const struct ecl_stack_frame *open = (const void *)at;

    if (open->t != t_frame || open->env != env || open->stack == NULL ||
        open->base < open->stack || open->size > (cl_index)ECL_STACK_INDEX(env))
        return -1;
    return open->base - open->stack + (end ? (cl_fixnum)open->size : 0);
}

/* The top of Lisp's stack when the caller made the call with the record IHS; -1
   when it is not known. The interpreter keeps its arguments there, and knows
   where; functions of C between it and the caller may have something there, too.
   Interpreted functions are called by code that sets the top by itself. For
   others, something that they have called must have begun right there: if not, the
   caller keeps something there of which nothing tells. */
static cl_fixnum ecl_mcp_stack_at(cl_env_ptr env, struct ecl_ihs_frame *ihs,
                                  const struct ecl_mcp_caller *caller)
{
    struct ecl_ihs_frame *outer = ihs->next;
    struct ecl_stack_frame *call;
    cl_fixnum top;

    while (outer != NULL && outer->next != outer &&
           ecl_t_of(outer->function) != t_bytecodes)
        outer = outer->next;
    if (outer == NULL || (uintptr_t)outer < caller->sp)
        return -1;
    call = ecl_mcp_call_of(env, outer);
    if (call == NULL || call->base == NULL ||
        ecl_mcp_stack_index(call->base) < 0)
        return -1;
    top = ecl_mcp_stack_index(call->base) + (cl_fixnum)call->size;
    if ((uintptr_t)outer < caller->end)
        return top;
    for (uintptr_t at = caller->sp; at < (uintptr_t)outer; at += sizeof call) {
        cl_fixnum end = ecl_mcp_open_at(env, at, true);

        if (end > top && end <= ECL_STACK_INDEX(env))
            top = end;
    }
    if (ecl_t_of(ihs->function) == t_bytecodes)
        return top;
    for (uintptr_t at = (uintptr_t)&call; at < caller->sp; at += sizeof call)
        if (ecl_mcp_open_at(env, at, false) == top)
            return top;
    return -1;
}

/* glibc hides the pointers in a jmp_buf. */
static uintptr_t ecl_mcp_hide(uintptr_t pointer)
{
    uintptr_t guard;

    __asm__(\"movq %%fs:0x30, %0\" : \"=r\"(guard));
    pointer ^= guard;
    return pointer << 17 | pointer >> 47;
}

/* Whether that is so here: a jmp_buf of this function has the stack pointer, as
   it is in this function. */
static __attribute__((noinline)) bool ecl_mcp_hides_so(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    jmp_buf buffer;
    uintptr_t words[8];

    memset(buffer, 0, sizeof buffer);
    if (_setjmp(buffer) != 0)
        return false;
    memcpy(words, buffer, sizeof words);
    for (uintptr_t sp = here + 16; sp > here - 1024; sp -= 8)
        if (words[6] == ecl_mcp_hide(sp))
            return true;
    return false;
}

static struct ecl_ihs_frame *ecl_mcp_record(cl_env_ptr env, cl_index index)
{
    struct ecl_ihs_frame *ihs = env->ihs_top;

    while (ihs != NULL && ihs->index > index)
        ihs = ihs->next;
    return ihs != NULL && ihs->index == index && index > 1 ? ihs : NULL;
}

/* Finds the caller of the call at INDEX of the history. Returns NULL, or why it
   cannot be left. */
static const char *ecl_mcp_find_caller(cl_index index,
                                       struct ecl_mcp_caller *caller,
                                       cl_fixnum *stack)
{
    cl_env_ptr env = ecl_process_env();
    struct ecl_ihs_frame *ihs = ecl_mcp_record(env, index);

    memset(caller, 0, sizeof *caller);
    if (ihs == NULL)
        return \"it is no longer on the stack\";
    if (!ecl_mcp_hides_so())
        return \"this C library is not known\";
    caller->record = (uintptr_t)ihs;
    (void)_Unwind_Backtrace(ecl_mcp_look_at_frame, caller);
    if (caller->ip == 0 || !caller->ends)
        return \"code on the stack has no tables for unwinding\";
    if (_Unwind_FindEnclosingFunction((void *)caller->ip) !=
        _Unwind_FindEnclosingFunction((void *)(caller->ip - 1)))
        return \"the compiler knows that it never returns\";
    if ((uintptr_t)ihs->next < caller->sp)
        return \"the compiler has made it a part of its caller\";
    *stack = ecl_mcp_stack_at(env, ihs, caller);
    if (*stack < 0 || *stack > ECL_STACK_INDEX(env))
        return \"what its caller keeps on the stack is not known\";
    return NULL;
}

/* Where the caller goes on: as if it had called this function instead. */
extern void ecl_mcp_exit_landing(void) __attribute__((visibility(\"hidden\")));
uintptr_t ecl_mcp_exit_ip __attribute__((visibility(\"hidden\"), used));

__asm__(\".text\\n\"
        \".globl ecl_mcp_exit_landing\\n\"
        \".hidden ecl_mcp_exit_landing\\n\"
        \".type ecl_mcp_exit_landing, STT_FUNC\\n\"
        \"ecl_mcp_exit_landing:\\n\"
        \".cfi_startproc\\n\"
        \"pushq ecl_mcp_exit_ip(%rip)\\n\"
        \"subq $8, %rsp\\n\"
        \".cfi_def_cfa_offset 16\\n\"
        \"call ecl_mcp_exit_finish\\n\"
        \"addq $8, %rsp\\n\"
        \".cfi_def_cfa_offset 8\\n\"
        \"ret\\n\"
        \".cfi_endproc\\n\"
        \".size ecl_mcp_exit_landing, . - ecl_mcp_exit_landing\\n\");

/* Runs in the caller, whose stacks are what they were: gives it the values. */
__attribute__((visibility(\"hidden\"), used)) cl_object
ecl_mcp_exit_finish(void)
{
    ecl_frs_pop(ecl_process_env());
    return cl_funcall(1, ecl_make_symbol(\"VALUES-OF-EXIT\", \"ECL-MCP\"));
}

/* Makes room for an entry before those that the call at IHS and what it has
   called have pushed onto the stack of tags, and returns it. They hold nothing
   that depends on where they are. */
static ecl_frame_ptr ecl_mcp_insert_tag(cl_env_ptr env,
                                        struct ecl_ihs_frame *ihs)
{
    ecl_frame_ptr at = _ecl_frs_push(env);

    while (at - 1 >= env->frs_org && at[-1].frs_ihs->index >= ihs->index) {
        at[0] = at[-1];
        at--;
    }
    return at;
}

/* Leaves the call at INDEX. Cleanup forms run, bindings end. */
static const char *ecl_mcp_leave(cl_index index)
{
    cl_env_ptr env = ecl_process_env();
    struct ecl_ihs_frame *ihs = ecl_mcp_record(env, index);
    struct ecl_mcp_caller caller;
    cl_fixnum stack = -1;
    const char *problem = ecl_mcp_find_caller(index, &caller, &stack);
    ecl_frame_ptr tag;

    if (problem != NULL)
        return problem;
    tag = ecl_mcp_insert_tag(env, ihs);
    tag->frs_val = ECL_DUMMY_TAG;
    tag->frs_bds_top_index = ihs->bds;
    tag->frs_ihs = ihs->next;
    tag->frs_sp = (cl_index)stack;
    memset(tag->frs_jmpbuf, 0, sizeof tag->frs_jmpbuf);
    {
        /* The collector does not see what is hidden; hence the last one. */
        uintptr_t words[11] = {
            caller.rbx, ecl_mcp_hide(caller.rbp),
            caller.r12, caller.r13,
            caller.r14, caller.r15,
            ecl_mcp_hide(caller.sp),
            ecl_mcp_hide((uintptr_t)ecl_mcp_exit_landing),
            0, 0, caller.rbp};

        memcpy(tag->frs_jmpbuf, words, sizeof words);
    }
    ecl_mcp_exit_ip = caller.ip;
    ecl_unwind(env, tag);
    return NULL;
}
#endif

static cl_object ecl_mcp_try_to_leave(cl_index index, bool leave)
{
#ifdef ECL_MCP_CAN_LEAVE
    struct ecl_mcp_caller caller;
    cl_fixnum stack;
    const char *problem = leave ? ecl_mcp_leave(index)
                                : ecl_mcp_find_caller(index, &caller, &stack);
#else
    const char *problem = \"that needs an amd64 processor and glibc\";

    (void)index;
    (void)leave;
#endif
    return problem != NULL
               ? ecl_make_simple_base_string(problem, (cl_fixnum)-1)
               : ECL_NIL;
}
")

(defun exits-known-p ()
  "True where it is known how calls can be left."
  (ffi:c-inline () () :bool "
#ifdef ECL_MCP_CAN_LEAVE
    @(return) = true;
#else
    @(return) = false;
#endif
" :one-liner nil))

(defun exit-problem (index)
  "Returns a text that says why the call at INDEX of the invocation history cannot
be left, or NIL."
  (ffi:c-inline (index) (:fixnum) :object
                "ecl_mcp_try_to_leave((cl_index)(#0), false)" :one-liner t))

(defun leave-call (index)
  "Leaves the call at INDEX of the invocation history, with the values of
VALUES-OF-EXIT, called in its caller. Returns only if that is not possible."
  (ffi:c-inline (index) (:fixnum) :object
                "ecl_mcp_try_to_leave((cl_index)(#0), true)" :one-liner t))

;;; The function of a call

(ffi:clines "
#include <gc/gc_mark.h>

struct ecl_mcp_search {
    cl_object code;
    cl_object variables;
    cl_object found;
};

static void GC_CALLBACK ecl_mcp_look_at_object(void *object, size_t size,
                                               void *argument)
{
    struct ecl_mcp_search *search = argument;
    cl_object o = object;

    if (size < sizeof(struct ecl_bclosure) || o->d.t != t_bclosure ||
        o->bclosure.code != search->code || o->bclosure.lex == ECL_NIL)
        return;
    for (cl_object rest = search->variables; ECL_CONSP(rest);
         rest = ECL_CONS_CDR(rest))
        if (rest == o->bclosure.lex)
            search->found = o;
}

static void *ecl_mcp_look_at_objects(void *argument)
{
    GC_enumerate_reachable_objects_inner(ecl_mcp_look_at_object, argument);
    return NULL;
}

/* The closure whose interpreted code runs in the call at INDEX, or NIL. The
   history has only its code, but its variables are the outermost of the call. */
static cl_object ecl_mcp_closure_at(cl_index index)
{
    struct ecl_ihs_frame *ihs = ecl_process_env()->ihs_top;
    struct ecl_mcp_search search = {ECL_NIL, ECL_NIL, ECL_NIL};

    while (ihs != NULL && ihs->index > index)
        ihs = ihs->next;
    if (ihs == NULL || ecl_t_of(ihs->function) != t_bytecodes)
        return ECL_NIL;
    search.code = ihs->function;
    search.variables = ihs->lex_env;
    GC_gcollect(); /* only what it has seen is looked at */
    GC_call_with_alloc_lock(ecl_mcp_look_at_objects, &search);
    return search.found;
}
")

(defun closure-at (index)
  "Returns the closure whose interpreted code runs in the call at INDEX of the
invocation history, or NIL if there is none."
  (ffi:c-inline (index) (:fixnum) :object "ecl_mcp_closure_at((cl_index)(#0))"
                :one-liner t))
