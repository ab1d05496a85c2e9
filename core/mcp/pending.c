/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pending.c: see pending.h. */
#include "mcp/pending.h"

#include <stdlib.h>

static size_t bucket_of(struct str id)
{
    uint32_t hash = 2166136261u; // FNV-1a
    for (size_t i = 0; i < id.n; i++)
        hash = (hash ^ (unsigned char)id.p[i]) * 16777619u;
    return hash % ENTRY_BUCKETS;
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

struct entry *entry_new(const struct rpc_to *to, enum mcp_version version,
                        const struct entry_texts *texts)
{
    size_t bytes = sizeof(struct entry) + to->id.n + texts->token.n +
                   texts->client.n + texts->uri.n;
    struct entry *entry = malloc(bytes);
    if (entry == NULL)
        return NULL;
    char *at = entry->texts;
    *entry = (struct entry){.tool.progress = texts->token.n > 0,
                            .tool.image.owner = entry,
                            .tool.image.owner_bytes = bytes,
                            .version = version,
                            .type = texts->type,
                            .bucket = bucket_of(to->id),
                            .to = *to};
    entry->to.id = copy(&at, to->id);
    entry->token = copy(&at, texts->token);
    entry->tool.client = copy(&at, texts->client);
    entry->uri = copy(&at, texts->uri);
    entry->tool.view = texts->uri.n > 0;
    return entry;
}

void entry_free(struct entries *entries, struct entry *entry,
                struct buf *output)
{
    entry_leave(entries, entry);
    entry_forget(entries, entry, output);
    tool_call_release(&entry->tool);
    offer_drop(entry->offer);
    free(entry);
}

void entry_remember(struct entries *entries, struct entry *entry)
{
    if (entry->remembered)
        return;
    entry->remembered = true;
    entry->bucket_next = entries->buckets[entry->bucket];
    entries->buckets[entry->bucket] = entry;
    entries->remembered++;
    if (entry->to.batch != NULL)
        rpc_batch_wait(entry->to.batch);
}

void entry_forget(struct entries *entries, struct entry *entry,
                  struct buf *output)
{
    struct entry **link = &entries->buckets[entry->bucket];
    if (!entry->remembered)
        return;
    entry->remembered = false;
    while (*link != entry)
        link = &(*link)->bucket_next;
    *link = entry->bucket_next;
    entries->remembered--;
    if (entry->to.batch != NULL)
        rpc_check_sent(entries->log, rpc_batch_done(entry->to.batch, output));
}

struct entry *entry_find(const struct entries *entries, struct str id)
{
    struct entry *entry = entries->buckets[bucket_of(id)];
    while (entry != NULL && !str_eq(entry->to.id, id))
        entry = entry->bucket_next;
    return entry;
}

size_t entry_bytes(const struct entry *entry)
{
    const struct tool_question *question = &entry->tool.question;

    return entry->tool.image.owner_bytes + question->message.cap +
           question->substance.cap + question->form.cap +
           question->carried.cap + question->review.cap +
           entry->tool.visit.text.cap;
}

static void enlist(struct entry **list, struct entry *entry)
{
    entry->list = list;
    entry->list_previous = NULL;
    entry->list_next = *list;
    if (*list != NULL)
        (*list)->list_previous = entry;
    *list = entry;
}

static void count_bytes(struct entries *entries, struct entry *entry)
{
    entry->asking_bytes = entry_bytes(entry);
    entries->asking_bytes += entry->asking_bytes;
}

void entry_ask(struct entries *entries, struct entry *entry)
{
    enlist(&entries->asking, entry);
    entries->asking_count++;
    count_bytes(entries, entry);
}

void entry_work(struct entries *entries, struct entry *entry)
{
    enlist(&entries->working, entry);
}

void entry_send_away(struct entries *entries, struct entry *entry)
{
    enlist(&entries->away, entry);
    entries->away_count++;
    count_bytes(entries, entry);
}

static struct entry *find_errand(struct entry *entry, uint64_t errand)
{
    while (entry != NULL && entry->errand != errand)
        entry = entry->list_next;
    return entry;
}

struct entry *entry_of_errand(const struct entries *entries, uint64_t errand)
{
    struct entry *entry = find_errand(entries->asking, errand);

    return entry != NULL ? entry : find_errand(entries->away, errand);
}

void entry_leave(struct entries *entries, struct entry *entry)
{
    if (entry->list == NULL)
        return;
    if (entry->list == &entries->asking)
        entries->asking_count--;
    if (entry->list == &entries->away)
        entries->away_count--;
    if (entry->list != &entries->working)
        entries->asking_bytes -= entry->asking_bytes;
    if (entry->list_previous == NULL)
        *entry->list = entry->list_next;
    else
        entry->list_previous->list_next = entry->list_next;
    if (entry->list_next != NULL)
        entry->list_next->list_previous = entry->list_previous;
    entry->list = NULL;
}
