/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay.c: runs a harness on the given files, without libFuzzer:
     fuzz_json tests/fuzz/corpus/json/… */
#include <stdio.h>

#include "fuzz/fuzz.h"

/* Larger files do not belong in a corpus. */
#define LARGEST (64 * 1024)

static int replay(const char *path)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(LARGEST + 1);
    int status = 1;
    if (!file || !bytes)
        goto out;
    size_t size = fread(bytes, 1, LARGEST + 1, file);
    if (size > LARGEST || ferror(file))
        goto out;
    // The input ends where its storage ends, so that reading past it is
    // noticed.
    uint8_t *exact = malloc(size > 0 ? size : 1);
    if (!exact)
        goto out;
    for (size_t i = 0; i < size; i++)
        exact[i] = bytes[i];
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    status = 0;
out:
    free(bytes);
    if (file)
        fclose(file);
    return status;
}

int main(int count, char **paths)
{
    int failed = 0;
    for (int i = 1; i < count; i++) {
        // If a file ends the program, its name is the last one printed.
        printf("%s\n", paths[i]);
        fflush(stdout);
        if (replay(paths[i]) != 0) {
            printf("FAIL %s: cannot be read\n", paths[i]);
            failed++;
        }
    }
    printf("%s: %d passed, %d failed\n", paths[0], count - 1 - failed, failed);
    return failed > 0;
}
