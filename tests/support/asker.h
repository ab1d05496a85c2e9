/* SPDX-License-Identifier: GPL-3.0-or-later */
/* asker.h: tools for tests and calls of them, through gate and calls. They wait
   for a human or work in steps. */
#ifndef TESTS_SUPPORT_ASKER_H
#define TESTS_SUPPORT_ASKER_H

#include "mcp/calls.h"
#include "support/check.h"
#include "support/messages.h"

/* What the tools did. */
extern struct world {
    int runs;
    int prepared;
    int plans;        /* plans and works that are not freed yet */
    char written[64]; /* what the last run wrote */
    const char *file; /* what prepare finds */
} world;

/* write takes a text; review prepares a change of world.file to text, with n
   hunks; run is an operation of the image; work takes three steps; interview
   asks for a name, then for a number; edit is a tool of the editor. */
extern const struct tool write_tool;
extern const struct tool review_tool;
extern const struct tool slow_tool; /* a review that takes steps */
extern const struct tool image_tool;
extern const struct tool work_tool;
extern const struct tool interview_tool;
extern const struct tool editor_tool;

extern struct asker {
    struct log log;
    struct buf lines;  /* of the log, without those at debug level */
    struct buf states; /* what the log says about states (states.h) */
    struct buf events; /* of the hook: phase, tool, arguments */
    struct buf output;
    struct image image;
    struct gate gate;
    struct editor editor; /* not connected, until a test opens it */
    struct calls calls;
    int64_t now_ms;
    struct buf state; /* the last requestState */
} at;

/* Setup and teardown of a test. The teardown fails if a plan or work leaks. */
int asker_begin(void **state);
int asker_end(void **state);

/* Checks that the client was sent exactly PATTERN, where "…" is any text, and
   empties the output. Keeps a requestState that it finds. */
void expect(const char *pattern);

/* Checks that BUF (lines or events) is TEXT, and empties it. */
void expect_text(struct buf *buf, const char *text);

/* How a client makes a call. */
struct manner {
    enum mcp_version version;
    bool cannot_ask;
    const char *token;
    const char *replies; /* inputResponses, JSON */
    const char *state;   /* requestState; NULL: none */
};
extern const struct manner v2025;

/* Calls TOOL with ARGUMENTS, JSON. The second form expects status WANTED. */
void call(const char *id, const struct tool *tool, const char *arguments,
          struct manner manner);
void call_expecting(enum status wanted, const char *id, const struct tool *tool,
                    const char *arguments, struct manner manner);

/* Sends the client's response to request ID of the server: MEMBER is result or
   error. */
void answer_with(const char *id, const char *member);

void cancel(const char *id);
void finish(void);
void stop_work(void);

/* Lets MS pass. */
void tick(int64_t ms);

/* The image answers the call with ID. */
void reply(uint64_t id, struct str text);

#define QUESTION(number, rest)                                                 \
    "{\"jsonrpc\":\"2.0\",\"id\":\"ecl-mcp-" number                            \
    "\",\"method\":\"elicitation/create\",\"params\":{" rest "}}\n"
#define DECISION                                                               \
    "\"decision\":{\"type\":\"string\",\"title\":\"Decision\",\"enum\":["      \
    "\"approve\",\"deny\"]}"
#define FORM(content)                                                          \
    "\"result\":{\"action\":\"accept\",\"content\":" content "}"
#define APPROVE FORM("{\"decision\":\"approve\"}")
#define RESULT(id, text, error, approved)                                      \
    OK(id, "{\"content\":[{\"type\":\"text\",\"text\":\"" text                 \
           "\"}],\"isError\":" error ",\"_meta\":{"                            \
           "\"ecl-mcp/executionTimeMs\":…,\"ecl-mcp/safetyLevel\":"          \
           "\"dangerous\",\"ecl-mcp/approved\":" approved "…}}")               \
    "\n"

#endif
