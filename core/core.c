/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core.c: owns all that belongs to one connection and passes the bytes through
   it. */
#include "core/core.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "editor/editor.h"
#include "gate/audit.h"
#include "gate/gate.h"
#include "gate/metrics.h"
#include "gate/sessions.h"
#include "json/linereader.h"
#include "json/rpc.h"
#include "mcp/mcp.h"
#include "tools/registry.h"
#include "wire/image.h"

/* Bytes of storage that the idle output holds on to: what common answers
   need. */
#define IDLE_STORAGE (64u * 1024)

struct core {
    struct log log;
    size_t max_message;
    struct linereader reader;
    struct arena arena; /* for the message that is being handled */
    struct buf output;
    struct image image;
    struct gate gate;
    struct audit audit;
    struct metrics metrics;
    struct sessions sessions;
    struct editor editor;
    struct mcp *mcp;
    bool finishing;
    int64_t deadline_ms; /* when calls are stopped, while finishing */
};

const char *core_tool_sets(void)
{
    return registry_set_names();
}

bool core_has_tool_sets(const char *names)
{
    unsigned sets;
    return registry_read_sets(str_from(names), &sets) == ST_OK;
}

const struct tool *core_find_tool(struct str name)
{
    return registry_find(REGISTRY_ALL_SETS, name);
}

const char *core_tool_name(size_t index)
{
    const struct tool *tool = registry_at(REGISTRY_ALL_SETS, index);

    return tool ? tool->name : NULL;
}

/* The hooks, which the gate calls for each call. */
static enum status add_hooks(struct core *core,
                             const struct core_config *config)
{
    struct gate *gate = &core->gate;
    enum status status = gate_add_hook(gate, metrics_event, &core->metrics);

    sessions_init(&core->sessions);
    if (status == ST_OK)
        status = gate_add_hook(gate, sessions_event, &core->sessions);
    if (status == ST_OK)
        status = gate_add_hook(gate, editor_event, &core->editor);
    audit_init(&core->audit, &core->log, &config->audit);
    if (status == ST_OK && config->audit.append)
        status = gate_add_hook(gate, audit_event, &core->audit);
    return status;
}

static struct tool_limits limits_of(const struct core_config *config)
{
    bool known = config->memory > 0 || config->attached;

    return (struct tool_limits){
        .max_output =
            config->max_output > 0 ? config->max_output : LIMIT_OUTPUT,
        .timeout_ms = LIMIT_TIMEOUT_MS,
        .memory = (int64_t)(known ? config->memory : LIMIT_HEAP)};
}

/* Fills CORE, which is zeroed. core_free releases it, also after a failure. */
static enum status set_up(struct core *core, const struct core_config *config)
{
    unsigned sets = REGISTRY_ALL_SETS;
    if (config->tools &&
        registry_read_sets(str_from(config->tools), &sets) != ST_OK)
        return ST_INVALID;
    core->log = config->log;
    core->max_message =
        config->max_message > 0 ? config->max_message : LIMIT_MESSAGE;
    linereader_init(&core->reader, core->max_message);
    image_init(&core->image, &core->log);
    const struct editor_about about = {
        .pid = config->pid,
        .workspace = config->files ? config->files->root : NULL,
        .attached = config->attached};
    editor_init(&core->editor, &core->log, &about);
    struct tool_limits limits = limits_of(config);
    gate_init(&core->gate, &core->log, &core->image, &limits);
    core->gate.files = config->files;
    core->gate.policy = config->policy;
    core->gate.notices = config->notices;
    if (add_hooks(core, config) != ST_OK)
        return ST_LIMIT;
    if (buf_reserve(&core->output, RPC_SPARE) == NULL)
        return ST_NOMEM;
    struct mcp_config mcp = {
        .log = &core->log,
        .gate = &core->gate,
        .image = &core->image,
        .output = &core->output,
        .tools = {.sets = sets, .more = config->more_tools},
        .metrics = &core->metrics,
        .resources = {.sessions = &core->sessions,
                      .sets = sets,
                      .more = config->more_resources},
        .key = config->key,
        .editor = &core->editor,
        .editor_comes = config->editor,
        .approval_ms =
            config->approval_ms > 0 ? config->approval_ms : LIMIT_APPROVAL_MS};
    core->mcp = mcp_new(&mcp);
    return !core->mcp ? ST_NOMEM : ST_OK;
}

struct core *core_new(const struct core_config *config)
{
    struct core *core = calloc(1, sizeof *core);
    if (core && set_up(core, config) != ST_OK) {
        core_free(core);
        return NULL;
    }
    return core;
}

