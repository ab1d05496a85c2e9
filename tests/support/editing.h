/* SPDX-License-Identifier: GPL-3.0-or-later */
/* editing.h: a session with the test at all ends (client.h): also as its
   editor, and as a disk with one file. */
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

/* The file has TEXT now. */
void write_disk(const char *text);

/* The editor is told exactly PATTERN; it is then dropped. */
void hears(const char *pattern);

/* It says LINE. */
void says(const char *line);

/* Time goes on by MS. */
void pass_time(int64_t ms);

/* A session whose evaluate-lisp has to be asked for, and an editor. */
void start_editing(void);

/* A call that asks, as the editor received it. */
void start_asking(void);

/* A review that asks; BUFFER is what the editor has of the file, JSON. */
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
