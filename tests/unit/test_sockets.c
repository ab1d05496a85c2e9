/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of link_attach.c and emacs.c: when they look for a socket on which
   nobody has listened. The time is the test's. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/limits.h"
#include "server/address.h"
#include "server/emacs.h"
#include "server/link_attach.h"
#include "support/check.h"
#include "support/client.h"
#include "support/folder.h"

static char path[FOLDER_SIZE + 8];
static int listener = -1;
static struct link *attach;
static struct emacs *emacs;

static int set_up(void **state)
{
    int failed = folder_make() + client_begin(state);

    (void)snprintf(path, sizeof path, "%s/sock", folder);
    return failed;
}

static int tear_down(void **state)
{
    link_free(attach);
    attach = NULL;
    emacs_free(emacs);
    emacs = NULL;
    if (listener >= 0)
        (void)close(listener);
    listener = -1;
    folder_remove();
    return client_end(state);
}

/* Now somebody listens. */
static void listen_there(void)
{
    struct sockaddr_un address;

    listener = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    assert_true(listener >= 0);
    assert_true(address_fill(path, &address));
    assert_int_equal(
        bind(listener, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(listen(listener, 4), 0);
}

/* Whether there was a connection since the last question. */
static bool is_connected_to(void)
{
    int fd = accept(listener, NULL, NULL);

    if (fd >= 0)
        assert_int_equal(close(fd), 0);
    else
        assert_int_equal(errno, EAGAIN);
    return fd >= 0;
}

static void feed_attach(int64_t now_ms)
{
    assert_ok(link_feed(attach, "x", 1, now_ms));
}

static void attach_tries_again_after_a_while(void **state)
{
    struct str why;

    (void)state;
    attach = link_attach_new(path, NULL);
    assert_memory(attach != NULL);
    feed_attach(100);
    assert_true(link_take_loss(attach, &why));
    listen_there();
    feed_attach(100 + LIMIT_ATTACH_MS - 1);
    assert_true(link_take_loss(attach, &why)); // each call is answered
    assert_false(is_connected_to());
    feed_attach(100 + LIMIT_ATTACH_MS);
    assert_memory(!link_take_loss(attach, &why));
    assert_true(is_connected_to());
    // what it says cannot be used
    link_drop(attach, STR("why"), 5000);
    feed_attach(5000 + LIMIT_ATTACH_MS - 1);
    assert_false(is_connected_to());
    feed_attach(5000 + LIMIT_ATTACH_MS);
    assert_true(is_connected_to());
}

/* An Emacs that was looked for, in vain, at 100 ms; then it listens. */
static void start_emacs(void)
{
    static const struct log log = {.sink = NULL};

    client_restart((struct core_config){.tools = NULL});
    // NOLINTNEXTLINE(concurrency-mt-unsafe)
    assert_int_equal(setenv("ECL_MCP_EMACS", path, 1), 0);
    emacs = emacs_new(client.core, &log, 100);
    assert_memory(emacs != NULL);
    assert_int_equal(emacs_fd(emacs).fd, -1);
    listen_there();
}

static void emacs_is_looked_for_when_it_may_be_needed(void **state)
{
    (void)state;
    start_emacs();
    emacs_want(emacs, 100 + LIMIT_EDITOR_WANTED_MS - 1);
    assert_false(is_connected_to());
    emacs_want(emacs, 100 + LIMIT_EDITOR_WANTED_MS);
    assert_true(is_connected_to());
    assert_true(emacs_fd(emacs).fd >= 0);
}

static void emacs_is_looked_for_now_and_then(void **state)
{
    const struct pollfd none = {-1, 0, 0};

    (void)state;
    start_emacs();
    assert_int_equal(emacs_deadline(emacs), 100 + LIMIT_EDITOR_RETRY_MS);
    emacs_run(emacs, &none, 100 + LIMIT_EDITOR_RETRY_MS - 1);
    assert_false(is_connected_to());
    emacs_run(emacs, &none, 100 + LIMIT_EDITOR_RETRY_MS);
    assert_true(is_connected_to());
    assert_int_equal(emacs_deadline(emacs), -1);
}

#define TEST(function)                                                         \
    cmocka_unit_test_setup_teardown(function, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(attach_tries_again_after_a_while),
        TEST(emacs_is_looked_for_when_it_may_be_needed),
        TEST(emacs_is_looked_for_now_and_then),
    };
    return RUN_TESTS("sockets", tests);
}
