/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jsonw.h: writing JSON into a buf. The writer puts the commas; strings come
   out as valid UTF-8 on one line, whatever goes in. When memory runs out the
   buf has failed (buf_failed). */
#ifndef JSON_JSONW_H
#define JSON_JSONW_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/str.h"

struct jsonw {
    struct buf *out; /* borrowed */
    bool comma;      /* the next item needs one before it */
};

void jsonw_init(struct jsonw *w, struct buf *out);

void jsonw_object(struct jsonw *w); /* { */
void jsonw_end_object(struct jsonw *w);
void jsonw_array(struct jsonw *w); /* [ */
void jsonw_end_array(struct jsonw *w);

/* NAME as it is, for jsonw_name. */
void jsonw_plain_name(struct jsonw *w, struct str name);

/* Any name, for jsonw_name. */
void jsonw_any_name(struct jsonw *w, const char *name);

/* Characters of names that are not looked at when the program runs: of nearly
   all that stand in the code. */
#define JSONW_PLAIN                                                            \
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-/.$"

/* "name": ; escaped like any string. One value must follow. */
static inline void jsonw_name(struct jsonw *w, const char *name)
{
    size_t n = strlen(name);

    if (__builtin_constant_p(strspn(name, JSONW_PLAIN)) &&
        strspn(name, JSONW_PLAIN) == n)
        jsonw_plain_name(w, str_make(name, n));
    else
        jsonw_any_name(w, name);
}

/* Values. In strings ", \, C0, DEL, U+2028 and U+2029 are escaped, and invalid
   UTF-8 becomes U+FFFD; a digest is a string of hexadecimal digits. */
void jsonw_string(struct jsonw *w, struct str s);
void jsonw_int(struct jsonw *w, int64_t n);
void jsonw_digest(struct jsonw *w, const unsigned char digest[DIGEST_SIZE]);
void jsonw_bool(struct jsonw *w, bool b);
void jsonw_null(struct jsonw *w);

/* Copies JSON, the text of one value, which the caller knows to be valid. */
void jsonw_raw(struct jsonw *w, struct str json);

/* Name and value together. */
static inline void jsonw_member(struct jsonw *w, const char *name,
                                struct str value)
{
    jsonw_name(w, name);
    jsonw_string(w, value);
}

static inline void jsonw_member_int(struct jsonw *w, const char *name,
                                    int64_t value)
{
    jsonw_name(w, name);
    jsonw_int(w, value);
}

static inline void jsonw_member_bool(struct jsonw *w, const char *name,
                                     bool value)
{
    jsonw_name(w, name);
    jsonw_bool(w, value);
}

#endif
