/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of stop.c, input.c and restore.c with a clock of the test: when a call
   is stopped that is in the way or waits for its human, how the stages of a
   stop follow each other, and how long a copy may take to wake. */
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/linux.h"
#include "supervisor/front.h"
#include "supervisor/input.h"
#include "supervisor/restore.h"
#include "supervisor/state.h"
#include "supervisor/stop.h"
#include "support/check.h"

static struct session session;
static struct supervisor supervisor;
static struct front front;

/* The process of the test stands for the image: it ignores interrupts. */
static int set_up(void **state)
{
    (void)state;
    if (signal(SIGINT, SIG_IGN) == SIG_ERR)
        return -1;
    session_init(&session, "main");
    session.image.pid = getpid();
    front = (struct front){.supervisor = &supervisor};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    session.image.pid = 0;
    session_release(&session);
    buf_release(&front.out);
    (void)signal(SIGINT, SIG_DFL);
    return 0;
}

/* A call that runs since now, with a time limit of TIMEOUT_MS (0: none). */
static struct call *run_call(int64_t timeout_ms, int64_t now)
{
    struct call *call = call_new(1, timeout_ms, STR("evaluate"), STR(""));

    assert_memory(call != NULL);
    call_queue_add(&session.calls, call);
    call->sent = true;
    assert_false(stop_tend(&session, false, now));
    assert_true(call->started_at == now);
    return call;
}

/* Nothing is done before DEADLINE, the next one, which is WANTED. */
static void expect_deadline(int64_t wanted)
{
    assert_true(stop_deadline(&session) == wanted);
    assert_false(stop_tend(&session, false, wanted - 1));
    assert_true(stop_deadline(&session) == wanted);
}

static void stop_takes_its_stages_in_time(void **state)
{
    (void)state;
    struct call *call = run_call(2000, 100);
    expect_deadline(2100);
    assert_false(call->stopping);
    assert_false(stop_tend(&session, false, 2100));
    assert_true(call->stopping && call->why == STOP_TIME);
    for (int64_t stage = 1; stage <= 3; stage++) {
        int64_t next = 2100 + stage * LIMIT_INTERRUPT_MS;

        expect_deadline(next);
        assert_false(session.image.death.killed);
        assert_int_equal(stop_tend(&session, false, next), stage == 3);
    }
    assert_true(session.image.death.killed);
}

/* A call without a time limit is stopped for one that frees the session, but
   not before it has had some time. */
static void stop_frees_the_session_in_time(void **state)
{
    (void)state;
    struct call *call = run_call(0, 100);
    struct call *freeing = call_new(2, 0, STR("reset-session"), STR(""));

    assert_memory(freeing != NULL);
    freeing->frees = true;
    call_queue_add(&session.calls, freeing);
    expect_deadline(100 + LIMIT_STUCK_MS);
    assert_false(call->stopping);
    assert_false(stop_tend(&session, false, 100 + LIMIT_STUCK_MS));
    assert_true(call->stopping && call->why == STOP_FREED);
    assert_memory(str_eq(buf_view(&freeing->freed),
                         STR("\nStopped: evaluate (it had run for 1 s)")));
}

/* While a human thinks, the limit of the call does not count. It used to be
   named as the reason when the human had not answered. */
static void stop_waits_for_a_human(void **state)
{
    (void)state;
    struct call *call = run_call(2000, 100);

    call->front = &front;
    call->input.wanted = true;
    input_tend(&session, 300);
    assert_true(input_deadline(call) == 300 + LIMIT_INPUT_MS);
    expect_deadline(300 + LIMIT_INPUT_MS);
    assert_false(call->stopping);
    assert_false(stop_tend(&session, false, 300 + LIMIT_INPUT_MS));
    assert_true(call->stopping && call->why == STOP_INPUT);
    call->front = NULL;
}

/* The same when the line comes in time: the time of the human is added. */
static void stop_does_not_count_the_time_of_a_human(void **state)
{
    (void)state;
    struct call *call = run_call(2000, 100);

    call->front = &front;
    call->input.wanted = true;
    input_tend(&session, 300);
    input_take(&session, call, STR("line"), 300 + LIMIT_INPUT_MS - 1);
    expect_deadline(2100 + LIMIT_INPUT_MS - 1);
    assert_false(call->stopping);
    call->front = NULL;
}

