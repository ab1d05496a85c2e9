/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pending.c: see pending.h. */
#include "mcp/pending.h"

#include <assert.h>
#include <stdlib.h>

#include "base/fnv.h"
#include "base/limits.h"
#include "base/strand.h"
#include "base/utf8.h"

/* Characters of a client's id in a line of the log. */
#define SHOWN_ID 100

/* Bytes of an id by which it is found: clients count. */
#define HASHED_ID 256

static size_t bucket_of(struct str id)
{
    uint32_t hash = FNV_START;

    for (size_t i = 0; i < id.n && i < HASHED_ID; i++)
        hash = fnv_add(hash, (unsigned char)id.p[i]);
    return hash % PENDING_BUCKETS;
}

/* Bytes that are copied between two looks at the strand. */
#define COPIED (256u * 1024)

/* Copies TEXT to *AT and moves *AT past it. */
static struct str copy(char **at, struct str text)
{
    struct str copied = str_make(*at, text.n);

    for (size_t n; text.n > 0; text = str_make(text.p + n, text.n - n)) {
        n = text.n < COPIED ? text.n : COPIED;
        memcpy(*at, text.p, n);
        *at += n;
        (void)strand_pause(n / 8); // also when it is stopped, it is copied
    }
    return copied;
}

struct pending *pending_new(const struct rpc_to *to, enum mcp_version version,
                            const struct pending_texts *texts)
{
    size_t bytes = sizeof(struct pending) + to->id.n + texts->token.n +
                   texts->client.n + texts->uri.n;
    struct pending *pending = malloc(bytes);
    if (!pending)
        return NULL;
    char *at = pending->texts;
    *pending = (struct pending){.tool.progress = texts->token.n > 0,
                                .tool.image.owner = pending,
                                .tool.image.owner_bytes = bytes,
                                .version = version,
                                .type = texts->type,
                                .completion = texts->completion,
                                .bucket = bucket_of(to->id),
                                .to = *to};
    pending->to.id = copy(&at, to->id);
    pending->token = copy(&at, texts->token);
    pending->tool.client = copy(&at, texts->client);
    pending->uri = copy(&at, texts->uri);
    pending->tool.view = texts->uri.n > 0;
    return pending;
}

/* --- The client's wait -------------------------------------------------- */

static void remember(struct pending_table *table, struct pending *pending)
{
    pending->remembered = true;
    pending->bucket_next = table->buckets[pending->bucket];
    table->buckets[pending->bucket] = pending;
    table->remembered++;
    if (pending->to.batch)
        rpc_batch_wait(pending->to.batch);
}

void pending_forget(struct pending_table *table, struct pending *pending)
{
    struct pending **link = &table->buckets[pending->bucket];
    if (!pending->remembered)
        return;
    pending->remembered = false;
    while (*link != pending)
        link = &(*link)->bucket_next;
    *link = pending->bucket_next;
    table->remembered--;
    if (pending->to.batch)
        rpc_check_sent(table->log,
                       rpc_batch_done(pending->to.batch, table->output));
}

struct pending *pending_find(const struct pending_table *table, struct str id)
{
    struct pending *pending = table->buckets[bucket_of(id)];
    while (pending && !str_eq(pending->to.id, id))
        pending = pending->bucket_next;
    return pending;
}

/* --- The state ---------------------------------------------------------- */

const char *pending_state_name(enum pending_state state)
{
    static const char *const names[PENDING_STATES] = {
        [PENDING_NEW] = "new",
        [PENDING_READING_BUFFER] = "reading-buffer",
        [PENDING_ASKING_EDITOR] = "asking-editor",
        [PENDING_ASKING_CLIENT] = "asking-client",
        [PENDING_IN_IMAGE] = "in-image",
        [PENDING_WORKING] = "working",
        [PENDING_IN_EDITOR] = "in-editor",
        [PENDING_SETTLING] = "settling",
        [PENDING_OVER] = "over"};

    return names[state];
}

static bool has_list(enum pending_state state)
{
    return state != PENDING_NEW && state != PENDING_OVER;
}

