/* SPDX-License-Identifier: GPL-3.0-or-later */
/* core.c: owns all that belongs to one connection and passes the bytes through
   it. */
#include "core/core.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/deadline.h"
#include "base/strand.h"
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

/* Work (strand.h) of each message besides that of its bytes, so that many small
   ones take several turns as well. */
#define MESSAGE (8u * 1024)

/* What the core does. */
enum doing {
    DOING_NOTHING,
    DOING_LINES,   /* of the client */
    DOING_EDITOR,  /* its lines */
    DOING_REPLIES, /* of the supervisor */
    DOING_TICK     /* what is due, and steps of calls */
};

struct core {
    struct log log;
    size_t max_message;
    struct linereader reader;
    struct arena arena; /* for the message that is being handled */
    struct buf output;

    /* All that the core does, it does in its strand. While that pauses, nothing
       else is done, and nobody sees what is written, unless it pauses between
       two messages. */
    struct strand *strand;
    enum doing doing;
    bool between;
    int64_t now_ms;             /* when it began */
    struct buf frames;          /* of the supervisor, that are being read */
    struct buf later;           /* bytes that the client sent meanwhile; */
    struct buf later_of_editor; /* the same of the editor, */
    struct buf later_of_image;  /* and of the supervisor */
    struct buf hidden;          /* empty */
    struct image image;
    struct gate gate;
    struct audit audit;
    struct metrics metrics;
    struct sessions sessions;
    struct editor editor;
    struct mcp *mcp;
    bool stopping_others; /* once no frame is half written */
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
    if (str_eq(name, str_from(policy_evaluation.name)))
        return &policy_evaluation;
    if (str_eq(name, str_from(policy_editing.name)))
        return &policy_editing;
    return registry_find(REGISTRY_ALL_SETS, name);
}

const char *core_tool_name(size_t index)
{
    const struct tool *tool = registry_at(REGISTRY_ALL_SETS, index);

    return tool ? tool->name : NULL;
}

static void do_it(void *context);

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
    gate->audit = &core->audit;
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
    unsigned sets = registry_default_sets();
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
    if (buf_reserve(&core->output, RPC_SPARE) == NULL ||
        buf_reserve(&core->frames, IDLE_STORAGE) == NULL) // common ones
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
    if (core)
        core->strand = strand_new(do_it, core);
    if (core && (!core->strand || set_up(core, config) != ST_OK)) {
        core_free(core);
        return NULL;
    }
    return core;
}

void core_free(struct core *core)
{
    if (!core)
        return;
    strand_free(core->strand); // which uses the rest
    core->arena.strand = NULL;
    mcp_free(core->mcp);
    audit_catch_up(&core->audit, core->now_ms);
    image_release(&core->image);
    audit_release(&core->audit);
    editor_release(&core->editor);
    linereader_release(&core->reader);
    arena_release(&core->arena);
    buf_release(&core->output);
    buf_release(&core->later);
    buf_release(&core->later_of_editor);
    buf_release(&core->later_of_image);
    buf_release(&core->frames);
    buf_release(&core->hidden);
    free(core);
}

static void too_large(struct core *core)
{
    struct str detail = arena_printf(
        &core->arena, "message larger than %zu bytes", core->max_message);
    mcp_unreadable(core->mcp, RPC_INVALID_REQUEST, detail);
}

/* --- What the strand does ----------------------------------------------- */

/* A message has been handled. False: the strand is stopped. */
static bool end_message(struct core *core)
{
    bool more;

    arena_release(&core->arena);
    core->between = true;
    more = strand_pause(MESSAGE);
    core->between = false;
    return more;
}

static void handle_lines(struct core *core)
{
    struct str line;
    enum status status;
    bool more = true;

    while (more &&
           (status = linereader_next(&core->reader, &line)) != ST_MISSING) {
        if (status == ST_OK)
            mcp_message(core->mcp, &core->arena, line, core->now_ms);
        else
            too_large(core);
        more = end_message(core);
    }
}

