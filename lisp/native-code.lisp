;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; native-code.lisp: reads what running and interpreted code is made of: the
;;;; arguments and variables of frames, the names that code uses. Needs C.

(in-package #:ecl-mcp)

(ffi:clines "
#include <dlfcn.h>
#include <gc/gc.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <ecl/bytecodes.h>
")

;;; The arguments of calls that the interpreter makes

(ffi:clines "
/* The interpreter keeps a description of the call that it is making near its
   entry in the invocation history. Looks for that description by marks that
   nothing else has, and reads only the stack of a function that has not
   returned yet. NULL: not found. Also for native-exits.lisp. */
struct ecl_stack_frame *ecl_mcp_call_of(cl_env_ptr env,
                                        struct ecl_ihs_frame *ihs)
    __attribute__((visibility(\"hidden\")));

struct ecl_stack_frame *
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

/* Returns, as a list, the arguments of the call that the interpreted function
   at INDEX of the history is making, or 0 when they are unknown. */
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
the invocation history is making, as far as they can be found, and T; or NIL and
NIL when they are unknown."
  (let ((arguments (ffi:c-inline (index) (:fixnum) :object
                                 "ecl_mcp_arguments_at(#0)" :one-liner t)))
    (if (listp arguments)
        (values arguments t)
        (values nil nil))))

;;; The variables of compiled functions

(ffi:clines "
/* A function that was compiled with (debug 3) keeps descriptions of its
   variables in vectors on the C stack, the innermost first, and its frame in the
   invocation history points at them. It may still point at one whose block was
   left, and whose place has been used again since. So nothing that is found
   there is believed: descriptions and variables must lie between the frames
   around them, and values must be objects. */
#define ECL_MCP_VARIABLES 64

extern void *__libc_stack_end;

struct ecl_mcp_stack {
    uintptr_t low;
    uintptr_t high;
};

static bool ecl_mcp_on_stack(struct ecl_mcp_stack stack, const void *p,
                             size_t size)
{
    uintptr_t at = (uintptr_t)p;

    return at % sizeof(void *) == 0 && at >= stack.low && at < stack.high &&
           stack.high - at >= size;
}

/* Whether P is in a program or library that is loaded; *FOUND says which. */
static bool ecl_mcp_is_loaded(const void *p, Dl_info *found)
{
    return p != NULL && dladdr(p, found) != 0;
}

/* Whether there is an object of SIZE bytes at P: in the heap, where one
   begins, or among the constants of compiled code. */
static bool ecl_mcp_is_allocated(void *p, size_t size)
{
    Dl_info found;

    if ((uintptr_t)p % sizeof(void *) != 0)
        return false;
    if (GC_base(p) != NULL)
        return GC_base(p) == p && GC_size(p) >= size;
    return ecl_mcp_is_loaded(p, &found);
}

static bool ecl_mcp_is_shallow_object(cl_object o)
{
    switch (ECL_IMMEDIATE(o)) {
    case t_fixnum:
        return true;
    case t_character:
        return ECL_CHAR_CODE(o) < 0x110000;
    case t_list:
        return o == ECL_NIL ||
               ecl_mcp_is_allocated(ECL_CONS_PTR(o), sizeof(struct ecl_cons));
    default:
        return ecl_mcp_is_allocated(o, sizeof(struct ecl_singlefloat)) &&
               o->d.t > t_fixnum && o->d.t < t_end;
    }
}

static bool ecl_mcp_is_object(cl_object o)
{
    return ecl_mcp_is_shallow_object(o) &&
           (!ECL_CONSP(o) || (ecl_mcp_is_shallow_object(ECL_CONS_CAR(o)) &&
                              ecl_mcp_is_shallow_object(ECL_CONS_CDR(o))));
}

/* The value at P of a variable of TYPE, or UNKNOWN. */
static cl_object ecl_mcp_value_at(const void *p, int type, cl_object unknown)
{
    cl_object value;

    switch (type) {
    case _ecl_object_loc:
        memcpy(&value, p, sizeof value);
        return ecl_mcp_is_object(value) ? value : unknown;
    case _ecl_fixnum_loc:
        return ecl_make_integer(*(const cl_fixnum *)p);
    case _ecl_base_char_loc:
        return ECL_CODE_CHAR(*(const ecl_base_char *)p);
    case _ecl_uni_char_loc:
        return (uint32_t)*(const ecl_character *)p < 0x110000
                   ? ECL_CODE_CHAR(*(const ecl_character *)p)
                   : unknown;
    case _ecl_float_loc:
        return ecl_make_single_float(*(const float *)p);
    case _ecl_double_loc:
        return ecl_make_double_float(*(const double *)p);
    default:
        return unknown;
    }
}

/* The name of the variable that INFO describes, or NIL. */
static cl_object ecl_mcp_name_of(const struct ecl_var_debug_info *info)
{
    Dl_info one;
    Dl_info other;

    if (!ecl_mcp_is_loaded(info, &one) ||
        !ecl_mcp_is_loaded(info->name, &other) ||
        one.dli_fbase != other.dli_fbase)
        return ECL_NIL;
    return ecl_make_simple_base_string(info->name,
                                       (cl_fixnum)strnlen(info->name, 200));
}

/* Adds the variables of the vector ENVIRONMENT before LIST, reversed. Returns
   the list, and in *ENVIRONMENT the next vector outwards, or NIL. */
static cl_object ecl_mcp_add_variables(struct ecl_mcp_stack stack,
                                       cl_object *environment, cl_object list,
                                       cl_object unknown)
{
    cl_object vector = *environment;
    const struct ecl_var_debug_info *info;
    const cl_index *raw;
    cl_index i;

    *environment = ECL_NIL;
    if (!ecl_mcp_on_stack(stack, vector, sizeof vector->vector) ||
        vector->d.t != t_vector || vector->vector.elttype != ecl_aet_index ||
        vector->vector.dim < 2 ||
        vector->vector.dim > ECL_MCP_VARIABLES + 2 ||
        !ecl_mcp_on_stack(stack, vector->vector.self.t,
                          vector->vector.dim * sizeof *raw))
        return list;
    raw = (const cl_index *)vector->vector.self.t;
    info = (const struct ecl_var_debug_info *)raw[1];
    for (i = vector->vector.dim; i > 2; i--) {
        cl_object name = ecl_mcp_name_of(&info[i - 3]);
        const void *p = (const void *)raw[i - 1];
        const void *word = (const void *)((uintptr_t)p &
                                          ~(sizeof(void *) - 1));
        cl_object value = unknown;

        if (name == ECL_NIL)
            return list;
        if (ecl_mcp_on_stack(stack, word, sizeof(void *)))
            value = ecl_mcp_value_at(p, info[i - 3].type, unknown);
        list = ecl_cons(ecl_cons(name, value), list);
    }
    *environment = (cl_object)raw[0];
    return list;
}

/* The variables of the function at INDEX of the history: the interpreter's
   list, or a list that is made of what compiled code says. */
static cl_object ecl_mcp_variables_at(cl_index index, cl_object unknown)
{
    cl_env_ptr env = ecl_process_env();
    struct ecl_ihs_frame *ihs = env->ihs_top;
    struct ecl_mcp_stack stack = {(uintptr_t)&env,
                                  (uintptr_t)__libc_stack_end};
    cl_object list = ECL_NIL;
    cl_object environment;
    int vectors;

    while (ihs != NULL && ihs->index > index) {
        stack.low = (uintptr_t)ihs;
        ihs = ihs->next;
    }
    if (ihs == NULL)
        return ECL_NIL;
    if (ihs->next != NULL && (uintptr_t)ihs->next > (uintptr_t)ihs &&
        (uintptr_t)ihs->next < stack.high)
        stack.high = (uintptr_t)ihs->next;
    environment = ihs->lex_env;
    if (ECL_LISTP(environment))
        return environment;
    for (vectors = 0; environment != ECL_NIL && vectors < ECL_MCP_VARIABLES;
         vectors++)
        list = ecl_mcp_add_variables(stack, &environment, list, unknown);
    return cl_nreverse(list);
}
")

(defun variables-at (index unknown)
  "Returns the variables of the function at INDEX of the invocation history, the
innermost first, as (NAME . VALUE). The name is a symbol when the function is
interpreted, else a string, PACKAGE::NAME. UNKNOWN stands for a value that
cannot be told. Only for the main thread."
  (ffi:c-inline (index unknown) (:fixnum :object) :object
                "ecl_mcp_variables_at(#0, #1)" :one-liner t))

(defun function-code (function)
  "Returns the interpreted code of the closure FUNCTION, or FUNCTION itself when
it is not a closure."
  (ffi:c-inline (function) (:object) :object
                "(ecl_t_of(#0) == t_bclosure ? (#0)->bclosure.code : (#0))"
                :one-liner t))

;;; The global names that interpreted code uses

(ffi:clines "
/* How many operands follow instruction OP; -1 when it is unknown, -2 when the
   first one says how many more. */
static int ecl_mcp_operands(int op)
{
    switch (op) {
    case OP_NOP: case OP_ENDP: case OP_CONS: case OP_CAR: case OP_CDR:
    case OP_PUSH: case OP_MCALL: case OP_POP: case OP_POP1: case OP_POPREQ:
    case OP_POPOPT: case OP_NOMORE: case OP_POPREST: case OP_EXIT:
    case OP_THROW: case OP_DO: case OP_CATCH: case OP_EXIT_TAGBODY:
    case OP_EXIT_FRAME: case OP_PROTECT_NORMAL: case OP_PROTECT_EXIT:
    case OP_PROGV: case OP_EXIT_PROGV: case OP_PUSHVALUES:
    case OP_POPVALUES: case OP_PUSHMOREVALUES: case OP_VALUEREG0:
    case OP_NTHVAL: case OP_NIL: case OP_NOT: case OP_PUSHNIL:
    case OP_STEPOUT:
        return 0;
    case OP_QUOTE: case OP_LIST: case OP_LISTA: case OP_INT: case OP_PINT:
    case OP_VAR: case OP_VARS: case OP_PUSHV: case OP_PUSHVS: case OP_PUSHQ:
    case OP_CALLG1: case OP_CALLG2: case OP_CALL: case OP_FCALL:
    case OP_STEPCALL: case OP_PUSHKEYS: case OP_LFUNCTION: case OP_FUNCTION:
    case OP_CLOSE: case OP_RETURN: case OP_JMP: case OP_JNIL: case OP_JT:
    case OP_UNBIND: case OP_UNBINDS: case OP_BIND: case OP_PBIND:
    case OP_BINDS: case OP_PBINDS: case OP_SETQ: case OP_SETQS:
    case OP_PSETQ: case OP_PSETQS: case OP_BLOCK: case OP_FRAME:
    case OP_PROTECT: case OP_VALUES: case OP_CSET: case OP_STEPIN:
        return 1;
    case OP_CALLG: case OP_GO: case OP_JEQL: case OP_JNEQL: case OP_VBIND:
    case OP_VBINDS: case OP_VSETQ: case OP_VSETQS:
        return 2;
    case OP_FLET: case OP_LABELS: case OP_TAGBODY:
        return -2;
    default:
        return -1;
    }
}

/* Whether operand AT of instruction OP is the number of a constant. */
static bool ecl_mcp_is_constant(int op, int at)
{
    switch (op) {
    case OP_QUOTE: case OP_PUSHQ: case OP_VARS: case OP_PUSHVS:
    case OP_SETQS: case OP_PSETQS: case OP_VSETQS: case OP_BIND:
    case OP_PBIND: case OP_BINDS: case OP_PBINDS: case OP_CALLG1:
    case OP_CALLG2: case OP_FUNCTION: case OP_CLOSE: case OP_BLOCK:
    case OP_JEQL: case OP_JNEQL: case OP_PUSHKEYS: case OP_CSET:
    case OP_STEPIN:
        return at == 0;
    case OP_CALLG: case OP_VBIND: case OP_VBINDS:
        return at == 1;
    case OP_FLET: case OP_LABELS:
        return at > 0;
    default:
        return false;
    }
}

/* The operands of the instruction at AT, which ends before END; -1 when it is
   not known. */
static int ecl_mcp_operands_at(const cl_opcode *at, const cl_opcode *end)
{
    int operands = ecl_mcp_operands(at[0]);

    if (operands == -2)
        operands = end - at > 1 && at[1] >= 0 ? 1 + at[1] : -1;
    return operands < end - at ? operands : -1;
}

/* The constants that CODE, of the interpreter, uses, in order; 0 when it has
   instructions that are not known here. */
static cl_object ecl_mcp_code_constants(cl_object code)
{
    const cl_opcode *at = (const cl_opcode *)code->bytecodes.code;
    const cl_opcode *end = at + code->bytecodes.code_size;
    cl_object data = code->bytecodes.data;
    cl_index size = ECL_VECTORP(data) ? data->vector.dim : 0;
    cl_object list = ECL_NIL;

    while (at < end) {
        int operands = ecl_mcp_operands_at(at, end);

        if (operands < 0)
            return ecl_make_fixnum(0);
        for (int i = 0; i < operands; i++) {
            if (!ecl_mcp_is_constant(at[0], i))
                continue;
            if (at[1 + i] < 0 || (cl_index)at[1 + i] >= size)
                return ecl_make_fixnum(0);
            list = ecl_cons(data->vector.self.t[at[1 + i]], list);
        }
        at += 1 + operands;
    }
    return cl_nreverse(list);
}

/* Whether ONE and OTHER have the same instructions, apart from the numbers of
   their constants. */
static bool ecl_mcp_is_same_code(cl_object one, cl_object other)
{
    const cl_opcode *a = (const cl_opcode *)one->bytecodes.code;
    const cl_opcode *b = (const cl_opcode *)other->bytecodes.code;
    const cl_opcode *end = a + one->bytecodes.code_size;

    if (one->bytecodes.code_size != other->bytecodes.code_size)
        return false;
    while (a < end) {
        int operands = ecl_mcp_operands_at(a, end);

        if (operands < 0 || a[0] != b[0])
            return false;
        for (int i = 0; i < operands; i++)
            if (!ecl_mcp_is_constant(a[0], i) && a[1 + i] != b[1 + i])
                return false;
        a += 1 + operands;
        b += 1 + operands;
    }
    return true;
}

/* Which list of ecl_mcp_names_in the name belongs to that instruction OP has
   as operand *AT; -1: none. */
static int ecl_mcp_use(int op, int *at)
{
    *at = op == OP_CALLG || op == OP_VBINDS ? 1 : 0;
    switch (op) {
    case OP_CALLG: case OP_CALLG1: case OP_CALLG2: case OP_FUNCTION:
        return 0;
    case OP_VARS: case OP_PUSHVS: case OP_SETQS: case OP_PSETQS:
    case OP_VSETQS:
        return 1;
    case OP_BINDS: case OP_PBINDS: case OP_VBINDS:
        return 2;
    default:
        return -1;
    }
}

/* Adds to the three LISTS the names of functions that CODE, of the interpreter,
   uses, of special variables, and of those that it binds. False when it has
   instructions that are not known here; the lists may have names then. */
static bool ecl_mcp_names_in(cl_object code, cl_object lists[3])
{
    const cl_opcode *at = (const cl_opcode *)code->bytecodes.code;
    const cl_opcode *end = at + code->bytecodes.code_size;
    cl_object data = code->bytecodes.data;

    while (at < end) {
        int op = *at++;
        int operands = ecl_mcp_operands(op);
        int operand;
        int list = ecl_mcp_use(op, &operand);

        if (operands == -1)
            return false;
        if (operands == -2)
            operands = at < end ? 1 + *at : -1;
        if (operands < 0 || operands > end - at)
            return false;
        if (list >= 0) {
            if (at[operand] < 0 || (cl_index)at[operand] >= data->vector.dim)
                return false;
            lists[list] = ecl_cons(data->vector.self.t[at[operand]],
                                   lists[list]);
        }
        at += operands;
    }
    return true;
}

static cl_object ecl_mcp_code_names(cl_object function)
{
    cl_object lists[3] = {ECL_NIL, ECL_NIL, ECL_NIL};

    if (ecl_t_of(function) == t_bclosure)
        function = function->bclosure.code;
    if (ecl_t_of(function) != t_bytecodes ||
        ecl_t_of(function->bytecodes.data) != t_vector ||
        !ecl_mcp_names_in(function, lists))
        return ECL_NIL;
    return cl_list(3, lists[0], lists[1], lists[2]);
}

/* The other functions among the constants of the interpreted FUNCTION. */
static cl_object ecl_mcp_code_functions(cl_object function)
{
    cl_object list = ECL_NIL;
    cl_object data;
    cl_index i;

    if (ecl_t_of(function) == t_bclosure)
        function = function->bclosure.code;
    if (ecl_t_of(function) != t_bytecodes ||
        ecl_t_of(function->bytecodes.data) != t_vector)
        return ECL_NIL;
    data = function->bytecodes.data;
    for (i = 0; i < data->vector.dim; i++)
        if (ecl_t_of(data->vector.self.t[i]) == t_bytecodes &&
            data->vector.self.t[i] != function)
            list = ecl_cons(data->vector.self.t[i], list);
    return list;
}
")

(defun code-names (function)
  "Returns the global names in the code of FUNCTION: a list of the functions that
it uses, of the special variables, and of those that it binds. NIL when it is not
interpreted."
  (ffi:c-inline (function) (:object) :object "ecl_mcp_code_names(#0)"
                :one-liner t))

(defun code-functions (function)
  "Returns the other functions that belong to the interpreted FUNCTION, if only
because they are in the same top-level form."
  (ffi:c-inline (function) (:object) :object "ecl_mcp_code_functions(#0)"
                :one-liner t))

(defun code-constants (code)
  "Returns a list of the constants that CODE, an interpreted function that is not
a closure, uses, in order, and T; or NIL and NIL when it has instructions that
are not known."
  (let ((constants (ffi:c-inline (code) (:object) :object
                                 "ecl_mcp_code_constants(#0)" :one-liner t)))
    (if (listp constants)
        (values constants t)
        (values nil nil))))

(defun same-instructions-p (one other)
  "True when the interpreted functions ONE and OTHER, not closures, have the same
code, apart from their constants."
  (ffi:c-inline (one other) (:object :object) :bool
                "ecl_mcp_is_same_code(#0, #1)" :one-liner t))
