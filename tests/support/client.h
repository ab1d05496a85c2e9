/* SPDX-License-Identifier: GPL-3.0-or-later */
/* client.h: a session with the test at both ends: as its client and as the
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
    struct buf frames; /* from the session, taken but for the last one */
    int64_t now_ms;    /* what the session is told; the test sets it */
} client;

/* Setup and teardown of a test. client_end fails when the session left half
   a line behind. */
int client_begin(void **state);
int client_end(void **state);

/* Starts the session anew with CONFIG, whose log is set here. */
void client_restart(struct core_config config);

/* Opens with initialize at VERSION and drops the answer. */
void client_initialize(const char *version);

/* Sends LINE and a line end. */
void client_send(const char *line);

/* The session has written exactly TEXT since the last time, a line end at its
   end not counted; "" is nothing. In PATTERN "…" stands for any text. */
void client_expect(const char *pattern);

struct client_exchange {
    const char *sent;
    const char *answer; /* "" is none */
};

/* Sends and expects the N exchanges in turn. */
void client_play(const struct client_exchange *exchanges, size_t n);

/* Takes the next frame for the supervisor. Its body is valid until the next
   client_… call. */
struct wire_head client_frame(struct str *body);

/* The next frame is of KIND and its fields are shown as TEXT: strings as they
   are, numbers in digits, true and false, separated by one blank. Returns its
   id. */
uint64_t client_expect_frame(enum wire_kind kind, const char *text);

/* There is no frame. */
void client_expect_no_frame(void);

/* Answers a call as the supervisor. */
void client_reply(uint64_t id, unsigned flags, struct str text);

/* Sends output of a running call as the supervisor. */
void client_output(uint64_t id, struct str text);

/* Whether TEXT is PATTERN. */
bool client_matches(struct str text, const char *pattern);

#endif
