/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sandbox.h: what evaluated code is kept from, as far as the supervisor has to
   know it: what was asked for, the folders that matter, and what is told about
   it. It is put up by confine.h. */
#ifndef IMAGE_SANDBOX_H
#define IMAGE_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

/* The strictest that is of use comes first: what is left out is safe. */
enum sandbox_mode { SANDBOX_WORKSPACE, SANDBOX_READ_ONLY, SANDBOX_OFF };

/* What was asked for. */
struct sandbox {
    enum sandbox_mode mode;
    bool network; /* TCP, UDP and what else the internet has are allowed */
    const char *const *secrets; /* further patterns (secrets.h) up to a NULL,
                                   at most LIMIT_SECRETS, borrowed; or NULL */
};

/* The names of the modes, for messages, and the mode of a name; ST_MISSING
   when there is none. */
#define SANDBOX_MODES "workspace, read-only, off"
enum status MUST_CHECK sandbox_mode_find(struct str name,
                                         enum sandbox_mode *out);
const char *sandbox_mode_name(enum sandbox_mode mode);

/* Bytes of the longest path that is considered. */
#define SANDBOX_PATH 4096

enum sandbox_place {
    SANDBOX_ROOT,
    SANDBOX_TEMPORARY,
    SANDBOX_CACHE,
    SANDBOX_N
};

/* The folders that matter, resolved; "" where there is none. */
struct sandbox_places {
    char writable[SANDBOX_N][SANDBOX_PATH];
    const char *refused[SANDBOX_N]; /* why one of them may not be written */
    char homes[2][SANDBOX_PATH];    /* the user's; as root, root's, too */
};

/* Finds them: WORKSPACE, or the current folder when it is NULL, the temporary
   folder (TMPDIR, else /tmp) and the cache of compiled files below the home
   folder (HOME) or XDG_CACHE_HOME. A folder that the home folder lies in, or
   that is secret itself, is not written to. */
void sandbox_find_places(const struct sandbox *sandbox, const char *workspace,
                         struct sandbox_places *places);

/* What of the sandbox is in force. */
struct sandbox_state {
    bool known;
    int32_t landlock; /* the version of its interface, 0: not there */
    bool seccomp;
    bool rights; /* those of root are given up, if there were any */
};

/* In the process that starts the zygote: where the system has no Landlock,
   programs of the same user cannot look into it any more. */
void sandbox_hide_process(const struct sandbox *sandbox);

/* Appends what is in force, on one line; true when a part is missing. */
bool sandbox_report(const struct sandbox *sandbox,
                    const struct sandbox_state *state, struct buf *out);

/* Appends, on one line, what code may do: for answers to what was refused. */
void sandbox_explain(const struct sandbox *sandbox,
                     const struct sandbox_places *places, struct buf *out);

/* Whether TEXT reads as if the system had refused something. */
bool sandbox_shows_refusal(struct str text);

#endif
