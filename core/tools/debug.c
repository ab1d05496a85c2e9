/* SPDX-License-Identifier: GPL-3.0-or-later */
/* debug.c: the set of tools that use the stack of a frozen error, and those
   that follow an evaluation, replay one, and show threads. */
#include "tools/fields.h"
#include "tools/sets.h"

#define FIELD_ERROR                                                            \
    {                                                                          \
        .name = "error", .kind = SCHEMA_INTEGER, .min = 1, .max = INT32_MAX    \
    }
#define FIELD_FRAME                                                            \
    {                                                                          \
        .name = "frame", .kind = SCHEMA_INTEGER, .max = INT32_MAX              \
    }
#define FIELD_TIMEOUT                                                          \
    {                                                                          \
        .name = TOOL_TIMEOUT, .kind = SCHEMA_NUMBER, .max = LIMIT_TIMEOUT_MAX, \
        .hidden = true                                                         \
    }

const struct tool *const tools_debug[] = {
    &(const struct tool){
        .name = "evaluate-in-frame",
        .title = "Evaluate in frame",
        .description =
            "Evaluate code with the variables of a frame of a frozen "
            "error, in a copy.",
        .fields =
            FIELDS(FIELD_CODE, FIELD_ERROR, FIELD_FRAME,
                   {.name = "keep", .kind = SCHEMA_BOOLEAN, .hidden = true},
                   FIELD_TIMEOUT, FIELD_SESSION),
        .level = TOOL_CAUTIOUS,
        .destructive = true,
        .open_world = true,
        .evaluates = true,
        .operation = "evaluate-in-frame",
    },
    &(const struct tool){
        .name = "invoke-restart",
        .title = "Invoke restart",
        .description = "Resume a frozen error by a restart, in a copy.",
        .fields = FIELDS({.name = "restart",
                          .kind = SCHEMA_STRING,
                          .required = true,
                          .help = "Number, name, return-from-frame or "
                                  "restart-frame."},
                         FIELD_ERROR, FIELD_FRAME,
                         {.name = "code",
                          .kind = SCHEMA_CODE,
                          .help = "Gives values, in the frame."},
                         {.name = "adopt",
                          .kind = SCHEMA_BOOLEAN,
                          .help = "The outcome becomes the session."},
                         FIELD_TIMEOUT, FIELD_SESSION),
        .level = TOOL_CAUTIOUS,
        .destructive = true,
        .open_world = true,
        .evaluates = true,
        .operation = "invoke-restart",
    },
    NULL,
};

const struct tool *const tools_step[] = {
    &(const struct tool){
        .name = "step-form",
        .title = "Step form",
        .description = "Evaluate Lisp code and show how: subforms and calls of "
                       "the session's functions, with values, as a tree.",
        .fields = FIELDS(FIELD_CODE,
                         {.name = "depth",
                          .kind = SCHEMA_INTEGER,
                          .min = 1,
                          .max = LIMIT_STEP_DEPTH,
                          .help = "Levels shown; default 6."},
                         FIELD_PACKAGE, FIELD_TIMEOUT, FIELD_SESSION),
        .level = TOOL_CAUTIOUS,
        .destructive = true,
        .open_world = true,
        .evaluates = true,
        .operation = "step-form",
    },
    NULL,
};

const struct tool *const tools_threads[] = {
    &(const struct tool){
        .name = "list-threads",
        .title = "List threads",
        .description = "List the threads that code has started, or show the "
                       "backtrace of one.",
        .fields = FIELDS({.name = "thread",
                          .kind = SCHEMA_INTEGER,
                          .min = 1,
                          .max = INT32_MAX,
                          .help = "Its number in the list."},
                         FIELD_SESSION),
        .level = TOOL_SAFE,
        .reads_only = true,
        .operation = "list-threads",
    },
    &(const struct tool){
        .name = "interrupt-thread",
        .title = "Interrupt thread",
        .description = "End a thread that code has started.",
        .fields = FIELDS({.name = "thread",
                          .kind = SCHEMA_INTEGER,
                          .required = true,
                          .min = 1,
                          .max = INT32_MAX,
                          .help = "Its number, from list-threads."},
                         FIELD_SESSION),
        .level = TOOL_CAUTIOUS,
        .destructive = true,
        .operation = "interrupt-thread",
    },
    NULL,
};

const struct tool *const tools_replay[] = {
    &(const struct tool){
        .name = "replay-evaluation",
        .title = "Replay evaluation",
        .description =
            "Evaluate code again in a copy of the Lisp session as it was "
            "before that evaluation, with functions traced, places watched, or "
            "stopped at a call, which is frozen like an error. The session "
            "does not change.",
        .fields = FIELDS(
            FIELD_CODE,
            {.name = "evaluation",
             .kind = SCHEMA_INTEGER,
             .min = 1,
             .max = INT32_MAX,
             .help = "Its number; default the last one."},
            {.name = "functions",
             .kind = SCHEMA_STRING,
             .help = "Names of functions to trace."},
            {.name = "watch",
             .kind = SCHEMA_STRING,
             .help = "Variables or parts, such as *x* *y*/slot: shows who "
                     "changes them."},
            {.name = "stop",
             .kind = SCHEMA_STRING,
             .help = "Name of a function: stop before a call of it."},
            {.name = "count",
             .kind = SCHEMA_INTEGER,
             .min = 1,
             .max = INT32_MAX,
             .help = "Which call; default 1."},
            FIELD_PACKAGE, FIELD_TIMEOUT, FIELD_SESSION),
        .level = TOOL_CAUTIOUS,
        .destructive = true,
        .open_world = true,
        .evaluates = true,
        .operation = "replay-evaluation",
    },
    NULL,
};
