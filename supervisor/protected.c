/* SPDX-License-Identifier: GPL-3.0-or-later */
/* protected.c: see protected.h. The kernel's watches would tell of changes,
   too, but looking costs little, needs nothing to be held, and misses nothing.
 */
#include "supervisor/protected.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/utf8.h"

/* Names that one answer tells. */
#define TOLD 10

/* A folder whose last change is less than this ago, in nanoseconds, may change
   again without a trace: the kernel's clock for files ticks every 10 ms, or
   more often. */
#define TICK (20 * 1000 * 1000)

static int64_t nanoseconds(struct timespec time)
{
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/* Mixes the state of the folders PATHS into STAMP; 0: it tells nothing. */
static uint64_t mix(const struct protected *protected,
                    const struct paths *paths, uint64_t stamp)
{
    struct timespec now = {0, 0};

    (void)clock_gettime(CLOCK_REALTIME, &now); // cannot fail
    for (size_t i = 0; stamp != 0 && i < paths->n; i++) {
        const char *path = paths->list[i];
        struct stat status;
        int64_t changed;

        // a path, even ".", takes twice as long as the descriptor
        if (path[0] == '\0' ? fstat(protected->workspace, &status) < 0
                            : fstatat(protected->workspace, path, &status,
                                      AT_SYMLINK_NOFOLLOW) < 0)
            return 0;
        changed = nanoseconds(status.st_ctim);
        if (changed > nanoseconds(now) - TICK)
            return 0;
        stamp = (stamp ^ status.st_ino) * 0x100000001b3;
        stamp = (stamp ^ (uint64_t)changed) * 0x100000001b3;
    }
    return stamp;
}

/* The state of the folders in which files can come: those that were listed
   last. */
static uint64_t stamp_of(const struct protected *protected)
{
    uint64_t stamp = mix(protected, &protected->covers.roots, 1);

    return mix(protected, &protected->covers.fixed, stamp);
}

/* Lists what there is into OUT: inode and birth, blank, path. */
static void look(struct protected *protected, const struct sandbox *sandbox,
                 struct paths *out)
{
    struct covers *covers = &protected->covers;

    covers_list(protected->workspace, sandbox, covers);
    for (size_t i = 0; i < covers->closed.n; i++) {
        const char *path = covers->closed.list[i];
        char line[SANDBOX_PATH + 48];
        struct statx status;

        if (statx(protected->workspace, path, AT_SYMLINK_NOFOLLOW,
                  STATX_INO | STATX_BTIME, &status) < 0)
            continue;
        // a number may be used again for what takes the place of a file
        (void)snprintf(line, sizeof line, "%" PRIu64 "-%" PRId64 ".%u %s",
                       (uint64_t)status.stx_ino,
                       (int64_t)status.stx_btime.tv_sec,
                       (unsigned)status.stx_btime.tv_nsec, path);
        paths_append(out, line);
    }
}

void protected_open(struct protected *protected, const struct sandbox *sandbox,
                    const char *workspace, const struct log *log)
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
    if (protected->covers.cut)
        log_line(log, LOG_INFO,
                 "sandbox: the workspace has more %s than are searched or "
                 "covered: what lies in its other repositories can be changed "
                 "by evaluated code, unless --protect names it",
                 protected->covers.cut);
    protected->covers.repository = true;
    look(protected, sandbox, &protected->known);
    // code of an earlier server may have filled the workspace for this one: the
    // first answer tells that, too, as most users read no logs
    if (protected->covers.partial)
        log_line(log, LOG_WARN,
                 "sandbox: the workspace has more entries than are searched: "
                 "evaluated code can change some files, such as "
                 "*.code-workspace, and settings of submodules");
}

/* Appends that from now on some files are not searched. False: it was told, or
   is not so. */
static bool tell_partial(struct protected *protected, struct buf *out)
{
    bool before = protected->partial;

    protected->partial = protected->covers.partial;
    if (before || !protected->partial)
        return false;
    buf_str(out,
            STR("\nThe workspace now has more entries than are searched. Some "
                "new files, such as *.code-workspace, and settings of "
                "submodules may be neither reported nor protected. Tell the "
                "user."));
    return true;
}

/* Appends the names of those of NOW that are not known, as many as one answer
   tells, and that there are others. Returns the number of all; what was not
   told stays unknown. */
static size_t tell_new(struct protected *protected, const struct paths *now,
                       struct buf *out)
{
    struct paths told = {.list = NULL};
    size_t n = 0;

    for (size_t i = 0; i < now->n; i++) {
        const char *line = now->list[i];
        bool known = paths_has(&protected->known, line);

        if (!known && n == 0)
            buf_str(out, STR("\nNew in the workspace since the last answer: "));
        if (!known && n > 0 && n < TOLD)
            buf_str(out, STR(", "));
        if (!known && n < TOLD) // code may have chosen the name
            utf8_append_visible(out, str_from(strchr(line, ' ') + 1));
        if (known || n < TOLD)
            paths_append(&told, line);
        n += !known;
    }
    paths_release(&protected->known);
    protected->known = told;
    if (n > TOLD)
        buf_printf(out, " and %zu more, which the next answers name", n - TOLD);
    if (n > 0)
        buf_str(out, STR(". Other programs run or trust such files: tell the "
                         "user, who should look at them first."));
    return n;
}

bool protected_read(struct protected *protected, const struct sandbox *sandbox,
                    struct buf *out)
{
    struct paths now = {.list = NULL};
    uint64_t stamp;
    size_t n;

    if (!protected->open)
        return false;
    stamp = stamp_of(protected);
    if (stamp != 0 && stamp == protected->stamp)
        return false;
    look(protected, sandbox, &now);
    n = tell_new(protected, &now, out);
    // of before looking, so that nothing is missed
    protected->stamp = n > TOLD ? 0 : stamp;
    paths_release(&now);
    return tell_partial(protected, out) || n > 0;
}

void protected_release(struct protected *protected)
{
    if (protected->open)
        (void)close(protected->workspace); // was only read
    covers_release(&protected->covers);
    paths_release(&protected->known);
    memset(protected, 0, sizeof *protected);
}
