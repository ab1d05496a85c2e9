/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A frame whose fields can be read is written as the same bytes. */
#include "fuzz/fuzz.h"
#include "wire/wire.h"

static void put(struct buf *out, const struct wire_field *field)
{
    if (field->type == WIRE_NULL)
        wire_put_null(out);
    else if (field->type == WIRE_INT)
        wire_put_int(out, field->integer);
    else if (field->type == WIRE_REAL)
        wire_put_real(out, field->real);
    else if (field->type == WIRE_STRING)
        wire_put_string(out, field->string);
    else
        wire_put_bool(out, field->type == WIRE_TRUE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str body;
    struct wire_head head;
    if (wire_frame(str_make((const char *)data, size), &head, &body) != ST_OK)
        return 0;
    struct buf out = BUF_EMPTY;
    size_t start = wire_begin(&out, head.kind, head.flags, head.id);
    struct wire_field field;
    while (wire_field(&body, &field) == ST_OK)
        put(&out, &field);
    wire_end(&out, start);
    REQUIRE(out.n == WIRE_HEAD + head.size - body.n);
    REQUIRE(body.n > 0 || memcmp(out.p, data, out.n) == 0);
    buf_release(&out);
    return 0;
}
