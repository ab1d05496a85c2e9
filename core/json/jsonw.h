/* SPDX-License-Identifier: GPL-3.0-or-later */
/* jsonw.h: writing JSON into a buf. Commas are put by the writer; strings come
   out as valid UTF-8 on one line, whatever goes in. Failure is the buf's. */
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

/* "name": ; NAME is written as a JSON string. One value must follow. */
void jsonw_name(struct jsonw *w, const char *name);

/* Strings are escaped (", \, C0, DEL, U+2028, U+2029) and invalid UTF-8
   becomes U+FFFD. */
void jsonw_string(struct jsonw *w, struct str s);
void jsonw_int(struct jsonw *w, int64_t n);
void jsonw_digest(struct jsonw *w, const unsigned char digest[DIGEST_SIZE]);
void jsonw_bool(struct jsonw *w, bool b);
void jsonw_null(struct jsonw *w);

/* JSON text that is known to be valid, copied as it is. */
void jsonw_raw(struct jsonw *w, struct str json);

/* Name and value in one call. */
void jsonw_member(struct jsonw *w, const char *name, struct str value);
void jsonw_member_int(struct jsonw *w, const char *name, int64_t value);
void jsonw_member_bool(struct jsonw *w, const char *name, bool value);

#endif
