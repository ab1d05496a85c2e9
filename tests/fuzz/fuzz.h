/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz.h: a harness is one function that takes any bytes. libFuzzer calls it
   with inputs that it invents, replay.c with the files of the corpus. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A condition that holds for every input. */
#define REQUIRE(condition)                                                     \
    do {                                                                       \
        if (!(condition))                                                      \
            abort();                                                           \
    } while (0)

#endif
