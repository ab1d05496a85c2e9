/* SPDX-License-Identifier: GPL-3.0-or-later */
/* editor.h: the core's end of the connection to an editor: writes and reads the
   messages of docs/editor-protocol.md, which are lines of JSON-RPC. Does not
   know which call waits for which answer, or for how long (calls.h). */
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

/* The version of the editor protocol. */
#define EDITOR_PROTOCOL 1

/* How the core introduces itself to the editor. */
struct editor_about {
    int64_t pid;           /* of this process */
    const char *workspace; /* absolute path, borrowed; NULL: none */
    bool attached;         /* the Lisp images are those of the editor */
};

struct editor {
    const struct log *log; /* borrowed */
    struct editor_about about;
    bool connected;
    struct linereader reader;
    struct buf output; /* lines for the editor; the host takes them */
    uint64_t last_id;  /* of our requests; never reused, whatever connects */
};

void editor_init(struct editor *editor, const struct log *log,
                 const struct editor_about *about);

/* Accepts a zeroed one. */
void editor_release(struct editor *editor);

/* An editor has connected: sends it "hello". */
void editor_open(struct editor *editor);

/* The editor is gone: drops what was to be sent to it. */
void editor_close(struct editor *editor);

/* Asks the human of the editor to approve CALL within SECONDS. Like the next
   three, returns the number of the request; 0 when no editor is connected, it
   does not read, or memory runs out. */
uint64_t editor_approve(struct editor *editor, const struct tool_call *call,
                        int64_t seconds);

/* Asks for the text of the buffer that visits the file PATH, absolute. */
uint64_t editor_read_buffer(struct editor *editor, struct str path);

/* Asks for what is not saved of the files below FOLDER, absolute, that TOOL
   looks through. */
uint64_t editor_read_unsaved(struct editor *editor, struct str folder,
                             const struct tool *tool);

/* Asks the editor to run CALL, whose tool is its own. */
uint64_t editor_call(struct editor *editor, const struct tool_call *call);

/* Withdraws the request ID because of REASON: its answer is no longer read. */
void editor_withdraw(struct editor *editor, uint64_t id, struct str reason);

/* Says that the core waits for the result of the request ID for SECONDS from
   now on. */
void editor_waits(struct editor *editor, uint64_t id, int64_t seconds);

/* The hook of the gate; its context is a struct editor. Reports each call that
   has ended to the editor, unless the editor is slow to read. */
void editor_event(void *context, const struct gate_event *event);

enum editor_kind {
    EDITOR_RECEIVED, /* the request with this id arrived */
    EDITOR_WORKING,  /* the human works on it */
    EDITOR_RESULT,   /* the result or error for it */
    EDITOR_TOOLS     /* the tools that the editor has */
};

struct editor_message {
    enum editor_kind kind;
    uint64_t id;
    struct json value; /* the result, absent in an error; or the array of
                          tools */
    struct json error;
};

/* Adds N bytes from the editor. ST_NOMEM: a line was lost. */
enum status MUST_CHECK editor_feed(struct editor *editor, const void *p,
                                   size_t n);

/* Whether a line is complete, or too long already. */
bool editor_has_line(struct editor *editor);

/* Takes the next message, which is valid until ARENA is released or the next
   call of a function here. Skips lines that are not messages of this protocol,
   and logs them. ST_MISSING: no more messages for now; ST_NOMEM: one was
   lost. */
enum status MUST_CHECK editor_next(struct editor *editor, struct arena *arena,
                                   struct editor_message *out);

#endif
