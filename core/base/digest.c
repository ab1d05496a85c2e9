/* SPDX-License-Identifier: GPL-3.0-or-later */
/* digest.c: see digest.h. */
#include "base/digest.h"

#include <nettle/sha2.h>

#include "base/strand.h"

/* Bytes between two looks at the strand. */
#define PIECE (64u * 1024)

void digest_of(struct str text, unsigned char out[DIGEST_SIZE])
{
    struct sha256_ctx context;

    sha256_init(&context);
    while (text.n > PIECE) {
        sha256_update(&context, PIECE, (const uint8_t *)text.p);
        text = str_make(text.p + PIECE, text.n - PIECE);
        (void)strand_pause(PIECE); // also when it is stopped, it must be right
    }
    sha256_update(&context, text.n, (const uint8_t *)text.p);
    sha256_digest(&context, DIGEST_SIZE, out);
}

enum status digest_in_steps(const struct arena *arena, struct str text,
                            unsigned char out[DIGEST_SIZE])
{
    struct sha256_ctx context;
    enum status status = ST_OK;

    sha256_init(&context);
    while (text.n > 0 && status == ST_OK) {
        size_t n = text.n < PIECE ? text.n : PIECE;

        sha256_update(&context, n, (const uint8_t *)text.p);
        text = str_make(text.p + n, text.n - n);
        status = arena_spend(arena, n);
    }
    sha256_digest(&context, DIGEST_SIZE, out);
    return status;
}

struct digest {
    struct sha256_ctx context;
};

struct digest *digest_begin(struct arena *arena)
{
    struct digest *digest = arena_alloc(arena, sizeof *digest);

    if (digest)
        sha256_init(&digest->context);
    return digest;
}

void digest_add(struct digest *digest, struct str bytes)
{
    sha256_update(&digest->context, bytes.n, (const uint8_t *)bytes.p);
}

void digest_end(struct digest *digest, unsigned char out[DIGEST_SIZE])
{
    sha256_digest(&digest->context, DIGEST_SIZE, out);
}

/* Sixteen bytes of a digest, or digits. */
typedef unsigned char lanes __attribute__((vector_size(16)));

/* The digits of numbers below 16. */
static lanes digits_of(lanes numbers)
{
    const lanes letters = (lanes)(numbers > 9);

    return numbers + '0' + (letters & ('a' - '0' - 10));
}

void digest_write(struct buf *out, const unsigned char digest[DIGEST_SIZE])
{
    char text[2 * DIGEST_SIZE];

    for (size_t i = 0; i < DIGEST_SIZE; i += sizeof(lanes)) {
        lanes bytes;
        lanes digits[2]; // the high and the low ones

        memcpy(&bytes, digest + i, sizeof bytes);
        digits[0] = digits_of(bytes >> 4);
        digits[1] = digits_of(bytes & 15);
        for (size_t j = 0; j < sizeof(lanes); j++) {
            text[2 * (i + j)] = (char)digits[0][j];
            text[2 * (i + j) + 1] = (char)digits[1][j];
        }
    }
    buf_append(out, text, sizeof text);
}
