/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gate.h: the only place that decides whether a call runs, and the only one
   that runs it. In this order: a deny rule, an ask rule, an allow rule, a
   session grant, the level. */
#ifndef GATE_GATE_H
#define GATE_GATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/status.h"
#include "base/str.h"
#include "gate/schema.h"
#include "gate/tool.h"
#include "json/json.h"
#include "wire/image.h"

/* What a hook is told. Every call ends with exactly one of GATE_AFTER and
   GATE_ERROR, but for one that asked and was given up for being made again; a
   call that is refused has no GATE_BEFORE. */
enum gate_phase {
    GATE_BEFORE, /* it is going to run */
    GATE_AFTER,  /* it succeeded */
    GATE_ERROR   /* it failed, was refused or was cancelled */
};

struct gate_event {
    enum gate_phase phase;
    const struct tool_call *call;
    struct str arguments; /* JSON text, as they ran or were refused */
    struct str text;      /* the answer; empty for GATE_BEFORE */
    int64_t now_ms;
};

typedef void gate_hook(void *context, const struct gate_event *event);

#define GATE_HOOKS 4

struct policy;

struct gate {
    const struct log *log; /* borrowed, as are the next three */
    struct image *image;
    const struct files *files;   /* NULL: none */
    const struct policy *policy; /* NULL: no rules */
    struct seen seen;            /* files that the model knows */
    struct tool_limits limits;   /* changed by configure-limits */
    struct {
        gate_hook *hook;
        void *context;
    } hooks[GATE_HOOKS];
    size_t hook_count;
    const struct tool *grants[LIMIT_GRANTS]; /* run without being asked for */
    size_t grant_count;
    const struct tool *(*find_editor_tool)(void *context, struct str name);
    void *editor_tools_context; /* borrowed; the tool of an editor that has this
                           name now, or NULL */
};

void gate_init(struct gate *gate, const struct log *log, struct image *image,
               const struct tool_limits *limits);

/* HOOK sees every call from now on. ST_LIMIT when there are GATE_HOOKS. */
enum status MUST_CHECK gate_add_hook(struct gate *gate, gate_hook *hook,
                                     void *context);

/* TOOL runs without being asked for from now on, unless a rule says otherwise.
   ST_LIMIT when there are LIMIT_GRANTS. */
enum status MUST_CHECK gate_grant(struct gate *gate, const struct tool *tool);

/* It is asked for again. */
void gate_revoke(struct gate *gate, const struct tool *tool);

/* The tools of the editor are others now, though their names may be the same:
   grants follow the names. */
void gate_editor_tools_replaced(struct gate *gate);

bool gate_has_grant(const struct gate *gate, const struct tool *tool);

/* The text of ARGUMENTS, an object or absent, as calls keep it. */
struct str gate_arguments(struct json arguments);

/* One step of a call: what it works with, set by the caller, and what came out
   of it. */
struct gate_step {
    struct gate *gate;
    struct arena *arena; /* the answer may live in it */
    struct tool_call *call;
    int64_t now_ms;
    struct tool_answer answer;
    struct json arguments; /* private, as is the next */
    const struct schema_value *values;
};

/* Decides about the call, whose caller's members are set, and runs it if it may
   run. ARGUMENTS (an object or absent) have been checked and gave VALUES. The
   state of the answer says how it goes on; unless the call is over, it must
   stay where it is:
   TOOL_WAITS     the image answers: gate_end;
   TOOL_WORKS     gate_work until the state is another;
   TOOL_LOOKS     the editor is to be asked for the text of the file whose
                  absolute path the answer has as its text: gate_look;
   TOOL_ASKS      call->question is to be put to a human: gate_decide, or, from
                  an editor, gate_decide_there; or, when the client is going to
                  make the call again, nothing;
   TOOL_IN_EDITOR      the editor does it: gate_end;
   else           it is over, the text is the answer.
   ST_NOMEM: nothing runs, the call is over. In any case the caller ends with
   tool_call_release, when it needs the answer no more. */
enum status MUST_CHECK gate_start(struct gate_step *step, struct json arguments,
                                  const struct schema_value *values);

/* The human's answer to a call that asked. REPLY is an object with "action" and
   "content" as MCP's elicitation has it, the content being that of the form
   (approval.h); absent when there is none, and then WHY says so ("nobody
   answered within 300 s"). Goes on as gate_start. */
enum status MUST_CHECK gate_decide(struct gate_step *step, struct json reply,
                                   struct str why);

/* The same, when an editor was asked: RESULT is that of "approve". */
enum status MUST_CHECK gate_decide_there(struct gate_step *step,
                                         struct json result);

/* What the editor says about the file that it was asked for: RESULT is that of
   "text"; null or absent when it has no buffer of it. Goes on as gate_start. */
enum status MUST_CHECK gate_look(struct gate_step *step, struct json result);

/* The editor does not receive what it is asked for a call that looks or asks:
   the call goes on as gate_start, as if there were none. */
enum status MUST_CHECK gate_without_editor(struct gate_step *step);

/* A call that asked is not what the human was shown any more; it is over. */
enum status MUST_CHECK gate_stale(struct gate_step *step);

/* One step of a call that works; goes on as gate_start. */
enum status MUST_CHECK gate_work(struct gate_step *step);

/* A call is over that has not said so itself: one that was waiting has the
   answer that STEP has, one that worked was stopped. The text becomes what the
   client is to read, and lives as long as it did and the call. */
void gate_end(struct gate_step *step);

#endif
