/* SPDX-License-Identifier: GPL-3.0-or-later */
/* live_frozen.c: see live_frozen.h. */
#include "image/live_frozen.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ecl/ecl.h>

#include "base/buf.h"
#include "base/limits.h"
#include "image/frozen.h"
#include "image/linux.h"
#include "image/lisp_text.h"
#include "wire/wire.h"

/* A checkpoint, as seen by the image that can ask it. */
struct past {
    uint64_t evaluation; /* the last one that it contains */
    int socket;          /* to ask it */
};

static struct live_frozen {
    struct frozen frozen;
    struct connection *connection;
    struct sleepers *sleepers;
    uint64_t call;
    uint64_t evaluation; /* the number that the call has or would have */
    struct past pasts[LIMIT_PASTS]; /* oldest first */
    size_t past_n;
    sigset_t signals;               /* that this image blocks */
    int ended[LIMIT_FROZEN_ERRORS]; /* sockets of errors that end when the call
                                       is answered */
    size_t ended_n;
} live;

/* Bytes of the C stack below the limit that ECL keeps to, for a copy that works
   where that has overflowed: the main thread has them (LIMIT_C_STACK). */
#define MORE_STACK (16l * 1024 * 1024)

static cl_object keyword(const char *name)
{
    return ecl_make_keyword(name);
}

/* Tells the supervisor of ERROR, which belongs to EVALUATION. Interrupts are
   off: one that left this would leave a frame in the connection's buffer, and
   the next one would bring it along once more, or a part of it. */
static void tell_frozen(const struct frozen_error *error, uint64_t evaluation)
{
    connection_send_frozen(live.connection, live.call, error->pid,
                           (int64_t)error->number, (int64_t)evaluation);
}

static cl_object values_of(cl_object side, const struct frozen_error *error)
{
    cl_env_ptr env = ecl_process_env();
    cl_object number = ecl_make_uint64_t(error->number);

    env->nvalues = 4;
    env->values[1] = number;
    env->values[2] = ecl_make_fixnum(error->socket);
    env->values[3] = ecl_make_fixnum(error->pid);
    return env->values[0] = side;
}

/* TELL-FROZEN */
static cl_object tell_of_thread(cl_object number, cl_object pid,
                                cl_object evaluation)
{
    cl_env_ptr env = ecl_process_env();
    const struct frozen_error error = {ecl_to_uint64_t(number),
                                       (pid_t)ecl_fixnum(pid), -1};
    uint64_t of = ecl_to_uint64_t(evaluation);

    ecl_disable_interrupts_env(env);
    tell_frozen(&error, of);
    ecl_enable_interrupts_env(env);
    ecl_return0(env);
}

/* Fills LIST with number, socket and process of ERROR, without allocating. */
static void note(const struct frozen_error *error, cl_object list)
{
    const int64_t fields[] = {(int64_t)error->number, error->socket,
                              error->pid};

    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        ECL_RPLACA(list, ecl_make_fixnum(fields[i]));
        list = ECL_CONS_CDR(list);
    }
}

/* FREEZE-PROCESS: with the lock of the cache, or -1; whether to TELL the
   supervisor; and NIL or a LIST, which has the copy before an interrupt can
   come. */
static cl_object freeze_process(cl_object lock, cl_object tell, cl_object list)
{
    cl_env_ptr env = ecl_process_env();
    struct frozen_error error = {0, 0, -1};
    enum frozen_side side;

    ecl_disable_interrupts_env(env);
    side = frozen_make(&live.frozen, live.connection, (int)ecl_fixnum(lock),
                       &error);
    if (side == FROZEN_LEFT && live.frozen.link < 0 && tell != ECL_NIL)
        tell_frozen(&error, live.evaluation);
    if (side != FROZEN_FAILED && list != ECL_NIL)
        note(&error, list);
    ecl_enable_interrupts_env(env);
    if (side == FROZEN_FAILED)
        ecl_return1(env, ECL_NIL);
    if (side == FROZEN_WORKS)
        return values_of(keyword("WORKS"), &error);
    return values_of(keyword("LEFT"), &error);
}

/* EXTEND-STACK */
static cl_object extend_stack(void)
{
    cl_env_ptr env = ecl_process_env();

    env->cs_limit -= MORE_STACK;
    ecl_return0(env);
}

/* READ-REQUEST */
static cl_object read_request(void)
{
    cl_env_ptr env = ecl_process_env();
    struct buf text = BUF_EMPTY;
    cl_object string;

    if (frozen_request(&live.frozen, &text) != ST_OK)
        _exit(0); // nobody waits for an answer
    string = lisp_text_new(buf_view(&text));
    buf_release(&text);
    ecl_return1(env, string);
}

