/* SPDX-License-Identifier: GPL-3.0-or-later */
/* stacks.c: see stacks.h. Assembler for one kind of processor; getcontext,
   makecontext and swapcontext of the C library for the others, for sanitizers,
   which know those, and for processes with a shadow stack, where a return must
   go where the call came from. */
#include "base/stacks.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#define SANITIZED
#endif

#if defined __x86_64__ && defined __LP64__ && !defined SANITIZED
#define QUICK

/* The compiler must think that all registers change which a function may
   change: it must not look at the one that does not. */
#ifdef __clang__
#define OPAQUE naked, noinline
#else
#define OPAQUE naked, noipa
#endif

/* Keeps the registers that a function must keep, and the stack in *FROM, and
   takes those of TO. */
__attribute__((OPAQUE)) static void change(__attribute__((unused)) void **from,
                                           __attribute__((unused)) void *to)
{
    __asm__("pushq %rbp\n\t"
            "pushq %rbx\n\t"
            "pushq %r12\n\t"
            "pushq %r13\n\t"
            "pushq %r14\n\t"
            "pushq %r15\n\t"
            "movq %rsp, (%rdi)\n\t"
            "movq %rsi, %rsp\n\t"
            "popq %r15\n\t"
            "popq %r14\n\t"
            "popq %r13\n\t"
            "popq %r12\n\t"
            "popq %rbx\n\t"
            "popq %rbp\n\t"
            "ret");
}

/* Nothing is done where there is no shadow stack. */
static bool has_shadow_stack(void)
{
    uint64_t shadow = 0;

    __asm__("rdsspq %0" : "+r"(shadow));
    return shadow != 0;
}

/* The top of a stack with what `change` takes from it: six registers, and where
   it returns to, RUN; above is where RUN would return to, so that the stack is
   aligned as behind a call. */
static void *first_top(void (*run)(void), char *stack, size_t size)
{
    const uintptr_t words[8] = {[6] = (uintptr_t)run};
    size_t excess = (uintptr_t)(stack + size) % 16;
    char *top = stack + size - excess - sizeof words;

    memcpy(top, words, sizeof words);
    return top;
}

#endif

void stacks_prepare(struct stacks_place *place, void (*run)(void), char *stack,
                    size_t size)
{
#ifdef QUICK
    if (!has_shadow_stack()) {
        place->top = first_top(run, stack, size);
        return;
    }
#endif
    place->top = NULL;
    (void)getcontext(&place->context); // cannot fail
    place->context.uc_stack.ss_sp = stack;
    place->context.uc_stack.ss_size = size;
    place->context.uc_link = NULL;
    makecontext(&place->context, run, 0);
}

void stacks_change(struct stacks_place *from, struct stacks_place *to)
{
#ifdef QUICK
    if (to->top) {
        change(&from->top, to->top);
        return;
    }
#endif
    from->top = NULL;
    (void)swapcontext(&from->context, &to->context); // cannot fail
}
