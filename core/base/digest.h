/* SPDX-License-Identifier: GPL-3.0-or-later */
/* digest.h: the SHA-256 of a text. */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/status.h"
#include "base/str.h"

/* Bytes. */
#define DIGEST_SIZE 32

/* Pauses in the strand that runs (strand_pause). */
void digest_of(struct str text, unsigned char out[DIGEST_SIZE]);

/* The same in the steps of ARENA's strand. ST_NOMEM: the work is stopped. */
enum status MUST_CHECK digest_in_steps(const struct arena *arena,
                                       struct str text,
                                       unsigned char out[DIGEST_SIZE]);

/* The same of bytes that come one after another. NULL: no memory. It lives in
   ARENA. */
struct digest *digest_begin(struct arena *arena);
void digest_add(struct digest *digest, struct str bytes);
void digest_end(struct digest *digest, unsigned char out[DIGEST_SIZE]);

/* Appends DIGEST in hexadecimal digits, small letters. */
void digest_write(struct buf *out, const unsigned char digest[DIGEST_SIZE]);

#endif
