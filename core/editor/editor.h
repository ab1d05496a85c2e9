/* SPDX-License-Identifier: GPL-3.0-or-later */
/* editor.h: the core's end of the connection to an editor: lines of JSON-RPC,
   as docs/editor-protocol.md has them. It writes and reads messages; who waits
   for which answer, and for how long, is calls.h's. */
#ifndef EDITOR_EDITOR_H
#define EDITOR_EDITOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/status.h"
#include "base/str.h"
#include "gate/gate.h"
#include "gate/tool.h"
#include "json/json.h"
#include "json/linereader.h"

/* The version of the protocol. */
#define EDITOR_PROTOCOL 1

/* What the editor is told of this core. */
struct editor_about {
    int64_t pid;           /* of the process */
    const char *workspace; /* absolute; NULL: there is none; borrowed */
    bool attached;         /* its Lisp is that of the editor */
};

struct editor {
    const struct log *log; /* borrowed */
    struct editor_about about;
    bool there;
    struct linereader reader;
    struct buf output; /* lines for the editor; the host takes them */
    uint64_t last_id;  /* of our requests; rising, over all connections */
};

void editor_init(struct editor *editor, const struct log *log,
                 const struct editor_about *about);

/* Accepts a zeroed one. */
void editor_release(struct editor *editor);

/* An editor is there: it is greeted. */
void editor_open(struct editor *editor);

/* It is gone. What was to be said to it is dropped. */
void editor_close(struct editor *editor);

/* Puts the question of CALL to its human, who has so many SECONDS. Returns the
   number of the request; 0 when there is no editor, it does not read, or memory
   runs out. So do the next two. */
uint64_t editor_approve(struct editor *editor, const struct tool_call *call,
                        int64_t seconds);

/* Asks for the text of its buffer of the file PATH, absolute. */
uint64_t editor_text(struct editor *editor, struct str path);

/* Lets it do CALL. */
uint64_t editor_call(struct editor *editor, const struct tool_call *call);

/* It need not answer the request ID any more. */
void editor_withdraw(struct editor *editor, uint64_t id, struct str reason);

/* The hook of the gate, with an editor as its context: it is told of each call
   that is over, unless it is slow to read. */
void editor_event(void *context, const struct gate_event *event);

enum editor_kind {
    EDITOR_RECEIVED, /* the request ID arrived */
    EDITOR_RESULT,   /* its answer */
    EDITOR_TOOLS     /* what tools the editor has */
};

struct editor_message {
    enum editor_kind kind;
    uint64_t id;
    struct json value; /* the result, absent when there is an error instead; or
                          the array of tools */
    struct json error;
};

/* Adds N bytes from the editor. ST_NOMEM: a line was lost. */
enum status MUST_CHECK editor_feed(struct editor *editor, const void *p,
                                   size_t n);

/* Takes the next message, which lives in ARENA and until the next call of
   anything here. Lines that are no message, or none of this protocol, are
   passed over, with a line in the log. ST_MISSING: there is no more for now;
   ST_NOMEM: one was lost. */
enum status MUST_CHECK editor_next(struct editor *editor, struct arena *arena,
                                   struct editor_message *out);

#endif
