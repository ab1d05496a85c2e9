/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pending.c: see pending.h. */
#include "mcp/pending.h"

#include <stdlib.h>

static size_t bucket_of(struct str id)
{
    uint32_t hash = 2166136261u; // FNV-1a
    for (size_t i = 0; i < id.n; i++)
        hash = (hash ^ (unsigned char)id.p[i]) * 16777619u;
    return hash % PENDING_BUCKETS;
}

/* Copies TEXT to *AT, behind which the next one goes. */
static struct str copy(char **at, struct str text)
{
    struct str copied = str_make(*at, text.n);

    if (text.n > 0)
        memcpy(*at, text.p, text.n);
    *at += text.n;
    return copied;
}

struct pending *pending_new(const struct rpc_to *to, enum mcp_version version,
                            const struct pending_texts *texts)
{
    size_t bytes = sizeof(struct pending) + to->id.n + texts->token.n +
                   texts->client.n + texts->uri.n;
    struct pending *pending = malloc(bytes);
    if (pending == NULL)
        return NULL;
    char *at = pending->texts;
    *pending = (struct pending){.tool.progress = texts->token.n > 0,
                                .tool.image.owner = pending,
                                .tool.image.owner_bytes = bytes,
                                .version = version,
                                .type = texts->type,
                                .bucket = bucket_of(to->id),
                                .to = *to};
    pending->to.id = copy(&at, to->id);
    pending->token = copy(&at, texts->token);
    pending->tool.client = copy(&at, texts->client);
    pending->uri = copy(&at, texts->uri);
    pending->tool.view = texts->uri.n > 0;
    return pending;
}

void pending_free(struct pending_table *table, struct pending *pending,
                  struct buf *output)
{
    pending_leave(table, pending);
    pending_forget(table, pending, output);
    tool_call_release(&pending->tool);
    editor_tools_drop(pending->editor_tools);
    free(pending);
}

void pending_remember(struct pending_table *table, struct pending *pending)
{
    if (pending->remembered)
        return;
    pending->remembered = true;
    pending->bucket_next = table->buckets[pending->bucket];
    table->buckets[pending->bucket] = pending;
    table->remembered++;
    if (pending->to.batch != NULL)
        rpc_batch_wait(pending->to.batch);
}

void pending_forget(struct pending_table *table, struct pending *pending,
                    struct buf *output)
{
    struct pending **link = &table->buckets[pending->bucket];
    if (!pending->remembered)
        return;
    pending->remembered = false;
    while (*link != pending)
        link = &(*link)->bucket_next;
    *link = pending->bucket_next;
    table->remembered--;
    if (pending->to.batch != NULL)
        rpc_check_sent(table->log, rpc_batch_done(pending->to.batch, output));
}

struct pending *pending_find(const struct pending_table *table, struct str id)
{
    struct pending *pending = table->buckets[bucket_of(id)];
    while (pending != NULL && !str_eq(pending->to.id, id))
        pending = pending->bucket_next;
    return pending;
}

size_t pending_bytes(const struct pending *pending)
{
    const struct tool_question *question = &pending->tool.question;

    return pending->tool.image.owner_bytes + question->message.cap +
           question->substance.cap + question->form.cap +
           question->carried.cap + question->review.cap +
           pending->tool.buffer.text.cap;
}

static void enlist(struct pending **list, struct pending *pending)
{
    pending->list = list;
    pending->list_previous = NULL;
    pending->list_next = *list;
    if (*list != NULL)
        (*list)->list_previous = pending;
    *list = pending;
}

static void count_bytes(struct pending_table *table, struct pending *pending)
{
    pending->asking_bytes = pending_bytes(pending);
    table->asking_bytes += pending->asking_bytes;
}

void pending_ask(struct pending_table *table, struct pending *pending)
{
    enlist(&table->asking, pending);
    table->asking_count++;
    count_bytes(table, pending);
}

void pending_work(struct pending_table *table, struct pending *pending)
{
    enlist(&table->working, pending);
}

void pending_send_away(struct pending_table *table, struct pending *pending)
{
    enlist(&table->away, pending);
    table->away_count++;
    count_bytes(table, pending);
}

static struct pending *find_editor_request(struct pending *pending,
                                           uint64_t editor_request)
{
    while (pending != NULL && pending->editor_request != editor_request)
        pending = pending->list_next;
    return pending;
}

struct pending *pending_of_editor_request(const struct pending_table *table,
                                          uint64_t editor_request)
{
    struct pending *pending =
        find_editor_request(table->asking, editor_request);

    return pending != NULL ? pending
                           : find_editor_request(table->away, editor_request);
}

void pending_leave(struct pending_table *table, struct pending *pending)
{
    if (pending->list == NULL)
        return;
    if (pending->list == &table->asking)
        table->asking_count--;
    if (pending->list == &table->away)
        table->away_count--;
    if (pending->list != &table->working)
        table->asking_bytes -= pending->asking_bytes;
    if (pending->list_previous == NULL)
        *pending->list = pending->list_next;
    else
        pending->list_previous->list_next = pending->list_next;
    if (pending->list_next != NULL)
        pending->list_next->list_previous = pending->list_previous;
    pending->list = NULL;
}
