/* SPDX-License-Identifier: GPL-3.0-or-later */
/* session.c: owns everything that belongs to one connection and leads the
   bytes through it. */
#include "session.h"

#include <inttypes.h>
#include <stdlib.h>

#include "arena.h"
#include "audit.h"
#include "editor.h"
#include "frame.h"
#include "gate.h"
#include "image.h"
#include "mcp.h"
#include "metrics.h"
#include "registry.h"
#include "roster.h"
#include "rpc.h"

/* Storage that the idle output keeps: what common answers need. */
#define KEPT (64u * 1024)

struct session {
    struct log log;
    size_t max_message;
    struct frame frame;
    struct arena arena; /* of the message that is handled */
    struct buf output;
    struct image image;
    struct gate gate;
    struct audit audit;
    struct metrics metrics;
    struct roster roster;
    struct editor editor;
    struct mcp *mcp;
    bool finishing;
    int64_t deadline_ms; /* when calls are stopped, while finishing */
};

const char *session_tool_sets(void)
{
    return registry_set_names();
}

bool session_has_tool_sets(const char *names)
{
    unsigned sets;
    return registry_read_sets(str_from(names), &sets) == ST_OK;
}

const struct tool *session_find_tool(struct str name)
{
    return registry_find(REGISTRY_ALL_SETS, name);
}

const char *session_tool_name(size_t index)
{
    const struct tool *tool = registry_at(REGISTRY_ALL_SETS, index);

    return tool != NULL ? tool->name : NULL;
}

/* Who is told of each call. */
static enum status add_hooks(struct session *session,
                             const struct session_config *config)
{
    struct gate *gate = &session->gate;
    enum status status = gate_add_hook(gate, metrics_event, &session->metrics);

    roster_init(&session->roster);
    if (status == ST_OK)
        status = gate_add_hook(gate, roster_event, &session->roster);
    if (status == ST_OK)
        status = gate_add_hook(gate, editor_event, &session->editor);
    audit_init(&session->audit, &session->log, &config->audit);
    if (status == ST_OK && config->audit.append != NULL)
        status = gate_add_hook(gate, audit_event, &session->audit);
    return status;
}

/* Fills SESSION, which is zeroed; session_free undoes it however far it
   got. */
static enum status set_up(struct session *session,
                          const struct session_config *config)
{
    unsigned sets = REGISTRY_ALL_SETS;
    if (config->tools != NULL &&
        registry_read_sets(str_from(config->tools), &sets) != ST_OK)
        return ST_INVALID;
    session->log = config->log;
    session->max_message =
        config->max_message > 0 ? config->max_message : LIMIT_MESSAGE;
    frame_init(&session->frame, session->max_message);
    image_init(&session->image, &session->log);
    const struct editor_about about = {
        .pid = config->pid,
        .workspace = config->files != NULL ? config->files->root : NULL,
        .attached = config->attached};
    editor_init(&session->editor, &session->log, &about);
    struct tool_limits limits = {
        .max_output =
            config->max_output > 0 ? config->max_output : LIMIT_OUTPUT,
        .timeout_ms = LIMIT_TIMEOUT_MS,
        .memory =
            (int64_t)(config->memory > 0 || config->attached ? config->memory
                                                             : LIMIT_HEAP),
    };
    gate_init(&session->gate, &session->log, &session->image, &limits);
    session->gate.files = config->files;
    session->gate.policy = config->policy;
    if (add_hooks(session, config) != ST_OK)
        return ST_LIMIT;
    if (buf_reserve(&session->output, RPC_SPARE) == NULL)
        return ST_NOMEM;
    struct mcp_config mcp = {
        .log = &session->log,
        .gate = &session->gate,
        .image = &session->image,
        .output = &session->output,
        .tools = {.sets = sets, .more = config->more_tools},
        .metrics = &session->metrics,
        .resources = {.roster = &session->roster,
                      .sets = sets,
                      .more = config->more_resources},
        .key = config->key,
        .editor = &session->editor,
        .editor_comes = config->editor,
        .approval_ms =
            config->approval_ms > 0 ? config->approval_ms : LIMIT_APPROVAL_MS};
    session->mcp = mcp_new(&mcp);
    return session->mcp == NULL ? ST_NOMEM : ST_OK;
}

struct session *session_new(const struct session_config *config)
{
    struct session *session = calloc(1, sizeof *session);
    if (session != NULL && set_up(session, config) != ST_OK) {
        session_free(session);
        return NULL;
    }
    return session;
}

