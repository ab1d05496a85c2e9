/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refusal.c: see refusal.h. */
#include "gate/refusal.h"

#include "base/limits.h"

struct str refusal_no_approver(struct arena *arena, const struct tool *tool,
                               struct str because)
{
    return arena_printf(arena,
                        "%s was not run: %.*s needs an approval, but this "
                        "client cannot ask its user. Use a client with MCP "
                        "elicitation, or let the user start ecl-mcp with "
                        "--allow %s, or M-x ecl-mcp in Emacs.",
                        tool->name, STR_ARG(because), tool->name);
}

struct str refusal_no_editor(struct arena *arena, const struct tool *tool)
{
    return arena_printf(arena,
                        "%s was not run: it needs an approval, but the "
                        "editor of the user did not receive the question "
                        "within %d s, and this client cannot ask its user. "
                        "Try again when the editor answers.",
                        tool->name, LIMIT_EDITOR_RECEIVE_MS / 1000);
}

struct str refusal_rule(struct arena *arena, const struct tool *tool,
                        struct str rule)
{
    return arena_printf(arena,
                        "%s was not run: the rule \"%.*s\" of the user denies "
                        "it, and no approval changes that.",
                        tool->name, STR_ARG(rule));
}

struct str refusal_fault(struct arena *arena, const struct tool *tool,
                         struct str fault)
{
    return arena_printf(arena,
                        "%s was not run: the rules of the user cannot be "
                        "trusted, so that no approval is asked for: %.*s. The "
                        "user has to mend them and restart ecl-mcp.",
                        tool->name, STR_ARG(fault));
}

struct str refusal_size(struct arena *arena, const struct tool *tool, size_t n)
{
    return arena_printf(arena,
                        "%s was not run: what the user would have to look "
                        "through for an approval has %zu bytes, the limit is "
                        "%u. Do it in smaller steps.",
                        tool->name, n, LIMIT_QUESTION);
}

struct str refusal_buffer(struct arena *arena, const struct tool *tool,
                          size_t n)
{
    return arena_printf(arena,
                        "%s was not run: the editor of the user has a buffer "
                        "of the file with %zu bytes; the limit for a review "
                        "there is %u. The user has to close the buffer first.",
                        tool->name, n, LIMIT_EDITOR_TEXT);
}

struct str refusal_arguments(struct arena *arena, const struct tool *tool,
                             struct str problem)
{
    return arena_printf(arena,
                        "%s was not run: the user gave the approval with other "
                        "arguments, but %.*s.",
                        tool->name, STR_ARG(problem));
}

struct str refusal_no_decision(struct arena *arena,
                               const struct tool_call *call, struct str why)
{
    const char *state = call->visit.visited
                            ? "The file was not written; its buffer is the "
                              "editor's."
                            : "Nothing was changed.";

    return arena_printf(arena, "%s was not run: there is no approval: %.*s. %s",
                        call->tool->name, STR_ARG(why), state);
}

struct str refusal_stale(struct arena *arena, const struct tool *tool)
{
    return arena_printf(arena,
                        "%s was not run: what it would do is no longer what "
                        "the user was asked about. Nothing was changed; make "
                        "the call again.",
                        tool->name);
}
