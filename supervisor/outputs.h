/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outputs.h: the texts that were too long for their answers, by number. Fronts
   page through them and search them (WIRE_READ), and show them whole. */
#ifndef SUPERVISOR_OUTPUTS_H
#define SUPERVISOR_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/str.h"

struct output {
    uint64_t id;
    char session[LIMIT_SESSION_NAME + 1]; /* that printed it */
    struct buf text;                      /* valid UTF-8 */
    size_t chars; /* of it, once they are counted; 0: not yet */
};

/* The newest texts, oldest first, bounded by LIMIT_OUTPUTS and
   LIMIT_OUTPUTS_BYTES. A zeroed struct has none. */
struct outputs {
    struct output list[LIMIT_OUTPUTS];
    size_t n;
    size_t bytes;
    uint64_t last_id;
};

void outputs_release(struct outputs *outputs);

/* Takes over TEXT of SESSION, which is empty afterwards; the oldest texts make
   room for it. Its number is last_id then. */
void outputs_add(struct outputs *outputs, const char *session,
                 struct buf *text);

/* Appends to OUT the characters of text ID from OFFSET on, at most LIMIT of
   them, and a last line that says which part of the whole it is. False when ID
   is unknown or OFFSET is not inside the text: OUT then says so. */
bool outputs_read(struct outputs *outputs, uint64_t id, uint64_t offset,
                  uint64_t limit, struct buf *out);

/* Whether text ID is kept. */
bool outputs_has(const struct outputs *outputs, uint64_t id);

/* The number of the text that TEXT is a view of; 0: none. */
uint64_t outputs_number(const struct outputs *outputs, struct str text);

/* The whole text ID, as a view. False as outputs_read, for what is read from
   the character OFFSET on. */
bool outputs_find(struct outputs *outputs, uint64_t id, uint64_t offset,
                  struct str *text, struct buf *out);

/* The whole text ID of SESSION, as a view. False when there is none: OUT then
   says so. */
bool outputs_show(const struct outputs *outputs, uint64_t id,
                  struct str session, struct str *text, struct buf *out);

#endif
