/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of preparing.c with a clock of the test: when an idle image is asked to
   load ahead, and which ones are not. */
#include <fcntl.h>
#include <unistd.h>

#include "base/limits.h"
#include "supervisor/preparing.h"
#include "supervisor/restore.h"
#include "supervisor/state.h"
#include "support/check.h"
#include "wire/wire.h"

#define N (LIMIT_PREPARED + 2)

static struct session sessions[N];
static struct supervisor supervisor;

static int set_up(void **state)
{
    (void)state;
    supervisor = (struct supervisor){.serials = 6};
    for (size_t i = N; i-- > 0;) {
        session_init(&sessions[i], "any");
        sessions[i].image.pid = getpid();
        sessions[i].image.socket = open("/dev/null", O_RDWR | O_CLOEXEC);
        sessions[i].next = supervisor.sessions;
        supervisor.sessions = &sessions[i];
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < N; i++) {
        sessions[i].image.pid = 0;
        session_release(&sessions[i]);
    }
    return 0;
}

/* A call of SESSION that READS, or else is an evaluation, is answered. */
static void answer(struct session *session, bool reads, int64_t now)
{
    struct call *call = call_new(1, 0, STR("evaluate"), STR(""));

    assert_memory(call != NULL);
    call->reads = reads;
    restore_note_call(session, call, now);
    call_free(call);
}

/* Whether SESSION, which was asked for nothing, is asked at NOW; then the frame
   is right. */
static bool is_asked(struct session *session, int64_t now)
{
    struct wire_head head;
    struct str body;

    preparing_tend(&supervisor, session, now);
    if (!session->keeping.preparing.asked)
        return false;
    assert_memory(!buf_failed(&session->image.out));
    assert_int_equal(wire_frame(buf_view(&session->image.out), &head, &body),
                     ST_OK);
    assert_int_equal(head.kind, WIRE_PREPARE);
    assert_int_equal(head.id, session->keeping.number);
    assert_true(preparing_deadline(session) < 0);
    buf_reset(&session->image.out);
    return true;
}

/* The image of SESSION says whether it has LOADED something. */
static void take(struct session *session, bool loaded, int64_t now)
{
    session->keeping.copy.arrived = true;
    session->keeping.copy.pid = loaded;
    preparing_take(&supervisor, session, now);
    assert_int_equal(session->keeping.number, 0);
    assert_false(session->keeping.copy.arrived);
}

/* LIMIT_PREPARE_MS after the last answer, of whatever kind, and once. */
static void preparing_waits_for_a_pause(void **state)
{
    struct session *session = &sessions[0];

    (void)state;
    assert_true(preparing_deadline(session) < 0); // nobody has used it
    assert_false(is_asked(session, 1000000));
    answer(session, true, 1000);
    assert_true(preparing_deadline(session) == 1000 + LIMIT_PREPARE_MS);
    answer(session, true, 1100);
    assert_true(preparing_deadline(session) == 1100 + LIMIT_PREPARE_MS);
    assert_false(is_asked(session, 1100 + LIMIT_PREPARE_MS - 1));
    assert_true(is_asked(session, 1100 + LIMIT_PREPARE_MS));
    take(session, false, 2000);
    answer(session, true, 3000);
    assert_true(preparing_deadline(session) < 0);
    assert_false(is_asked(session, 1000000));
}

/* The copy that is due comes first. */
static void preparing_waits_for_the_copy(void **state)
{
    struct session *session = &sessions[0];

    (void)state;
    answer(session, false, 1000);
    assert_true(session->keeping.changed);
    assert_false(is_asked(session, 1000000));
    session->keeping.changed = false;
    assert_true(is_asked(session, 1000000));
}

/* Without a checkpoint there is no state to keep; with one, a copy is due at
   once. */
