/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sandbox.c: see sandbox.h. sandbox_enter.c puts it into force. */
#include "image/sandbox.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/cache.h"
#include "image/folders.h"
#include "image/linux.h"

static const char *const names[] = {
    [SANDBOX_WORKSPACE] = "workspace",
    [SANDBOX_READ_ONLY] = "read-only",
    [SANDBOX_OFF] = "off",
};

enum { MODES = sizeof names / sizeof names[0] };

enum status sandbox_mode_find(struct str name, enum sandbox_mode *out)
{
    for (size_t i = 0; i < MODES; i++) {
        if (!str_eq(name, str_from(names[i])))
            continue;
        *out = (enum sandbox_mode)i;
        return ST_OK;
    }
    return ST_MISSING;
}

const char *sandbox_mode_name(enum sandbox_mode mode)
{
    return names[mode];
}

/* PATH with its links resolved; "" when there is nothing at PATH. */
static void resolve(const char *path, char out[SANDBOX_PATH])
{
    out[0] = '\0';
    if (!folders_resolve(path, out))
        out[0] = '\0';
}

/* Whether the workspace of PLACES is in the folder of all caches. */
static bool is_in_caches(const struct sandbox_places *places)
{
    char caches[SANDBOX_PATH] = "";
    char real[SANDBOX_PATH];

    cache_find(caches, CACHE_CONFINED);
    cache_cut(caches);
    resolve(caches, real);
    return cache_leads_into(places->writable[SANDBOX_ROOT], real);
}

/* Notes to which places code may not write, and why. */
static void refuse(const struct sandbox *sandbox, struct sandbox_places *places)
{
    const char *paths[SANDBOX_N];

    for (size_t i = 0; i < SANDBOX_N; i++)
        paths[i] = places->writable[i];
    homes_forbid(places->homes, sandbox->secrets, paths, SANDBOX_N,
                 places->refused);
    if (!places->refused[SANDBOX_ROOT] && is_in_caches(places))
        places->refused[SANDBOX_ROOT] = "it is a cache of compiled files";
}

static enum cache_reach reach_of(const struct sandbox *sandbox)
{
    if (sandbox->unprotected)
        return sandbox->network ? CACHE_NETWORK_UNPROTECTED : CACHE_UNPROTECTED;
    return sandbox->network ? CACHE_NETWORK : CACHE_CONFINED;
}

void sandbox_find_places(const struct sandbox *sandbox, const char *workspace,
                         const char *temporary, struct sandbox_places *places)
{
    char real[SANDBOX_PATH];

    memset(places, 0, sizeof *places);
    if (sandbox->mode == SANDBOX_OFF)
        return;
    homes_find(places->homes);
    places->tickets = getenv("KRB5CCNAME");
    resolve(workspace ? workspace : ".", places->writable[SANDBOX_ROOT]);
    cache_find(places->writable[SANDBOX_CACHE], reach_of(sandbox));
    for (size_t i = 0; i < SANDBOX_N; i++)
        places->refused[i] = "it was not looked at yet";
    if (!temporary)
        return;
    real[0] = '\0';
    if (temporary[0] == '/')
        resolve(temporary, real);
    sandbox_set_temporary(sandbox, real, places);
}

void sandbox_set_temporary(const struct sandbox *sandbox, const char *temporary,
                           struct sandbox_places *places)
{
    int fd = temporary[0] == '/' ? folders_find(temporary) : -1;

    if (fd >= 0) {
        (void)snprintf(places->writable[SANDBOX_TEMPORARY], SANDBOX_PATH, "%s",
                       temporary);
        (void)close(fd); // was only a name
    }
    refuse(sandbox, places);
}

void sandbox_make_cache(const struct sandbox *sandbox,
                        struct sandbox_places *places)
{
    char *path = places->writable[SANDBOX_CACHE];
    bool making = sandbox->mode == SANDBOX_WORKSPACE;

    if (places->refused[SANDBOX_CACHE])
        path[0] = '\0';
    cache_choose(path, reach_of(sandbox), sandbox_root(places), making);
    cache_open(path, making);
    refuse(sandbox, places); // links may lead elsewhere
    if (places->refused[SANDBOX_CACHE])
        path[0] = '\0';
    places->refused[SANDBOX_CACHE] = NULL;
}

