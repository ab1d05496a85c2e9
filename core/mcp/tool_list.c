/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tool_list.c: see tool_list.h. */
#include "mcp/tool_list.h"

#include "tools/registry.h"

static const struct tool *find(void *context, struct str name)
{
    const struct tool_list *list = context;

    return editor_tools_find(&list->editor_tools, name);
}

void tool_list_init(struct tool_list *list, struct gate *gate,
                    struct buf *output, const struct tool *const *more)
{
    *list = (struct tool_list){
        .gate = gate,
        .output = output,
        .editor_tools = {.log = gate->log,
                         .reserved = {REGISTRY_ALL_SETS, more}}};
    grants_follow(&gate->grants, find, list);
}

void tool_list_release(struct tool_list *list)
{
    editor_tools_release(&list->editor_tools);
    subscriptions_release(&list->subscriptions);
}

void tool_list_replace(struct tool_list *list, struct json tools)
{
    struct editor_tools_list *old = list->editor_tools.now;
    bool changed = editor_tools_at(&list->editor_tools, 0) != NULL;
    enum status status = ST_OK;

    editor_tools_hold(old); // grants point to its tools
    if (json_is_absent(tools))
        editor_tools_release(&list->editor_tools);
    else
        status = editor_tools_replace(&list->editor_tools, tools, &changed);
    grants_tools_replaced(&list->gate->grants);
    editor_tools_drop(old);
    if (status != ST_OK)
        log_line(list->gate->log, LOG_WARN,
                 "editor: tools lost: out of memory");
    if (changed &&
        subscriptions_tell(&list->subscriptions, list->output) != ST_OK)
        log_line(list->gate->log, LOG_WARN,
                 "mcp: out of memory, clients miss a change of the tools");
}
