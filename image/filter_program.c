/* SPDX-License-Identifier: GPL-3.0-or-later */
/* filter_program.c: see filter_program.h. */
#include "image/filter_program.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdlib.h>

/* The architecture of this program, as the system calls it. libseccomp could be
   asked, but would have to be loaded at each start. */
#if defined __x86_64__ // x32, too, whose calls have other numbers
#define NATIVE AUDIT_ARCH_X86_64
#elif defined __i386__
#define NATIVE AUDIT_ARCH_I386
#elif defined __aarch64__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE AUDIT_ARCH_AARCH64
#elif defined __arm__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE AUDIT_ARCH_ARM
#elif defined __riscv && __riscv_xlen == 64
#define NATIVE AUDIT_ARCH_RISCV64
#elif defined __powerpc64__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE AUDIT_ARCH_PPC64LE
#elif defined __powerpc64__
#define NATIVE AUDIT_ARCH_PPC64
#elif defined __s390x__
#define NATIVE AUDIT_ARCH_S390X
#elif defined __loongarch64
#define NATIVE AUDIT_ARCH_LOONGARCH64
#elif defined __mips64 && _MIPS_SIM == _ABI64 &&                               \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define NATIVE AUDIT_ARCH_MIPSEL64
#else
#error "which AUDIT_ARCH (linux/audit.h) is this?"
#endif

/* Where the lower half of an argument is. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define LOW_HALF 4
#else
#define LOW_HALF 0
#endif

static void add(struct filter_program *program, unsigned code, uint32_t k,
                unsigned jump_true, unsigned jump_false)
{
    if (program->n == BPF_MAXINSNS || jump_true > 255 || jump_false > 255)
        program->failed = true;
    if (program->failed)
        return;
    program->steps[program->n++] =
        (struct sock_filter){(unsigned short)code, (unsigned char)jump_true,
                             (unsigned char)jump_false, k};
}

static void load_at(struct filter_program *program, size_t offset)
{
    add(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

void program_init(struct filter_program *program)
{
    *program = (struct filter_program){.steps = NULL};
    program->steps = malloc(BPF_MAXINSNS * sizeof program->steps[0]);
    program->failed = !program->steps;
    load_at(program, offsetof(struct seccomp_data, arch));
    add(program, BPF_JMP | BPF_JEQ | BPF_K, NATIVE, 1, 0);
    program_answer(program, ENOSYS);
    load_at(program, offsetof(struct seccomp_data, nr));
}

void program_release(struct filter_program *program)
{
    free(program->steps);
    *program = (struct filter_program){.steps = NULL};
}

/* Begins a block that a condition enters; what comes after it is not known
   yet. */
static size_t begin(struct filter_program *program, unsigned code, uint32_t k)
{
    add(program, code, k, 0, 0);
    return program->n;
}

size_t program_if(struct filter_program *program, uint32_t value)
{
    return begin(program, BPF_JMP | BPF_JEQ | BPF_K, value);
}

size_t program_call(struct filter_program *program, int number)
{
    return program_if(program, (uint32_t)number);
}

size_t program_if_bits(struct filter_program *program, uint32_t bits)
{
    return begin(program, BPF_JMP | BPF_JSET | BPF_K, bits);
}

void program_end(struct filter_program *program, size_t i)
{
    if (program->n - i > 255)
        program->failed = true;
    if (!program->failed)
        program->steps[i - 1].jf = (unsigned char)(program->n - i);
}

void program_load(struct filter_program *program, unsigned argument)
{
    load_at(program, offsetof(struct seccomp_data, args) +
                         argument * sizeof(uint64_t) + LOW_HALF);
}

void program_answer(struct filter_program *program, int error)
{
    add(program, BPF_RET | BPF_K,
        error ? SECCOMP_RET_ERRNO | (uint32_t)error : SECCOMP_RET_ALLOW, 0, 0);
}

void program_answer_if(struct filter_program *program, uint32_t value,
                       int error)
{
    add(program, BPF_JMP | BPF_JEQ | BPF_K, value, 0, 1);
    program_answer(program, error);
}

void program_answer_if_masked(struct filter_program *program, uint32_t mask,
                              uint32_t value, int error)
{
    // the argument is needed again
    add(program, BPF_MISC | BPF_TAX, 0, 0, 0);
    add(program, BPF_ALU | BPF_AND | BPF_K, mask, 0, 0);
    program_answer_if(program, value, error);
    add(program, BPF_MISC | BPF_TXA, 0, 0, 0);
}

void program_answer_if_any(struct filter_program *program,
                           const uint32_t *values, size_t n, int error)
{
    if (n == 0)
        return;
    // each jumps to the answer, the last one over it
    for (size_t i = 0; i < n; i++)
        add(program, BPF_JMP | BPF_JEQ | BPF_K, values[i],
            (unsigned)(n - 1 - i), i + 1 < n ? 0 : 1);
    program_answer(program, error);
}

void program_answer_ranges(struct filter_program *program,
                           const struct filter_range *ranges, size_t n)
{
    size_t half = n / 2;
    size_t lower;

    if (n < 2) {
        program_answer(program, n > 0 ? ranges[0].error : ENOSYS);
        return;
    }
    // what is not below the middle jumps over what is
    lower = begin(program, BPF_JMP | BPF_JGE | BPF_K, ranges[half].first);
    program_answer_ranges(program, ranges, half);
    if (program->n - lower > 255)
        program->failed = true;
    if (!program->failed)
        program->steps[lower - 1].jt = (unsigned char)(program->n - lower);
    program_answer_ranges(program, ranges + half, n - half);
}

void program_answer_call(struct filter_program *program, int number, int error)
{
    if (number >= 0)
        program_answer_if(program, (uint32_t)number, error);
}