/* FINISH-COPY */
static cl_object finish_copy(cl_object text, cl_object failed, cl_object aside,
                             cl_object adopt)
{
    cl_env_ptr env = ecl_process_env();
    struct buf out = BUF_EMPTY;
    struct buf more = BUF_EMPTY;
    struct frozen_answer answer = {.failed = failed != ECL_NIL};

    if (ECL_STRINGP(text))
        lisp_text_append(text, &out);
    if (ECL_STRINGP(aside))
        lisp_text_append(aside, &more);
    answer.text = buf_view(&out);
    answer.aside = buf_view(&more);
    frozen_finish(&live.frozen, live.connection, live.sleepers, &answer,
                  adopt != ECL_NIL);
    buf_release(&out);
    buf_release(&more);
    ecl_return0(env);
}

/* ASK-FROZEN */
static cl_object ask_frozen(cl_object socket, cl_object text)
{
    cl_env_ptr env = ecl_process_env();
    struct buf out = BUF_EMPTY;
    bool asked;

    ecl_disable_interrupts_env(env);
    lisp_text_append(text, &out);
    asked = !buf_failed(&out) &&
            frozen_ask(&live.frozen, (int)ecl_fixnum(socket), buf_view(&out)) ==
                ST_OK;
    buf_release(&out);
    ecl_enable_interrupts_env(env);
    ecl_return1(env, asked ? ecl_make_fixnum(live.frozen.asked.fd) : ECL_NIL);
}

/* Tells the supervisor what ANSWER, which came from error NUMBER and belongs to
   EVALUATION, brings for it. Interrupts are off. */
static void tell_answer(const struct frozen_answer *answer, uint64_t number,
                        uint64_t evaluation)
{
    if (answer->frozen.socket >= 0)
        tell_frozen(&answer->frozen, evaluation);
    if (answer->socket < 0)
        return;
    connection_send_outcome(live.connection, live.call, answer->outcome,
                            (int64_t)number, answer->socket);
    (void)close(answer->socket); // the supervisor has it
}

/* The values of TAKE-ANSWER for ANSWER. */
static cl_object answer_values(const struct frozen_answer *answer)
{
    cl_env_ptr env = ecl_process_env();
    cl_object text = lisp_text_new(answer->text);
    cl_object aside =
        answer->aside.n > 0 ? lisp_text_new(answer->aside) : ECL_NIL;
    cl_object error = ECL_NIL;

    if (answer->frozen.socket >= 0)
        error = cl_list(2, ecl_make_uint64_t(answer->frozen.number),
                        ecl_make_fixnum(answer->frozen.socket));
    env->values[0] = keyword("DONE");
    env->values[1] = text;
    env->values[2] = answer->failed ? ECL_T : ECL_NIL;
    env->values[3] = aside;
    env->values[4] = error;
    env->values[5] = answer->socket >= 0 ? ECL_T : ECL_NIL;
    env->nvalues = 6;
    return env->values[0];
}

/* TAKE-ANSWER */
static cl_object take_answer(cl_object number, cl_object evaluation)
{
    cl_env_ptr env = ecl_process_env();
    uint64_t from = ecl_to_uint64_t(number);
    uint64_t of = ecl_to_uint64_t(evaluation);
    struct frozen_answer answer;
    enum status status;

    // whatever allocates for Lisp turns them on again
    ecl_disable_interrupts_env(env);
    status = frozen_take(&live.frozen, &answer);
    if (status == ST_OK)
        tell_answer(&answer, from, of);
    ecl_enable_interrupts_env(env);
    if (status == ST_OK)
        return answer_values(&answer);
    if (status == ST_MISSING)
        ecl_return1(env, keyword("WAIT"));
    ecl_return2(env, keyword("ENDED"), ecl_make_fixnum(answer.ended));
}

/* HANG-UP */
static cl_object hang_up(void)
{
    cl_env_ptr env = ecl_process_env();

    frozen_hang_up(&live.frozen);
    ecl_return0(env);
}

/* END-FROZEN: the end of a process with a large heap takes time of the
   processor, for which the answer would have to wait. */
static cl_object end_frozen(cl_object socket)
{
    cl_env_ptr env = ecl_process_env();
    int fd = (int)ecl_fixnum(socket);

    if (live.ended_n < LIMIT_FROZEN_ERRORS)
        live.ended[live.ended_n++] = fd;
    else
        frozen_end(fd);
    ecl_return0(env);
}

/* --- Checkpoints that can be asked -------------------------------------- */

/* Past I can be asked no longer. */
static void drop_past(size_t i)
{
    (void)close(live.pasts[i].socket); // the checkpoint does not mind
    memmove(live.pasts + i, live.pasts + i + 1,
            (--live.past_n - i) * sizeof *live.pasts);
}

