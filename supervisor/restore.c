/* SPDX-License-Identifier: GPL-3.0-or-later */
/* restore.c: see restore.h. */
#include "supervisor/restore.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/limits.h"
#include "image/family.h"
#include "image/linux.h"
#include "supervisor/closing.h"
#include "supervisor/process_limit.h"
#include "supervisor/state.h"
#include "wire/wire.h"

/* The next copy waits at least this many times as long as the last one took, so
   that bursts of calls are hardly slowed down. */
#define REST 20

/* Milliseconds that must pass in any case: each page that a copy shares with
   the image is copied when it is written, which slows down the next calls. */
#define REST_MS 100

/* Milliseconds without a call after which the first evaluation behind a copy
   is copied: one that comes sooner need not wait for the fork. Behind that one
   the copy is due at once, so that a death takes one evaluation more along at
   most. The first copy of all comes in any case before a second evaluation, but
   not beside the start of the next session. */
#define QUIET_MS 20

/* Milliseconds after which a failed copy is tried again. */
#define RETRY_MS 1000

void restore_note_call(struct session *session, const struct call *call,
                       int64_t now)
{
    int64_t due = session->keeping.changed ? now : now + QUIET_MS;

    session->keeping.preparing.at = now + LIMIT_PREPARE_MS;
    if (call->reads || call->apart)
        return;
    history_add(&session->keeping.history, call_subject(call));
    session->keeping.changed = true;
    session->keeping.due_at =
        due > session->keeping.rest_until ? due : session->keeping.rest_until;
}

bool restore_can_keep(const struct session *session)
{
    return session->image.socket >= 0 && session->image.pid > 0 &&
           !session->image.dying && !session->keeping.number &&
           !session->calls.first;
}

void restore_keep(struct supervisor *s, struct session *session,
                  struct str name, int64_t now)
{
    session->keeping.number = ++s->serials;
    if (name.n > 0)
        memcpy(session->keeping.name, name.p, name.n);
    session->keeping.name[name.n] = '\0';
    // the keeper would end the process with which the copy compiles, an orphan
    session->keeping.held = true;
    restore_send_held(session, now);
}

void restore_keep_first(struct supervisor *s, struct session *session,
                        int64_t now)
{
    const struct keeping *keeping = &session->keeping;
    const struct call *next = call_queue_unsent(&session->calls);

    // one that failed is tried again later
    if (next && !next->ours && session->calls.sent == 0 && keeping->changed &&
        !keeping->checkpoints.newest && !keeping->number &&
        !session->image.dying && !s->ending.wanted &&
        now >= keeping->rest_until && keeping->due_at - now <= QUIET_MS)
        restore_keep(s, session, str_make("", 0), now);
}

void restore_send_held(struct session *session, int64_t now)
{
    struct keeping *keeping = &session->keeping;

    // before the keeper has told of the image, no copy is known to be one
    if (!keeping->held || session->image.pid <= 0 || session->image.unsettled)
        return;
    keeping->held = false;
    keeping->sent_at = now;
    session_send_keep(session, keeping->number);
}

void restore_tend(struct supervisor *s, struct session *session, int64_t now)
{
    if (session->keeping.changed && !s->ending.wanted &&
        restore_can_keep(session) && now >= session->keeping.due_at)
        restore_keep(s, session, str_make("", 0), now);
}

int64_t restore_deadline(const struct supervisor *s,
                         const struct session *session)
{
    return session->keeping.changed && !s->ending.wanted &&
                   restore_can_keep(session)
               ? session->keeping.due_at
               : -1;
}

/* Whether process PID is an image or a checkpoint already. */
static bool is_known(const struct supervisor *s, pid_t pid)
{
    for (const struct session *session = s->sessions; session;
         session = session->next) {
        const struct checkpoint *waking = session->keeping.waking.checkpoint;

        if (session->image.pid == pid || (waking && waking->pid == pid))
            return true;
        for (const struct checkpoint *checkpoint =
                 session->keeping.checkpoints.newest;
             checkpoint; checkpoint = checkpoint->next)
            if (checkpoint->pid == pid)
                return true;
        for (size_t i = 0; i < session->keeping.frozen.n; i++)
            if (session->keeping.frozen.list[i].known &&
                session->keeping.frozen.list[i].pid == pid)
                return true;
    }
    return false;
}

/* Whether process PID can be a copy of the image of SESSION, as the image says:
   we are going to signal it and to spare it when the image dies, and evaluated
   code may say anything. A program that code has started is none; its keeper is
   a fork of the same process, and tells of which program. Where the system does
   not tell, the word of the image counts. */
