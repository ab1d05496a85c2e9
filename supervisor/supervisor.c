/* SPDX-License-Identifier: GPL-3.0-or-later */
/* supervisor.c: see supervisor.h. Takes the zygote's messages and what poll(2)
   finds, and hands them on to the other files. */
#include "supervisor/supervisor.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/linux.h"
#include "supervisor/adopted.h"
#include "supervisor/begin.h"
#include "supervisor/closing.h"
#include "supervisor/ending.h"
#include "supervisor/front.h"
#include "supervisor/image_life.h"
#include "supervisor/input.h"
#include "supervisor/intake.h"
#include "supervisor/patience.h"
#include "supervisor/preparing.h"
#include "supervisor/process_limit.h"
#include "supervisor/progress.h"
#include "supervisor/reading.h"
#include "supervisor/reply.h"
#include "supervisor/restore.h"
#include "supervisor/room.h"
#include "supervisor/state.h"
#include "supervisor/stop.h"
#include "wire/wire.h"

/* The descriptors that the host polls: the zygote's, and that of the watches.
 */
#define SUPERVISOR_FDS 1

/* Milliseconds between two looks at descriptors that the system does not
   watch, for evaluated code can use up all watches that the user may have. */
#define LOOK_MS 20

/* Code that prints line by line must not wake us for each: after a read of less
   than SOME_BYTES, the pipes of a lone call are not watched for LOOK_AGAIN_MS.
   Meanwhile they hold what is printed, as they do in any case, also when the
   image dies. A pipe does not fill up so fast in so small pieces. */
#define SOME_BYTES 2048
#define LOOK_AGAIN_MS 2

/* Without a zygote nothing can be evaluated: answers every waiting call with
   the reason. */
static void refuse_waiting(struct supervisor *s)
{
    for (struct session *session = s->awake; session;
         session = session->next_awake) {
        while (session->image.socket < 0 && session->calls.first) {
            struct call *call = session_take_first(session);
            struct buf text = BUF_EMPTY;

            buf_printf(&text,
                       "[ERROR] ECL-MCP:IMAGE-UNAVAILABLE\n"
                       "The Lisp image cannot be started: %s (%s). "
                       "The first call after %d seconds tries again.",
                       s->zygote.why, s->config.image_path,
                       LIMIT_ZYGOTE_RETRY_MS / 1000);
            reply_text(call, true, buf_view(&text));
            buf_release(&text);
        }
    }
}

/* Whether calls wait for an image that only a zygote can start. */
static bool are_calls_waiting(const struct supervisor *s)
{
    for (const struct session *session = s->awake; session;
         session = session->next_awake)
        if (session->image.socket < 0 && session->calls.first)
            return true;
    return false;
}

static void tend_zygote(struct supervisor *s, int64_t now)
{
    bool waiting = are_calls_waiting(s);

    if (zygote_is_down(&s->zygote) && waiting && !s->ending.wanted)
        zygote_start(&s->zygote, now);
    if (zygote_is_down(&s->zygote) && waiting)
        refuse_waiting(s);
}

static struct session *find_serial(struct supervisor *s, uint64_t serial)
{
    struct session *session = s->sessions;

    while (session &&
           (session->image.serial != serial || session->image.socket < 0))
        session = session->next;
    return session;
}

/* Logs once what the sandbox is made of. */
static void note_sandbox(struct supervisor *s,
                         const struct control_message *message)
{
    struct buf text = BUF_EMPTY;
    bool missing;

    if (s->sandbox_state.known)
        return;
    s->sandbox_state = message->sandbox;
    missing = sandbox_report(&s->config.sandbox, &s->sandbox_state, &text);
    log_line(&s->config.log, missing ? LOG_WARN : LOG_INFO, "%.*s",
             STR_ARG(buf_view(&text)));
    buf_release(&text);
    for (size_t i = 0; i < SANDBOX_N; i++)
        if (s->places.refused[i])
            log_line(&s->config.log, LOG_WARN,
                     "sandbox: %s is not writable for Lisp: %s",
                     s->places.writable[i], s->places.refused[i]);
}

