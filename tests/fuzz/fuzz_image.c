/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever an image sends, its calls are answered in their order, what it makes
   us hold is bounded, and no descriptor is left. The first byte is how much
   room there is, and whether a copy must wake first; then come orders of two
   bytes, what to do and how much of the rest to take for it. */
#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "supervisor/closing.h"
#include "supervisor/restore.h"
#include "supervisor/state.h"

/* Calls that are made in all. */
#define CALLS 6

/* Milliseconds in which what is to be closed must be. */
#define PATIENCE_MS 10000

/* More than any process has as its number. */
#define NO_PROCESS 0x7fffffff

enum order {
    SEND,       /* bytes through the socket */
    SEND_FD,    /* the same, and a descriptor along with them */
    SEND_HEAD,  /* a head: kind, id, 4 bytes of size */
    SEND_REPLY, /* a whole answer */
    PRINT,      /* bytes into one pipe */
    PRINT_ERROR,
    MARK, /* a mark into both pipes */
    ASK,  /* another call, a KEEP, or a STOP */
    ORDERS
};

struct fuzz {
    struct session session;
    int socket; /* the image's ends */
    int keeper;
    int pipes[CAPTURE_PIPES];
    uint64_t made;     /* calls */
    uint64_t finished; /* of them */
};

static struct supervisor supervisor;
static const struct log no_log;

static void make_pair(int pair[2], bool is_socket)
{
    REQUIRE((is_socket ? socketpair(AF_UNIX, SOCK_STREAM, 0, pair)
                       : pipe(pair)) == 0);
    for (int i = 0; i < 2; i++)
        REQUIRE(fcntl(pair[i], F_SETFL, O_NONBLOCK) == 0);
}

static void add_call(struct fuzz *f)
{
    struct call *call = call_new(f->made + 1, 0, STR("evaluate"), STR(""));
    enum status status;

    REQUIRE(call);
    f->made++;
    call_queue_add(&f->session.calls, call);
    status = session_send(&f->session);
    session_flush(&f->session);
    REQUIRE(status != ST_NOMEM); // the image may be gone
}

static void start(struct fuzz *f)
{
    int pair[2];
    int ours[CONTROL_FDS];

    memset(f, 0, sizeof *f);
    session_init(&f->session, "main");
    for (size_t i = 0; i < WIRE_MARK_KEY; i++)
        f->session.image.output.key[i] = (unsigned char)('0' + i);
    make_pair(pair, true);
    ours[CONTROL_SOCKET] = pair[0];
    f->socket = pair[1];
    make_pair(pair, true);
    ours[CONTROL_KEEPER] = pair[0];
    f->keeper = pair[1];
    for (int i = 0; i < CAPTURE_PIPES; i++) {
        make_pair(pair, false);
        ours[i == CAPTURE_STDOUT ? CONTROL_STDOUT : CONTROL_STDERR] = pair[0];
        f->pipes[i] = pair[1];
    }
    session_connect(&f->session, ours);
}

/* --- What the image does ------------------------------------------------ */

static void send_bytes(struct fuzz *f, struct str bytes, bool with_descriptor)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } extra;
    struct iovec part = {(void *)(uintptr_t)bytes.p, bytes.n};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

    if (with_descriptor) {
        header.msg_control = extra.bytes;
        header.msg_controllen = sizeof extra.bytes;
        struct cmsghdr *cmsg = CMSG_FIRSTHDR(&header);
        cmsg->cmsg_level = SOL_SOCKET;
        cmsg->cmsg_type = SCM_RIGHTS;
        cmsg->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(cmsg), &f->socket, sizeof(int));
    }
    (void)sendmsg(f->socket, &header, MSG_NOSIGNAL); // or the socket is full
}

/* A head of what ARGUMENT says: kind, id, and up to 4 bytes of size. */
static void send_head(struct fuzz *f, struct str argument)
{
    char head[WIRE_HEAD] = {0};

    if (argument.n > 0)
        head[4] = argument.p[0];
    if (argument.n > 1)
        head[8] = argument.p[1];
    for (size_t i = 2; i < argument.n && i < 6; i++)
        head[i - 2] = argument.p[i];
    send_bytes(f, str_make(head, sizeof head), false);
}

/* Answers the call that comes next, or sends a KEPT when ARGUMENT is empty. */
static void send_reply(struct fuzz *f, struct str argument)
{
    struct buf frame = BUF_EMPTY;
    const struct call *call = f->session.calls.first;

    while (call && call->replied)
        call = call->next;
    size_t at =
        argument.n > 0
            ? wire_begin(&frame, WIRE_REPLY, 0, call ? call->id : 0)
            : wire_begin(&frame, WIRE_KEPT, 0, f->session.keeping.number);
    if (argument.n > 0)
        wire_put_string(&frame, argument);
    else
        wire_put_int(&frame, 2);
    wire_end(&frame, at);
    send_bytes(f, buf_view(&frame), false);
    buf_release(&frame);
}

static void print(struct fuzz *f, int i, struct str bytes)
{
    if (bytes.n > 0)
        (void)!write(f->pipes[i], bytes.p, bytes.n); // or the pipe is full
}

static void mark(struct fuzz *f)
{
    char bytes[WIRE_MARK];

    wire_mark(f->session.image.output.key, 1, bytes);
    for (int i = 0; i < CAPTURE_PIPES; i++)
        print(f, i, str_make(bytes, sizeof bytes));
}

/* What the supervisor does between two messages of the image. */
static void ask(struct fuzz *f, size_t n)
{
    struct session *session = &f->session;

    if (n % 3 == 0 && f->made < CALLS)
        add_call(f);
    else if (n % 3 == 1 && session->keeping.number == 0)
        restore_keep(&supervisor, session, STR(""), 0);
    else
        session_send_stop(session, 1);
}

