/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of room.c: what one session takes leaves the others their share. */
#include <string.h>

#include "supervisor/room.h"
#include "support/check.h"

static struct supervisor supervisor;
static struct session sessions[8];

static int setup(void **state)
{
    (void)state;
    memset(&supervisor, 0, sizeof supervisor);
    for (size_t i = 0; i < 8; i++) {
        session_init(&sessions[i], "s");
        sessions[i].next_awake = supervisor.awake;
        supervisor.awake = &sessions[i];
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (size_t i = 0; i < 8; i++)
        session_release(&sessions[i]);
    return 0;
}

static void room_is_shared(void **state)
{
    size_t shared;

    (void)state;
    assert_int_equal(room_shared(&supervisor), LIMIT_SESSIONS_HELD);
    for (size_t i = 0; i < 5; i++) // the room of four, and more
        sessions[i].admitted = LIMIT_SESSION_HELD;
    shared = room_shared(&supervisor);
    assert_int_equal(shared, 0);
    assert_int_equal(room_offer(&sessions[0], shared), 0);
    assert_int_equal(sessions[0].room, 0);
    assert_int_equal(room_offer(&sessions[7], shared), LIMIT_SESSION_SHARE);
    assert_int_equal(sessions[7].room, LIMIT_SESSION_SHARE);
    sessions[7].admitted = LIMIT_SESSION_SHARE - 1;
    (void)room_offer(&sessions[7], shared); // its room is what counts
    assert_int_equal(sessions[7].room, 1);
}

/* What a session has up to its share is not taken from the others. */
static void room_counts_beyond_the_share(void **state)
{
    (void)state;
    for (size_t i = 0; i < 8; i++)
        sessions[i].admitted = LIMIT_SESSION_SHARE;
    assert_int_equal(room_shared(&supervisor), LIMIT_SESSIONS_HELD);
    sessions[0].admitted += 10;
    assert_int_equal(room_shared(&supervisor), LIMIT_SESSIONS_HELD - 10);
}

static void room_of_one_session_is_bounded(void **state)
{
    (void)state;
    (void)room_offer(&sessions[0],
                     LIMIT_SESSIONS_HELD); // its room is what counts
    assert_int_equal(sessions[0].room, LIMIT_SESSION_HELD);
    sessions[0].admitted = LIMIT_SESSION_HELD - 3;
    (void)room_offer(&sessions[0],
                     LIMIT_SESSIONS_HELD); // its room is what counts
    assert_int_equal(sessions[0].room, 3);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(room_is_shared),
        TEST(room_counts_beyond_the_share),
        TEST(room_of_one_session_is_bounded),
    };

    return RUN_TESTS("room", tests);
}
