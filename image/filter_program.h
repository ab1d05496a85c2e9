/* SPDX-License-Identifier: GPL-3.0-or-later */
/* filter_program.h: writes a program for the kernel (seccomp, classic BPF) that
   answers each system call. Knows no particular call. A program looks like

       program_init(&program);
       i = program_call(&program, CALL);
       program_load(&program, 1);
       program_answer_if(&program, VALUE, 0);
       program_answer(&program, EPERM);
       program_end(&program, i);
       program_answer(&program, ENOSYS);

   An answer is an error number, or 0: the kernel runs the call. Arguments are
   compared as the kernel takes them where they are int, unsigned or a mode:
   without their upper halves. */
#ifndef IMAGE_FILTER_PROGRAM_H
#define IMAGE_FILTER_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sock_filter; // <linux/filter.h>

struct filter_program {
    struct sock_filter *steps; /* owned by the program */
    size_t n;
    bool failed; /* no memory, or too long for the kernel */
};

/* Begins a program that answers ENOSYS to calls of another architecture. */
void program_init(struct filter_program *program);
void program_release(struct filter_program *program);

/* Begins a block for system call NUMBER, which must end with an answer, and is
   closed by program_end() with the number that comes back. The block must not
   have more than 250 steps. Not inside of another block. */
size_t program_call(struct filter_program *program, int number);

/* Loads argument 0 to 5; conditions look at what was loaded last, also when it
   was loaded in a block that has ended. Only in the block of a call. */
void program_load(struct filter_program *program, unsigned argument);

/* Begin a block that applies when the argument is VALUE, or has one of BITS. */
size_t program_if(struct filter_program *program, uint32_t value);
size_t program_if_bits(struct filter_program *program, uint32_t bits);

/* Ends block I. */
void program_end(struct filter_program *program, size_t i);

/* Answers with ERROR: always, when the argument is VALUE, or when MASK leaves
   VALUE of it. */
void program_answer(struct filter_program *program, int error);
void program_answer_if(struct filter_program *program, uint32_t value,
                       int error);
void program_answer_if_masked(struct filter_program *program, uint32_t mask,
                              uint32_t value, int error);

/* Answers with ERROR when the argument is one of the N VALUES. */
void program_answer_if_any(struct filter_program *program,
                           const uint32_t *values, size_t n, int error);

/* Calls from number FIRST up to that of the next range. */
struct filter_range {
    uint32_t first;
    int error;
};

/* Ends the program: answers each call by that of the N RANGES in which its
   number is, found by halving: the system runs the program once for every
   number when it is loaded. The ranges ascend, and the first one begins with
   0. Not inside of a block. */
void program_answer_ranges(struct filter_program *program,
                           const struct filter_range *ranges, size_t n);

/* Answers call NUMBER with ERROR; nothing, if the number is negative. Not
   inside of a block. */
void program_answer_call(struct filter_program *program, int number, int error);

#endif
