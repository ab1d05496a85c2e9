/* SPDX-License-Identifier: GPL-3.0-or-later */
/* files.h: what the core needs from the file system, as functions of the host.
   Only `locate` resolves symbolic links, once for each call. All others take
   the place that it found and follow no link on the way there: what was checked
   is what is read and written, whatever has been put in its way meanwhile. They
   refuse what lies outside the root, what is secret, and what is neither a file
   nor a folder. */
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
    FILES_MISSING, /* nothing has this name */
    FILES_REFUSED, /* outside, secret, of the wrong kind, over a limit */
    FILES_CHANGED, /* not the content that was expected */
    FILES_FAILED,  /* the system refused */
    FILES_NOMEM
};

enum files_kind { FILES_FILE, FILES_FOLDER, FILES_LINK, FILES_OTHER };

/* Where a path leads. */
struct files_place {
    struct str asked; /* as the model wrote it, for messages */
    struct str name;  /* from the root, links resolved; "." is the root */
    bool linked;      /* a file that has another name, too: a hard link */
};

/* A whole file. The views live in the arena of the call. */
struct files_content {
    struct str name;  /* from the root, links resolved */
    struct str bytes; /* empty for a file that does not exist */
    bool exists;
    bool linked;                    /* it has another name, too */
    unsigned char hash[FILES_HASH]; /* of the bytes */
};

struct files_entry {
    struct str name; /* as the folder has it, maybe not UTF-8 */
    enum files_kind kind;
    uint64_t size;      /* bytes, of files */
    int64_t changed_ms; /* wall clock */
    bool secret;        /* its content is refused */
};

struct files_folder {
    struct str name; /* from the root, links resolved; "." is the root */
    struct files_entry *entries; /* sorted by name */
    size_t count;
    bool cut; /* it has more than LIMIT_FOLDER_ENTRIES */
};

/* The functions may be called at any time, and wait for nothing but the disk.
   When the result is not FILES_OK, PROBLEM is a sentence for the model with
   path, reason and limit (empty for FILES_NOMEM). */
struct files {
    void *context;
    const char *root; /* absolute, links resolved; names are from there */

    /* *OUT is the file or folder that PATH, absolute or relative to the root,
       means now. Neither it nor its folders need to exist. */
    enum files_result (*locate)(void *context, struct arena *arena,
                                struct str path, struct files_place *out,
                                struct str *problem);

    /* Reads at most MAX bytes; a larger file is refused. FILES_MISSING also
       fills *OUT, with exists false, so that the file can be created; the name
       is empty when it cannot: a file stands where a folder would be needed. */
    enum files_result (*read)(void *context, struct arena *arena,
                              const struct files_place *place, uint64_t max,
                              struct files_content *out, struct str *problem);

    /* Reads the file KNOWN, which was read before, once more. When it still has
       the same bytes, *OUT has those of KNOWN: only its digest was taken, and
       no memory. */
    enum files_result (*read_again)(void *context, struct arena *arena,
                                    const struct files_place *place,
                                    const struct files_content *known,
                                    struct files_content *out,
                                    struct str *problem);

    enum files_result (*list)(void *context, struct arena *arena,
                              const struct files_place *place,
                              struct files_folder *out, struct str *problem);

    /* Replaces the content of the file EXPECTED (from read) by BYTES, wholly or
       not at all. FILES_CHANGED, and nothing is written, when the file is no
       longer as EXPECTED says. Missing folders are created. */
    enum files_result (*write)(void *context, struct arena *arena,
                               const struct files_content *expected,
                               struct str bytes, struct str *problem);

    /* Removes the file EXPECTED (from read), if it is still as it says: else
       FILES_CHANGED, and it stays. */
    enum files_result (*remove)(void *context, struct arena *arena,
                                const struct files_content *expected,
                                struct str *problem);

    /* Renames the file EXPECTED to TO, if it is still as it says and nothing
       has that name: else FILES_CHANGED. Missing folders are created. */
    enum files_result (*move)(void *context, struct arena *arena,
                              const struct files_content *expected,
                              const struct files_place *to,
                              struct str *problem);
};

#endif
