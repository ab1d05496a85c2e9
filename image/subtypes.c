/* SPDX-License-Identifier: GPL-3.0-or-later */
/* subtypes.c: see subtypes.h. While ECL's compiler is loaded, it asks 18,000
   times whether a type is part of another, about a thousand pairs in all, for
   which ECL builds its table of types each time anew: half of the load. This
   definition takes the place of the one in the library, which compiled code
   calls through its table of symbols. It remembers answers, and knows those
   about types that have nothing in common. */
#include "image/subtypes.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <ecl/ecl.h>

#include "image/conses.h"

enum {
    ANSWERS = 2048, /* that are remembered: twice as many as there are */
    NESTING = 10,   /* of the types that are */
    LENGTH = 1000,  /* of each list in them */
    MARKS = 4
};

struct answer {
    cl_object part; /* NULL: none is here */
    cl_object whole;
    cl_object yes;
    cl_object sure;
};

/* Kinds of types none of which has anything in common with another. */
enum kind { UNKNOWN, NUMBER, CHARACTER, ARRAY, OTHER };

/* In the collector's memory while it is needed. ECL forgets its own answers
   when types are defined: it empties a vector of pairs. The marks are in some
   of its places; if none is left there, types may have changed. */
static struct memory {
    struct answer answers[ANSWERS];
    cl_object marks[MARKS];
} * memory;

/* By this, the collector knows it. */
static cl_object root = ECL_NIL;

static __thread bool active;

/* Symbols, which last. */
static struct {
    cl_object answers; /* the variable in which ECL has its own */
    cl_object array;
    cl_object character;
    cl_object number;
    cl_object signed_byte;
    cl_object unsigned_byte;
    cl_object vector;
    cl_object built_in_class;
} names;

static cl_object (*library_subtypep)(cl_narg n, cl_object part, cl_object whole,
                                     ...);

__attribute__((constructor)) static void find_original(void)
{
    void *found = dlsym(RTLD_NEXT, "cl_subtypep");

    memcpy(&library_subtypep, &found, sizeof found);
}

static void find_names(void)
{
    static const char package[] = "COMMON-LISP";

    names.answers = ecl_make_symbol("*SUBTYPEP-CACHE*", "SI");
    names.array = ecl_make_symbol("ARRAY", package);
    names.character = ecl_make_symbol("CHARACTER", package);
    names.number = ecl_make_symbol("NUMBER", package);
    names.signed_byte = ecl_make_symbol("SIGNED-BYTE", package);
    names.unsigned_byte = ecl_make_symbol("UNSIGNED-BYTE", package);
    names.vector = ecl_make_symbol("VECTOR", package);
    names.built_in_class = ecl_make_symbol("BUILT-IN-CLASS", package);
}

/* The vector in which ECL has its answers, or NULL if it has none like that. */
static cl_object library_answers(void)
{
    cl_object found = cl_boundp(names.answers) != ECL_NIL
                          ? ecl_symbol_value(names.answers)
                          : ECL_NIL;

    if (ecl_t_of(found) != t_vector || found->vector.dim <= MARKS ||
        found->vector.elttype != (int8_t)ecl_aet_object)
        return NULL;
    return found;
}

/* --- Answers that are remembered ----------------------------------------- */

/* Whether types have changed since the last call. */
static bool types_are_other(cl_object vector)
{
    cl_object *marks = memory->marks;
    bool all_gone = true;

    for (int i = 0; i < MARKS; i++)
        if (marks[i] && vector->vector.self.t[i] == marks[i])
            all_gone = false;
    for (int i = 0; i < MARKS; i++) {
        if (!marks[i]) // like an answer about types that nobody has
            marks[i] = ecl_list1(ecl_list1(ecl_list1(ECL_NIL)));
        vector->vector.self.t[i] = marks[i];
    }
    return all_gone;
}

/* Adds the type X to *HASH. False: it is too deep or long to be remembered. */
static bool hash_type(cl_object x, size_t *hash, unsigned deep)
{
    int n = 0;

    if (deep == NESTING)
        return false;
    for (; ECL_CONSP(x); x = cons_cdr(x)) {
        if (++n == LENGTH)
            return false;
        *hash = *hash * 31 + 7;
        if (!hash_type(cons_car(x), hash, deep + 1))
            return false;
    }
    *hash = *hash * 1000003 ^ ((size_t)x >> 4);
    return true;
}

/* Whether the types A and B are lists of the same objects, or the same. */
static bool is_same(cl_object a, cl_object b)
{
    for (; ECL_CONSP(a) && ECL_CONSP(b); a = cons_cdr(a), b = cons_cdr(b))
        if (!is_same(cons_car(a), cons_car(b)))
            return false;
    return a == b;
}

/* The place of the answer whether PART is part of WHOLE; NULL: it has none. */
static struct answer *find_answer(cl_object part, cl_object whole)
{
    size_t hash = 0;

