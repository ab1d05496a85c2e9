/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tool.h: what a tool is. Everything about one stands in its descriptor; what
   clients see and what is checked is derived from it. */
#ifndef CORE_TOOL_H
#define CORE_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "arena.h"
#include "image.h"
#include "jsonw.h"
#include "schema.h"
#include "status.h"
#include "str.h"

/* How much a call can harm. Zero, and so a descriptor that says nothing, is
   the strictest. */
enum tool_level {
    TOOL_DANGEROUS, /* runs only with an approval */
    TOOL_CAUTIOUS,  /* is logged, then runs */
    TOOL_SAFE       /* changes nothing */
};

struct tool;

/* One call of a tool, from the decision to the answer. */
struct tool_call {
    const struct tool *tool;
    int64_t started_ms;
    bool approved;           /* the gate let it run */
    bool progress;           /* the client wants to hear of it meanwhile */
    struct image_call image; /* while it waits; its owner is the caller's */
};

/* The limits in force. */
struct tool_limits {
    size_t max_output;  /* characters of an answer */
    int64_t timeout_ms; /* of a call to an image; 0: none */
    int64_t memory;     /* bytes of the Lisp heap of a session */
};

/* What a handler gets; it lives until the handler returns, but for CALL. */
struct tool_request {
    struct arena *arena; /* of the request */
    struct image *image;
    struct tool_limits *limits;        /* of the server */
    const struct schema_value *values; /* checked, in the order of the fields */
    struct tool_call *call;
};

/* What became of a call. */
enum tool_state {
    TOOL_WAITS,    /* the answer comes from the image */
    TOOL_ANSWERED, /* the text is the answer, */
    TOOL_FAILED    /* or the report of a failure */
};

struct tool_answer {
    enum tool_state state;
    struct str text;
};

struct tool {
    const char *name;
    const char *title;
    const char *description;    /* for the model; ends with a full stop */
    const char *const *aliases; /* further names, ends with NULL; or NULL */
    const struct schema_field *fields;
    enum tool_level level;

    /* Hints for clients; "read only" follows from the level. */
    bool destructive;
    bool idempotent;
    bool open_world;

    /* What a call gets at least when it names no time limit itself. */
    int64_t timeout_ms;

    /* Either the Lisp operation that gets the arguments, or a function. It
       fills ANSWER, which says TOOL_WAITS so far. ST_NOMEM, ST_LIMIT and ST_IO
       as image_send. */
    const char *operation;
    enum status (*handler)(const struct tool_request *request,
                           struct tool_answer *answer);
};

/* The arguments "session" and "timeout" (seconds) mean the same for every tool:
   where and how long the call may run. They are no arguments of the
   operation. */
#define TOOL_SESSION "session"
#define TOOL_TIMEOUT "timeout"
#define TOOL_SESSION_FIELD                                                     \
    {                                                                          \
        .name = TOOL_SESSION, .kind = SCHEMA_NAME,                             \
        .help = "Session, default main.",                                      \
    }

/* Whether NAME is the name or an alias of TOOL. */
bool tool_has_name(const struct tool *tool, struct str name);

/* "safe", "cautious", "dangerous". */
const char *tool_level_name(enum tool_level level);

/* Writes TOOL as an entry of tools/list; WITH_TITLE adds the member "title",
   which older versions of MCP keep in the annotations only. */
void tool_write(struct jsonw *w, const struct tool *tool, bool with_title);

/* SECONDS of a time limit; what is more than none stays more than none. */
int64_t tool_milliseconds(double seconds);

/* Starts the frame of OPERATION with the session and the time limit of the
   call. The caller appends the other arguments, then image_send. */
void tool_begin(const struct tool_request *request, const char *operation);

/* Sends the call to the image as TOOL's operation with its arguments. */
enum status MUST_CHECK tool_send(const struct tool_request *request);

#endif
