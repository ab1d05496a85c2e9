/* SPDX-License-Identifier: GPL-3.0-or-later */
/* check.h: additions of the unit tests to cmocka. A test program linked with
     -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free
   runs every test again and again, failing its first allocation, its second
   and so on, until it runs to its end undisturbed. In such a run, an assertion
   of this file that meets the lost memory ends the test without failing it; the
   test's teardown function must free what is left, so that leaks show. */
#ifndef TESTS_SUPPORT_CHECK_H
#define TESTS_SUPPORT_CHECK_H

// clang-format off: cmocka.h needs the first four
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
// clang-format on

#include <sys/types.h>

#include "base/status.h"
#include "base/str.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Runs an array of struct CMUnitTest under the name NAME; for main to
   return. */
#define RUN_TESTS(name, tests) check_run((name), (tests), COUNT(tests))
int check_run(const char *name, const struct CMUnitTest *tests, size_t n);

/* Checks that STATUS is the one that is expected. */
#define assert_status(status, wanted)                                          \
    check_status((status), (wanted), __FILE__, __LINE__)
#define assert_ok(status) assert_status(status, ST_OK)
void check_status(enum status status, enum status wanted, const char *file,
                  int line);

/* Checks that THERE is true unless memory ran out; for pointers and
   buf_failed. */
#define assert_memory(there) check_memory((there), __FILE__, __LINE__)
void check_memory(bool there, const char *file, int line);

/* Checks that the struct str S is the text of the string literal. */
#define assert_text(s, literal)                                                \
    check_text((s), STR(literal), __FILE__, __LINE__)
void check_text(struct str s, struct str wanted, const char *file, int line);

/* Waits for the end of PID, a child. Returns its status, or -1: it is none. */
int check_wait(pid_t pid);

/* Whether an allocation of this run was made to fail. After this call, none
   will be. */
bool check_memory_is_back(void);

#endif
