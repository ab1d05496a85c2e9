/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session.c: see session.h. */
#include "supervisor/session.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "image/linux.h"
#include "wire/wire.h"

/* Bytes read from a pipe at once. */
#define CHUNK (64u * 1024)

/* Bytes read from the socket before others get their turn, at least one of
   them. */
#define TURN_BYTES (64u * 1024)

/* Bytes of the body of a frame that needs no room: most answers. */
#define SMALL_BODY (16u * 1024)

/* Bytes of storage that the buffer of an idle image keeps: one read. */
#define IDLE_BYTES (64u * 1024)

/* When this many bytes wait for the image's socket, no further call is sent
   ahead. */
#define AHEAD_BYTES (256u * 1024)

/* --- Beginning and end -------------------------------------------------- */

void session_init(struct session *session, const char *name)
{
    memset(session, 0, sizeof *session);
    (void)snprintf(session->name, sizeof session->name, "%s", name);
    image_process_init(&session->image);
    keeping_init(&session->keeping);
    session->room = LIMIT_SESSION_HELD;
}

void session_release(struct session *session)
{
    // a copy that wakes is watched in the place of the image
    watch_drop(&session->image.watches[CONTROL_SOCKET]);
    image_process_release(&session->image);
    keeping_release(&session->keeping);
    call_queue_release(&session->calls);
    notices_release(&session->notices);
    capture_release(&session->earlier);
}

void session_connect(struct session *session, const int fds[CONTROL_FDS])
{
    image_process_connect(&session->image, fds);
}

void session_replace_image(struct session *session, int socket, pid_t pid)
{
    image_process_replace(&session->image, socket, pid);
}

void session_disconnect(struct session *session)
{
    image_process_disconnect(&session->image);
    session->admitted = 0;
    session->refused = 0;
    keeping_disconnect(&session->keeping);
    call_queue_unsend(&session->calls);
}

void session_drop_image(struct session *session)
{
    session->replaced = true;
    image_process_kill(&session->image);
    session_disconnect(session);
}

void session_end_image(struct session *session)
{
    session_drop_image(session);
    image_process_end_family(&session->image);
}

/* --- To the image ------------------------------------------------------- */

/* The number that CALL has or would have as an evaluation. */
static uint64_t evaluation_of(const struct session *session,
                              const struct call *call)
{
    return call_queue_evaluation(&session->calls, call,
                                 session->keeping.history.last);
}

enum status session_send(struct session *session)
{
    struct buf *out = &session->image.out;
    struct call *call = call_queue_unsent(&session->calls);

    if (session->image.socket < 0)
        return ST_OK;
    while (call && !call->ours && session->calls.sent < LIMIT_AHEAD &&
           out->n < AHEAD_BYTES) {
        size_t start = wire_begin(
            out, WIRE_CALL, session->calls.sent > 0 ? WIRE_AHEAD : 0, call->id);

        wire_put_int(out, (int64_t)evaluation_of(session, call));
        buf_str(out, buf_view(&call->fields));
        if (buf_failed(out)) {
            buf_truncate(out, start);
            return ST_NOMEM;
        }
        wire_end(out, start);
        call->sent = true;
        session->calls.sent++;
        call = call->next;
    }
    return ST_OK;
}

void session_flush(struct session *session)
{
    if (session->image.socket < 0 || session->image.dying)
        return;
    enum status status = image_process_write(&session->image);
    (void)status; // a lost image is noticed when it is read
}

void session_send_keep(struct session *session, uint64_t number)
{
    struct buf *out = &session->image.out;
    bool prepares = session->keeping.preparing.asked;
    size_t start =
        wire_begin(out, prepares ? WIRE_PREPARE : WIRE_KEEP, 0, number);

    wire_put_int(out, (int64_t)session->keeping.history.last);
    wire_put_bool(out, session->keeping.name[0] != '\0');
    wire_end(out, start);
}

void session_send_stop(struct session *session, uint64_t id)
{
    struct buf *out = &session->image.out;

    if (session->image.socket < 0 || session->image.dying)
        return;
    wire_end(out, wire_begin(out, WIRE_STOP, 0, id));
    session_flush(session); // before the signal
}

void session_send_input(struct session *session, uint64_t id, struct str line)
{
    struct buf *out = &session->image.out;
    size_t start = wire_begin(out, WIRE_INPUT, 0, id);

    wire_put_string(out, line);
    if (buf_failed(out)) {
        buf_truncate(out, start);
        out->failed = false; // nothing of it is left
        return;
    }
    wire_end(out, start);
    session_flush(session);
}

/* --- Whose output it is ------------------------------------------------- */

