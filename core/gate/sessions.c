/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sessions.c: a session exists from its first call to its end. */
#include "gate/sessions.h"

#include <string.h>

#include "gate/tool.h"

static void add(struct sessions *sessions, const char *name)
{
    if (sessions->count == LIMIT_SESSIONS)
        return; // the supervisor has no more, either
    struct sessions_entry *entry = &sessions->entries[sessions->count++];
    entry->serial = ++sessions->last_serial;
    memcpy(entry->name, name, strlen(name) + 1);
}

void sessions_init(struct sessions *sessions)
{
    *sessions = (struct sessions){0};
    add(sessions, TOOL_MAIN_SESSION);
}

static size_t find(const struct sessions *sessions, const char *name)
{
    size_t i = 0;

    while (i < sessions->count && strcmp(sessions->entries[i].name, name) != 0)
        i++;
    return i;
}

static void drop(struct sessions *sessions, size_t i)
{
    sessions->count--;
    memmove(&sessions->entries[i], &sessions->entries[i + 1],
            (sessions->count - i) * sizeof sessions->entries[0]);
}

void sessions_event(void *context, const struct gate_event *event)
{
    struct sessions *sessions = context;
    const struct tool_call *call = event->call;

    if (event->phase == GATE_BEFORE || call->session[0] == '\0' || call->view ||
        !call->approved)
        return;
    size_t i = find(sessions, call->session);
    if (!call->ends_session && i == sessions->count)
        add(sessions, call->session);
    else if (call->ends_session && event->phase == GATE_AFTER &&
             i < sessions->count && i > 0)
        drop(sessions, i);
}