static void take_control(struct supervisor *s,
                         const struct control_message *message, int64_t now)
{
    struct session *session;
    struct buf text = BUF_EMPTY;

    switch ((enum control_kind)message->kind) {
    case CONTROL_READY:
        if ((message->sandbox.mounts & SANDBOX_MOUNTS_TEMPORARY) == 0)
            s->temporary.reached = true;
        note_sandbox(s, message);
        log_line(&s->config.log, LOG_DEBUG, "image: zygote %d is ready",
                 (int)s->zygote.pid);
        if (!s->sessions) // without memory the first call says so
            (void)state_use_session(s, STR(STATE_MAIN), &text);
        buf_release(&text);
        for (session = s->sessions; session; session = session->next)
            if (session->image.socket < 0 && !closing_is_full())
                image_life_open(s, session); // else its next call does
        break;
    case CONTROL_OPENED:
        session = find_serial(s, message->serial);
        if (session)
            image_life_note_opened(s, session, message, now);
        break;
    case CONTROL_OPEN:
    case CONTROL_EXITED:
    case CONTROL_COUNT:
    case CONTROL_CROWDED:
    case CONTROL_COPIES:
    case CONTROL_SPARE:
    case CONTROL_SPARED:
    case CONTROL_COVER:
    case CONTROL_COVERED:
        break; // goes another way
    }
}

static void read_zygote(struct supervisor *s, int64_t now)
{
    struct control_message message;

    while (zygote_receive(&s->zygote, &message, now) == ST_OK) {
        take_control(s, &message, now);
        state_wake_all(s);
        for (struct session *session = s->sessions; session;
             session = session->next)
            image_life_serve(s, session, now);
    }
}

static void earlier(int64_t *deadline, int64_t time)
{
    if (time >= 0 && (*deadline < 0 || time < *deadline))
        *deadline = time;
}

static int64_t deadline_of(const struct supervisor *s,
                           const struct session *session)
{
    int64_t deadline = image_life_deadline(session);

    earlier(&deadline, stop_deadline(session));
    earlier(&deadline, patience_deadline(s, session));
    earlier(&deadline, process_limit_deadline(session));
    earlier(&deadline, restore_deadline(s, session));
    earlier(&deadline, preparing_deadline(session));
    earlier(&deadline, progress_deadline(session));
    if (session->look_at > 0)
        earlier(&deadline, session->look_at);
    return deadline;
}

/* Whether nothing can happen in SESSION until something comes for it. */
static bool is_idle(const struct supervisor *s, const struct session *session)
{
    const struct image_process *image = &session->image;

    return !session->calls.first && !session->closed && !image->dying &&
           image->out.n == 0 && session_held(session) <= LIMIT_SESSION_SHARE &&
           deadline_of(s, session) < 0;
}

size_t supervisor_fd_count(const struct supervisor *supervisor)
{
    (void)supervisor;
    return SUPERVISOR_FDS;
}

/* The socket that says what happens next to SESSION: that of the copy that is
   waking, else that of the image. -1: none. */
static int read_socket(const struct session *session)
{
    if (restore_is_waking(session))
        return session->keeping.waking.checkpoint->socket;
    return session->image.dying ? -1 : session->image.socket;
}

/* Sends what is for the image of SESSION, and has its descriptors watched.
   True: the system watches all of them. */
static bool attend(struct session *session)
{
    struct image_process *image = &session->image;
    const int *pipes = image->output.pipes;
    uint32_t output = session->look_at > 0 ? 0 : EPOLLIN;
    bool waits;
    bool all = true;

    session_flush(session);
    waits = image->written < image->out.n && !restore_is_waking(session);
    watch_set(&image->watches[CONTROL_SOCKET], read_socket(session),
              waits ? EPOLLIN | EPOLLOUT : EPOLLIN);
    watch_set(&image->watches[CONTROL_STDOUT], pipes[CAPTURE_STDOUT], output);
    watch_set(&image->watches[CONTROL_STDERR], pipes[CAPTURE_STDERR], output);
    watch_set(&image->watches[CONTROL_KEEPER], image->keeper, EPOLLIN);
    for (int i = 0; i < CONTROL_FDS; i++)
        all = all && !image->watches[i].failed;
    return all;
}

size_t supervisor_fds(struct supervisor *supervisor, struct pollfd *fds,
                      size_t max)
{
    struct session **link = &supervisor->awake;
    size_t n = 0;

    watch_set(&supervisor->zygote.watch, supervisor->zygote.control, EPOLLIN);
    supervisor->unwatched = supervisor->zygote.watch.failed;
    while (*link) {
        struct session *session = *link;
        bool watched = attend(session);

        supervisor->unwatched = supervisor->unwatched || !watched;
        if (watched && is_idle(supervisor, session)) {
            *link = session->next_awake;
            session->awake = false;
        } else {
            link = &session->next_awake;
        }
    }
    if (max >= SUPERVISOR_FDS)
        fds[n++] = (struct pollfd){supervisor->epoll, POLLIN, 0};
    return n;
}

