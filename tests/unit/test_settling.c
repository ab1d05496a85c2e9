/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of answers that wait until the log of calls is on the disk (pending.h),
   through the core. tests/server/slow-disk.mcp has a disk. */
#include "support/check.h"
#include "support/client.h"

static uint64_t appended; /* lines that must last */
static uint64_t settled;  /* of them on the disk */

static uint64_t append(void *context, int64_t age_ms, struct str members,
                       bool lasting)
{
    (void)context;
    (void)age_ms;
    (void)members;
    return lasting ? ++appended : 0;
}

static bool is_settled(void *context, uint64_t line)
{
    (void)context;
    return line <= settled;
}

static int set_up(void **state)
{
    if (client_begin(state) != 0)
        return -1;
    appended = 0;
    settled = 0;
    client_restart((struct core_config){.audit = {append, is_settled, NULL}});
    client_initialize("2025-11-25");
    return 0;
}

/* Nobody can be asked about it. */
#define REFUSED(id)                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":" \
    "{\"name\":\"write-file\",\"arguments\":{\"path\":\"x\",\"content\":\"y\"" \
    "}}}"
#define ANSWER(id)                                                             \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{\"content\":[{\"type\":"   \
    "\"text\",\"text\":\"REFUSED…approval…"
#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"
#define PONG(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"result\":{}}"

static void tick(void)
{
    client.now_ms++;
    core_tick(client.core, client.now_ms);
}

static void settling_delays_one_answer_only(void **state)
{
    (void)state;
    client_send(REFUSED("1"));
    tick();
    client_expect("");
    assert_memory(appended == 1);
    int64_t deadline = core_deadline(client.core, client.now_ms);
    assert_true(deadline > client.now_ms); // it does not spin
    assert_true(deadline <= client.now_ms + LIMIT_DISK_MS);
    client_send(PING("2"));
    client_expect(PONG("2"));
    settled = 1;
    assert_int_equal(core_deadline(client.core, client.now_ms), client.now_ms);
    tick();
    client_expect(ANSWER("1"));
    assert_int_equal(core_deadline(client.core, client.now_ms), -1);
}

static void settling_can_be_cancelled(void **state)
{
    (void)state;
    client_send(REFUSED("1"));
    client_send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\","
                "\"params\":{\"requestId\":1}}");
    settled = 1;
    tick();
    client_expect("");
    assert_memory(appended == 1); // one line only
}

static void settling_ends_with_the_server(void **state)
{
    (void)state;
    client_send(REFUSED("1"));
    core_finish(client.core, 100, client.now_ms);
    assert_memory(!core_is_idle(client.core));
    client_expect("");
    client.now_ms += 100;
    tick();
    client_expect(ANSWER("1"));
    assert_true(core_is_idle(client.core));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, client_end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(settling_delays_one_answer_only),
        TEST(settling_can_be_cancelled),
        TEST(settling_ends_with_the_server),
    };
    return RUN_TESTS("settling", tests);
}
