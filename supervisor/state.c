/* SPDX-License-Identifier: GPL-3.0-or-later */
/* state.c: see state.h. */
#include "supervisor/state.h"

#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"
#include "base/limits.h"

/* The chain of those with the same hash as NAME. */
static size_t chain_of(struct str name)
{
    uint32_t hash = FNV_START;

    for (size_t i = 0; i < name.n; i++)
        hash = fnv_add(hash, (unsigned char)name.p[i]);
    return hash % STATE_NAMES;
}

static struct session *find(const struct supervisor *s, struct str name)
{
    struct session *session = s->named[chain_of(name)];

    while (session && !str_eq(name, str_from(session->name)))
        session = session->next_named;
    return session;
}

struct session *state_find_session(const struct supervisor *s, struct str name)
{
    struct session *session = find(s, name);

    return session && !session->closed ? session : NULL;
}

static struct session *make(struct supervisor *s, struct str name)
{
    struct session *session = malloc(sizeof *session);
    char c_name[LIMIT_SESSION_NAME + 1];

    if (!session)
        return NULL;
    memcpy(c_name, name.p, name.n);
    c_name[name.n] = '\0';
    session_init(session, c_name);
    for (int i = 0; i < CONTROL_FDS; i++)
        watch_init(&session->image.watches[i], s->epoll, session);
    session->next = s->sessions;
    s->sessions = session;
    s->sessions_n++;
    session->next_named = s->named[chain_of(name)];
    s->named[chain_of(name)] = session;
    state_wake(s, session);
    return session;
}

void state_forget_session(struct supervisor *s, const struct session *session)
{
    struct session **link = &s->sessions;

    while (*link != session)
        link = &(*link)->next;
    *link = session->next;
    s->sessions_n--;
    link = &s->named[chain_of(str_from(session->name))];
    while (*link != session)
        link = &(*link)->next_named;
    *link = session->next_named;
}

void state_wake(struct supervisor *s, struct session *session)
{
    if (session->awake)
        return;
    session->awake = true;
    session->next_awake = s->awake;
    s->awake = session;
}

void state_wake_all(struct supervisor *s)
{
    for (struct session *session = s->sessions; session;
         session = session->next)
        state_wake(s, session);
}

struct session *state_use_session(struct supervisor *s, struct str name,
                                  struct buf *text)
{
    struct session *session = find(s, name);

    if (session) {
        state_wake(s, session);
        return session;
    }
    if (name.n == 0 || name.n > LIMIT_SESSION_NAME ||
        memchr(name.p, 0, name.n)) {
        buf_printf(text,
                   "[ERROR] ECL-MCP:NO-SESSION\nNot a valid session name: "
                   "names have 1 to %d bytes, and no NUL.",
                   LIMIT_SESSION_NAME);
        return NULL;
    }
    if (s->sessions_n >= LIMIT_SESSIONS) {
        buf_str(
            text,
            STR("[ERROR] ECL-MCP:NO-SESSION\nToo many sessions are "
                "open; close one by calling reset-session with close true."));
        return NULL;
    }
    return make(s, name);
}
