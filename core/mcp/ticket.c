/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ticket.c: see ticket.h. */
#include "mcp/ticket.h"

#include <nettle/base64.h>
#include <nettle/hmac.h>
#include <nettle/memops.h>
#include <nettle/sha2.h>

#include "base/strand.h"

/* Bytes of a ticket: version, number, expiry, two hashes; then the extra bytes;
   then the signature. */
#define VERSION 1
#define HEAD (1 + 8 + 8 + 2 * TICKET_HASH)
#define MAC SHA256_DIGEST_SIZE

static unsigned char *put_number(unsigned char *p, uint64_t n)
{
    for (int shift = 56; shift >= 0; shift -= 8)
        *p++ = (unsigned char)(n >> shift);
    return p;
}

static uint64_t get_number(const unsigned char *p)
{
    uint64_t n = 0;

    for (int i = 0; i < 8; i++)
        n = n << 8 | p[i];
    return n;
}

/* Bytes between two looks at the strand. */
#define PIECE (64u * 1024)

static void update(struct sha256_ctx *hash, struct str text)
{
    while (text.n > PIECE) {
        sha256_update(hash, PIECE, (const uint8_t *)text.p);
        text = str_make(text.p + PIECE, text.n - PIECE);
        (void)strand_pause(PIECE); // also when it is stopped, it must be right
    }
    sha256_update(hash, text.n, (const uint8_t *)text.p);
}

void ticket_hash(const struct str *texts, size_t n,
                 unsigned char out[TICKET_HASH])
{
    struct sha256_ctx hash;

    sha256_init(&hash);
    for (size_t i = 0; i < n; i++) {
        unsigned char size[8];
        put_number(size, texts[i].n);
        update(&hash, str_make((const char *)size, sizeof size));
        if (texts[i].n > 0)
            update(&hash, texts[i]);
    }
    sha256_digest(&hash, TICKET_HASH, out);
}

static void sign(const struct tickets *tickets, const unsigned char *p,
                 size_t n, unsigned char out[MAC])
{
    struct hmac_sha256_ctx mac;

    hmac_sha256_set_key(&mac, TICKET_KEY, tickets->key);
    hmac_sha256_update(&mac, n, p);
    hmac_sha256_digest(&mac, MAC, out);
}

static enum status to_text(struct arena *arena, const unsigned char *p,
                           size_t n, struct str *out)
{
    struct base64_encode_ctx encoder;
    char *text = arena_alloc(arena, BASE64_ENCODE_LENGTH(n) +
                                        BASE64_ENCODE_FINAL_LENGTH);

    if (!text)
        return ST_NOMEM;
    base64url_encode_init(&encoder);
    size_t length = base64_encode_update(&encoder, text, n, p);
    length += base64_encode_final(&encoder, text + length);
    while (length > 0 && text[length - 1] == '=')
        length--;
    *out = str_make(text, length);
    return ST_OK;
}

enum status ticket_write(struct tickets *tickets, struct arena *arena,
                         struct ticket *ticket, struct str *out)
{
    size_t n = HEAD + ticket->extra.n;

    if (ticket->extra.n > LIMIT_TICKET_EXTRA)
        return ST_LIMIT;
    unsigned char *bytes = arena_alloc(arena, n + MAC);
    if (!bytes)
        return ST_NOMEM;
    ticket->number = ++tickets->last;
    unsigned char *p = bytes;
    *p++ = VERSION;
    p = put_number(p, ticket->number);
    p = put_number(p, (uint64_t)ticket->expires_ms);
    memcpy(p, ticket->call, TICKET_HASH);
    memcpy(p + TICKET_HASH, ticket->question, TICKET_HASH);
    if (ticket->extra.n > 0)
        memcpy(bytes + HEAD, ticket->extra.p, ticket->extra.n);
    sign(tickets, bytes, n, bytes + n);
    return to_text(arena, bytes, n + MAC, out);
}

/* The decoder needs the padding that tickets leave out. */
static enum status to_bytes(struct arena *arena, struct str text,
                            unsigned char **bytes, size_t *n)
{
    static const char padding[] = "==";
    struct base64_decode_ctx decoder;

    if (text.n > BASE64_ENCODE_RAW_LENGTH(HEAD + LIMIT_TICKET_EXTRA + MAC))
        return ST_INVALID;
    *bytes = arena_alloc(arena, BASE64_DECODE_LENGTH(text.n) + 3);
    if (!*bytes)
        return ST_NOMEM;
    base64url_decode_init(&decoder);
    size_t length = 0;
    size_t missing = 0;
    if (!base64_decode_update(&decoder, &length, *bytes, text.n, text.p) ||
        !base64_decode_update(&decoder, &missing, *bytes + length,
                              (4 - text.n % 4) % 4 % 3, padding) ||
        !base64_decode_final(&decoder))
        return ST_INVALID;
    *n = length + missing;
    return ST_OK;
}

enum status ticket_read(const struct tickets *tickets, struct arena *arena,
                        struct str text, struct ticket *out)
{
    unsigned char mac[MAC];
    unsigned char *bytes;
    size_t n;
    enum status status = to_bytes(arena, text, &bytes, &n);

    if (status != ST_OK)
        return status;
    if (n < HEAD + MAC)
        return ST_INVALID;
    n -= MAC;
    sign(tickets, bytes, n, mac);
    if (!memeql_sec(mac, bytes + n, MAC) || bytes[0] != VERSION)
        return ST_INVALID;
    out->number = get_number(bytes + 1);
    out->expires_ms = (int64_t)get_number(bytes + 9);
    memcpy(out->call, bytes + 17, TICKET_HASH);
    memcpy(out->question, bytes + 17 + TICKET_HASH, TICKET_HASH);
    out->extra = str_make((const char *)bytes + HEAD, n - HEAD);
    return ST_OK;
}

static bool is_used(const struct tickets *tickets, uint64_t number)
{
    bool used = number <= tickets->forgotten || number > tickets->last;

    for (size_t i = 0; i < tickets->used_count; i++)
        used = used || tickets->used[i] == number;
    return used;
}

bool ticket_use(struct tickets *tickets, uint64_t number)
{
    if (is_used(tickets, number))
        return false;
    if (tickets->used_count < LIMIT_TICKETS)
        tickets->used_count++;
    else if (tickets->used[tickets->used_next] > tickets->forgotten)
        tickets->forgotten = tickets->used[tickets->used_next];
    tickets->used[tickets->used_next] = number;
    tickets->used_next = (tickets->used_next + 1) % LIMIT_TICKETS;
    return true;
}