/* The call whose output comes out of pipe I now: the first one sent whose mark
   has not come there. NULL between two calls. */
static struct call *writer(struct session *session, int i)
{
    struct call *call = session->calls.first;

    while (call && call->sent && call->marked[i])
        call = call->next;
    return call && call->sent ? call : NULL;
}

static void add_output(struct session *session, int i, struct str bytes)
{
    struct call *call = writer(session, i);

    capture_add(call ? &call->captures[i] : &session->earlier, bytes,
                &session->room);
}

/* What looked like the start of a mark in pipe I is output. */
static void add_carry(struct session *session, int i)
{
    struct image_output *output = &session->image.output;

    add_output(session, i, str_make(output->carry[i], output->carried[i]));
    output->carried[i] = 0;
}

/* Whether a mark can come through pipe I: a call was sent after the one that
   writes there. */
static bool awaits_mark(struct session *session, int i)
{
    const struct call *call = writer(session, i);

    return call && call->next && call->next->sent;
}

/* The mark of the call that writes into pipe I has come. */
static void end_output(struct session *session, int i)
{
    struct call *call = writer(session, i);

    if (call)
        call->marked[i] = true;
}

/* How many bytes at the end of BYTES may be the start of a mark. */
static size_t mark_start(const struct session *session, struct str bytes)
{
    size_t n = bytes.n < WIRE_MARK_KEY ? bytes.n : WIRE_MARK_KEY - 1;

    while (n > 0 &&
           memcmp(bytes.p + bytes.n - n, session->image.output.key, n) != 0)
        n--;
    return n;
}

/* Gives BYTES to the calls they belong to; returns how many were used. The rest
   may be an incomplete mark. */
static size_t split_output(struct session *session, int i, struct str bytes)
{
    size_t used = 0;

    while (used < bytes.n && awaits_mark(session, i)) {
        struct str rest = str_make(bytes.p + used, bytes.n - used);
        const char *found =
            memmem(rest.p, rest.n, session->image.output.key, WIRE_MARK_KEY);
        size_t before = found ? (size_t)(found - rest.p)
                              : rest.n - mark_start(session, rest);

        add_output(session, i, str_make(rest.p, before));
        used += before;
        if (!found || rest.n - before < WIRE_MARK)
            return used;
        used += WIRE_MARK;
        end_output(session, i);
    }
    add_output(session, i, str_make(bytes.p + used, bytes.n - used));
    return bytes.n;
}

/* Reads at most MAX bytes of pipe I; returns how many, 0 when there is nothing
   more to read. */
static size_t read_pipe(struct session *session, int i, size_t max)
{
    struct image_output *output = &session->image.output;
    char chunk[WIRE_MARK + CHUNK];
    size_t held = output->carried[i];
    size_t used;
    ssize_t n;

    if (output->pipes[i] < 0)
        return 0;
    memcpy(chunk, output->carry[i], held);
    do
        n = read(output->pipes[i], chunk + held, max < CHUNK ? max : CHUNK);
    while (n < 0 && errno == EINTR);
    if (n <= 0) {
        if (n == 0 || errno != EAGAIN)
            image_process_close_pipe(&session->image, i);
        return 0;
    }
    used = split_output(session, i, str_make(chunk, held + (size_t)n));
    output->carried[i] = held + (size_t)n - used;
    memcpy(output->carry[i], chunk + used, output->carried[i]);
    return (size_t)n;
}

size_t session_read_pipe(struct session *session, int i, const struct log *log)
{
    bool between = !writer(session, i);
    const struct buf *head = &session->earlier.head;
    size_t before = head->n;

    size_t n = read_pipe(session, i, CHUNK);

    if (n == 0 || !between || head->n == before ||
        session->logged >= LIMIT_LOG_LINE)
        return n;
    log_line(
        log, LOG_INFO, "image: output between evaluations of session %s: %.*s",
        session->name, STR_ARG(str_make(head->p + before, head->n - before)));
    session->logged += head->n - before;
    return n;
}

void session_drain(struct session *session)
{
    struct pollfd fds[CAPTURE_PIPES];

    for (int i = 0; i < CAPTURE_PIPES; i++)
        fds[i] = (struct pollfd){session->image.output.pipes[i], POLLIN, 0};
    // nearly always there is nothing: one question for all
    bool any = poll(fds, CAPTURE_PIPES, 0) != 0;
    for (int i = 0; i < CAPTURE_PIPES; i++) {
        size_t left = any ? linux_waiting(fds[i].fd) : 0;

        for (size_t n = 1; left > 0 && n > 0; left -= n)
            n = read_pipe(session, i, left);
        if (fds[i].fd >= 0 && !awaits_mark(session, i))
            add_carry(session, i); // no mark can come
    }
}