static void preparing_renews_the_copy(void **state)
{
    struct keeping *keeping = &sessions[0].keeping;

    (void)state;
    answer(&sessions[0], true, 1000);
    assert_true(is_asked(&sessions[0], 2000));
    take(&sessions[0], true, 2100);
    assert_false(keeping->changed);
    answer(&sessions[1], true, 1000);
    keeping = &sessions[1].keeping;
    assert_memory(checkpoints_add(&keeping->checkpoints, open("/dev/null", 0),
                                  getpid(), 0, STR("")) != NULL);
    assert_true(is_asked(&sessions[1], 3000));
    take(&sessions[1], true, 3100);
    assert_true(keeping->changed && keeping->preparing.renews);
    assert_true(restore_deadline(&supervisor, &sessions[1]) == 3100);
}

/* One image at a time, and not more than LIMIT_PREPARED. */
static void preparing_spares_many_sessions(void **state)
{
    (void)state;
    for (size_t i = 0; i < N; i++)
        answer(&sessions[i], true, 1000);
    assert_true(is_asked(&sessions[0], 2000));
    assert_false(is_asked(&sessions[1], 2000));
    assert_true(preparing_deadline(&sessions[1]) == 2010); // soon again
    take(&sessions[0], false, 2100); // this one does not count
    for (size_t i = 1; i <= LIMIT_PREPARED; i++) {
        assert_true(is_asked(&sessions[i], 3000));
        take(&sessions[i], true, 3000);
    }
    assert_false(is_asked(&sessions[LIMIT_PREPARED + 1], 3000));
    assert_true(preparing_deadline(&sessions[LIMIT_PREPARED + 1]) < 0);
}

/* If a call came first, the image has done nothing, and is asked again. */
static void preparing_lets_calls_go_first(void **state)
{
    struct session *session = &sessions[0];
    struct call *call;

    (void)state;
    answer(session, true, 1000);
    assert_true(is_asked(session, 2000));
    call = call_new(1, 0, STR("evaluate"), STR(""));
    assert_memory(call != NULL);
    call_queue_add(&session->calls, call);
    take(session, false, 2100);
    assert_false(is_asked(session, 3000));
    call_free(session_take_first(session));
    answer(session, true, 3000);
    assert_true(is_asked(session, 4000));
}

/* Death ends it in this session, restored or not; otherwise a restored image is
   asked anew. */
static void preparing_is_not_tried_after_a_death(void **state)
{
    struct session *session = &sessions[0];

    (void)state;
    answer(session, true, 1000);
    assert_true(is_asked(session, 2000));
    take(session, true, 2100);
    keeping_disconnect(&session->keeping);
    assert_false(is_asked(session, 1000000)); // nobody has used it
    answer(session, true, 3000);
    assert_true(is_asked(session, 4000));
    keeping_disconnect(&session->keeping);
    keeping_forget(&session->keeping);
    answer(session, true, 5000);
    assert_true(preparing_deadline(session) < 0);
    assert_false(is_asked(session, 1000000));
}

static void preparing_ends_with_the_server(void **state)
{
    (void)state;
    answer(&sessions[0], true, 1000);
    answer(&sessions[1], false, 1000);
    assert_true(restore_deadline(&supervisor, &sessions[1]) >= 0);
    supervisor.ending.wanted = true;
    restore_tend(&supervisor, &sessions[1], 1000000);
    assert_int_equal(sessions[1].keeping.number, 0);
    assert_true(restore_deadline(&supervisor, &sessions[1]) < 0);
    assert_false(is_asked(&sessions[0], 2000));
    assert_true(preparing_deadline(&sessions[0]) < 0);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(preparing_waits_for_a_pause),
        TEST(preparing_waits_for_the_copy),
        TEST(preparing_renews_the_copy),
        TEST(preparing_spares_many_sessions),
        TEST(preparing_lets_calls_go_first),
        TEST(preparing_is_not_tried_after_a_death),
        TEST(preparing_ends_with_the_server),
    };

    return RUN_TESTS("preparing", tests);
}
