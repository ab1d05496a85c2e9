/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sandbox.h: the sandbox around evaluated code, as far as the supervisor has to
   know it: what was asked for, the folders that matter, and how it is
   explained. sandbox_enter.h puts it into force. */
#ifndef IMAGE_SANDBOX_H
#define IMAGE_SANDBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"
#include "image/homes.h"

/* The strictest useful mode comes first, so that the default is safe. */
enum sandbox_mode { SANDBOX_WORKSPACE, SANDBOX_READ_ONLY, SANDBOX_OFF };

/* What was asked for. */
struct sandbox {
    enum sandbox_mode mode;
    bool network;                /* sockets of the internet are allowed */
    const char *const *secrets;  /* further patterns (secrets.h) up to a NULL,
                                    at most LIMIT_SECRETS, borrowed; or NULL */
    const char *const *protects; /* further patterns of what code must not
                                    change in the workspace (covers.h), the
                                    same, at most LIMIT_PROTECTS */
    bool unprotected;            /* code may change all of the workspace */
};

/* The names of the modes, for messages; the mode of a name, ST_MISSING when
   there is none; and its name. */
#define SANDBOX_MODES "workspace, read-only, off"
enum status MUST_CHECK sandbox_mode_find(struct str name,
                                         enum sandbox_mode *out);
const char *sandbox_mode_name(enum sandbox_mode mode);

/* Bytes that a path may have here. */
#define SANDBOX_PATH HOMES_PATH

enum sandbox_place {
    SANDBOX_ROOT,
    SANDBOX_TEMPORARY, /* TMPDIR of the images; supervisor/temporary.h */
    SANDBOX_CACHE,
    SANDBOX_N
};

/* The folders that matter, resolved; "" when there is none. */
struct sandbox_places {
    char writable[SANDBOX_N][SANDBOX_PATH];
    const char *refused[SANDBOX_N]; /* why code may not write to one of them */
    struct home homes[HOMES_MAX];
    bool own_tmp;        /* /tmp is, or will be, the images' own: mounts.h */
    const char *tickets; /* where the environment says that Kerberos tickets
                            are, or NULL; borrowed */
};

/* Fills PLACES: WORKSPACE, or the current folder when that is NULL, the
   temporary folder TEMPORARY ("": there is none; NULL: it will be set, and code
   may write nowhere until then), and the cache of
   compiled files below the home folder (HOME) or XDG_CACHE_HOME. Code may not
   write to a folder that contains the home folder, that is secret, or in which
   secrets of the home folder lie. */
void sandbox_find_places(const struct sandbox *sandbox, const char *workspace,
                         const char *temporary, struct sandbox_places *places);

/* Sets the temporary folder of PLACES, which had none, and finds out to which
   of them code may write. TEMPORARY is a path without links: one that has come
   into it meanwhile is that of code, and there is no temporary folder. */
void sandbox_set_temporary(const struct sandbox *sandbox, const char *temporary,
                           struct sandbox_places *places);

/* Makes the cache of PLACES if it is missing and code may write to it. When it
   cannot be used, or leads into the workspace or to what is secret, another one
   takes its place, or its path becomes "": the temporary folder serves. */
void sandbox_make_cache(const struct sandbox *sandbox,
                        struct sandbox_places *places);

/* The workspace of PLACES; "": code may not write to it. */
const char *sandbox_root(const struct sandbox_places *places);

/* What the mounts of the images keep, in their namespace. */
enum sandbox_mounts {
    SANDBOX_MOUNTS = 1,           /* there is a namespace; else nothing here */
    SANDBOX_MOUNTS_TEMPORARY = 2, /* /tmp is the images' own, not the user's */
    SANDBOX_MOUNTS_VAR = 4,       /* the same of /var/tmp */
    SANDBOX_MOUNTS_SECRETS = 8,   /* secrets are out of sight */
    SANDBOX_MOUNTS_COVERS = 16    /* covers are laid over the workspace */
};

/* Limits of the search for secrets in the homes that were met: there may be
   more that are not hidden. */
enum sandbox_unsought {
    SANDBOX_UNSOUGHT_FOLDERS = 1, /* LIMIT_SECRET_FOLDERS */
    SANDBOX_UNSOUGHT_NAMES = 2,   /* LIMIT_SECRET_NAMES */
    SANDBOX_UNSOUGHT_INSIDE = 4   /* LIMIT_SECRET_INSIDE */
};

/* Which parts of the sandbox are in force. */
struct sandbox_state {
    bool known;
    int32_t landlock; /* the version of its interface; 0: there is none */
    bool seccomp;
    bool rights;     /* the rights of root are given up, if there were any */
    uint32_t mounts; /* of enum sandbox_mounts */
    int32_t mounts_fault; /* errno: why there are none */
    uint32_t unsought;    /* of enum sandbox_unsought */
};

/* In the process that starts the zygote: if the system has no Landlock,
   programs of the same user can no longer inspect this process. */
void sandbox_hide_process(const struct sandbox *sandbox);

/* Appends, after a comma, which limits the search for secrets has met. False:
   none. */
bool sandbox_report_unsought(const struct sandbox_state *state,
                             struct buf *out);

/* Appends a line that says what is in force; true when a part is missing. */
bool sandbox_report(const struct sandbox *sandbox,
                    const struct sandbox_state *state, struct buf *out);

/* Appends a line that says what code may do, for answers when something was
   refused. */
void sandbox_explain(const struct sandbox *sandbox,
                     const struct sandbox_places *places, struct buf *out);

/* The same about mounts: more sentences of that line. PLACES are those of a
   process outside. */
void sandbox_explain_mounts(const struct sandbox *sandbox,
                            const struct sandbox_state *state,
                            const struct sandbox_places *places,
                            struct buf *out);

/* Whether TEXT looks as if somebody missed a file that is in the /tmp of other
   programs. */
bool sandbox_misses_temporary(const struct sandbox_state *state,
                              struct str text);

/* Whether TEXT looks as if the system had refused something. */
bool sandbox_shows_refusal(struct str text);

#endif
