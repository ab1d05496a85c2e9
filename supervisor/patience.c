/* SPDX-License-Identifier: GPL-3.0-or-later */
/* patience.c: see patience.h. */
#include "supervisor/patience.h"

#include <signal.h>

#include "base/limits.h"
#include "supervisor/adopted.h"
#include "supervisor/closing.h"
#include "supervisor/image_life.h"
#include "supervisor/reply.h"
#include "supervisor/state.h"

/* Milliseconds after which a process that is late is told to continue. */
#define LATE_MS 1000

static int64_t limit_of(enum awaited what)
{
    return what == AWAITED_COPY || what == AWAITED_LOAD ? LIMIT_TIMEOUT_MS
                                                        : LIMIT_ZYGOTE_BOOT_MS;
}

/* What SESSION waits for, and in *TOKEN which one of its kind. */
static enum awaited look(const struct supervisor *s,
                         const struct session *session, uint64_t *token)
{
    const struct image_process *image = &session->image;
    const struct call *call = session->calls.first;

    *token = image->serial;
    if (image->dying)
        return call && closing_is_full() ? AWAITED_ROOM : AWAITED_NOTHING;
    if (image->socket < 0)
        return call && zygote_is_ready(&s->zygote) ? AWAITED_ROOM
                                                   : AWAITED_NOTHING;
    if (image->pid <= 0)
        return AWAITED_OPENING;
    *token = (uint64_t)image->pid;
    if (image->unsettled)
        return AWAITED_KEEPER;
    if (call && !call->ours && image_life_must_wait(session))
        return AWAITED_ROOM;
    *token = session->keeping.number;
    if (session->keeping.preparing.asked) // it keeps others from loading
        return AWAITED_LOAD;
    // nobody waits for copies that are made aside; code has its time limit
    return call && call->ours && session->calls.sent == 0 &&
                   session->keeping.number
               ? AWAITED_COPY
               : AWAITED_NOTHING;
}

/* The process that SESSION waits for. A keeper that waits for its session is
   known to the zygote only. */
static pid_t find_process(const struct supervisor *s,
                          const struct session *session)
{
    switch (session->patience.what) {
    case AWAITED_COPY:
    case AWAITED_LOAD:
        return session->image.pid;
    case AWAITED_KEEPER:
        return session->image.keeper_pid;
    case AWAITED_OPENING:
        return s->zygote.pid;
    case AWAITED_ROOM: // each turn tries to open an image, or to bury one
    case AWAITED_NOTHING:
        break;
    }
    return 0;
}

/* Answers the calls of SESSION, for which no image can be opened. */
static void refuse(struct supervisor *s, struct session *session, int64_t now)
{
    static const char no_room[] =
        "[ERROR] ECL-MCP:IMAGE-UNAVAILABLE\nThe Lisp image cannot be started: "
        "the system has no descriptor, process or memory left for it; the log "
        "says more. Close sessions that you do not need (reset-session with "
        "close), then call again.";
    static const char closing[] =
        "[ERROR] ECL-MCP:IMAGE-UNAVAILABLE\nNo Lisp image is started now: the "
        "server is still closing descriptors that evaluated code has sent it. "
        "Call again later.";
    static const char died[] =
        "[ERROR] ECL-MCP:IMAGE-DIED\nThe Lisp image has ended during this "
        "evaluation. The next one is started when the server has closed the "
        "descriptors that evaluated code has sent it: call again later.";
    struct str text = closing_is_full() ? STR(closing) : STR(no_room);
    struct call *running =
        session->image.dying ? image_life_take_running(s, session, now) : NULL;

    if (running)
        reply_text(running, true, STR(died));
    while (session->calls.first)
        reply_text(session_take_first(session), true, text);
}

static void give_up(struct supervisor *s, struct session *session, int64_t now)
{
    switch (session->patience.what) {
    case AWAITED_COPY:
    case AWAITED_LOAD:
        session->image.death.silent = true;
        image_life_lost(session, now);
        break;
    case AWAITED_KEEPER:
        log_line(&s->config.log, LOG_WARN,
                 "image: session %s: its keeper has not answered for %d s and "
                 "is killed",
                 session->name, LIMIT_ZYGOTE_BOOT_MS / 1000);
        if (session->image.keeper_pid > 0) // it may just have ended
            (void)kill(session->image.keeper_pid, SIGKILL);
        image_life_lose_keeper(s, session, now);
        break;
    case AWAITED_OPENING:
        // it has run nothing, and ends by this
        image_process_end_family(&session->image);
        session_disconnect(session);
        if (!zygote_is_ready(&s->zygote))
            break; // a new one, which was not asked
        zygote_lose(&s->zygote, "it did not open a session in time", now);
        adopted_end(s);
        break;
    case AWAITED_ROOM:
        refuse(s, session, now);
        session->patience.what = AWAITED_NOTHING; // the next call waits anew
        break;
    case AWAITED_NOTHING:
        break;
    }
}

void patience_tend(struct supervisor *s, struct session *session, int64_t now)
{
    struct patience *patience = &session->patience;
    uint64_t token;
    enum awaited what = look(s, session, &token);
    int64_t end;
    pid_t pid;

    if (what != patience->what || token != patience->token)
        *patience = (struct patience){what, token, now, now + LATE_MS, false};
    if (what == AWAITED_NOTHING || now < patience->look_at)
        return;
    end = patience->since + limit_of(what);
    // this process may have been stopped as well: then it was not told yet
    if (patience->told && now >= end) {
        give_up(s, session, now);
        return;
    }
    patience->told = true;
    patience->look_at =
        what == AWAITED_ROOM || end < now + LATE_MS ? now + LATE_MS : end;
    pid = find_process(s, session);
    if (pid > 0)
        (void)kill(pid, SIGCONT); // one that is gone is noticed elsewhere
}

int64_t patience_deadline(const struct supervisor *s,
                          const struct session *session)
{
    const struct patience *patience = &session->patience;
    uint64_t token;
    enum awaited what = look(s, session, &token);

    if (what == AWAITED_NOTHING)
        return -1;
    // what has begun behind the last look is noted in the next turn
    return what == patience->what && token == patience->token
               ? patience->look_at
               : 0;
}
