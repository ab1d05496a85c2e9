/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attempt.h: attempts against the sandbox, in C. */
#ifndef WALLS_ATTEMPT_H
#define WALLS_ATTEMPT_H

#include <stdbool.h>

/* Words of one line that an attempt may have. */
enum { WORDS_MAX = 16 };

/* The value of WORD: a number, the name of a constant, or several with | in
   between. False when it is none. */
bool word_value(const char *word, long *out);

/* The number of the system call NAME, which may be a number itself; -1 when
   there is none. */
long word_call(const char *name);

/* Runs the act called WORDS[0] with N - 1 arguments. Returns what a system call
   would: less than 0, and errno, when it was refused. Ends the process when
   there is no such act. */
long act_run(char *const *words, int n);

/* The other program of the user: has what attempts attack, prints its names and
   numbers, a KEY=VALUE a line, and waits for the end of its input. Returns the
   exit status. */
int victim_run(const char *folder);

#endif
