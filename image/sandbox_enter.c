/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sandbox_enter.c: see sandbox_enter.h. */
#include "image/sandbox_enter.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/cache.h"
#include "image/landlock.h"
#include "image/linux.h"

static void close_one(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd); // the zygote's own
    *fd = -1;
}

static void lower_limit(int resource, rlim_t most)
{
    struct rlimit limit;

    if (getrlimit((__rlimit_resource_t)resource, &limit) < 0)
        return;
    if (limit.rlim_max > most)
        limit.rlim_max = most;
    if (limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    (void)setrlimit((__rlimit_resource_t)resource,
                    &limit); // lowering is always allowed
}

/* What must stay hidden, from sandbox_begin until the mounts are made. */
static struct hidden hidden;
static bool has_hidden;

static void find_hidden(const struct sandbox *sandbox,
                        const struct sandbox_places *places)
{
    if (!has_hidden && hidden_find(&hidden, sandbox, places) != ST_OK)
        hidden.failed = true; // this is reported
    has_hidden = true;
}

void sandbox_begin(const struct sandbox *sandbox,
                   const struct sandbox_places *places)
{
    if (sandbox->mode == SANDBOX_OFF)
        return;
    find_hidden(sandbox, places);
    landlock_begin(linux_landlock_version(), sandbox, &hidden);
}

struct sandbox_state sandbox_enter_zygote(const struct sandbox *sandbox,
                                          struct sandbox_places *places,
                                          struct sandbox_prepared *prepared)
{
    struct sandbox_state state = {.known = true};

    memset(prepared, 0, sizeof *prepared);
    prepared->mounts.workspace = prepared->mounts.events = -1;
    lower_limit(RLIMIT_CORE, 0);
    lower_limit(RLIMIT_FSIZE, LIMIT_FILE_WRITTEN);
    lower_limit(RLIMIT_NOFILE, LIMIT_DESCRIPTORS);
    if (sandbox->mode == SANDBOX_OFF) {
        cache_open_unconfined();
        return state;
    }
    sandbox_make_cache(sandbox, places);
    find_hidden(sandbox, places);
    state.known = mounts_enter(&prepared->mounts, sandbox, &hidden, places);
    hidden_release(&hidden);
    has_hidden = false;
    state.mounts = prepared->mounts.parts;
    state.mounts_fault = prepared->mounts.fault;
    cache_announce(places->writable[SANDBOX_CACHE],
                   places->writable[SANDBOX_TEMPORARY]);
    state.landlock = linux_landlock_version();
    landlock_open(&prepared->landlock, state.landlock, places);
    state.rights = state.mounts != 0 ? linux_keep_mounting() //
                                     : linux_give_up_rights();
    state.seccomp =
        syscall_filter_prepare(sandbox, state.landlock, &prepared->filter);
    return state;
}

int sandbox_events(const struct sandbox_prepared *prepared)
{
    return prepared->mounts.events;
}

void sandbox_tend(const struct sandbox *sandbox,
                  struct sandbox_prepared *prepared)
{
    mounts_tend(&prepared->mounts, sandbox);
}

void sandbox_cover(const struct sandbox *sandbox,
                   struct sandbox_prepared *prepared)
{
    mounts_cover(&prepared->mounts, sandbox);
}

enum status sandbox_renew(const struct sandbox *sandbox,
                          const struct sandbox_places *places,
                          struct sandbox_prepared *prepared)
{
    if (prepared->landlock.version == 0)
        return ST_OK;
    return landlock_renew(&prepared->landlock, sandbox, places);
}

enum status sandbox_enter_image(const struct sandbox *sandbox,
                                const struct sandbox_places *places,
                                struct sandbox_prepared *prepared)
{
    if (sandbox->mode != SANDBOX_OFF && !linux_give_up_rights())
        return ST_IO;
    close_one(&prepared->mounts.workspace);
    close_one(&prepared->mounts.events);
    if (prepared->landlock.version > 0 &&
        (sandbox_renew(sandbox, places, prepared) != ST_OK ||
         landlock_confine(&prepared->landlock) != ST_OK))
        return ST_IO;
    // the filter comes last, for it may refuse what entering Landlock needs
    return syscall_filter_load(&prepared->filter, getppid()) ? ST_OK : ST_IO;
}
