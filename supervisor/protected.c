/* SPDX-License-Identifier: GPL-3.0-or-later */
/* protected.c: see protected.h. The kernel's watches would tell of changes as
   well, but looking costs less than a tenth of a millisecond, needs nothing to
   be held, and misses nothing. */
#include "supervisor/protected.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Names that one answer tells. */
#define TOLD 10

/* Lists what there is into OUT: inode, blank, path. */
static void look(struct protected *protected, const struct sandbox *sandbox,
                 struct paths *out)
{
    struct covers *covers = &protected->covers;

    covers_list(protected->workspace, sandbox, covers);
    for (size_t i = 0; i < covers->closed.n; i++) {
        const char *path = covers->closed.list[i];
        char line[SANDBOX_PATH + 24];
        struct stat status;

        if (fstatat(protected->workspace, path, &status, AT_SYMLINK_NOFOLLOW) <
            0)
            continue;
        (void)snprintf(line, sizeof line, "%" PRIu64 " %s",
                       (uint64_t)status.st_ino, path);
        paths_append(out, line);
    }
}

void protected_open(struct protected *protected, const struct sandbox *sandbox,
                    const char *workspace)
{
    memset(protected, 0, sizeof *protected);
    if (sandbox->mode != SANDBOX_WORKSPACE || sandbox->unprotected ||
        workspace[0] == '\0')
        return;
    protected->workspace = open(workspace, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    protected->open = protected->workspace >= 0;
    if (!protected->open)
        return;
    covers_find_roots(protected->workspace, &protected->covers);
    protected->covers.repository = true;
    look(protected, sandbox, &protected->known);
}

bool protected_read(struct protected *protected, const struct sandbox *sandbox,
                    struct buf *out)
{
    struct paths now = {.list = NULL};
    size_t n = 0;

    if (!protected->open)
        return false;
    look(protected, sandbox, &now);
    for (size_t i = 0; i < now.n; i++) {
        if (paths_has(&protected->known, now.list[i]))
            continue;
        if (n == 0)
            buf_str(out, STR("\nNew in the workspace since the last answer: "));
        if (n < TOLD)
            buf_printf(out, "%s%s", n > 0 ? ", " : "",
                       strchr(now.list[i], ' ') + 1);
        n++;
    }
    if (n > TOLD)
        buf_printf(out, " and %zu more", n - TOLD);
    if (n > 0)
        buf_str(out, STR(". Other programs run or trust such files: tell the "
                         "user, who should look at them first."));
    paths_release(&protected->known);
    protected->known = now;
    return n > 0;
}

void protected_release(struct protected *protected)
{
    if (protected->open)
        (void)close(protected->workspace); // was only read
    covers_release(&protected->covers);
    paths_release(&protected->known);
    memset(protected, 0, sizeof *protected);
}
