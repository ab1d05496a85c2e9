/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wire.c: see wire.h. */
#include "wire/wire.h"

#include <assert.h>

#include "base/limits.h"
#include "base/strand.h"

/* Bytes that are copied between two looks at the strand. */
#define PIECE (256u * 1024)

/* Writes the SIZE low bytes of VALUE, lowest first. */
static void put_number(char *out, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        out[i] = (char)(unsigned char)(value >> 8 * i);
}

static uint64_t get_number(const char *p, size_t size)
{
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++)
        value |= (uint64_t)(unsigned char)p[i] << 8 * i;
    return value;
}

enum status wire_head(struct str bytes, struct wire_head *head)
{
    if (bytes.n < WIRE_HEAD)
        return ST_MISSING;
    struct wire_head found = {
        .size = (uint32_t)get_number(bytes.p, 4),
        .kind = (uint16_t)get_number(bytes.p + 4, 2),
        .flags = (uint16_t)get_number(bytes.p + 6, 2),
        .id = get_number(bytes.p + 8, 8),
    };
    *head = found;
    return found.size > LIMIT_FRAME ? ST_LIMIT : ST_OK;
}

enum status wire_frame(struct str bytes, struct wire_head *head,
                       struct str *body)
{
    struct wire_head found;
    enum status status = wire_head(bytes, &found);
    if (status != ST_OK)
        return status;
    if (found.size > bytes.n - WIRE_HEAD)
        return ST_MISSING;
    *head = found;
    *body = str_make(bytes.p + WIRE_HEAD, found.size);
    return ST_OK;
}

/* Reads a string: 4 bytes for its length, then its bytes. */
static enum status read_string(struct str rest, struct str *out)
{
    if (rest.n < 4)
        return ST_INVALID;
    size_t length = get_number(rest.p, 4);
    if (length > rest.n - 4)
        return ST_INVALID;
    *out = str_make(rest.p + 4, length);
    return ST_OK;
}

enum status wire_field(struct str *body, struct wire_field *field)
{
    if (body->n == 0)
        return ST_MISSING;
    struct str rest = str_make(body->p + 1, body->n - 1);
    struct wire_field found = {.type = (enum wire_type) * body->p};
    size_t taken = 0;
    switch (*body->p) {
    case WIRE_NULL:
    case WIRE_FALSE:
    case WIRE_TRUE:
        break;
    case WIRE_INT:
    case WIRE_REAL:
        if (rest.n < 8)
            return ST_INVALID;
        uint64_t bits = get_number(rest.p, 8);
        if (found.type == WIRE_INT)
            memcpy(&found.integer, &bits, sizeof bits);
        else
            memcpy(&found.real, &bits, sizeof bits);
        taken = 8;
        break;
    case WIRE_STRING:
        if (read_string(rest, &found.string) != ST_OK)
            return ST_INVALID;
        taken = 4 + found.string.n;
        break;
    default:
        return ST_INVALID;
    }
    *field = found;
    *body = str_make(rest.p + taken, rest.n - taken);
    return ST_OK;
}

static enum status take(struct str *body, enum wire_type type,
                        struct wire_field *field)
{
    struct str rest = *body;
    enum status status = wire_field(&rest, field);
    if (status != ST_OK)
        return status;
    if (field->type != type)
        return ST_INVALID;
    *body = rest;
    return ST_OK;
}

enum status wire_take_string(struct str *body, struct str *out)
{
    struct wire_field field;
    enum status status = take(body, WIRE_STRING, &field);
    if (status == ST_OK)
        *out = field.string;
    return status;
}

enum status wire_take_int(struct str *body, int64_t *out)
{
    struct wire_field field;
    enum status status = take(body, WIRE_INT, &field);
    if (status == ST_OK)
        *out = field.integer;
    return status;
}

size_t wire_begin(struct buf *out, enum wire_kind kind, unsigned flags,
                  uint64_t id)
{
    size_t start = out->n;
    char head[WIRE_HEAD];
    put_number(head, 0, 4); // until wire_end
    put_number(head + 4, kind, 2);
    put_number(head + 6, flags, 2);
    put_number(head + 8, id, 8);
    buf_append(out, head, sizeof head);
    return start;
}

void wire_end(struct buf *out, size_t start)
{
    if (buf_failed(out))
        return;
    size_t size = out->n - start - WIRE_HEAD;
    assert(size <= LIMIT_FRAME);
    put_number(out->p + start, size, 4);
}

static void put_type(struct buf *out, enum wire_type type)
{
    buf_byte(out, (char)type);
}

static void put_eight(struct buf *out, enum wire_type type, uint64_t bits)
{
    char field[9] = {(char)type};
    put_number(field + 1, bits, 8);
    buf_append(out, field, sizeof field);
}

void wire_put_null(struct buf *out)
{
    put_type(out, WIRE_NULL);
}

void wire_put_bool(struct buf *out, bool value)
{
    put_type(out, value ? WIRE_TRUE : WIRE_FALSE);
}

void wire_put_int(struct buf *out, int64_t value)
{
    put_eight(out, WIRE_INT, (uint64_t)value);
}

void wire_put_real(struct buf *out, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    put_eight(out, WIRE_REAL, bits);
}

void wire_begin_string(struct buf *out, size_t n)
{
    char head[5] = {WIRE_STRING};

    assert(n <= LIMIT_FRAME);
    put_number(head + 1, n, 4);
    buf_append(out, head, sizeof head);
}

void wire_put_string(struct buf *out, struct str value)
{
    wire_begin_string(out, value.n);
    while (value.n > PIECE) {
        buf_append(out, value.p, PIECE);
        value = str_make(value.p + PIECE, value.n - PIECE);
        (void)strand_pause(PIECE / 8); // when it is stopped, nobody reads it
    }
    buf_str(out, value);
}

void wire_mark(const unsigned char key[WIRE_MARK_KEY], uint64_t id,
               char out[WIRE_MARK])
{
    memcpy(out, key, WIRE_MARK_KEY);
    put_number(out + WIRE_MARK_KEY, id, 8);
}
