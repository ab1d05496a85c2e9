/* SPDX-License-Identifier: GPL-3.0-or-later */
/* folder.c: see folder.h. */
#include "support/folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

/* Bytes of TMPDIR with which the path of a socket in FOLDER is short enough. */
#define PARENT_MOST 60

char folder[FOLDER_SIZE];

int folder_make(void)
{
    static char parent[FOLDER_SIZE];
    const char *name = getenv("TMPDIR");
    int n;

    if (!parent[0])
        (void)snprintf(parent, sizeof parent, "%s",
                       name && name[0] == '/' && strlen(name) <= PARENT_MOST
                           ? name
                           : "/tmp");
    n = snprintf(folder, sizeof folder, "%s/ecl-mcp-test-XXXXXX", parent);

    return n > 0 && (size_t)n < sizeof folder && mkdtemp(folder) ? 0 : -1;
}

void folder_run_in(const char *path, const char *command)
{
    char text[8000];
    int n = snprintf(text, sizeof text, "cd '%s' && %s", path, command);

    if (n < 0 || (size_t)n >= sizeof text ||
        system(text) != 0) // NOLINT(cert-env33-c): a fixed text
        fail_msg("cannot %s", command);
}

void folder_run(const char *command)
{
    folder_run_in(folder, command);
}

void folder_remove(void)
{
    folder_run("cd / && rm -rf \"$OLDPWD\"");
}