/* Drops the checkpoints that are gone. */
static void drop_ended(void)
{
    size_t i = 0;

    while (i < live.past_n) {
        struct pollfd fd = {live.pasts[i].socket, 0, 0};

        if (poll(&fd, 1, 0) > 0) // a signal says nothing of it
            drop_past(i);
        else
            i++;
    }
}

void live_frozen_before_copy(uint64_t evaluation)
{
    int pair[2];

    live.connection->asker = -1;
    (void)pthread_sigmask(SIG_SETMASK, NULL, &live.signals); // cannot fail
    drop_ended();
    if (!live.frozen.last ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ||
        !connection_hide_pair(pair))
        return; // then nobody can ask this one
    if (live.past_n == LIMIT_PASTS)
        drop_past(0);
    live.pasts[live.past_n++] = (struct past){evaluation, pair[0]};
    live.connection->asker = pair[1];
}

void live_frozen_after_copy(bool copied)
{
    linux_own_page(&live.call); // each call writes there
    if (live.connection->asker < 0)
        return;
    (void)close(live.connection->asker); // the copy has it
    live.connection->asker = -1;
    if (!copied)
        drop_past(live.past_n - 1);
}

bool live_frozen_await(void)
{
    if (live.connection->asker < 0)
        return false;
    live.evaluation = live.pasts[live.past_n - 1].evaluation + 1;
    drop_past(live.past_n - 1); // that is this one
    return frozen_await(&live.frozen, live.connection, &live.signals);
}

/* PAST-SOCKET */
static cl_object past_socket(cl_object evaluation)
{
    cl_env_ptr env = ecl_process_env();
    uint64_t wanted = ecl_to_uint64_t(evaluation);

    drop_ended();
    for (size_t i = live.past_n; i-- > 0;)
        if (live.pasts[i].evaluation == wanted)
            ecl_return1(env, ecl_make_fixnum(live.pasts[i].socket));
    ecl_return1(env, ECL_NIL);
}

/* PAST-EVALUATIONS */
static cl_object past_evaluations(void)
{
    cl_env_ptr env = ecl_process_env();
    cl_object list = ECL_NIL;

    drop_ended();
    for (size_t i = live.past_n; i-- > 0;)
        list = CONS(ecl_make_uint64_t(live.pasts[i].evaluation), list);
    ecl_return1(env, list);
}

/* EVALUATION-NUMBER */
static cl_object evaluation_number(void)
{
    cl_env_ptr env = ecl_process_env();

    ecl_return1(env, ecl_make_uint64_t(live.evaluation));
}

static void define(const char *name, cl_objectfn_fixed function, int arguments)
{
    ecl_def_c_function(ecl_make_symbol(name, "ECL-MCP"), function, arguments);
}

void live_frozen_prepare(void)
{
    define("FREEZE-PROCESS", (cl_objectfn_fixed)freeze_process, 3);
    define("TELL-FROZEN", (cl_objectfn_fixed)tell_of_thread, 3);
    define("EXTEND-STACK", (cl_objectfn_fixed)extend_stack, 0);
    define("READ-REQUEST", (cl_objectfn_fixed)read_request, 0);
    define("FINISH-COPY", (cl_objectfn_fixed)finish_copy, 4);
    define("ASK-FROZEN", (cl_objectfn_fixed)ask_frozen, 2);
    define("TAKE-ANSWER", (cl_objectfn_fixed)take_answer, 2);
    define("HANG-UP", (cl_objectfn_fixed)hang_up, 0);
    define("END-FROZEN", (cl_objectfn_fixed)end_frozen, 1);
    define("PAST-SOCKET", (cl_objectfn_fixed)past_socket, 1);
    define("PAST-EVALUATIONS", (cl_objectfn_fixed)past_evaluations, 0);
    define("EVALUATION-NUMBER", (cl_objectfn_fixed)evaluation_number, 0);
}

void live_frozen_begin(struct connection *connection, struct sleepers *sleepers)
{
    connection->asker = -1;
    live.connection = connection;
    live.sleepers = sleepers;
    if (!frozen_begin(&live.frozen))
        (void)cl_fmakunbound(ecl_make_symbol("FREEZE-PROCESS", "ECL-MCP"));
}

void live_frozen_call(uint64_t id, uint64_t evaluation)
{
    live.call = id;
    live.evaluation = evaluation;
}

void live_frozen_answered(void)
{
    while (live.ended_n > 0)
        frozen_end(live.ended[--live.ended_n]);
}

bool live_frozen_was_adopted(void)
{
    bool adopted = live.frozen.adopted;

    live.frozen.adopted = false;
    return adopted;
}