    if (!hash_type(part, &hash, 0) || !hash_type(whole, &hash, 0))
        return NULL;
    return &memory->answers[(hash ^ hash >> 15) % ANSWERS];
}

/* --- Types that have nothing in common ----------------------------------- */

static bool is_below(cl_object class, cl_object name)
{
    return si_subclassp(2, class, cl_find_class(1, name)) != ECL_NIL;
}

static bool is_above(cl_object class, cl_object name)
{
    return si_subclassp(2, cl_find_class(1, name), class) != ECL_NIL;
}

/* What NAME is, if it names one of the classes that ECL has built in. */
static enum kind kind_of_name(cl_object name)
{
    cl_object class = cl_find_class(2, name, ECL_NIL);

    if (class == ECL_NIL ||
        cl_class_of(class) != cl_find_class(1, names.built_in_class))
        return UNKNOWN;
    if (is_below(class, names.number))
        return NUMBER;
    if (is_below(class, names.character))
        return CHARACTER;
    if (is_below(class, names.array))
        return ARRAY;
    // T, and SEQUENCE, of which vectors are part, but not all arrays
    return is_above(class, names.number) || is_above(class, names.character) ||
                   is_above(class, names.array) || is_above(class, names.vector)
               ? UNKNOWN
               : OTHER;
}

/* What TYPE is, if it is a name, (ARRAY name), or integers of so many bits. */
static enum kind kind_of(cl_object type)
{
    cl_object first;

    if (type != ECL_NIL && ECL_SYMBOLP(type))
        return kind_of_name(type);
    if (!ECL_CONSP(type) || !ECL_CONSP(cons_cdr(type)) ||
        cons_cdr(cons_cdr(type)) != ECL_NIL)
        return UNKNOWN;
    first = cons_car(type);
    type = cons_car(cons_cdr(type));
    if (first == names.array && ECL_SYMBOLP(type) && type != ECL_NIL)
        return ARRAY;
    return (first == names.signed_byte || first == names.unsigned_byte) &&
                   ECL_FIXNUMP(type) && ecl_fixnum(type) > 0
               ? NUMBER
               : UNKNOWN;
}

/* Whether PART, which is not empty, has something that WHOLE has not, for
   certain. */
static bool is_foreign(cl_object part, cl_object whole)
{
    enum kind kind = kind_of(whole);

    if (kind == UNKNOWN)
        return false;
    return part == ECL_T || (kind_of(part) != UNKNOWN && kind_of(part) != kind);
}

/* --- SUBTYPEP ------------------------------------------------------------ */

void subtypes_begin(void)
{
    if (memory)
        return; // another thread has it
    if (!names.answers) {
        ecl_register_root(&root);
        find_names();
    }
    if (!library_answers())
        return;
    memory = ecl_alloc(sizeof *memory);
    memset(memory, 0, sizeof *memory);
    root = (cl_object)memory;
    active = true;
}

void subtypes_end(void)
{
    cl_object vector;

    if (!active)
        return;
    active = false;
    vector = library_answers();
    for (int i = 0; vector && i < MARKS; i++)
        if (vector->vector.self.t[i] == memory->marks[i])
            vector->vector.self.t[i] = ECL_NIL;
    memory = NULL;
    root = ECL_NIL;
}

static cl_object give(cl_object yes, cl_object sure)
{
    cl_env_ptr env = ecl_process_env();

    env->nvalues = 2;
    env->values[0] = yes;
    env->values[1] = sure;
    return yes;
}

/* Whether PART is part of WHOLE, as ECL says. */
static cl_object ask(cl_object part, cl_object whole)
{
    struct answer *answer;
    cl_object vector = library_answers();
    cl_object yes;

    if (vector && types_are_other(vector))
        memset(memory->answers, 0, sizeof memory->answers);
    answer = vector ? find_answer(part, whole) : NULL;
    if (answer && answer->part && is_same(answer->part, part) &&
        is_same(answer->whole, whole))
        return give(answer->yes, answer->sure);
    if (is_foreign(part, whole))
        yes = give(ECL_NIL, ECL_T);
    else
        yes = library_subtypep(2, part, whole);
    if (answer)
        *answer = (struct answer){part, whole, yes,
                                  ecl_nth_value(ecl_process_env(), 1)};
    return give(yes, ecl_nth_value(ecl_process_env(), 1));
}

// The declaration has these names.
// NOLINTNEXTLINE(readability-identifier-naming)
cl_object cl_subtypep(cl_narg narg, cl_object V1, cl_object V2, ...)
{
    cl_object environment = ECL_NIL;
    va_list rest;

    if (narg == 2)
        return active && V1 != V2 ? ask(V1, V2) : library_subtypep(2, V1, V2);
    va_start(rest, V2);
    if (narg == 3)
        environment = va_arg(rest, cl_object);
    va_end(rest);
    return library_subtypep(narg, V1, V2, environment);
}