static void handle_editor(struct core *core)
{
    struct editor_message message;
    bool more = true;

    while (more &&
           editor_next(&core->editor, &core->arena, &message) == ST_OK) {
        mcp_editor(core->mcp, &core->arena, &message, core->now_ms);
        more = end_message(core);
    }
}

static void handle_replies(struct core *core)
{
    while (mcp_reply(core->mcp, core->now_ms) && end_message(core))
        continue;
}

static void do_it(void *context)
{
    struct core *core = context;

    switch (core->doing) {
    case DOING_NOTHING:
        break;
    case DOING_LINES:
        handle_lines(core);
        break;
    case DOING_EDITOR:
        handle_editor(core);
        break;
    case DOING_REPLIES:
        handle_replies(core);
        break;
    case DOING_TICK:
        mcp_tick(core->mcp, &core->arena, core->now_ms);
        break;
    }
}

/* --- The strand --------------------------------------------------------- */

static bool is_busy(const struct core *core)
{
    return core->doing != DOING_NOTHING;
}

/* Whether something in the buffers may be half written. */
static bool is_writing(const struct core *core)
{
    return is_busy(core) && !core->between;
}

/* Stops the others, if that is wanted and no frame is half written. */
static void stop_others(struct core *core)
{
    if (!core->stopping_others || is_writing(core))
        return;
    core->stopping_others = false;
    image_stop_others(&core->image);
}

static void go_on(struct core *core)
{
    if (strand_go_on(core->strand)) {
        core->arena.strand = NULL;
        arena_release(&core->arena);
        if (core->doing == DOING_REPLIES)
            buf_trim(&core->frames, IDLE_STORAGE);
        core->doing = DOING_NOTHING;
    }
    stop_others(core);
}

static void begin(struct core *core, enum doing doing, int64_t now_ms)
{
    core->doing = doing;
    core->now_ms = now_ms;
    core->arena.strand = core->strand;
    strand_restart(core->strand);
    go_on(core);
}

/* Does all that is left of what the core does. */
static void finish_it(struct core *core)
{
    while (is_busy(core))
        go_on(core);
}

/* --- What comes in ------------------------------------------------------ */

/* Once large answers are gone, gives their storage back. */
static void trim_output(struct buf *output)
{
    if (output->n > 0 || output->cap <= IDLE_STORAGE)
        return;
    buf_trim(output, IDLE_STORAGE);
    if (buf_reserve(output, RPC_SPARE) == NULL)
        output->failed = false; // the next answer tries again
}

/* Takes bytes of the client while nothing else is done. */
static void take_bytes(struct core *core, const void *p, size_t n,
                       int64_t now_ms)
{
    trim_output(&core->output);
    if (linereader_feed(&core->reader, p, n) == ST_NOMEM)
        mcp_unreadable(core->mcp, RPC_INTERNAL_ERROR, STR("out of memory"));
    begin(core, DOING_LINES, now_ms);
}

void core_feed(struct core *core, const void *p, size_t n, int64_t now_ms)
{
    if (core->finishing)
        return;
    if (is_busy(core))
        buf_append(&core->later, p, n);
    else
        take_bytes(core, p, n, now_ms);
}

static void take_editor_bytes(struct core *core, const void *p, size_t n,
                              int64_t now_ms)
{
    if (editor_feed(&core->editor, p, n) != ST_OK)
        log_line(&core->log, LOG_WARN, "editor: line lost: out of memory");
    if (editor_has_line(&core->editor))
        begin(core, DOING_EDITOR, now_ms);
}

static void take_frames(struct core *core, const void *p, size_t n,
                        int64_t now_ms)
{
    buf_append(&core->frames, p, n);
    if (buf_failed(&core->frames))
        image_lose(&core->image, STR("Replies of the Lisp image were lost: out "
                                     "of memory."));
    image_feed(&core->image, buf_view(&core->frames));
    begin(core, DOING_REPLIES, now_ms);
}

/* Takes what BUF has kept, and empties it. Of lines, what was lost breaks one,
   which is then refused. */
