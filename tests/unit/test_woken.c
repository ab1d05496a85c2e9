/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of restore_listen: which copy that wakes becomes the image. The sockets
   are real, and the test holds the other ends. */
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/restore.h"
#include "supervisor/state.h"
#include "support/check.h"
#include "support/sending.h"
#include "wire/wire.h"

/* More than any process has as its number. */
#define NO_PROCESS 0x7fffffff

/* A time at which nothing is late. */
#define LATER 1000

static struct supervisor supervisor;
static struct session session;
static int copy = -1;   // the socket's end of the copy that wakes
static int keeper = -1; // and of the keeper
static struct buf said;

static int set_up(void **state)
{
    int pair[2];
    int fds[CONTROL_FDS] = {-1, -1, -1, -1};

    (void)state;
    session_init(&session, "main");
    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) < 0)
        return -1;
    fds[CONTROL_KEEPER] = pair[0];
    keeper = pair[1];
    session_connect(&session, fds);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    session_release(&session);
    buf_release(&said);
    (void)close(copy); // some are closed
    (void)close(keeper);
    copy = keeper = -1;
    return 0;
}

/* A copy says that it is awake, with the first N of FDS. False without memory.
 */
static bool wake_with(const int *fds, size_t n)
{
    int pair[2];
    struct checkpoint *checkpoint;
    size_t start;

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    copy = pair[1];
    checkpoint = checkpoints_add(&session.keeping.checkpoints, pair[0],
                                 NO_PROCESS, 0, STR("here"));
    if (!checkpoint)
        return false;
    checkpoint->start = 1; // it is looked for, and not signalled
    start = wire_begin(&said, WIRE_WOKEN, 0, 0);
    wire_put_int(&said, 1);
    wire_end(&said, start);
    restore_begin(&supervisor, &session, checkpoint, 0, 0);
    session.keeping.waking.until = LATER;
    return !buf_failed(&said) &&
           (n == 0 ? send(copy, said.p, said.n, 0) == (ssize_t)said.n
                   : sending_descriptors(copy, buf_view(&said), fds, n, 0));
}

static bool wake(void)
{
    return wake_with(NULL, 0);
}

static void a_copy_that_wakes_becomes_the_image(void **state)
{
    struct checkpoint *checkpoint = NULL;
    bool awake = wake();

    (void)state;
    assert_memory(awake);
    assert_ok(restore_listen(&supervisor, &session, 0, &checkpoint));
    assert_false(restore_is_waking(&session));
    restore_become(&supervisor, &session, checkpoint, 0);
    assert_true(session.image.socket >= 0);
    checkpoint_free(checkpoint);
}

/* It has said that it is awake, or has not yet. */
static void no_copy_wakes_without_a_keeper(void **state)
{
    (void)state;
    for (int heard = 0; heard < 2; heard++) {
        struct checkpoint *checkpoint = NULL;
        bool awake = wake();

        assert_memory(awake);
        if (!heard) {
            char byte;

            while (recv(session.keeping.waking.checkpoint->socket, &byte, 1,
                        MSG_DONTWAIT) == 1)
                continue;
            assert_status(restore_listen(&supervisor, &session, 0, &checkpoint),
                          ST_MISSING);
        }
        image_process_end_family(&session.image);
        assert_status(restore_listen(&supervisor, &session, 0, &checkpoint),
                      ST_IO);
        assert_false(restore_is_waking(&session));
        checkpoint_free(checkpoint);
        assert_int_equal(tear_down(NULL), 0);
        assert_int_equal(set_up(NULL), 0);
    }
}

/* It could be one whose last close takes long (test_closing.c). */
static void no_copy_wakes_with_a_descriptor(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 2; n++) {
        struct checkpoint *checkpoint = NULL;
        int pair[2];
        bool awake;
        char byte;

        assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
        awake = wake_with((int[]){pair[0], pair[0]}, n);
        (void)close(pair[0]);
        if (!awake)
            (void)close(pair[1]);
        assert_memory(awake);
        assert_status(restore_listen(&supervisor, &session, 0, &checkpoint),
                      ST_IO);
        assert_false(restore_is_waking(&session));
        checkpoint_free(checkpoint);
        assert_int_equal(read(pair[1], &byte, 1), 0); // all are closed
        (void)close(pair[1]);
        assert_int_equal(tear_down(NULL), 0);
        assert_int_equal(set_up(NULL), 0);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_copy_that_wakes_becomes_the_image),
        TEST(no_copy_wakes_without_a_keeper),
        TEST(no_copy_wakes_with_a_descriptor),
    };

    return RUN_TESTS("woken", tests);
}