/* Bytes that PENDING takes while it waits, except those of its plan. */
static size_t bytes_of(const struct pending *pending)
{
    const struct tool_question *question = &pending->tool.question;

    return pending->tool.image.owner_bytes + question->message.cap +
           question->substance.cap + question->form.cap +
           question->carried.cap + question->review.cap +
           tool_buffer_bytes(&pending->tool);
}

static void leave_state(struct pending_table *table, struct pending *pending)
{
    if (!has_list(pending->state))
        return;
    if (!pending->list_previous)
        table->first[pending->state] = pending->list_next;
    else
        pending->list_previous->list_next = pending->list_next;
    if (pending->list_next)
        pending->list_next->list_previous = pending->list_previous;
    table->count[pending->state]--;
    table->asked_bytes -= pending->counted_bytes;
    pending->counted_bytes = 0;
    pending->editor_request = 0;
    pending->received = false;
}

static void enter_state(struct pending_table *table, struct pending *pending,
                        enum pending_state state)
{
    pending->state = state;
    if (!has_list(state))
        return;
    pending->list_previous = NULL;
    pending->list_next = table->first[state];
    if (pending->list_next)
        pending->list_next->list_previous = pending;
    table->first[state] = pending;
    table->count[state]++;
    // the image counts those of its calls
    if (pending_has_request(state))
        pending->counted_bytes = bytes_of(pending);
    table->asked_bytes += pending->counted_bytes;
}

static void log_change(const struct log *log, const struct pending *pending,
                       enum pending_state old)
{
    if (pending->state == old || !log_is_on(log, LOG_DEBUG))
        return;
    struct str id = utf8_head(pending->to.id, SHOWN_ID);
    log_line(log, LOG_DEBUG, "mcp: call %.*s: %s -> %s", STR_ARG(id),
             pending_state_name(old), pending_state_name(pending->state));
}

void pending_set_state(struct pending_table *table, struct pending *pending,
                       enum pending_state state)
{
    enum pending_state old = pending->state;

    assert(old != PENDING_OVER && state != PENDING_NEW);
    leave_state(table, pending);
    enter_state(table, pending, state);
    if (old == PENDING_NEW && state != PENDING_OVER)
        remember(table, pending);
    log_change(table->log, pending, old);
}

size_t pending_limit(enum pending_state state)
{
    static const size_t limits[PENDING_STATES] = {
        [PENDING_READING_BUFFER] = LIMIT_EDITOR_CALLS,
        [PENDING_ASKING_EDITOR] = LIMIT_APPROVALS,
        [PENDING_ASKING_CLIENT] = LIMIT_APPROVALS,
        [PENDING_IN_EDITOR] = LIMIT_EDITOR_CALLS};

    return limits[state];
}

/* Whether both states share a limit. */
static bool share_limit(enum pending_state a, enum pending_state b)
{
    return pending_has_request(a) && pending_has_request(b) &&
           pending_asks(a) == pending_asks(b);
}

/* Whether the plan of PENDING fits beside those of all calls that ask; one
   alone always does. */
static bool plan_fits(const struct pending_table *table,
                      const struct pending *pending)
{
    size_t others = 0;

    for (enum pending_state s = PENDING_NEW; s < PENDING_OVER; s++) {
        const struct pending *other = table->first[s];

        for (; other && pending_asks(s); other = other->list_next)
            others += other == pending ? 0 : tool_plan_bytes(&other->tool);
    }
    return others == 0 ||
           others + tool_plan_bytes(&pending->tool) <= LIMIT_PLANS_BYTES;
}

bool pending_fits(const struct pending_table *table,
                  const struct pending *pending, enum pending_state state)
{
    size_t others = 0;
    size_t others_bytes = table->asked_bytes - pending->counted_bytes;

    for (enum pending_state s = PENDING_NEW; s < PENDING_OVER; s++)
        if (share_limit(s, state))
            others += table->count[s] - (s == pending->state);
    return others < pending_limit(state) && plan_fits(table, pending) &&
           others_bytes + bytes_of(pending) <= LIMIT_PENDING_BYTES;
}

void pending_free(struct pending_table *table, struct pending *pending)
{
    pending_set_state(table, pending, PENDING_OVER);
    pending_forget(table, pending);
    tool_call_release(&pending->tool);
    editor_tools_drop(pending->editor_tools);
    arena_release(&pending->answer_arena);
    free(pending->again);
    free(pending);
}
