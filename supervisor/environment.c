/* SPDX-License-Identifier: GPL-3.0-or-later */
/* environment.c: see environment.h. */
#include "supervisor/environment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "TMPDIR="

char **environment_with_temporary(const char *temporary)
{
    size_t n = 0;
    size_t kept = 0;

    while (environ[n])
        n++;
    size_t array = (n + 2) * sizeof(char *);
    size_t text = temporary ? sizeof NAME + strlen(temporary) : 0;
    char **list = malloc(array + text);
    if (!list)
        return NULL;
    for (size_t i = 0; i < n; i++)
        if (!temporary || strncmp(environ[i], NAME, sizeof NAME - 1) != 0)
            list[kept++] = environ[i];
    if (temporary && temporary[0] != '\0') {
        char *own = (char *)list + array;

        (void)snprintf(own, text, NAME "%s", temporary);
        list[kept++] = own;
    }
    list[kept] = NULL;
    return list;
}
