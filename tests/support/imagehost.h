/* SPDX-License-Identifier: GPL-3.0-or-later */
/* imagehost.h: shared by tests of the supervisor: a host with one supervisor,
   real zygote and real images, and one answer at a time. All functions that
   wait do so for at most HOST_PATIENCE_MS, and then fail the test. */
#ifndef TESTS_SUPPORT_IMAGEHOST_H
#define TESTS_SUPPORT_IMAGEHOST_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "supervisor/front.h"
#include "supervisor/intake.h"
#include "supervisor/supervisor.h"

#define HOST_PATIENCE_MS 60000

/* Set by the last host_wait. */
extern struct supervisor *host;
extern struct front *host_front; /* that calls and waits; host_start sets it */
extern struct buf host_answer;   /* text, then a NUL */
extern bool host_error;

/* Takes argument 1 of the test program, ecl-mcp-image, as an absolute path;
   exits with a message if it is missing. From then on, the current folder is an
   empty one, which is removed at the end. */
void host_use(int argc, char **argv);

/* Setup and teardown for cmocka. The teardown fails if a process is left. */
int host_setup(void **state);
int host_teardown(void **state);

/* The same in a new folder (folder.h), which is the workspace and has the
   temporary files: the usual folder for these may contain a home. */
int host_setup_in_folder(void **state);
int host_teardown_in_folder(void **state);

/* Starts differently than host_setup does. If PATH is NULL, it is the image of
   host_use. */
void host_start(const char *path, const char *workspace);

/* Adds a front, which has said HELLO; removes one. */
struct front *host_join(bool owner);
void host_leave(struct front *front);

/* Starts as host_setup does, with two fronts; the owner's is host_front. */
extern struct front *host_owner;
extern struct front *host_guest;
int host_setup_two(void **state);

/* From now on, host_call and host_wait are those of FRONT. */
void host_as(struct front *front);

/* Fails if FRONT has something to send. */
void host_expect_quiet(struct front *front);

/* Rounds of the host's work so far. */
extern size_t host_turns;

/* Does one round of a host's work; waits WAIT_MS for something to happen. */
void host_turn(int64_t wait_ms);

/* Does rounds until MS have passed, for times that coarse clocks measure. */
void host_pass(int64_t ms);

/* Makes a call from its frame: host_begin, arguments with wire_put…,
   host_send. */
void host_begin(struct buf *frame, const char *session, uint64_t id,
                const char *operation, int64_t timeout_ms);
void host_send(struct buf *frame);

void host_call_in(const char *session, uint64_t id, const char *code);
void host_call(uint64_t id, const char *code);
void host_stop(uint64_t id);

/* Waits until the supervisor has logged a line with PART in it. */
void host_wait_log(const char *part);

/* Waits for the next reply, which must be to call ID. */
void host_wait(uint64_t id);

/* Checks that the answer does not report a failure. */
void host_expect_success(void);

/* Makes a call, whose reply must be TEXT; checks that the last answer contains
   PART. */
void host_expect(uint64_t id, const char *code, const char *text);
void host_expect_part(const char *part);

/* Makes call ID of CODE and waits until it runs: it makes a folder first. */
void host_call_and_see_it_run(uint64_t id, const char *code);

/* The same with the code BEFORE and the code AFTER the folder is made. */
void host_call_within(uint64_t id, const char *before, const char *after);

/* The process of the image that runs session main; call ID asks for it. */
pid_t host_image_pid(uint64_t id);

bool host_exists(pid_t pid);
void host_wait_gone(pid_t pid);

/* Field N of what the system says in one line about process PID, counted behind
   its name, from 0; field 0 is a letter. */
long host_process_field(pid_t pid, int n, char *letter);

#endif
