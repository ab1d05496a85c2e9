/* SPDX-License-Identifier: GPL-3.0-or-later */
/* preview.h: the arguments of a call as the log shows them: enough to recognize
   the call, without what may be secret. */
#ifndef GATE_PREVIEW_H
#define GATE_PREVIEW_H

#include "base/buf.h"
#include "gate/schema.h"

/* Appends the arguments that VALUES, checked against FIELDS, give, as
   "name: value, name: value" on one line of at most LIMIT_PREVIEW characters.
   In texts "…" stands for what a pair of double quotes encloses, and for words
   that could be keys: MASKED_WORD letters and digits or more, of both kinds. */
void preview_write(struct buf *out, const struct schema_field *fields,
                   const struct schema_value *values);

#endif