static void follow(struct fuzz *f, enum order order, struct str argument)
{
    switch (order) {
    case SEND:
    case SEND_FD:
        send_bytes(f, argument, order == SEND_FD);
        break;
    case SEND_HEAD:
        send_head(f, argument);
        break;
    case SEND_REPLY:
        send_reply(f, argument);
        break;
    case PRINT:
    case PRINT_ERROR:
        print(f, order == PRINT ? CAPTURE_STDOUT : CAPTURE_STDERR, argument);
        break;
    case MARK:
        mark(f);
        break;
    case ASK:
    case ORDERS:
        ask(f, argument.n);
        break;
    }
}

/* --- What the supervisor makes of it ------------------------------------ */

static void check(struct fuzz *f, size_t room)
{
    struct session *session = &f->session;
    struct call *call;

    REQUIRE(session->image.in.n <= session->admitted + 64 * 1024);
    REQUIRE(session->admitted == 0 || session->refused == 0);
    REQUIRE(session_held(session) <= room + CALLS * 16 * 1024 + 64 * 1024);
    while ((call = session_take_finished(session))) {
        REQUIRE(call->id == ++f->finished && call->replied);
        call_free(call);
    }
    if (session->keeping.copy.arrived) { // as restore_take_kept does
        keeping_disconnect(&session->keeping);
    }
    REQUIRE(session->keeping.number != 0 || session->keeping.copy.socket < 0);
}

/* Reads as supervisor.c does. False: the image must end. */
static bool run(struct fuzz *f, size_t room)
{
    enum status status = session_read(&f->session);

    for (int i = 0; i < CAPTURE_PIPES; i++)
        session_read_pipe(&f->session, i, &no_log);
    check(f, room);
    return status == ST_OK;
}

/* A copy wakes that says BYTES first; returns how many are left. False: it did
   not wake, and what it said was not WOKEN. */
static bool wake(struct fuzz *f, struct str *bytes)
{
    struct checkpoint *checkpoint;
    int pair[2];
    size_t n = bytes->n < 25 ? bytes->n : 25;
    enum status status;

    make_pair(pair, true);
    checkpoint = checkpoints_add(&f->session.keeping.checkpoints, pair[0],
                                 NO_PROCESS, 0, STR("c"));
    REQUIRE(checkpoint);
    checkpoint->start = 1; // it is looked for, and not signalled
    restore_begin(&supervisor, &f->session, checkpoint, 0, 0);
    REQUIRE(restore_is_waking(&f->session));
    if (n > 0)
        REQUIRE(send(pair[1], bytes->p, n, 0) == (ssize_t)n);
    status = restore_listen(&supervisor, &f->session, 0, &checkpoint);
    REQUIRE(status == ST_OK || status == ST_IO);
    REQUIRE(!restore_is_waking(&f->session));
    REQUIRE((status == ST_OK) ==
            (n == 25 && memcmp(bytes->p, "\x09\0\0\0\x0d\0", 6) == 0));
    *bytes = str_make(bytes->p + n, bytes->n - n);
    if (status == ST_OK) {
        session_disconnect(&f->session);
        restore_become(&supervisor, &f->session, checkpoint, 0);
        (void)close(f->socket);
        f->socket = pair[1];
    } else {
        (void)close(pair[1]);
    }
    checkpoint_free(checkpoint);
    return status == ST_OK;
}

static void play(struct fuzz *f, struct str script, size_t room)
{
    bool alive = true;

    f->session.room = room;
    add_call(f);
    add_call(f);
    while (alive && script.n >= 2) {
        enum order order = (enum order)((unsigned char)script.p[0] % ORDERS);
        size_t n = (unsigned char)script.p[1];

        script = str_make(script.p + 2, script.n - 2);
        if (n > script.n)
            n = script.n;
        follow(f, order, str_make(script.p, n));
        if (order != ASK)
            script = str_make(script.p + n, script.n - n);
        alive = run(f, room);
    }
    f->session.image.death.exited = !alive;
    (void)run(f, room);
    session_drain_dead(&f->session);
    session_disconnect(&f->session);
    REQUIRE(f->session.calls.sent == 0 && f->session.image.in.cap == 0);
}

/* The lowest descriptor that is not in use. */
static int lowest_free(void)
{
    int fd = dup(0);

    REQUIRE(fd >= 0 && close(fd) == 0);
    return fd;
}

/* Starts the thread that closes descriptors, which has some of its own. */
static void start_closing(void)
{
    static bool started;
    int fd = started ? -1 : dup(0);

    if (started)
        return;
    started = true;
    closing_any(fd);
    for (int ms = 0; fcntl(fd, F_GETFD) >= 0; ms++) {
        REQUIRE(ms < PATIENCE_MS);
        (void)poll(NULL, 0, 1);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz f;
    int before;

    if (size == 0)
        return 0;
    start_closing();
    before = lowest_free();
    supervisor.zygote.control = -1;
    start(&f);
    struct str script = str_make((const char *)data + 1, size - 1);
    if (!(data[0] & 1) || wake(&f, &script))
        play(&f, script, (size_t)(data[0] >> 1) * 512);
    session_release(&f.session);
    (void)close(f.socket);
    (void)close(f.keeper);
    for (int i = 0; i < CAPTURE_PIPES; i++)
        (void)close(f.pipes[i]);
    for (int ms = 0; lowest_free() != before; ms++) {
        REQUIRE(ms < PATIENCE_MS);
        (void)poll(NULL, 0, 1);
    }
    return 0;
}
