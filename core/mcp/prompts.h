/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prompts.h: the prompts of this server: what users start by name, in most
   clients as slash commands. A prompt is a text for the model with arguments of
   the user in it. */
#ifndef MCP_PROMPTS_H
#define MCP_PROMPTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"
#include "json/jsonw.h"

/* From what an argument can be completed. */
enum prompts_completion {
    PROMPTS_FREE,    /* it cannot */
    PROMPTS_SESSION, /* names of Lisp sessions */
    PROMPTS_PATH,    /* files of the workspace */
    PROMPTS_SYSTEM   /* systems of the workspace */
};

#define PROMPTS_ARGUMENTS 2

struct prompts_argument {
    const char *name; /* NULL after the last one */
    const char *description;
    bool required;
    enum prompts_completion completion;
};

struct prompts_entry {
    const char *name;
    const char *title;
    const char *description;
    const char *needs[3]; /* tools without which it is not shown */
    struct prompts_argument arguments[PROMPTS_ARGUMENTS + 1];

    /* "{path}" stands for the argument path. What is between "[" and "]" is
       left out when an argument in it is not given. */
    const char *text;
};

/* The prompt NAME whose tools are in SETS (registry.h); NULL: there is none. */
const struct prompts_entry *prompts_find(unsigned sets, struct str name);

/* The INDEXth of the prompts whose tools are in SETS, or NULL after the last
   one. */
const struct prompts_entry *prompts_at(unsigned sets, size_t index);

/* The index of the argument NAME of PROMPT; -1: it has none. */
int prompts_argument_index(const struct prompts_entry *prompt, struct str name);

/* Writes the member "prompts". WITH_TITLE: as resources_list. */
void prompts_list(struct jsonw *w, unsigned sets, bool with_title);

/* Appends the text of PROMPT. VALUES has one for each argument, empty for those
   that are not given. */
void prompts_write(struct buf *out, const struct prompts_entry *prompt,
                   const struct str values[PROMPTS_ARGUMENTS]);

#endif