static void take_later(struct core *core, struct buf *buf, int64_t now_ms,
                       void (*take)(struct core *core, const void *p, size_t n,
                                    int64_t now_ms))
{
    struct buf later = *buf;

    if (is_busy(core) || later.n == 0)
        return;
    *buf = BUF_EMPTY;
    take(core, later.p, later.n, now_ms);
    buf_release(&later);
}

/* What has come while the core was busy? */
static void catch_up(struct core *core, int64_t now_ms)
{
    take_later(core, &core->later_of_image, now_ms, take_frames);
    take_later(core, &core->later_of_editor, now_ms, take_editor_bytes);
    take_later(core, &core->later, now_ms, take_bytes);
}

void core_settle(struct core *core, int64_t now_ms)
{
    do {
        finish_it(core);
        catch_up(core, now_ms);
    } while (is_busy(core));
}

bool core_wants_editor(const struct core *core)
{
    return !is_busy(core) && core->output.n < LIMIT_OUTPUT_BACKLOG;
}

bool core_wants_input(const struct core *core)
{
    return !core->finishing && core_wants_editor(core);
}

bool core_is_behind(const struct core *core)
{
    return core->output.n + core->later.n >= LIMIT_OUTPUT_BACKLOG;
}

void core_stop_others(struct core *core)
{
    core->stopping_others = true;
    stop_others(core);
}

void core_finish(struct core *core, int64_t grace_ms, int64_t now_ms)
{
    int64_t deadline_ms = now_ms + grace_ms;
    if (core->finishing && deadline_ms >= core->deadline_ms)
        return;
    core_settle(core, now_ms);
    if (!core->finishing) {
        linereader_finish(&core->reader);
        begin(core, DOING_LINES, now_ms);
        core_settle(core, now_ms);
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
    return is_busy(core) || audit_is_behind(&core->audit)
               ? now_ms
               : mcp_deadline(core->mcp, now_ms);
}

void core_catch_up(struct core *core, int64_t now_ms)
{
    if (!is_busy(core))
        audit_catch_up(&core->audit, now_ms);
}

void core_tick(struct core *core, int64_t now_ms)
{
    if (is_busy(core))
        go_on(core);
    else if (deadline_has_passed(mcp_deadline(core->mcp, now_ms), now_ms))
        begin(core, DOING_TICK, now_ms);
    catch_up(core, now_ms);
    core_catch_up(core, now_ms);
    if (!is_busy(core) && core->finishing && now_ms >= core->deadline_ms)
        mcp_stop_work(core->mcp, &core->arena, now_ms);
}

void core_note_turn(struct core *core, int64_t us, int64_t cpu_us)
{
    metrics_turn(&core->metrics, us, cpu_us);
}

/* BUF, or an empty one while something in it may be half written. */
static struct buf *shown(struct core *core, struct buf *buf)
{
    return is_writing(core) ? &core->hidden : buf;
}

struct buf *core_output(struct core *core)
{
    return shown(core, &core->output);
}

struct buf *core_image_output(struct core *core)
{
    return shown(core, &core->image.out);
}

bool core_wants_frames(const struct core *core)
{
    return !is_busy(core);
}

void core_image_feed(struct core *core, const void *p, size_t n, int64_t now_ms)
{
    if (n == 0)
        return;
    if (is_busy(core))
        buf_append(&core->later_of_image, p, n);
    else
        take_frames(core, p, n, now_ms);
}

struct str core_image_fault(const struct core *core)
{
    return image_fault(&core->image);
}

void core_image_lost(struct core *core, struct str why, int64_t now_ms)
{
    finish_it(core);
    buf_release(&core->later_of_image);
    image_lose(&core->image, why);
    mcp_replies(core->mcp, now_ms);
    image_renew(&core->image);
}

void core_editor_close(struct core *core, int64_t now_ms)
{
    if (!core->editor.connected)
        return;
    finish_it(core);
    editor_close(&core->editor);
    buf_release(&core->later_of_editor);
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
    if (!core->editor.connected)
        return;
    if (is_busy(core))
        buf_append(&core->later_of_editor, p, n);
    else
        take_editor_bytes(core, p, n, now_ms);
}

struct buf *core_editor_output(struct core *core)
{
    return shown(core, &core->editor.output);
}
