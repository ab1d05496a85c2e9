;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; native-tier.lisp: what making interpreted functions native needs of C: a look
;;;; into interpreted functions, and the change of one into a compiled one.

(in-package #:ecl-mcp)

(ffi:clines "
#include <errno.h>
#include <gc/gc.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
")

(defun interpreted-p (function)
  "True when FUNCTION, any object, is an interpreted function."
  (ffi:c-inline (function) (:object) :bool
                "(ecl_t_of(#0) == t_bytecodes || ecl_t_of(#0) == t_bclosure)"
                :one-liner t))

(defun process-number ()
  "Returns the number of this process."
  (ffi:c-inline () () :int "getpid()" :one-liner t))

(defun process-gone-p (number)
  "True when there is no process with NUMBER."
  (ffi:c-inline (number) (:int) :bool
                "(kill(#0, 0) < 0 && errno == ESRCH)" :one-liner t))

(defun limit-process (seconds)
  "Makes this process end after SECONDS, and collect no garbage: that would touch
every page."
  (ffi:c-inline (seconds) (:int) :void "{
    GC_disable();
    (void)alarm((unsigned)#0);
  }" :one-liner nil))

(defun work-in-background ()
  "Makes this process one that works when nothing else does."
  (ffi:c-inline () () :void "{
    struct sched_param parameters;

    memset(&parameters, 0, sizeof parameters);
    (void)setpriority(PRIO_PROCESS, 0, 10);
    (void)sched_setscheduler(0, SCHED_BATCH, &parameters);
  }" :one-liner nil))

(defun load-native-library (path)
  "Loads the library PATH, a simple base string, with the constants that are the
value of SI::*COMPILER-CONSTANTS*, and returns its code block, which must be
kept; or NIL."
  (ffi:c-inline (path) (:object) :object "{
    cl_object block = ecl_library_open(#0, 1);

    @(return) = ECL_NIL;
    if (block->cblock.handle != NULL) {
        block->cblock.entry =
            ecl_library_symbol(block, \"init_fas_CODE\", 0);
        if (block->cblock.entry != NULL) {
            ecl_init_module(block, (void (*)(cl_object))block->cblock.entry);
            @(return) = block;
        }
    }
  }" :one-liner nil))

(defun copy-interpreted (function)
  "Returns another function with the code of the interpreted FUNCTION, and the
same variables if it closes over any."
  (ffi:c-inline (function) (:object) :object "{
    cl_object from = #0;
    cl_object to = ecl_alloc_object(ecl_t_of(from));

    if (ecl_t_of(from) == t_bclosure) {
        to->bclosure.code = from->bclosure.code;
        to->bclosure.lex = from->bclosure.lex;
        to->bclosure.entry = from->bclosure.entry;
    } else {
        to->bytecodes.name = from->bytecodes.name;
        to->bytecodes.definition = from->bytecodes.definition;
        to->bytecodes.entry = from->bytecodes.entry;
        to->bytecodes.code_size = from->bytecodes.code_size;
        to->bytecodes.code = from->bytecodes.code;
        to->bytecodes.data = from->bytecodes.data;
        to->bytecodes.file = from->bytecodes.file;
        to->bytecodes.file_position = from->bytecodes.file_position;
    }
    @(return) = to;
  }" :one-liner nil))

(defun turn-native (function block index)
  "Makes the interpreted FUNCTION, the same object, the compiled one at INDEX of
the table in the library BLOCK. False when it cannot be. The type comes last, and
what the interpreter reads stays where it is: it may be about to run FUNCTION, as
may compiled code that has looked up how to call it. So the file of a compiled
function, and the block of a closure, are not what they say; see image/tier.c."
  (ffi:c-inline (function block index) (:object :object :int) :bool "{
    cl_object f = #0;
    const cl_objectfn *entries = (const cl_objectfn *)ecl_library_symbol(
        #1, \"ecl_mcp_entries\", 0);
    cl_object *const *table = (cl_object *const *)ecl_library_symbol(
        #1, \"ecl_mcp_selves\", 0);
    cl_object *selves = table != NULL ? *table : NULL;

    @(return) = false;
    if (entries == NULL || entries[#2] == NULL || selves == NULL) {
        /* not made by WRITE-ENTRIES */
    } else if (ecl_t_of(f) == t_bytecodes &&
               sizeof(struct ecl_cfun) <=
                   offsetof(struct ecl_bytecodes, data) &&
               offsetof(struct ecl_cfun, block) ==
                   offsetof(struct ecl_bytecodes, definition) &&
               offsetof(struct ecl_cfun, file_position) ==
                   offsetof(struct ecl_bytecodes, code)) {
        selves[#2] = f;
        f->cfun.block = #1;
        f->cfun.file = ECL_NIL; /* was the size of the code */
        f->cfun.narg = 0;
        f->cfun.entry = entries[#2];
        f->d.t = t_cfun;
        @(return) = true;
    } else if (ecl_t_of(f) == t_bclosure &&
               offsetof(struct ecl_cclosure, file) <=
                   sizeof(struct ecl_bclosure)) {
        selves[#2] = f;
        f->cclosure.narg = 0;
        f->cclosure.entry = entries[#2];
        f->d.t = t_cclosure;
        @(return) = true;
    }
  }" :one-liner nil))

(defun put-in-history (version function)
  "Makes the calls of the interpreter that run FUNCTION, which has become native,
calls of VERSION, which has the same code. They go on, and are shown, as before."
  (ffi:c-inline (version function) (:object :object) :void "{
    struct ecl_ihs_frame *ihs = ecl_process_env()->ihs_top;

    for (; ihs != NULL && ihs->index > 1; ihs = ihs->next)
        if (ihs->function == #1)
            ihs->function = #0;
  }" :one-liner nil))

;;; The header of native code

(defun native-header ()
  "Returns the text of a header that comes after ECL's own: numbers that fit a
word, calls of global functions and the thread's environment without calls of
ECL. Everything else calls it, as before."
  "#include <ecl/ecl-cmp.h>
#define NATIVE static inline __attribute__((always_inline))
#define COLD static __attribute__((noinline, cold, unused))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define BOTH(a, b) ((((cl_fixnum)(a) & (cl_fixnum)(b)) & 3) == ECL_FIXNUM_TAG)
#define NUMBER(r) ((cl_object)(r))
/* The interpreter adds to 0, and multiplies by 1: what is not a number is the
   second argument. */
COLD cl_object native_any_plus(cl_object a, cl_object b)
{
    return ecl_plus(ECL_NUMBER_TYPE_P(ecl_t_of(a))
                        ? a : ecl_plus(ecl_make_fixnum(0), a), b);
}
COLD cl_object native_any_times(cl_object a, cl_object b)
{
    return ecl_times(ECL_NUMBER_TYPE_P(ecl_t_of(a))
                         ? a : ecl_times(ecl_make_fixnum(1), a), b);
}
NATIVE cl_object native_plus(cl_object a, cl_object b)
{
    cl_fixnum r;
    if (LIKELY(BOTH(a, b)) &&
        LIKELY(!__builtin_add_overflow((cl_fixnum)a,
                                       (cl_fixnum)b - ECL_FIXNUM_TAG, &r)))
        return NUMBER(r);
    return native_any_plus(a, b);
}
NATIVE cl_object native_minus(cl_object a, cl_object b)
{
    cl_fixnum r;
    if (LIKELY(BOTH(a, b)) &&
        LIKELY(!__builtin_sub_overflow((cl_fixnum)a,
                                       (cl_fixnum)b - ECL_FIXNUM_TAG, &r)))
        return NUMBER(r);
    return ecl_minus(a, b);
}
NATIVE cl_object native_times(cl_object a, cl_object b)
{
    cl_fixnum r;
    if (LIKELY(BOTH(a, b)) &&
        LIKELY(!__builtin_mul_overflow((cl_fixnum)a - ECL_FIXNUM_TAG,
                                       (cl_fixnum)b >> 2, &r)))
        return NUMBER(r | ECL_FIXNUM_TAG);
    return native_any_times(a, b);
}
#define COMPARISON(name, op, slow) NATIVE int name(cl_object a, cl_object b) \\
    { return LIKELY(BOTH(a, b)) ? (cl_fixnum)a op (cl_fixnum)b : slow(a, b); }
COMPARISON(native_lower, <, ecl_lower)
COMPARISON(native_greater, >, ecl_greater)
COMPARISON(native_lowereq, <=, ecl_lowereq)
COMPARISON(native_greatereq, >=, ecl_greatereq)
COMPARISON(native_equal, ==, ecl_number_equalp)
NATIVE cl_object native_one_plus(cl_object a)
{ return LIKELY(ECL_FIXNUMP(a)) ? native_plus(a, ecl_make_fixnum(1))
                                : ecl_one_plus(a); }
NATIVE cl_object native_one_minus(cl_object a)
{ return LIKELY(ECL_FIXNUMP(a)) ? native_minus(a, ecl_make_fixnum(1))
                                : ecl_one_minus(a); }
NATIVE int native_zerop(cl_object a)
{ return LIKELY(ECL_FIXNUMP(a)) ? a == ecl_make_fixnum(0) : ecl_zerop(a); }
NATIVE int native_plusp(cl_object a)
{ return LIKELY(ECL_FIXNUMP(a)) ? (cl_fixnum)a > ECL_FIXNUM_TAG
                                : ecl_plusp(a); }
NATIVE int native_minusp(cl_object a)
{ return LIKELY(ECL_FIXNUMP(a)) ? (cl_fixnum)a < 0 : ecl_minusp(a); }
/* A signal looks at the history at any time. */
#define BARRIER() __asm__ volatile(\"\" ::: \"memory\")
#undef ecl_ihs_push
#define ecl_ihs_push(env, rec, fun, lisp_env) do { \\
    const cl_env_ptr e_ = (env); \\
    ecl_ihs_ptr const r_ = (ecl_ihs_ptr)(rec); \\
    r_->next = e_->ihs_top; \\
    r_->function = (fun); \\
    r_->lex_env = (lisp_env); \\
    r_->index = e_->ihs_top->index + 1; \\
    r_->bds = e_->bds_top - e_->bds_org; \\
    BARRIER(); \\
    e_->ihs_top = r_; \\
    BARRIER(); \\
} while (0)
/* What fails before a function runs has a frame that says what was passed. */
#define PASSED() ecl_make_symbol(\"PASSED\", \"ECL-MCP\")
COLD cl_object native_undefined(cl_narg n, ...)
{
    cl_env_ptr env = ecl_process_env();
    cl_object name = env->function;
    cl_object passed = ECL_NIL;
    struct ecl_ihs_frame ihs;
    va_list rest;
    va_start(rest, n);
    while (n-- > 0)
        passed = ecl_cons(va_arg(rest, cl_object), passed);
    ecl_ihs_push(env, &ihs, PASSED(), cl_nreverse(passed));
    FEundefined_function(name);
}
/* N arguments were passed to SELF, which takes LEAST or more: the first NAMED
   follow, the rest is REST; very many are on the stack of Lisp. Says what the
   interpreter says. */
COLD void native_count(cl_object self, cl_narg n, cl_narg least, va_list *rest,
                       int named, ...)
{
    cl_env_ptr env = ecl_process_env();
    cl_object passed = ECL_NIL;
    const cl_object *all = n > ECL_C_ARGUMENTS_LIMIT ? _ecl_va_sp(0) : NULL;
    struct ecl_ihs_frame one, other;
    va_list first;
    va_start(first, named);
    for (cl_narg i = 0; i < n && (i < named || rest); i++)
        passed = ecl_cons(i < named ? va_arg(first, cl_object)
                          : all     ? all[i]
                                    : va_arg(*rest, cl_object), passed);
    passed = cl_nreverse(passed);
    ecl_ihs_push(env, &one, PASSED(), passed);
    ecl_ihs_push(env, &other, self, ECL_NIL);
    if (n < least)
        FEwrong_num_arguments(cl_funcall(
            2, ecl_make_symbol(\"FRAME-NAME\", \"ECL-MCP\"), self));
    FEprogram_error(\"Too many arguments passed to function ~A~&\"
                    \"Argument list: ~S\", 2, self, passed);
}
NATIVE cl_objectfn native_called(cl_env_ptr env, cl_object f, cl_objectfn entry)
{
    env->function = f;
    return entry;
}
NATIVE cl_objectfn native_dispatch(cl_env_ptr env, cl_object x)
{
    if (LIKELY(!ECL_IMMEDIATE(x) && x->d.t == t_symbol)) {
        cl_object f = x->symbol.gfdef;
        if (LIKELY(f != OBJNULL && f != ECL_NIL &&
                   !(x->symbol.stype & ecl_stp_macro))) {
            return native_called(env, f, f->cfun.entry);
        }
        return native_called(env, x, native_undefined);
    }
    if (LIKELY(!ECL_IMMEDIATE(x))) {
        if (x->d.t == t_cclosure)
            return native_called(env, x, x->cclosure.entry);
        if (x->d.t == t_bclosure)
            return native_called(env, x, x->bclosure.entry);
        if (x->d.t == t_cfun)
            return native_called(env, x, x->cfun.entry);
    }
    return ecl_function_dispatch(env, x);
}
/* Places in arrays: what ECL refuses, it is left to refuse: what is no number
   as such, too. An array that is displaced has the address of the other one's
   elements. */
COLD cl_fixnum native_any_to_fixnum(cl_object x)
{ return ECL_REAL_TYPE_P(ecl_t_of(x)) ? ecl_to_fixnum(x) : ecl_to_size(x); }
NATIVE cl_fixnum native_to_fixnum(cl_object x)
{ return LIKELY(ECL_FIXNUMP(x)) ? ecl_fixnum(x) : native_any_to_fixnum(x); }
NATIVE cl_index native_to_size(cl_object x)
{
    return LIKELY(ECL_FIXNUMP(x)) && LIKELY(ecl_fixnum(x) >= 0) &&
                   LIKELY(ecl_fixnum(x) < 0x1000000)
               ? (cl_index)ecl_fixnum(x) : ecl_to_size(x);
}
NATIVE int native_holds(cl_object x, cl_index i)
{
    return LIKELY(!ECL_IMMEDIATE(x)) && LIKELY(x->d.t == t_vector) &&
           LIKELY(x->vector.elttype == ecl_aet_object) &&
           LIKELY(i < x->vector.dim);
}
NATIVE cl_object native_aref(cl_object x, cl_index i)
{ return native_holds(x, i) ? x->vector.self.t[i] : ecl_aref(x, i); }
NATIVE cl_object native_aset(cl_object x, cl_index i, cl_object value)
{ return native_holds(x, i) ? x->vector.self.t[i] = value
                            : ecl_aset(x, i, value); }
COLD void native_not_list(const char *name, cl_object x)
{
    FEwrong_type_only_arg(ecl_make_symbol(name, \"CL\"), x,
                          ecl_make_symbol(\"CONS\", \"CL\"));
}
NATIVE cl_object native_car(cl_object x)
{
    if (UNLIKELY(!ECL_LISTP(x)))
        native_not_list(\"CAR\", x);
    return x == ECL_NIL ? x : ECL_CONS_CAR(x);
}
NATIVE cl_object native_cdr(cl_object x)
{
    if (UNLIKELY(!ECL_LISTP(x)))
        native_not_list(\"CDR\", x);
    return x == ECL_NIL ? x : ECL_CONS_CDR(x);
}
extern __thread cl_env_ptr ecl_mcp_env
    __attribute__((tls_model(\"initial-exec\")));
NATIVE cl_env_ptr native_env(void)
{ cl_env_ptr e = ecl_mcp_env; return LIKELY(e) ? e : ecl_process_env(); }
#define ecl_plus native_plus
#define ecl_minus native_minus
#define ecl_times native_times
#define ecl_lower native_lower
#define ecl_greater native_greater
#define ecl_lowereq native_lowereq
#define ecl_greatereq native_greatereq
#define ecl_number_equalp native_equal
#define ecl_one_plus native_one_plus
#define ecl_one_minus native_one_minus
#define ecl_zerop native_zerop
#define ecl_plusp native_plusp
#define ecl_minusp native_minusp
#define ecl_function_dispatch native_dispatch
#define ecl_process_env native_env
#define ecl_to_fixnum native_to_fixnum
#define ecl_to_size native_to_size
#define ecl_aref native_aref
#define ecl_aset native_aset
#define ecl_car native_car
#define ecl_cdr native_cdr
")