const char *sandbox_root(const struct sandbox_places *places)
{
    return places->refused[SANDBOX_ROOT] ? "" : places->writable[SANDBOX_ROOT];
}

void sandbox_hide_process(const struct sandbox *sandbox)
{
    if (sandbox->mode != SANDBOX_OFF && linux_landlock_version() == 0)
        linux_hide();
}

/* Appends the folders that code may write to, as in "A, B and C"; false when
   there are none. */
static bool list_places(const struct sandbox *sandbox,
                        const struct sandbox_places *places, struct buf *out)
{
    size_t list[SANDBOX_N];
    size_t n = 0;

    for (size_t i = 0; i < SANDBOX_N; i++)
        if (sandbox->mode == SANDBOX_WORKSPACE &&
            places->writable[i][0] != '\0' && !places->refused[i])
            list[n++] = i;
    for (size_t i = 0; i < n; i++) {
        if (i > 0)
            buf_str(out, i + 1 < n ? STR(", ") : STR(" and "));
        buf_str(out, str_from(places->writable[list[i]]));
        if (list[i] == SANDBOX_TEMPORARY)
            buf_str(out, STR(" (TMPDIR)"));
    }
    return n > 0;
}

/* Says whether a mount namespace is in force; true when it should be. */
static bool report_mounts(const struct sandbox *sandbox,
                          const struct sandbox_state *state, struct buf *out)
{
    bool workspace = sandbox->mode == SANDBOX_WORKSPACE;

    if ((state->mounts & SANDBOX_MOUNTS) != 0) {
        buf_str(out, STR(", mounts"));
        if (workspace && sandbox->unprotected)
            buf_str(out, STR(" (--no-protect)"));
        else if (workspace && (state->mounts & SANDBOX_MOUNTS_TEMPORARY) == 0)
            buf_str(out, STR(" (/tmp is shared with other programs)"));
        return false;
    }
    buf_printf(out, ", NO mount namespace (%s)", strerror(state->mounts_fault));
    if (workspace)
        buf_str(out, STR(": .git/hooks, .mcp.json and the like in the "
                         "workspace can be changed by evaluated code, and "
                         "/tmp is shared with other programs"));
    return true;
}

bool sandbox_report_unsought(const struct sandbox_state *state, struct buf *out)
{
    if ((state->unsought & SANDBOX_UNSOUGHT_FOLDERS) != 0)
        buf_printf(out,
                   ", secrets searched for in only %d folders of the home "
                   "(LIMIT_SECRET_FOLDERS)",
                   LIMIT_SECRET_FOLDERS);
    if ((state->unsought & SANDBOX_UNSOUGHT_NAMES) != 0)
        buf_printf(out,
                   ", secrets searched for among only %d names "
                   "(LIMIT_SECRET_NAMES)",
                   LIMIT_SECRET_NAMES);
    if ((state->unsought & SANDBOX_UNSOUGHT_INSIDE) != 0)
        buf_printf(out,
                   ", other names searched for of only %d secret files "
                   "(LIMIT_SECRET_INSIDE)",
                   LIMIT_SECRET_INSIDE);
    if (state->unsought != 0)
        buf_str(out, STR(": --secret hides what it names"));
    return state->unsought != 0;
}

bool sandbox_report(const struct sandbox *sandbox,
                    const struct sandbox_state *state, struct buf *out)
{
    bool missing = false;

    buf_printf(out, "sandbox: %s", sandbox_mode_name(sandbox->mode));
    if (sandbox->mode == SANDBOX_OFF)
        return false;
    buf_str(out, sandbox->network ? STR(" with network") : STR(""));
    if (state->landlock >= LINUX_LANDLOCK_SIGNALS)
        buf_printf(out, ", Landlock %d", state->landlock);
    else if (state->landlock > 0)
        buf_printf(out,
                   ", Landlock %d of this kernel does not block signals to "
                   "other programs of the user%s%s",
                   state->landlock,
                   state->landlock < LINUX_LANDLOCK_DEVICES
                       ? " or operations on open devices"
                       : "",
                   state->landlock < LINUX_LANDLOCK_MOVES
                       ? ", and lets no file move to another folder"
                       : "");
    else
        buf_str(out, STR(", NO Landlock in this kernel: files are not "
                         "protected"));
    buf_str(out, state->seccomp
                     ? STR(", seccomp")
                     : STR(", NO seccomp in this system: network and system "
                           "calls are not restricted"));
    if (!state->rights)
        buf_str(out, STR(", rights of root NOT given up"));
    missing = report_mounts(sandbox, state, out);
    missing = sandbox_report_unsought(state, out) || missing ||
              state->landlock < LINUX_LANDLOCK_SIGNALS || !state->seccomp ||
              !state->rights;
    return missing;
}

