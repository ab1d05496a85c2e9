/* SPDX-License-Identifier: GPL-3.0-or-later */
/* operation.h: what the supervisor knows about operations: who does which, and
   how it does its own. The image does any operation that is not known here. */
#ifndef SUPERVISOR_OPERATION_H
#define SUPERVISOR_OPERATION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "supervisor/call.h"
#include "supervisor/checkpoint.h"
#include "supervisor/session.h"

struct supervisor;

enum operation_by {
    OPERATION_BY_IMAGE,
    OPERATION_IN_ORDER, /* the supervisor, after the earlier calls of the
                           session */
    OPERATION_AT_ONCE   /* the supervisor, without waiting for anything */
};

struct operation {
    const char *name;
    enum operation_by by;

    /* It does not wait for calls that are stuck: they are stopped (stop.h). */
    bool frees;

    /* IN_ORDER: it waits until there is an image. */
    bool needs_image;

    /* IN_ORDER: does the first call of SESSION, before which nothing is
       unfinished. It is answered immediately, or by operation_take_kept or
       operation_take_woken. */
    void (*run)(struct supervisor *s, struct session *session, int64_t now);

    /* AT_ONCE: appends the answer to TEXT, or makes *KEPT a view of it; BODY
       has the arguments. False when the session NAME, or what the call asks for
       in it, does not exist. */
    bool (*show)(const struct supervisor *s, struct str name, struct str body,
                 struct str *kept, struct buf *text);

    /* BY_IMAGE: the answer is not about what was printed meanwhile, which is
       shown after it and cut to LIMIT_OUTPUT_ASIDE. */
    bool output_aside;

    /* BY_IMAGE: it works in a copy of the image, and is no evaluation that can
       be undone. */
    bool apart;

    /* BY_IMAGE: with the answer a process may come that replaces the image. */
    bool adopts;

    /* BY_IMAGE, or NULL: CALL is on its way to the image. */
    void (*note_call)(struct supervisor *s, const struct call *call);

    /* BY_IMAGE, or NULL: the image has answered CALL of SESSION, without
       error. */
    void (*note_answer)(struct session *session, const struct call *call);
};

/* The operation called NAME; never NULL, since images know more names than are
   known here. */
const struct operation *operation_find(struct str name);

/* Appends a sentence that says that the session NAME is not open. */
void operation_miss(struct str name, struct buf *text);

/* KEPT has come, and brought CHECKPOINT or NULL. Answers the call that waits
   for it, if any. */
void operation_take_kept(struct supervisor *s, struct session *session,
                         const struct checkpoint *checkpoint);

/* CHECKPOINT, for which the first call of SESSION has asked, is AWAKE, or did
   not wake. Answers that call; the caller frees CHECKPOINT. */
void operation_take_woken(struct supervisor *s, struct session *session,
                          struct checkpoint *checkpoint, bool awake,
                          int64_t now);

#endif
