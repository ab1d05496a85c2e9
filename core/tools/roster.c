/* SPDX-License-Identifier: GPL-3.0-or-later */
/* roster.c: a session is there from its first call to its end. */
#include "roster.h"

#include "catalog.h"

static void add(struct roster *roster, const char *name)
{
    struct roster_entry *entry;

    if (roster->count == LIMIT_SESSIONS)
        return; // the supervisor has no more than that
    entry = &roster->entries[roster->count++];
    entry->serial = ++roster->last_serial;
    memcpy(entry->name, name, strlen(name) + 1);
}

void roster_init(struct roster *roster)
{
    *roster = (struct roster){0};
    add(roster, TOOL_MAIN_SESSION);
}

static size_t find(const struct roster *roster, const char *name)
{
    size_t i = 0;

    while (i < roster->count && strcmp(roster->entries[i].name, name) != 0)
        i++;
    return i;
}

static void drop(struct roster *roster, size_t i)
{
    roster->count--;
    memmove(&roster->entries[i], &roster->entries[i + 1],
            (roster->count - i) * sizeof roster->entries[0]);
}

void roster_event(void *context, const struct gate_event *event)
{
    struct roster *roster = context;
    const struct tool_call *call = event->call;
    size_t i;

    if (event->phase == GATE_BEFORE || call->session[0] == '\0' || call->view ||
        !call->approved)
        return;
    i = find(roster, call->session);
    if (!call->ends_session && i == roster->count)
        add(roster, call->session);
    else if (call->ends_session && event->phase == GATE_AFTER &&
             i < roster->count && i > 0)
        drop(roster, i);
}
