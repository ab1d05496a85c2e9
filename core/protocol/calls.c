/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calls.c: the calls that wait, found by the image's id (image.c keeps that
   table) and by the client's. */
#include "calls.h"

#include <stdlib.h>

#include "limits.h"
#include "utf8.h"

struct calls_entry {
    struct tool_call tool;
    struct calls_entry *next; /* in its bucket */
    size_t bucket;
    enum mcp_version version;
    bool cancelled; /* in no bucket; only its reply is waited for */
    struct rpc_to to;
    struct str token;
    int64_t progress; /* notifications so far */
    char texts[];     /* of TO's id and of the token */
};

static size_t bucket_of(struct str id)
{
    uint32_t hash = 2166136261u; // FNV-1a
    for (size_t i = 0; i < id.n; i++)
        hash = (hash ^ (unsigned char)id.p[i]) * 16777619u;
    return hash % CALLS_BUCKETS;
}

static struct calls_entry *entry_new(const struct calls_request *request)
{
    struct str id = request->to.id;
    struct str token = request->token;
    size_t bytes = sizeof(struct calls_entry) + id.n + token.n;
    struct calls_entry *entry = malloc(bytes);
    if (entry == NULL)
        return NULL;
    *entry = (struct calls_entry){.tool.tool = request->tool,
                                  .tool.progress = token.n > 0,
                                  .tool.image.owner = entry,
                                  .tool.image.owner_bytes = bytes,
                                  .bucket = bucket_of(id),
                                  .version = request->version,
                                  .to = request->to};
    memcpy(entry->texts, id.p, id.n);
    entry->to.id.p = entry->texts;
    if (token.n > 0)
        memcpy(entry->texts + id.n, token.p, token.n);
    entry->token = str_make(entry->texts + id.n, token.n);
    return entry;
}

static void entry_free(struct calls_entry *entry)
{
    tool_call_release(&entry->tool);
    free(entry);
}

static void remember(struct calls *calls, struct calls_entry *entry)
{
    entry->next = calls->buckets[entry->bucket];
    calls->buckets[entry->bucket] = entry;
    calls->waiting++;
    if (entry->to.batch != NULL)
        rpc_batch_wait(entry->to.batch);
}

/* The client gets no more about ENTRY; nor does its batch wait for it. OUTPUT
   is NULL when nothing is to be written any more. */
static void forget(struct calls *calls, struct calls_entry *entry,
                   struct buf *output)
{
    struct calls_entry **link = &calls->buckets[entry->bucket];
    while (*link != entry)
        link = &(*link)->next;
    *link = entry->next;
    calls->waiting--;
    if (entry->to.batch != NULL)
        rpc_check_sent(calls->log, rpc_batch_done(entry->to.batch, output));
}

static struct calls_entry *find_entry(const struct calls *calls, struct str id)
{
    struct calls_entry *entry = calls->buckets[bucket_of(id)];
    while (entry != NULL && !str_eq(entry->to.id, id))
        entry = entry->next;
    return entry;
}

void calls_release(struct calls *calls)
{
    struct image_call *waiting;
    while (calls->image && (waiting = image_take(calls->image)) != NULL) {
        struct calls_entry *entry = waiting->owner;
        if (!entry->cancelled)
            forget(calls, entry, NULL);
        entry_free(entry);
    }
}

enum status calls_start(struct calls *calls,
                        const struct calls_request *request)
{
    struct tool_answer answer;
    struct calls_entry *entry = entry_new(request);
    if (entry == NULL)
        return ST_NOMEM;
    enum status status = gate_start(calls->gate, request->arena, &entry->tool,
                                    request->arguments, request->values,
                                    request->now_ms, &answer);
    if (status == ST_OK && answer.state == TOOL_WAITS) {
        remember(calls, entry);
        return ST_OK;
    }
    if (status == ST_OK)
        rpc_check_sent(calls->log,
                       result_of_call(&entry->to, entry->version, &entry->tool,
                                      &answer, request->now_ms));
    entry_free(entry);
    return status;
}

void calls_cancel(struct calls *calls, struct str id)
{
    struct calls_entry *entry;
    while ((entry = find_entry(calls, id)) != NULL) {
        entry->cancelled = true;
        image_stop(calls->image, &entry->tool.image);
        forget(calls, entry, calls->output);
        log_line(calls->log, LOG_INFO, "mcp: %s is cancelled",
                 entry->tool.tool->name);
    }
}

/* A client that reads too slowly gets no more of these: what they say stands in
   the answer, too. */
static void report_progress(struct calls *calls, struct calls_entry *entry,
                            struct str text)
{
    if (entry->cancelled || entry->token.n == 0 ||
        calls->output->n >= LIMIT_OUTPUT_BACKLOG)
        return;
    entry->progress++;
    enum status status =
        result_progress(calls->output, entry->version, entry->token,
                        entry->progress, utf8_tail(text, LIMIT_PROGRESS));
    if (status != ST_OK)
        log_line(calls->log, LOG_WARN, "mcp: no memory to report progress");
}

static void answer_call(struct calls *calls, struct calls_entry *entry,
                        const struct image_reply *reply, int64_t now_ms)
{
    struct tool_answer answer = {
        .state = reply->error ? TOOL_FAILED : TOOL_ANSWERED,
        .text = reply->text,
    };
    gate_end(calls->gate, &entry->tool, &answer, now_ms);
    if (!entry->cancelled) {
        rpc_check_sent(calls->log,
                       result_of_call(&entry->to, entry->version, &entry->tool,
                                      &answer, now_ms));
        forget(calls, entry, calls->output);
    }
    entry_free(entry);
}

void calls_take_replies(struct calls *calls, int64_t now_ms)
{
    struct image_reply reply;
    while (image_next(calls->image, &reply)) {
        if (reply.running)
            report_progress(calls, reply.call->owner, reply.text);
        else
            answer_call(calls, reply.call->owner, &reply, now_ms);
    }
}