void session_drain_dead(struct session *session)
{
    session_drain(session);
    for (int i = 0; i < CAPTURE_PIPES; i++)
        add_carry(session, i);
    // a copy may still have the image's end of the socket, but does not read it
    if (session->image.written < session->image.out.n ||
        (session->image.socket >= 0 && linux_has_unread(session->image.socket)))
        session->image.death.unread = true;
}

/* --- Answers of the image ----------------------------------------------- */

/* The call whose answer comes next: the first one sent that has none. */
static struct call *awaited(const struct session *session)
{
    struct call *call = session->calls.first;

    while (call && call->sent && call->replied)
        call = call->next;
    return call && call->sent ? call : NULL;
}

/* Bytes of the largest body that a frame of KIND may have; -1 when images do
   not send it. */
static int64_t largest_body(unsigned kind)
{
    static const int64_t largest[] = {
        [WIRE_NATIVE] = 3 * WIRE_NUMBER_BYTES,
        [WIRE_OUTCOME] = 2 * WIRE_NUMBER_BYTES,
        [WIRE_KEPT] = WIRE_NUMBER_BYTES,
        [WIRE_WANT] = WIRE_NUMBER_BYTES,
        [WIRE_FROZEN] = 3 * WIRE_NUMBER_BYTES,
        [WIRE_REPLY] = WIRE_STRING_BYTES + LIMIT_OUTPUT_KEPT,
    };
    bool sent = kind < sizeof largest / sizeof *largest && largest[kind] > 0;

    return sent ? largest[kind] : -1;
}

/* Whether the frame of HEAD may come now: there is no point in waiting for the
   rest of one that may not. */
static enum status check_head(const struct session *session,
                              struct wire_head head)
{
    int64_t largest = largest_body(head.kind);
    const struct call *call = awaited(session);

    if (largest < 0)
        return ST_INVALID;
    if ((int64_t)head.size > largest) // only an answer has a length to choose
        return head.kind == WIRE_REPLY ? ST_LIMIT : ST_INVALID;
    if (head.kind == WIRE_NATIVE) // at any time
        return head.id == 0 ? ST_OK : ST_INVALID;
    if (head.kind != WIRE_KEPT)
        return call && call->id == head.id ? ST_OK : ST_INVALID;
    return head.id == session->keeping.number && head.id != 0 &&
                   !session->keeping.copy.arrived
               ? ST_OK
               : ST_INVALID;
}

static enum status note_reply(struct call *call, bool error, struct str text)
{
    buf_str(&call->text, text);
    if (buf_failed(&call->text))
        return ST_NOMEM;
    call->error = error;
    call->replied = true;
    return ST_OK;
}

/* There is no room for the answer of HEAD: says so, and drops its body. */
static enum status refuse_reply(struct session *session, struct wire_head head)
{
    char text[300];

    session->refused = head.size;
    (void)snprintf(
        text, sizeof text,
        "[ERROR] STORAGE-CONDITION\nThe call has ended, but its answer of %u "
        "bytes cannot be shown: output and answers of all sessions may take "
        "%u bytes until they are passed on. Show less, or wait for the other "
        "calls.",
        (unsigned)head.size, LIMIT_SESSIONS_HELD);
    return note_reply(awaited(session), true, str_from(text));
}

/* The answer to the KEEP that was sent last. */
static enum status take_kept(struct session *session, struct str body)
{
    bool has = image_process_has_descriptor(&session->image, body);
    int64_t pid;

    if (wire_take_int(&body, &pid) != ST_OK ||
        (has && session->keeping.preparing.asked))
        return ST_INVALID;
    if (has) {
        session->keeping.copy.socket = session->image.came;
        session->image.came = -1;
    }
    session->keeping.copy.arrived = true;
    session->keeping.copy.pid = (pid_t)pid;
    return ST_OK;
}

/* Admits the frame of HEAD. False: there is no room for it. */
static bool admit(struct session *session, struct wire_head head)
{
    if (head.size > SMALL_BODY && head.size > session->room)
        return false;
    session->room -= head.size < session->room ? head.size : session->room;
    session->admitted = WIRE_HEAD + head.size;
    return true;
}

/* Takes a frame whose head has been accepted. */
static enum status take_body(struct session *session, struct wire_head head,
                             struct str body)
{
    struct call *call = awaited(session);
    struct str text;
    struct str aside = STR("");
    int64_t zero;