static bool is_copy(const struct supervisor *s, const struct session *session,
                    pid_t pid, int64_t *start)
{
    pid_t parent = 0;

    *start = 0;
    if (!linux_find(getpid(), &parent, start))
        return true;
    return pid > 1 && !is_known(s, pid) && linux_find(pid, &parent, start) &&
           family_descends(pid, session->image.keeper_pid) &&
           linux_is_fork(pid, session->image.keeper_pid);
}

/* Whether CHECKPOINT is still the process that it was. */
static bool is_there(const struct checkpoint *checkpoint)
{
    pid_t parent = 0;
    int64_t start = 0;

    return checkpoint->start == 0 ||
           (linux_find(checkpoint->pid, &parent, &start) &&
            start == checkpoint->start);
}

/* Takes the copy that has come over SOCKET into the books; NULL without
   memory. One with a name takes the place of no other state. */
static struct checkpoint *add_copy(struct keeping *keeping, int socket)
{
    if (keeping->preparing.renews && keeping->name[0] == '\0')
        return checkpoints_renew(&keeping->checkpoints, socket,
                                 keeping->copy.pid, keeping->history.last);
    return checkpoints_add(&keeping->checkpoints, socket, keeping->copy.pid,
                           keeping->history.last, str_from(keeping->name));
}

struct checkpoint *restore_take_kept(struct supervisor *s,
                                     struct session *session, int64_t now)
{
    struct checkpoint *checkpoint = NULL;
    int socket = session->keeping.copy.socket;
    int64_t start = 0;
    int64_t took =
        now > session->keeping.sent_at ? now - session->keeping.sent_at : 1;

    session->keeping.copy.arrived = false;
    session->keeping.copy.socket = -1;
    session->keeping.number = 0;
    session->keeping.rest_until =
        now + (took * REST > REST_MS ? took * REST : REST_MS);
    if (socket >= 0 && is_copy(s, session, session->keeping.copy.pid, &start))
        checkpoint = add_copy(&session->keeping, socket);
    else if (socket >= 0)
        closing_socket(socket); // it does not lead to a copy
    if (checkpoint) {
        checkpoint->start = start;
        session->keeping.preparing.renews = false;
        session->keeping.preparing.at = now + LIMIT_PREPARE_MS;
        session->keeping.changed = false;
        process_limit_note_copies(session);
    } else {
        log_line(&s->config.log, LOG_WARN,
                 "image: session %s: no checkpoint: the image cannot fork, or "
                 "process %d is not a copy of it",
                 session->name, (int)session->keeping.copy.pid);
        session->keeping.due_at = now + RETRY_MS;
    }
    return checkpoint;
}

struct checkpoint *restore_take_outcome(struct supervisor *s,
                                        struct session *session,
                                        uint64_t evaluation)
{
    struct frozen_errors *errors = &session->keeping.frozen;
    struct checkpoint *checkpoint = NULL;
    int64_t start = 0;

    if (is_copy(s, session, errors->outcome.pid, &start)) {
        checkpoint = checkpoints_add(&session->keeping.checkpoints,
                                     errors->outcome.socket,
                                     errors->outcome.pid, evaluation, STR(""));
        errors->outcome.socket = -1; // it has it, or has closed it
    }
    if (checkpoint)
        checkpoint->start = start;
    return checkpoint;
}

void restore_take_frozen(struct supervisor *s, struct session *session)
{
    struct frozen_errors *errors = &session->keeping.frozen;
    int64_t start;
    size_t i = 0;

    while (i < errors->n) {
        struct frozen_error_entry *error = &errors->list[i];

        error->known = error->known || is_copy(s, session, error->pid, &start);
        if (error->known) {
            i++;
            continue;
        }
        // it may have ended, or the image may lie without end: once is enough
        if (!errors->doubted)
            log_line(&s->config.log, LOG_WARN,
                     "image: session %s: process %d is no copy of the image "
                     "that sleeps at an error",
                     session->name, (int)error->pid);
        errors->doubted = true;
        frozen_errors_remove(errors, i);
    }
    process_limit_note_copies(session);
    errors->changed = false;
}

void restore_begin(struct supervisor *s, struct session *session,
                   struct checkpoint *checkpoint, uint64_t call, int64_t now)
{
    struct waking *waking = &session->keeping.waking;

    checkpoints_take(&session->keeping.checkpoints, checkpoint);
    memset(waking, 0, sizeof *waking);
    waking->checkpoint = checkpoint;
    waking->call = call;
    waking->until = now;
    if (!is_there(checkpoint)) {
        log_line(&s->config.log, LOG_WARN,
                 "image: session %s: checkpoint %d is gone", session->name,
                 (int)checkpoint->pid);
        return; // there is nothing to wait for
    }
    (void)kill(checkpoint->pid, SIGCONT); // evaluated code may have stopped it
    if (send(checkpoint->socket, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT) == 1)
        waking->until = now + LIMIT_WAKE_MS;
}

