/* SPDX-License-Identifier: GPL-3.0-or-later */
/* imagehost.h: what tests of the supervisor share: a host with one supervisor,
   real zygote and real images, and one answer at a time. Everything waits for
   its event, HOST_PATIENCE_MS at most, and fails the test then. */
#ifndef TESTS_SUPPORT_IMAGEHOST_H
#define TESTS_SUPPORT_IMAGEHOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "supervisor/front.h"
#include "supervisor/intake.h"
#include "supervisor/supervisor.h"

#define HOST_PATIENCE_MS 20000

/* Set by the last host_wait. */
extern struct supervisor *host;
extern struct front *host_front; /* calls and waits; host_start sets it */
extern struct buf host_answer;   /* text, then a NUL */
extern bool host_error;

/* Argument 1 of the test program, ecl-mcp-image, as an absolute path; exits
   with a message when it is not there. */
void host_use(int argc, char **argv);

/* setup and teardown for cmocka; the teardown fails when a process is left. */
int host_setup(void **state);
int host_teardown(void **state);

/* Another start than that of host_setup; PATH NULL: the image of host_use. */
void host_start(const char *path, const char *workspace);

/* Another front, which has said HELLO, and its end. */
struct front *host_join(bool owner);
void host_leave(struct front *front);

/* One round of what a host does, with WAIT_MS for something to happen. */
void host_turn(int64_t wait_ms);

/* Rounds until MS have passed, for times that coarse clocks measure. */
void host_pass(int64_t ms);

/* A call with its frame: host_begin, arguments by wire_put…, host_send. */
void host_begin(struct buf *frame, const char *session, uint64_t id,
                const char *operation, int64_t timeout_ms);
void host_send(struct buf *frame);

void host_call_in(const char *session, uint64_t id, const char *code);
void host_call(uint64_t id, const char *code);
void host_stop(uint64_t id);

/* Waits until the supervisor has logged a line with PART in it. */
void host_wait_log(const char *part);

/* Waits for the next reply, which must be that of call ID. */
void host_wait(uint64_t id);

/* The answer does not report a failure. */
void host_expect_success(void);

/* Call and reply; the text must be TEXT, or contain PART. */
void host_expect(uint64_t id, const char *code, const char *text);
void host_expect_part(const char *part);

/* Calls CODE as call ID and waits until it runs: it opens a file first. */
void host_call_and_see_it_run(uint64_t id, const char *code);

/* The same with the code BEFORE and AFTER the opening of that file. */
void host_call_within(uint64_t id, const char *before, const char *after);

/* The process of the image that runs session main, asked by call ID. */
pid_t host_image_pid(uint64_t id);

bool host_exists(pid_t pid);
void host_wait_gone(pid_t pid);

#endif