/* Reads the pipes of SESSION, as far as something was FOUND or it is time to
   look. While a later call was sent ahead, its answer waits for what comes
   there, and they stay watched. */
static void read_output(struct supervisor *s, struct session *session,
                        const uint32_t found[CONTROL_FDS], int64_t now)
{
    static const int places[CAPTURE_PIPES] = {
        [CAPTURE_STDOUT] = CONTROL_STDOUT, [CAPTURE_STDERR] = CONTROL_STDERR};
    bool due = session->look_at > 0 &&
               (now >= session->look_at || session->calls.sent != 1);
    size_t n = 0;

    for (int i = 0; i < CAPTURE_PIPES; i++)
        if (due || found[places[i]])
            n += session_read_pipe(session, i, &s->config.log);
    if (n > 0 && n < SOME_BYTES && session->calls.sent == 1)
        session->look_at = now + LOOK_AGAIN_MS;
    else if (due || n > 0)
        session->look_at = 0;
}

/* Handles what was found for one session. The socket is read first: once the
   answer has come, the pipes hold all output of its call. */
static void run_session(struct supervisor *s, struct session *session,
                        int64_t now)
{
    uint32_t found[CONTROL_FDS];

    for (int i = 0; i < CONTROL_FDS; i++) {
        watch_look(&session->image.watches[i]);
        found[i] = session->image.watches[i].found;
        session->image.watches[i].found = 0;
    }
    if (restore_is_waking(session))
        image_life_tend(s, session, now);
    else if (found[CONTROL_SOCKET] & EPOLLIN)
        image_life_read(s, session, now);
    else if (found[CONTROL_SOCKET] & (EPOLLHUP | EPOLLERR))
        image_life_lost(session, now);
    read_output(s, session, found, now);
    if (found[CONTROL_KEEPER])
        image_life_read_keeper(s, session, now);
    image_life_answer(s, session, now);
    image_life_serve(s, session, now);
}

/* Forgets sessions that were closed and have nothing left to do; those do not
   sleep. */
static void sweep(struct supervisor *s)
{
    struct session **link = &s->awake;

    while (*link) {
        struct session *session = *link;

        if (session->closed && !session->calls.first &&
            session->image.socket < 0) {
            *link = session->next_awake;
            state_forget_session(s, session);
            session_release(session);
            free(session);
        } else {
            link = &session->next_awake;
        }
    }
}

static void wake(void *context, struct session *session)
{
    state_wake(context, session);
}

/* Reads and serves the sessions with work. */
static void run_sessions(struct supervisor *s, int64_t now)
{
    size_t shared = room_shared(s);

    for (struct session *session = s->awake; session;
         session = session->next_awake) {
        size_t own = room_offer(session, shared);
        size_t offered = session->room;
        size_t taken;

        run_session(s, session, now);
        taken = offered - session->room;
        shared -= taken > own ? taken - own : 0;
    }
}

/* Does what is due. */
static void tend_sessions(struct supervisor *s, int64_t now)
{
    for (struct session *session = s->awake; session;
         session = session->next_awake) {
        if (stop_tend(session, ending_concerns(s, session->calls.first), now))
            image_life_lost(session, now);
        patience_tend(s, session, now);
        process_limit_tend(session, now);
        image_life_tend(s, session, now);
        restore_tend(s, session, now);
        preparing_tend(s, session, now);
        progress_tend(session, now);
        input_tend(session, now);
    }
}

/* A new turn, in which another front is the first. */
static void begin_turn(struct supervisor *s)
{
    struct front *first = s->fronts;
    struct front **end = &s->fronts;

    s->spent = 0;
    for (; *end; end = &(*end)->next)
        (*end)->spent = 0;
    if (!first)
        return;
    *end = first; // which is alone, perhaps
    s->fronts = first->next;
    first->next = NULL;
}

/* The next step of what fronts read, and of what they have sent. */
static void tend_fronts(struct supervisor *s, int64_t now)
{
    begin_turn(s);
    for (struct front *front = s->fronts; front; front = front->next) {
        bool was_reading = front->reading != NULL;

        front->more = front->more || was_reading;
        if (was_reading && reading_go_on(front))
            continue;
        intake_go_on(front, now);
    }
}

