/* SPDX-License-Identifier: GPL-3.0-or-later */
/* editing.h: a core with the test at all ends (client.h): also as its editor,
   and as a disk with one file. */
#ifndef TESTS_SUPPORT_EDITING_H
#define TESTS_SUPPORT_EDITING_H

#include "base/limits.h"
#include "gate/policy.h"
#include "support/check.h"
#include "support/client.h"
#include "support/messages.h"

extern struct disk {
    struct policy policy;
    struct files files;
    char text[200]; /* of the only file, f */
    bool exists;
    int writes;
} disk;

/* Setup and teardown of a test. */
int editing_begin(void **state);
int editing_end(void **state);

/* Puts TEXT into the file. */
void write_disk(const char *text);

/* Checks that the editor was sent exactly PATTERN, and drops the output. */
void hears(const char *pattern);

/* The editor sends LINE. */
void says(const char *line);

/* Lets MS pass. */
void pass_time(int64_t ms);

/* Starts a core whose evaluate-lisp needs an approval, with an editor. */
void start_editing(void);

/* Makes a call that asks; the editor acknowledges the question. */
void start_asking(void);

/* Makes a CALL whose review asks; BUFFER is the editor's text of the file,
   JSON. */
void start_review(const char *call, const char *buffer);

#define RECEIVED(id)                                                           \
    "{\"jsonrpc\":\"2.0\",\"method\":\"received\",\"params\":{\"id\":" id "}}"
#define WITHDRAW(id, reason)                                                   \
    "{\"jsonrpc\":\"2.0\",\"method\":\"withdraw\",\"params\":{\"id\":" id      \
    ",\"reason\":\"" reason "\"}}\n"
#define ASKED(id, method, rest)                                                \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method                  \
    "\",\"params\":{" rest "}}\n"
#define CALLED "{\"jsonrpc\":\"2.0\",\"method\":\"called\",…}\n"
#define HELLO "{\"jsonrpc\":\"2.0\",\"method\":\"hello\",…}\n"
#define ANSWER(text, error)                                                    \
    OK("1", "{\"content\":[{\"type\":\"text\",\"text\":\"" text                \
            "\"}],…\"isError\":" error ",…}")
#define EVAL CALL("1", "evaluate-lisp", "{\"code\":\"(f)\"}")
#define WRITE(text)                                                            \
    CALL("1", "write-file", "{\"path\":\"f\",\"content\":\"" text "\"}")
#define EDIT(old, new)                                                         \
    CALL("1", "propose-file-edit",                                             \
         "{\"path\":\"f\",\"original\":\"" old "\",\"modified\":\"" new "\"}")

#endif
