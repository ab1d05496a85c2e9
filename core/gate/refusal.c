/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refusal.c: see refusal.h. */
#include "gate/refusal.h"

#include "base/limits.h"

struct str refusal_no_approver(struct arena *arena, const struct tool *tool,
                               struct str because, bool by_rule)
{
    return arena_printf(arena,
                        "%s was not run: %.*s needs an approval, but this "
                        "client cannot ask its user. Use a client with MCP "
                        "elicitation, or have the user %s%s%srun M-x ecl-mcp "
                        "in Emacs.",
                        tool->name, STR_ARG(because),
                        by_rule ? "" : "start ecl-mcp with --allow ",
                        by_rule ? "" : tool->name, by_rule ? "" : " or ");
}

struct str refusal_no_editor(struct arena *arena, const struct tool *tool)
{
    return arena_printf(arena,
                        "%s was not run: it needs an approval, but the user's "
                        "editor did not receive the question "
                        "within %d s, and this client cannot ask its user. "
                        "Try again when the editor responds.",
                        tool->name, LIMIT_EDITOR_RECEIVE_MS / 1000);
}

struct str refusal_rule(struct arena *arena, const struct tool *tool,
                        struct str rule)
{
    return arena_printf(arena,
                        "%s was not run: the user's rule \"%.*s\" denies it, "
                        "and no approval can change that.",
                        tool->name, STR_ARG(rule));
}

struct str refusal_fault(struct arena *arena, const struct tool *tool,
                         struct str fault)
{
    return arena_printf(arena,
                        "%s was not run: the user's rules cannot be trusted, "
                        "so only safe tools run, and nobody is asked for an "
                        "approval: %.*s. The user has to fix them and restart "
                        "ecl-mcp.",
                        tool->name, STR_ARG(fault));
}

struct str refusal_size(struct arena *arena, const struct tool *tool)
{
    return arena_printf(arena,
                        "%s was not run: the user would have to review more "
                        "than %u bytes, the limit. Do it in smaller steps.",
                        tool->name, LIMIT_QUESTION);
}

struct str refusal_buffer(struct arena *arena, const struct tool *tool,
                          size_t n)
{
    return arena_printf(arena,
                        "%s was not run: the user's editor has a buffer of the "
                        "file with %zu bytes; the limit for a review in a "
                        "buffer is %u. The user has to close the buffer first.",
                        tool->name, n, LIMIT_EDITOR_TEXT);
}

struct str refusal_arguments(struct arena *arena, const struct tool *tool,
                             struct str problem)
{
    return arena_printf(
        arena,
        "%s was not run: the user approved it with other arguments, but %.*s.",
        tool->name, STR_ARG(problem));
}

struct str refusal_no_decision(struct arena *arena,
                               const struct tool_call *call, struct str why)
{
    const char *state = tool_buffer_bytes(call) > 0 || call->buffer.exists
                            ? "The file was not written; the editor may have "
                              "changed its buffer."
                            : "Nothing was changed.";

    return arena_printf(arena, "%s was not run: there is no approval: %.*s. %s",
                        call->tool->name, STR_ARG(why), state);
}

struct str refusal_denied(struct arena *arena,
                          const struct approval_decision *decision)
{
    bool stopped = decision->consent == APPROVAL_STOPPED;
    struct str reason = decision->reason;

    return arena_printf(
        arena, "%s%s%.*s%s",
        stopped ? "The user stopped the run" : "User denied tool execution",
        reason.n > 0 ? ": " : "", STR_ARG(reason),
        stopped ? ".\nMake no further calls; wait for the user." : "");
}

struct str refusal_no_form(struct arena *arena, const struct tool *tool)
{
    return arena_printf(arena,
                        "%s has a question, but this client cannot ask its "
                        "user. Use a client with MCP elicitation.",
                        tool->name);
}

struct str refusal_no_reply(struct arena *arena, const struct tool *tool,
                            struct str why)
{
    return arena_printf(arena, "%s got no answer to its question: %.*s.",
                        tool->name, STR_ARG(why));
}

struct str refusal_busy(struct arena *arena)
{
    return arena_printf(arena,
                        "Too many calls are waiting: the limit is %d calls and "
                        "%u bytes of arguments. Wait for an answer, then try "
                        "again.",
                        LIMIT_PENDING_CALLS, LIMIT_PENDING_BYTES);
}

struct str refusal_stale(struct arena *arena, const struct tool *tool)
{
    return arena_printf(arena,
                        "%s was not run: what it would do is no longer what "
                        "the user was asked about. Nothing was changed; make "
                        "the call again.",
                        tool->name);
}