void sandbox_explain(const struct sandbox *sandbox,
                     const struct sandbox_places *places, struct buf *out)
{
    size_t before;

    buf_printf(out, "The sandbox (--sandbox %s) ",
               sandbox_mode_name(sandbox->mode));
    before = out->n;
    buf_str(out, STR("allows writing only below "));
    if (!list_places(sandbox, places, out)) {
        buf_truncate(out, before);
        buf_str(out, STR("allows no writing"));
    }
    if (sandbox->mode == SANDBOX_WORKSPACE && places->refused[SANDBOX_ROOT])
        buf_printf(out, ", not in the workspace %s (%s)",
                   places->writable[SANDBOX_ROOT],
                   places->refused[SANDBOX_ROOT]);
    buf_str(out, STR(", no reading of secrets, "));
    buf_str(out, sandbox->network
                     ? STR("no sockets but those of the internet, ")
                     : STR("no network (--allow-network), "));
    buf_str(out, STR("no signals to programs outside."));
}

/* Where the files of /tmp are. */
static void explain_temporary(const struct sandbox_state *state,
                              const struct sandbox_places *places,
                              struct buf *out)
{
    const char *also = (state->mounts & SANDBOX_MOUNTS_VAR) != 0
                           ? " and /var/tmp are its own, and lie"
                           : " is its own, and lies";

    if ((state->mounts & SANDBOX_MOUNTS_TEMPORARY) != 0)
        buf_printf(out, " /tmp%s in %s for all other programs.", also,
                   places->writable[SANDBOX_TEMPORARY]);
}

void sandbox_explain_mounts(const struct sandbox *sandbox,
                            const struct sandbox_state *state,
                            const struct sandbox_places *places,
                            struct buf *out)
{
    if (sandbox->mode != SANDBOX_WORKSPACE || !state->known)
        return;
    explain_temporary(state, places, out);
    if ((state->mounts & SANDBOX_MOUNTS_COVERS) != 0)
        buf_str(out, STR(" In the workspace it cannot change what other "
                         "programs run or trust: .git/hooks, .git/config, "
                         ".mcp.json, .vscode and the like (--protect, "
                         "--no-protect)."));
    else if (!sandbox->unprotected && !places->refused[SANDBOX_ROOT])
        buf_str(out, STR(" It can change all of the workspace, .git/hooks, "
                         ".mcp.json and the like, too."));
}

bool sandbox_misses_temporary(const struct sandbox_state *state,
                              struct str text)
{
    return (state->mounts & SANDBOX_MOUNTS_TEMPORARY) != 0 && text.n > 0 &&
           memmem(text.p, text.n, "/tmp/", 5) &&
           (memmem(text.p, text.n, "o such file", 11) ||
            memmem(text.p, text.n, "does not exist", 14));
}

bool sandbox_shows_refusal(struct str text)
{
    static const struct str signs[] = {
        STR_INIT("ermission denied"),
        STR_INIT("peration not permitted"),
        STR_INIT("nvalid cross-device link"), // of a file from outside
        STR_INIT("ead-only file system"),     // a cover
        STR_INIT("evice or resource busy"),   // what is covered stays there
        STR_INIT("nable to create tempor"), // ECL's compiler, without a reason
        STR_INIT("no directory for temporary files"), // ours, of a copy
    };

    for (size_t i = 0; i < sizeof signs / sizeof signs[0]; i++)
        if (text.n > 0 && memmem(text.p, text.n, signs[i].p, signs[i].n))
            return true;
    return false;
}
