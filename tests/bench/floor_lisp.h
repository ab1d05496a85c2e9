/* SPDX-License-Identifier: GPL-3.0-or-later */
/* floor_lisp.h: the second process of floor.c: plain ECL. */
#ifndef TESTS_BENCH_FLOOR_LISP_H
#define TESTS_BENCH_FLOOR_LISP_H

#include <stdbool.h>

/* Reads forms from SOCKET, each behind a character and before the end of its
   line, evaluates them, and answers each with its character and the value, a
   line, too. An error in the code ends the call and not the process, by a
   handler that is made once. CAREFUL: before each form it is seen that the
   descriptors 1 and 2 are open, as the least that finds what code has done to
   them. Ends the process with the socket. */
_Noreturn void floor_lisp(int socket, bool careful);

#endif
