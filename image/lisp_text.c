/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lisp_text.c: see lisp_text.h. */
#include "image/lisp_text.h"

#include <stdint.h>
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "wire/wire.h"

cl_object lisp_text_new(struct str s)
{
    cl_object string;
    size_t i;
    size_t n = 0;

    for (i = 0; i < s.n && (unsigned char)s.p[i] < 0x80; i++)
        continue;
    if (i == s.n) {
        string = ecl_alloc_simple_base_string(s.n);
        if (s.n > 0)
            memcpy(string->base_string.self, s.p, s.n);
        return string;
    }
    string = ecl_alloc_simple_extended_string(utf8_count(s));
    while (s.n > 0) {
        uint32_t code = 0xfffd;
        size_t used = utf8_decode(s, &code);

        string->string.self[n++] = (ecl_character)code;
        s.p += used ? used : 1;
        s.n -= used ? used : 1;
    }
    return string;
}

enum {
    NAMES = 16,     /* names that are kept: an operation has fewer arguments */
    NAME_BYTES = 32 /* most bytes of each */
};

cl_object lisp_name(struct str name)
{
    static cl_object names[NAMES];
    static size_t n;
    cl_object text;
    size_t i;

    for (i = 0; i < NAMES && i < n; i++)
        if (names[i]->base_string.fillp == name.n &&
            memcmp(names[i]->base_string.self, name.p, name.n) == 0)
            return names[i];
    text = lisp_text_new(name);
    if (name.n <= NAME_BYTES && ECL_BASE_STRING_P(text)) {
        if (n < NAMES)
            ecl_register_root(&names[n]);
        names[n++ % NAMES] = text;
    }
    return text;
}

static cl_object field_to_lisp(const struct wire_field *field)
{
    switch (field->type) {
    case WIRE_TRUE:
        return ECL_T;
    case WIRE_INT:
        return ecl_make_int64_t(field->integer);
    case WIRE_REAL:
        return ecl_make_double_float(field->real);
    case WIRE_STRING:
        return lisp_text_new(field->string);
    case WIRE_NULL:
    case WIRE_FALSE:
    default:
        return ECL_NIL;
    }
}

cl_object lisp_arguments(struct str body)
{
    cl_object arguments = ECL_NIL;
    struct str name;
    struct wire_field value;

    while (wire_take_string(&body, &name) == ST_OK &&
           wire_field(&body, &value) == ST_OK)
        arguments =
            CONS(CONS(lisp_name(name), field_to_lisp(&value)), arguments);
    return cl_nreverse(arguments);
}

void lisp_text_append(cl_object string, struct buf *out)
{
    static const char end[] = "\n[… the rest is not kept …]";
    const size_t most = LIMIT_OUTPUT_KEPT - (sizeof end - 1);
    cl_index n = (cl_index)ecl_length(string); // never negative
    cl_index i;

    for (i = 0; i < n; i++) {
        uint32_t code = (uint32_t)ecl_char(string, i);
        char bytes[4];
        size_t length;

        if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            code = 0xfffd;
        length = utf8_encode(code, bytes);
        if (out->n + length > most) {
            buf_str(out, STR(end));
            return;
        }
        buf_append(out, bytes, length);
    }
}

void lisp_text_rehearse(void)
{
    static const char text[128] = "";

    for (size_t n = 4; n < sizeof text; n += 16)
        (void)lisp_text_new(str_make(text, n));
    for (size_t n = 16; n <= sizeof text; n += 16)
        ecl_dealloc(ecl_alloc_atomic(n));
}