void core_free(struct core *core)
{
    if (!core)
        return;
    mcp_free(core->mcp);
    image_release(&core->image);
    audit_release(&core->audit);
    editor_release(&core->editor);
    linereader_release(&core->reader);
    arena_release(&core->arena);
    buf_release(&core->output);
    free(core);
}

static void too_large(struct core *core)
{
    struct str detail = arena_printf(
        &core->arena, "message larger than %zu bytes", core->max_message);
    mcp_unreadable(core->mcp, RPC_INVALID_REQUEST, detail);
}

static void handle_lines(struct core *core, int64_t now_ms)
{
    for (;;) {
        struct str line;
        enum status status = linereader_next(&core->reader, &line);
        if (status == ST_MISSING)
            return;
        if (status == ST_LIMIT)
            too_large(core);
        else
            mcp_message(core->mcp, &core->arena, line, now_ms);
        arena_release(&core->arena);
    }
}

/* Once large answers are gone, gives their storage back. */
static void trim_output(struct buf *output)
{
    if (output->n > 0 || output->cap <= IDLE_STORAGE)
        return;
    buf_trim(output, IDLE_STORAGE);
    if (buf_reserve(output, RPC_SPARE) == NULL)
        output->failed = false; // the next answer tries again
}

void core_feed(struct core *core, const void *p, size_t n, int64_t now_ms)
{
    if (core->finishing)
        return;
    trim_output(&core->output);
    enum status status = linereader_feed(&core->reader, p, n);
    handle_lines(core, now_ms);
    if (status == ST_NOMEM)
        mcp_unreadable(core->mcp, RPC_INTERNAL_ERROR, STR("out of memory"));
}

bool core_wants_input(const struct core *core)
{
    return !core->finishing && core->output.n < LIMIT_OUTPUT_BACKLOG;
}

void core_stop_others(struct core *core)
{
    image_stop_others(&core->image);
}

void core_finish(struct core *core, int64_t grace_ms, int64_t now_ms)
{
    int64_t deadline_ms = now_ms + grace_ms;
    if (core->finishing && deadline_ms >= core->deadline_ms)
        return;
    if (!core->finishing) {
        linereader_finish(&core->reader);
        handle_lines(core, now_ms);
        mcp_finish(core->mcp, &core->arena, now_ms);
    }
    core->finishing = true;
    core->deadline_ms = deadline_ms;
    log_line(&core->log, LOG_DEBUG,
             "core: finishing within %" PRId64 " ms, %zu calls pending",
             grace_ms, mcp_waiting(core->mcp));
    image_finish(&core->image, grace_ms);
}

bool core_is_idle(const struct core *core)
{
    return core->finishing && mcp_waiting(core->mcp) == 0;
}

int64_t core_deadline(const struct core *core, int64_t now_ms)
{
    return mcp_deadline(core->mcp, now_ms);
}

void core_tick(struct core *core, int64_t now_ms)
{
    mcp_tick(core->mcp, &core->arena, now_ms);
    if (core->finishing && now_ms >= core->deadline_ms)
        mcp_stop_work(core->mcp, &core->arena, now_ms);
}

struct buf *core_output(struct core *core)
{
    return &core->output;
}

struct buf *core_image_output(struct core *core)
{
    return &core->image.out;
}

void core_image_feed(struct core *core, const void *p, size_t n, int64_t now_ms)
{
    image_feed(&core->image, str_make(p, n));
    mcp_replies(core->mcp, now_ms);
}

struct str core_image_fault(const struct core *core)
{
    return image_fault(&core->image);
}

void core_image_lost(struct core *core, struct str why, int64_t now_ms)
{
    image_lose(&core->image, why);
    mcp_replies(core->mcp, now_ms);
    image_renew(&core->image);
}

void core_editor_close(struct core *core, int64_t now_ms)
{
    if (!core->editor.connected)
        return;
    editor_close(&core->editor);
    mcp_editor_gone(core->mcp, &core->arena, now_ms);
}

void core_editor_open(struct core *core, int64_t now_ms)
{
    core_editor_close(core, now_ms);
    editor_open(&core->editor);
}

void core_editor_feed(struct core *core, const void *p, size_t n,
                      int64_t now_ms)
{
    struct editor_message message;
    enum status status = ST_OK;

    if (!core->editor.connected)
        return;
    if (editor_feed(&core->editor, p, n) != ST_OK)
        log_line(&core->log, LOG_WARN, "editor: line lost: out of memory");
    while (status != ST_MISSING) {
        status = editor_next(&core->editor, &core->arena, &message);
        if (status == ST_OK)
            mcp_editor(core->mcp, &core->arena, &message, now_ms);
        arena_release(&core->arena);
    }
}

struct buf *core_editor_output(struct core *core)
{
    return &core->editor.output;
}
