/* SPDX-License-Identifier: GPL-3.0-or-later */
/* digest.c: see digest.h. */
#include "base/digest.h"

#include <nettle/sha2.h>

void digest_of(struct str text, unsigned char out[DIGEST_SIZE])
{
    struct sha256_ctx context;

    sha256_init(&context);
    sha256_update(&context, text.n, (const uint8_t *)text.p);
    sha256_digest(&context, DIGEST_SIZE, out);
}

void digest_write(struct buf *out, const unsigned char digest[DIGEST_SIZE])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < DIGEST_SIZE; i++) {
        buf_byte(out, digits[digest[i] >> 4]);
        buf_byte(out, digits[digest[i] & 15]);
    }
}