bool restore_begin_best(struct supervisor *s, struct session *session,
                        int64_t now)
{
    struct checkpoint *checkpoint = checkpoints_before(
        &session->keeping.checkpoints, session->keeping.history.last);

    if (checkpoint)
        restore_begin(s, session, checkpoint, 0, now);
    return checkpoint;
}

bool restore_is_waking(const struct session *session)
{
    return session->keeping.waking.checkpoint;
}

/* Receives what has come of WOKEN, with which no descriptors come. Fails as
   restore_listen does. */
static enum status receive_woken(struct waking *waking)
{
    struct wire_head head;
    struct str body;

    while (waking->n < sizeof waking->said) {
        int fd = -1;
        enum status status;
        ssize_t n = image_process_take(
            waking->checkpoint->socket, waking->said + waking->n,
            sizeof waking->said - waking->n, &fd, &status);

        if (n < 0 && errno == EAGAIN)
            return ST_MISSING;
        if (fd >= 0)
            closing_socket(fd); // no copy is at its other end
        if (n <= 0 || fd >= 0 || status != ST_OK)
            return ST_IO;
        waking->n += (size_t)n;
    }
    if (wire_frame(str_make(waking->said, waking->n), &head, &body) != ST_OK ||
        head.kind != WIRE_WOKEN || body.n != WIRE_NUMBER_BYTES)
        return ST_IO;
    // from now on it is read as an image is
    return fcntl(waking->checkpoint->socket, F_SETFL, O_NONBLOCK) == 0 ? ST_OK
                                                                       : ST_IO;
}

enum status restore_listen(struct supervisor *s, struct session *session,
                           int64_t now, struct checkpoint **checkpoint)
{
    struct waking *waking = &session->keeping.waking;
    enum status status = receive_woken(waking);

    // its keeper was lost meanwhile: nobody would end what it starts
    if (session->image.keeper < 0)
        status = ST_IO;
    if (status == ST_MISSING && now < waking->until)
        return ST_MISSING;
    *checkpoint = waking->checkpoint;
    waking->checkpoint = NULL;
    watch_drop(&session->image.watches[CONTROL_SOCKET]);
    if (status == ST_OK)
        return ST_OK;
    if (is_there(*checkpoint)) {
        log_line(&s->config.log, LOG_WARN,
                 "image: session %s: checkpoint %d did not wake", session->name,
                 (int)(*checkpoint)->pid);
        (void)kill((*checkpoint)->pid, SIGKILL); // it may be gone already
    }
    return ST_IO;
}

void restore_become(struct supervisor *s, struct session *session,
                    struct checkpoint *checkpoint, int64_t now)
{
    session_replace_image(session, checkpoint->socket, checkpoint->pid);
    checkpoint->socket = -1; // the session has it
    checkpoints_restored(&session->keeping.checkpoints, checkpoint);
    history_restored(&session->keeping.history, checkpoint->evaluation,
                     checkpoint->apart);
    frozen_errors_restored(&session->keeping.frozen, checkpoint->evaluation);
    process_limit_begin_anew(session);
    // the copy is used up: another of the same state replaces it
    restore_keep(s, session, str_from(checkpoint->name), now);
}

/* Says what is lost when EVALUATION is the last one left. */
static void describe_way_back(const struct session *session,
                              uint64_t evaluation, struct buf *text)
{
    uint64_t last = session->keeping.history.last;

    buf_printf(text, "Session %s continues from the checkpoint after ",
               session->name);
    history_describe(&session->keeping.history, evaluation, text);
    if (evaluation == last) {
        buf_str(text, STR("\nNo evaluation that was answered is lost."));
    } else {
        buf_str(text, STR("\nAnswered, but lost:"));
        history_list(&session->keeping.history, evaluation + 1, last, text);
    }
    buf_str(text, STR(RESTORE_LIMITS));
}

void restore_describe_loss(const struct session *session,
                           const struct checkpoint *checkpoint,
                           struct buf *text)
{
    if (checkpoint)
        describe_way_back(session, checkpoint->evaluation, text);
    else if (session->keeping.history.last > 0)
        buf_printf(text,
                   "A fresh session replaces it: all definitions and data of "
                   "session %s are lost; define again what you need.",
                   session->name);
    else
        buf_printf(text, "A fresh session %s replaces it.", session->name);
}
