/* SPDX-License-Identifier: GPL-3.0-or-later */
/* files.h: what the core needs of the file system: functions that a host gives
   it. Paths are as the model wrote them, relative to the root of the workspace
   or absolute. Every function resolves symbolic links first, and refuses what
   lies outside the root, what is secret, and what is neither a file nor a
   folder. */
#ifndef FILES_FILES_H
#define FILES_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/digest.h"
#include "base/str.h"

/* Bytes of a SHA-256. */
#define FILES_HASH DIGEST_SIZE

enum files_result {
    FILES_OK,
    FILES_MISSING, /* there is nothing of this name */
    FILES_REFUSED, /* outside, secret, of the wrong kind, over a limit */
    FILES_CHANGED, /* not the content that was expected */
    FILES_FAILED,  /* the system said no */
    FILES_NOMEM
};

enum files_kind { FILES_FILE, FILES_FOLDER, FILES_LINK, FILES_OTHER };

/* A whole file. The views live in the arena of the call. */
struct files_content {
    struct str name;  /* from the root, links resolved */
    struct str bytes; /* empty for a file that does not exist */
    bool exists;
    unsigned char hash[FILES_HASH]; /* of the bytes */
};

struct files_entry {
    struct str name; /* as the folder has it, maybe no UTF-8 */
    enum files_kind kind;
    uint64_t size;      /* bytes, of files */
    int64_t changed_ms; /* wall clock */
    bool secret;        /* its content is refused */
};

struct files_folder {
    struct str name; /* from the root, links resolved; "." is the root */
    struct files_entry *entries; /* sorted by name */
    size_t count;
    bool cut; /* there are more than LIMIT_FOLDER_ENTRIES */
};

/* All but CONTEXT may be called at any time; none waits for anything but the
   disk. When the result is not FILES_OK, PROBLEM is a sentence for the model
   with path, reason and limit (empty for FILES_NOMEM). */
struct files {
    void *context;
    const char *root; /* absolute, links resolved; names are from there */

    /* *NAME is what PATH means, from the root, links resolved; "." is the
       root. It need not exist, but the folder that it or the first missing
       one of its folders is in. */
    enum files_result (*locate)(void *context, struct arena *arena,
                                struct str path, struct str *name,
                                struct str *problem);

    /* Reads at most MAX bytes; a larger file is refused. FILES_MISSING fills
       *OUT, too, with exists false, so that the file can be made; its name is
       empty when that is not possible: a file stands where a folder would. */
    enum files_result (*read)(void *context, struct arena *arena,
                              struct str path, uint64_t max,
                              struct files_content *out, struct str *problem);

    enum files_result (*list)(void *context, struct arena *arena,
                              struct str path, struct files_folder *out,
                              struct str *problem);

    /* Puts BYTES in place of the file of EXPECTED (from read), whole or not at
       all; FILES_CHANGED, and nothing is written, when the file is no longer
       as EXPECTED says. Missing folders are made. */
    enum files_result (*write)(void *context, struct arena *arena,
                               const struct files_content *expected,
                               struct str bytes, struct str *problem);
};

#endif