    if (head.kind == WIRE_KEPT)
        return take_kept(session, body);
    if (head.kind == WIRE_NATIVE)
        return image_process_take_native(&session->image, body);
    call->heard = true;
    if (head.kind == WIRE_WANT) {
        call->input.wanted = call->input.supplied;
        return wire_take_int(&body, &zero) == ST_OK ? ST_OK : ST_INVALID;
    }
    if (head.kind == WIRE_FROZEN)
        return frozen_errors_take(&session->keeping.frozen, body,
                                  evaluation_of(session, call));
    if (head.kind == WIRE_OUTCOME)
        return call->adopts &&
                       image_process_has_descriptor(&session->image, body)
                   ? frozen_errors_take_outcome(&session->keeping.frozen, body,
                                                &session->image.came)
                   : ST_INVALID;
    if (wire_take_string(&body, &text) != ST_OK ||
        (body.n > 0 && wire_take_string(&body, &aside) != ST_OK) || body.n > 0)
        return ST_INVALID;
    buf_str(&call->aside, aside);
    if (buf_failed(&call->aside))
        buf_reset(&call->aside); // the answer does without it
    return note_reply(call, (head.flags & WIRE_ERROR) != 0, text);
}

/* Drops what has come in BYTES of a refused answer; returns how many. */
static size_t drop(struct session *session, struct str bytes)
{
    size_t n = bytes.n < session->refused ? bytes.n : session->refused;

    session->refused -= n;
    return n;
}

/* Takes the frame at the start of BYTES, or its head, and adds to *USED how
   many it has used. ST_MISSING: the rest is still to come. */
static enum status take_frame(struct session *session, struct str bytes,
                              size_t *used)
{
    struct wire_head head;
    struct str body;
    enum status status = wire_head(bytes, &head);

    // what images do not send at all is invalid, however long it would be
    if (status != ST_MISSING && session->admitted == 0)
        status = check_head(session, head);
    if (status != ST_OK)
        return status;
    if (session->admitted == 0 && !admit(session, head)) {
        *used += WIRE_HEAD;
        return refuse_reply(session, head);
    }
    status = wire_frame(bytes, &head, &body);
    if (status != ST_OK)
        return status;
    *used += session->admitted;
    session->admitted = 0;
    return take_body(session, head, body);
}

static enum status take_frames(struct session *session)
{
    struct buf *in = &session->image.in;
    size_t used = 0;
    enum status status = ST_OK;

    while (status == ST_OK) {
        used += drop(session, str_make(in->p + used, in->n - used));
        status =
            take_frame(session, str_make(in->p + used, in->n - used), &used);
    }
    buf_consume(in, used);
    if (status == ST_MISSING)
        status = ST_OK;
    if (in->n == 0 || status != ST_OK) // what follows an error means nothing
        buf_trim(in, IDLE_BYTES);
    return status;
}

/* How many bytes may be read now. A dead image says no more than has come, but
   others may have its end of the socket. */
static size_t turn_bytes(const struct session *session)
{
    size_t n =
        session->image.death.exited ? linux_waiting(session->image.socket) : 0;

    return n > TURN_BYTES ? n : TURN_BYTES;
}

enum status session_read(struct session *session)
{
    enum status status;
    bool more = true;
    size_t left = turn_bytes(session);

    do {
        size_t before = session->image.in.n;
        size_t n;

        status = image_process_receive(&session->image, &more);
        if (status == ST_MISSING)
            return ST_OK;
        n = session->image.in.n - before;
        left -= n < left ? n : left;
        if (status == ST_OK)
            status = take_frames(session);
        if (status == ST_OK)
            status = image_process_check_descriptor(&session->image);
    } while (status == ST_OK && more && left > 0);
    return status;
}

size_t session_held(const struct session *session)
{
    const struct call *call = session->calls.first;
    size_t in = session->image.in.n;
    size_t held = capture_held(&session->earlier) +
                  (in > session->admitted ? in : session->admitted);

    // calls that were sent ahead of a lost image may have output
    for (int i = 0; call && i < LIMIT_AHEAD; i++, call = call->next) {
        held += call->text.n + call->aside.n;
        for (int pipe = 0; pipe < CAPTURE_PIPES; pipe++)
            held += capture_held(&call->captures[pipe]);
    }
    return held;
}

struct call *session_take_first(struct session *session)
{
    session->logged = 0;
    return call_queue_take_first(&session->calls);
}

struct call *session_take_finished(struct session *session)
{
    const struct call *call = session->calls.first;

    if (!call || !call->replied)
        return NULL;
    if (call->next && call->next->sent) {
        for (int i = 0; i < CAPTURE_PIPES; i++)
            if (!call->marked[i] && session->image.output.pipes[i] >= 0)
                return NULL;
    } else {
        session_drain(session);
    }
    return session_take_first(session);
}