void session_free(struct session *session)
{
    if (session == NULL)
        return;
    mcp_free(session->mcp);
    image_release(&session->image);
    audit_release(&session->audit);
    editor_release(&session->editor);
    frame_release(&session->frame);
    arena_release(&session->arena);
    buf_release(&session->output);
    free(session);
}

static void too_large(struct session *session)
{
    struct str detail = arena_printf(
        &session->arena, "message larger than %zu bytes", session->max_message);
    mcp_unreadable(session->mcp, RPC_INVALID_REQUEST, detail);
}

static void handle_lines(struct session *session, int64_t now_ms)
{
    for (;;) {
        struct str line;
        enum status status = frame_next(&session->frame, &line);
        if (status == ST_MISSING)
            return;
        if (status == ST_LIMIT)
            too_large(session);
        else
            mcp_message(session->mcp, &session->arena, line, now_ms);
        arena_release(&session->arena);
    }
}

/* Gives the storage of large answers back when they are gone. */
static void trim_output(struct buf *output)
{
    if (output->n > 0 || output->cap <= KEPT)
        return;
    buf_trim(output, KEPT);
    if (buf_reserve(output, RPC_SPARE) == NULL)
        output->failed = false; // the next answer tries again
}

void session_feed(struct session *session, const void *p, size_t n,
                  int64_t now_ms)
{
    if (session->finishing)
        return;
    trim_output(&session->output);
    enum status status = frame_feed(&session->frame, p, n);
    handle_lines(session, now_ms);
    if (status == ST_NOMEM)
        mcp_unreadable(session->mcp, RPC_INTERNAL_ERROR, STR("out of memory"));
}

bool session_wants_input(const struct session *session)
{
    return !session->finishing && session->output.n < LIMIT_OUTPUT_BACKLOG;
}

void session_stop_others(struct session *session)
{
    image_stop_others(&session->image);
}

void session_finish(struct session *session, int64_t grace_ms, int64_t now_ms)
{
    int64_t deadline_ms = now_ms + grace_ms;
    if (session->finishing && deadline_ms >= session->deadline_ms)
        return;
    if (!session->finishing) {
        frame_finish(&session->frame);
        handle_lines(session, now_ms);
        mcp_finish(session->mcp, &session->arena, now_ms);
    }
    session->finishing = true;
    session->deadline_ms = deadline_ms;
    log_line(&session->log, LOG_DEBUG,
             "session: ends within %" PRId64 " ms, %zu calls wait", grace_ms,
             mcp_waiting(session->mcp));
    image_finish(&session->image, grace_ms);
}

bool session_is_idle(const struct session *session)
{
    return session->finishing && mcp_waiting(session->mcp) == 0;
}

int64_t session_deadline(const struct session *session, int64_t now_ms)
{
    return mcp_deadline(session->mcp, now_ms);
}

void session_tick(struct session *session, int64_t now_ms)
{
    mcp_tick(session->mcp, &session->arena, now_ms);
    if (session->finishing && now_ms >= session->deadline_ms)
        mcp_stop_work(session->mcp, &session->arena, now_ms);
}

struct buf *session_output(struct session *session)
{
    return &session->output;
}

struct buf *session_image_output(struct session *session)
{
    return &session->image.out;
}

void session_image_feed(struct session *session, const void *p, size_t n,
                        int64_t now_ms)
{
    image_feed(&session->image, str_make(p, n));
    mcp_replies(session->mcp, now_ms);
}

struct str session_image_fault(const struct session *session)
{
    return image_fault(&session->image);
}

void session_image_lost(struct session *session, struct str why, int64_t now_ms)
{
    image_lose(&session->image, why);
    mcp_replies(session->mcp, now_ms);
    image_renew(&session->image);
}

void session_editor_close(struct session *session, int64_t now_ms)
{
    if (!session->editor.there)
        return;
    editor_close(&session->editor);
    mcp_editor_gone(session->mcp, &session->arena, now_ms);
}

void session_editor_open(struct session *session, int64_t now_ms)
{
    session_editor_close(session, now_ms);
    editor_open(&session->editor);
}

void session_editor_feed(struct session *session, const void *p, size_t n,
                         int64_t now_ms)
{
    struct editor_message message;
    enum status status = ST_OK;

    if (!session->editor.there)
        return;
    if (editor_feed(&session->editor, p, n) != ST_OK)
        log_line(&session->log, LOG_WARN, "editor: out of memory");
    while (status != ST_MISSING) {
        status = editor_next(&session->editor, &session->arena, &message);
        if (status == ST_OK)
            mcp_editor(session->mcp, &session->arena, &message, now_ms);
        arena_release(&session->arena);
    }
}

struct buf *session_editor_output(struct session *session)
{
    return &session->editor.output;
}
