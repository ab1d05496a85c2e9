/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tool_list.c: see tool_list.h. */
#include "mcp/tool_list.h"

#include "tools/registry.h"

static const struct tool *find(void *context, struct str name)
{
    const struct lent *lent = context;

    return offers_find(&lent->offers, name);
}

void lent_init(struct lent *lent, struct gate *gate, struct buf *output,
               const struct tool *const *more)
{
    *lent = (struct lent){
        .gate = gate,
        .output = output,
        .offers = {.log = gate->log, .taken = {REGISTRY_ALL_SETS, more}}};
    gate->find_lent = find;
    gate->lent_context = lent;
}

void lent_release(struct lent *lent)
{
    offers_release(&lent->offers);
    listening_release(&lent->listening);
}

void lent_replace(struct lent *lent, struct json tools)
{
    struct offer *old = lent->offers.now;
    bool changed = offers_at(&lent->offers, 0) != NULL;
    enum status status = ST_OK;

    offer_hold(old); // grants are about its tools
    if (json_is_absent(tools))
        offers_release(&lent->offers);
    else
        status = offers_take(&lent->offers, tools, &changed);
    gate_replace_lent(lent->gate);
    offer_drop(old);
    if (status != ST_OK)
        log_line(lent->gate->log, LOG_WARN, "editor: no memory for its tools");
    if (changed && listening_tell(&lent->listening, lent->output) != ST_OK)
        log_line(lent->gate->log, LOG_WARN,
                 "mcp: no memory to say that there are other tools");
}
