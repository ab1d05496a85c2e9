/* SPDX-License-Identifier: GPL-3.0-or-later */
/* client.h: a core with the test at both ends: as the core's client and as the
   supervisor of its images. */
#ifndef TESTS_SUPPORT_CLIENT_H
#define TESTS_SUPPORT_CLIENT_H

#include <stdint.h>

#include "base/str.h"
#include "core/core.h"
#include "wire/wire.h"

extern struct client {
    struct core *core;
    struct buf log;    /* "info: text" lines */
    struct buf frames; /* from the core; all but the last are taken */
    int64_t now_ms;    /* the time for the core; the test sets it */
} client;

/* Setup and teardown of a test. client_end fails if the core left half a line
   behind. */
int client_begin(void **state);
int client_end(void **state);

/* Starts a new core with CONFIG, whose log is set here. */
void client_restart(struct core_config config);

/* Opens the connection with initialize at VERSION and drops the answer. */
void client_initialize(const char *version);

/* Sends LINE and a line end. */
void client_send(const char *line);

/* Lets the core read the rest of a long message. */
void client_let_read(void);

/* Checks that the core has written exactly PATTERN since the last time, except
   for a final line end; "" is nothing. In PATTERN, "…" stands for any text. */
void client_expect(const char *pattern);

struct client_exchange {
    const char *sent;
    const char *answer; /* "" is none */
};

/* Plays the N exchanges: sends each message and expects its answer. */
void client_play(const struct client_exchange *exchanges, size_t n);

/* Takes the next frame for the supervisor. Its body is valid until the next
   client_… call. */
struct wire_head client_frame(struct str *body);

/* Checks that the next frame is of KIND and that TEXT shows its fields: strings
   as they are, numbers in digits, true and false, separated by one blank.
   Returns its id. */
uint64_t client_expect_frame(enum wire_kind kind, const char *text);

/* Checks that there is no frame. */
void client_expect_no_frame(void);

/* Answers a call as the supervisor. */
void client_reply(uint64_t id, unsigned flags, struct str text);

/* Sends output of a running call as the supervisor. */
void client_output(uint64_t id, struct str text);

/* Whether TEXT fits PATTERN. */
bool client_matches(struct str text, const char *pattern);

#endif
