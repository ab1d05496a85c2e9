/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sandbox_enter.c: see sandbox_enter.h. */
#include "image/sandbox_enter.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buf.h"
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

/* The work of sandbox_prepare. */
struct work {
    const struct sandbox *sandbox;
    struct sandbox_places *places;
    struct sandbox_prepared *prepared;
    sandbox_temporary *temporary;
};

/* What the thread THREAD does, or has done. */
static struct work work;
static pthread_t thread;
static bool preparing;

void sandbox_begin(const struct sandbox *sandbox,
                   struct sandbox_prepared *prepared)
{
    memset(prepared, 0, sizeof *prepared);
    prepared->mounts.workspace = prepared->mounts.events = -1;
    if (sandbox->mode != SANDBOX_OFF)
        mounts_enter(&prepared->mounts);
}

/* Makes everything ready that needs no rights but that to mount. */
static void prepare(const struct work *w)
{
    struct sandbox_prepared *prepared = w->prepared;
    struct hidden hidden;
    int version = linux_landlock_version();

    if (w->temporary)
        w->temporary(w->places);
    sandbox_make_cache(w->sandbox, w->places);
    w->places->own_tmp =
        mounts_replace_tmp(&prepared->mounts, w->sandbox, w->places);
    if (hidden_find(&hidden, w->sandbox, w->places, NULL) != ST_OK)
        hidden.failed = true; // this is reported
    prepared->unsought = hidden.unsought;
    prepared->whole =
        mounts_make(&prepared->mounts, w->sandbox, &hidden, w->places);
    if (w->places->own_tmp &&
        (prepared->mounts.parts & SANDBOX_MOUNTS_TEMPORARY) == 0) {
        w->places->own_tmp = false;
        hidden_add_tickets(&hidden); // the rules hide them alone
        prepared->mounts.parts &= ~(uint32_t)SANDBOX_MOUNTS_SECRETS;
    }
    landlock_open(&prepared->landlock, version, w->places, &hidden);
    hidden_release(&hidden); // nothing, if that has it
    // a home folder may hold thousands of files; what fails is tried again
    prepared->landlock.fresh =
        version > 0 &&
        landlock_renew(&prepared->landlock, w->sandbox, w->places) == ST_OK;
    prepared->seccomp =
        syscall_filter_prepare(w->sandbox, version, &prepared->filter);
}

static void *run(void *unused)
{
    (void)unused;
    prepare(&work);
    return NULL;
}

void sandbox_prepare(const struct sandbox *sandbox,
                     struct sandbox_places *places,
                     struct sandbox_prepared *prepared,
                     sandbox_temporary *temporary)
{
    work = (struct work){sandbox, places, prepared, temporary};
    if (sandbox->mode == SANDBOX_OFF)
        return;
    preparing = linux_start(&thread, run, NULL);
    if (!preparing)
        prepare(&work);
}

/* Without a sandbox: the cache is out of reach of code that has one. */
static void open_cache(void)
{
    const struct sandbox confined = {.mode = SANDBOX_WORKSPACE};
    static struct sandbox_places found; // large

    sandbox_find_places(&confined, NULL, "", &found);
    cache_open_unconfined(sandbox_root(&found));
}

struct sandbox_state sandbox_enter_zygote(const struct sandbox *sandbox,
                                          struct sandbox_places *places,
                                          struct sandbox_prepared *prepared)
{
    struct sandbox_state state = {.known = true};

    if (work.prepared != prepared)
        sandbox_prepare(sandbox, places, prepared, NULL);
    if (preparing)
        state.known = pthread_join(thread, NULL) == 0;
    preparing = false;
    lower_limit(RLIMIT_CORE, 0);
    lower_limit(RLIMIT_FSIZE, LIMIT_FILE_WRITTEN);
    lower_limit(RLIMIT_NOFILE, LIMIT_DESCRIPTORS);
    if (sandbox->mode == SANDBOX_OFF) {
        open_cache();
        return state;
    }
    state.known = state.known && prepared->whole;
    state.mounts = prepared->mounts.parts;
    state.mounts_fault = prepared->mounts.fault;
    cache_announce(places->writable[SANDBOX_CACHE],
                   places->writable[SANDBOX_TEMPORARY]);
    state.unsought = prepared->unsought;
    state.landlock = prepared->landlock.version;
    state.rights = state.mounts != 0 ? linux_keep_mounting() //
                                     : linux_give_up_rights();
    state.seccomp = prepared->seccomp;
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

/* Says once which limits on secrets were met after the start. */
static void tell_unsought(struct sandbox_prepared *prepared)
{
    const struct sandbox_state since = {
        .unsought = prepared->landlock.hidden.unsought & ~prepared->unsought};
    struct buf text = BUF_EMPTY;

    if (sandbox_report_unsought(&since, &text) && !buf_failed(&text))
        (void)fprintf(stderr, "ecl-mcp-image: sandbox%.*s\n",
                      STR_ARG(buf_view(&text)));
    buf_release(&text);
    prepared->unsought |= since.unsought;
}

enum status sandbox_renew(const struct sandbox *sandbox,
                          const struct sandbox_places *places,
                          struct sandbox_prepared *prepared)
{
    enum status status;

    if (prepared->landlock.version == 0)
        return ST_OK;
    status = landlock_renew(&prepared->landlock, sandbox, places);
    if (status == ST_OK)
        tell_unsought(prepared);
    return status;
}

void sandbox_trust_rules(struct sandbox_prepared *prepared, bool trusted)
{
    prepared->landlock.fresh = trusted;
}

bool sandbox_is_current(const struct sandbox_prepared *prepared)
{
    return prepared->landlock.version == 0 ||
           landlock_is_current(&prepared->landlock);
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