/* A copy that says nothing is ended, but not too early. */
static void restore_waits_for_a_copy(void **state)
{
    struct checkpoint *checkpoint;
    int pair[2];
    int status;
    pid_t pid;

    (void)state;
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    pid = fork();
    if (pid == 0) { // should the test fail, it ends when that does
        linux_signal_on_orphaned(SIGKILL);
        (void)pause();
        _exit(0);
    }
    assert_true(pid > 0);
    session.image.keeper = pair[1]; // nothing is sent there
    checkpoint =
        checkpoints_add(&session.keeping.checkpoints, pair[0], pid, 1, STR(""));
    if (checkpoint) {
        restore_begin(&supervisor, &session, checkpoint, 0, 100);
        assert_true(restore_is_waking(&session));
        assert_status(restore_listen(&supervisor, &session,
                                     100 + LIMIT_WAKE_MS - 1, &checkpoint),
                      ST_MISSING);
        assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
        assert_status(restore_listen(&supervisor, &session, 100 + LIMIT_WAKE_MS,
                                     &checkpoint),
                      ST_IO);
        assert_false(restore_is_waking(&session));
        checkpoint_free(checkpoint);
    } else {
        (void)kill(pid, SIGKILL);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    session.image.keeper = -1;
    assert_int_equal(close(pair[1]), 0);
    assert_memory(checkpoint != NULL);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

/* The lines of old evaluations are forgotten. */
static void history_keeps_some_evaluations(void **state)
{
    static struct history history;
    struct buf text = BUF_EMPTY;

    (void)state;
    history = (struct history){.first = 1};
    history_add(&history, STR("(first)"));
    history_add(&history, STR("(second)"));
    for (int i = 2; i < LIMIT_HISTORY; i++)
        history_add(&history, STR("(more)"));
    history_describe(&history, 1, &text);
    buf_byte(&text, '\n');
    history_add(&history, STR("(last)"));
    history_describe(&history, 1, &text);
    buf_byte(&text, '\n');
    history_describe(&history, 2, &text);
    bool good = str_eq(buf_view(&text), STR("evaluation 1: (first)\n"
                                            "evaluation 1\n"
                                            "evaluation 2: (second)"));
    buf_release(&text);
    assert_memory(good);
}

/* Calls that wait, of one server and of all, and the bytes of their arguments.
   One alone may have more. */
static void front_is_full_at_its_limits(void **state)
{
    static const struct {
        size_t calls, bytes;         /* of this front */
        size_t all_calls, all_bytes; /* of all */
        size_t n;                    /* bytes of another call */
        const char *whose;           /* NULL: there is room */
    } cases[] = {
        {0, 0, 0, 0, LIMIT_SHARED_BYTES + 1, NULL},
        {1, 0, 1, 0, LIMIT_PENDING_BYTES, NULL},
        {1, 0, 1, 0, LIMIT_PENDING_BYTES + 1, "of this server"},
        {LIMIT_PENDING_CALLS - 1, 0, LIMIT_PENDING_CALLS, 0, 1, NULL},
        {LIMIT_PENDING_CALLS, 0, LIMIT_PENDING_CALLS, 0, 1, "of this server"},
        {0, 0, LIMIT_SHARED_CALLS - 1, 0, 1, NULL},
        {0, 0, LIMIT_SHARED_CALLS, 0, 1, "of all who share the Lisp images"},
        {0, 0, 9, LIMIT_SHARED_BYTES - 7, 7, NULL},
        {0, 0, 9, LIMIT_SHARED_BYTES - 7, 8,
         "of all who share the Lisp images"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct buf text = BUF_EMPTY;

        front.calls = cases[i].calls;
        front.bytes = cases[i].bytes;
        supervisor.calls = cases[i].all_calls;
        supervisor.bytes = cases[i].all_bytes;
        bool full = front_is_full(&front, cases[i].n, &text);
        buf_byte(&text, '\0');
        bool kept = !buf_failed(&text);
        bool named =
            kept && cases[i].whose && strstr(text.p, cases[i].whose) != NULL;
        buf_release(&text);
        assert_int_equal(full, cases[i].whose != NULL);
        assert_memory(kept);
        assert_int_equal(named, full);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(stop_takes_its_stages_in_time),
        TEST(stop_frees_the_session_in_time),
        TEST(stop_waits_for_a_human),
        TEST(stop_does_not_count_the_time_of_a_human),
        TEST(restore_waits_for_a_copy),
        TEST(history_keeps_some_evaluations),
        TEST(front_is_full_at_its_limits),
    };
    return RUN_TESTS("stop", tests);
}
