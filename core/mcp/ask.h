/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ask.h: what follows from what the gate says about a step of a call, and
   whom a question is put to: the editor first, then the client. The time limit
   of humans is handled here and nowhere else, in both eras: when it starts and
   ends, what happens then, and what is said about it. */
#ifndef MCP_ASK_H
#define MCP_ASK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/status.h"
#include "base/str.h"
#include "editor/editor.h"
#include "json/rpc.h"
#include "mcp/ask_again.h"
#include "mcp/pending.h"
#include "mcp/step.h"
#include "mcp/ticket.h"

struct ask {
    struct editor *editor;  /* borrowed; NULL: none will ever come */
    int64_t approval_ms;    /* how long a human may think */
    bool finished;          /* nobody can be asked any longer */
    uint64_t last_question; /* number of our newest request to the client */
    struct tickets tickets; /* for questions without such requests */
};

/* KEY: TICKET_KEY random bytes. */
void ask_init(struct ask *ask, struct editor *editor, int64_t approval_ms,
              const unsigned char *key);

/* Whether an editor is connected. */
bool ask_has_editor(const struct ask *ask);

/* Reads the STATE that a client hands back with a call that it makes again, and
   whether it does so in time: fills OUT, except for the replies. STATE may stay
   in use as long as OUT. ST_INVALID: STATE is not ours. */
enum status MUST_CHECK ask_read_state(const struct ask *ask,
                                      struct arena *arena, struct str state,
                                      int64_t now_ms, struct ask_again *out);

/* Takes the call of T, about which the gate has said STATUS, to its next state:
   the question is put, the editor is asked, the answer is sent. On ST_NOMEM,
   the gate's or its own, the caller still has to answer and to end the call.
   Otherwise T must not be used afterwards. */
enum status MUST_CHECK ask_go_on(struct ask *ask, struct step *t,
                                 enum status status);

/* The same where no caller can answer: on ST_NOMEM, too, the call is answered
   and ended. */
void ask_go_on_alone(struct ask *ask, struct step *t, enum status status);

/* The call whose question to the client has this id, JSON text, or NULL. */
struct pending *ask_find(const struct pending_table *table, struct str id);

/* The client's response to the question of T. */
void ask_answer(struct ask *ask, struct step *t,
                const struct rpc_message *response);

/* Withdraws the question of T from the client, or its request from the editor,
   because of WHY. Nothing happens when there is neither. */
void ask_withdraw(struct ask *ask, const struct step *t, struct str why);

/* When ask_tick has something to do for PENDING; DEADLINE_NEVER: nothing. */
int64_t ask_deadline(const struct pending *pending);

/* Does what is due for a call that waits for a human or the editor: ends what
   took too long, and tells the client that a human still thinks. */
void ask_tick(struct ask *ask, struct step *t);

/* The human works on the question of T, which is with the editor: the time
   limit starts anew, for LIMIT_APPROVAL_WORK_MS at most. The editor hears what
   is left, and the client that somebody works. */
void ask_prolong(struct ask *ask, struct step *t);

/* The client says no more: from now on nobody is asked. */
void ask_finish(struct ask *ask);

/* Refuses the call of T, which asks or reads a buffer, because of that. */
void ask_refuse(struct ask *ask, struct step *t);

#endif
