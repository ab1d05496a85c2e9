/* SPDX-License-Identifier: GPL-3.0-or-later */
/* imageend.c: see imageend.h. */
#include "support/imageend.h"

#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/check.h"

struct session session;
int image_socket = -1;
int image_pipes[CAPTURE_PIPES] = {-1, -1};

static const struct log no_log = {LOG_ERROR, NULL, NULL};

int image_set_up(void **state)
{
    int pair[2];
    int ours[CAPTURE_PIPES];
    int socket;

    (void)state;
    session_init(&session, "main");
    memcpy(session.image.output.key, "0123456789abcdef",
           sizeof session.image.output.key);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
        return -1;
    socket = pair[0];
    image_socket = pair[1];
    if (fcntl(socket, F_SETFL, O_NONBLOCK) < 0)
        return -1;
    for (int i = 0; i < CAPTURE_PIPES; i++) {
        if (pipe(pair) < 0 || fcntl(pair[0], F_SETFL, O_NONBLOCK) < 0)
            return -1;
        ours[i] = pair[0];
        image_pipes[i] = pair[1];
    }
    int fds[CONTROL_FDS] = {[CONTROL_SOCKET] = socket,
                            [CONTROL_STDOUT] = ours[CAPTURE_STDOUT],
                            [CONTROL_STDERR] = ours[CAPTURE_STDERR],
                            [CONTROL_KEEPER] = -1};
    session_connect(&session, fds);
    return 0;
}

int image_tear_down(void **state)
{
    (void)state;
    session_release(&session);
    (void)close(image_socket);
    for (int i = 0; i < CAPTURE_PIPES; i++)
        (void)close(image_pipes[i]);
    return 0;
}

void image_add_call(uint64_t id)
{
    struct call *call = call_new(id, 0, STR("evaluate"), STR(""));

    assert_memory(call);
    if (!call)
        return;
    call->front_id = id;
    call_queue_add(&session.calls, call);
}

void image_writes(int i, const char *bytes, size_t n)
{
    assert_int_equal(write(image_pipes[i], bytes, n), n);
}

void image_marks(uint64_t id)
{
    char mark[WIRE_MARK];

    wire_mark(session.image.output.key, id, mark);
    image_writes(CAPTURE_STDOUT, mark, sizeof mark);
    image_writes(CAPTURE_STDERR, mark, sizeof mark);
}

void image_replies(uint64_t id, const char *text)
{
    struct buf frame = BUF_EMPTY;
    size_t start = wire_begin(&frame, WIRE_REPLY, 0, id);
    bool ok;

    wire_put_string(&frame, str_from(text));
    wire_end(&frame, start);
    ok = !buf_failed(&frame) &&
         write(image_socket, frame.p, frame.n) == (ssize_t)frame.n;
    buf_release(&frame);
    assert_memory(ok);
}

void image_heads(unsigned kind, uint64_t id, uint32_t size)
{
    struct buf frame = BUF_EMPTY;
    bool ok;

    (void)wire_begin(&frame, (enum wire_kind)kind, 0, id);
    for (int i = 0; !buf_failed(&frame) && i < 4; i++)
        frame.p[i] = (char)(size >> 8 * i);
    ok = !buf_failed(&frame) &&
         write(image_socket, frame.p, frame.n) == (ssize_t)frame.n;
    buf_release(&frame);
    assert_memory(ok);
}

void image_read_pipes(void)
{
    session_read_pipe(&session, CAPTURE_STDOUT, &no_log);
    session_read_pipe(&session, CAPTURE_STDERR, &no_log);
}

void image_expect_call(uint64_t id, const char *out)
{
    struct call *call = session_take_finished(&session);
    struct buf text = BUF_EMPTY;
    bool same;

    assert_non_null(call);
    assert_int_equal(call->id, id);
    (void)capture_text(&call->captures[CAPTURE_STDOUT], &text);
    same = str_eq(buf_view(&text), str_from(out));
    call_free(call);
    buf_release(&text);
    assert_memory(same);
}
