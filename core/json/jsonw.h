/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jsonw.h: writing JSON into a buf. The writer puts the commas; strings come
   out as valid UTF-8 on one line, whatever goes in. When memory runs out the
   buf has failed (buf_failed). */
#ifndef JSON_JSONW_H
#define JSON_JSONW_H

#include <stdbool.h>
#include <stdint.h>

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

/* "name": ; escaped like any string. One value must follow. */
void jsonw_name(struct jsonw *w, const char *name);

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
void jsonw_member(struct jsonw *w, const char *name, struct str value);
void jsonw_member_int(struct jsonw *w, const char *name, int64_t value);
void jsonw_member_bool(struct jsonw *w, const char *name, bool value);

#endif