/* Whether a front has a next step. */
static bool reads(const struct supervisor *s)
{
    for (const struct front *front = s->fronts; front; front = front->next)
        if (front->reading || front->more)
            return true;
    return false;
}

int supervisor_epoll(const struct supervisor *supervisor)
{
    return supervisor->epoll;
}

int supervisor_wait(struct supervisor *supervisor, int timeout_ms)
{
    return watch_take(supervisor->epoll, timeout_ms, wake, supervisor);
}

void supervisor_run(struct supervisor *supervisor, const struct pollfd *fds,
                    size_t n, int64_t now_ms)
{
    struct supervisor *s = supervisor;
    struct watch *zygote = &s->zygote.watch;
    bool found;

    s->ran_at = now_ms;
    if (n == SUPERVISOR_FDS && fds[0].revents)
        (void)watch_take(s->epoll, 0, wake, s); // else there is nothing
    watch_look(zygote);
    found = zygote->found != 0;
    zygote->found = 0;
    run_sessions(s, now_ms);
    if (found)
        read_zygote(s, now_ms);
    zygote_tend(&s->zygote, now_ms);
    tend_fronts(s, now_ms);
    tend_zygote(s, now_ms); // also for the calls that these have sent
    ending_tend(s, now_ms);
    tend_sessions(s, now_ms);
    sweep(s);
}

int64_t supervisor_deadline(const struct supervisor *supervisor)
{
    int64_t deadline = zygote_deadline(&supervisor->zygote);

    earlier(&deadline, ending_deadline(supervisor));
    if (supervisor->unwatched)
        earlier(&deadline, supervisor->ran_at + LOOK_MS);
    // the next turn starts a zygote for waiting calls, or refuses them
    if (reads(supervisor) ||
        (zygote_is_down(&supervisor->zygote) && are_calls_waiting(supervisor)))
        earlier(&deadline, supervisor->ran_at);
    for (const struct session *session = supervisor->awake; session;
         session = session->next_awake)
        earlier(&deadline, deadline_of(supervisor, session));
    return deadline;
}

void supervisor_reap(struct supervisor *supervisor, int64_t now_ms)
{
    pid_t pid;
    int wait_status;

    while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0)
        if (pid == supervisor->zygote.pid)
            zygote_note_exit(&supervisor->zygote, wait_status, now_ms);
        else
            (void)temporary_note_exit(&supervisor->temporary, pid);
    adopted_tend(supervisor);
}

struct supervisor *supervisor_new(const struct supervisor_config *config,
                                  int64_t now_ms)
{
    struct supervisor *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    s->config = *config;
    if (s->config.heap == 0)
        s->config.heap = LIMIT_HEAP;
    if (!linux_random(&s->name, sizeof s->name) || s->name == 0)
        s->name = now_ms + 1;
    s->epoll = watch_open();
    if (s->epoll < 0) {
        free(s);
        return NULL;
    }
    room_prepare();
    zygote_init(&s->zygote, s->config.image_path, s->config.workspace,
                &s->config.sandbox, &s->config.log);
    watch_init(&s->zygote.watch, s->epoll, NULL);
    return s;
}

void supervisor_begin(struct supervisor *supervisor, int64_t now_ms)
{
    begin(supervisor, now_ms);
}

void supervisor_free(struct supervisor *supervisor)
{
    pid_t enders[LIMIT_SESSIONS + 1];
    size_t n = 0;
    struct session *session;

    if (!supervisor)
        return;
    while ((session = supervisor->sessions)) {
        supervisor->sessions = session->next;
        if (n < LIMIT_SESSIONS && session->image.keeper_pid > 0)
            enders[n++] = session->image.keeper_pid;
        session_release(session);
        free(session);
    }
    enders[n] = zygote_release(&supervisor->zygote);
    n += enders[n] > 0;
    adopted_await(supervisor, enders, n);
    temporary_close(&supervisor->temporary, linux_now_ms());
    outputs_release(&supervisor->outputs);
    protected_release(&supervisor->protected);
    while (supervisor->fronts) {
        reading_end(supervisor->fronts);
        front_free(supervisor->fronts);
    }
    (void)close(supervisor->epoll); // nothing is watched any longer
    free(supervisor);
}
