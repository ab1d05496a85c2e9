/* SPDX-License-Identifier: GPL-3.0-or-later */
/* registry.c: the table of sets. */
#include "tools/registry.h"

#include "tools/sets.h"

/* Each set: its name in options, its tools, those of an editor being unknown
   here, and whether it is offered when none are chosen. */
#define SETS(ROW)                                                              \
    ROW("eval", tools_eval, true)                                              \
    ROW("session", tools_session, true)                                        \
    ROW("introspect", tools_introspect, true)                                  \
    ROW("files", tools_files, true)                                            \
    ROW("measure", tools_measure, true)                                        \
    ROW("debug", tools_debug, true)                                            \
    ROW("step", tools_step, false)                                             \
    ROW("threads", tools_threads, false)                                       \
    ROW("replay", tools_replay, false)                                         \
    ROW("emacs", NULL, true)

#define SEPARATOR ", "
#define ROW(name, tools, offered) {name, tools, offered},
#define NAME(name, tools, offered) SEPARATOR name

static const struct {
    const char *name;
    const struct tool *const *tools; /* ends with NULL; NULL: of an editor */
    bool offered;                    /* unless others are chosen */
} sets[] = {SETS(ROW)};

#define SET_COUNT (sizeof sets / sizeof *sets)

const char *registry_set_names(void)
{
    return &SETS(NAME)[sizeof SEPARATOR - 1];
}

static enum status find_set(struct str name, unsigned *set)
{
    if (str_eq(name, STR("all"))) {
        *set = REGISTRY_ALL_SETS;
        return ST_OK;
    }
    for (size_t i = 0; i < SET_COUNT; i++)
        if (str_eq(name, str_from(sets[i].name))) {
            *set = 1u << i;
            return ST_OK;
        }
    return ST_MISSING;
}

unsigned registry_default_sets(void)
{
    unsigned chosen = 0;

    for (size_t i = 0; i < SET_COUNT; i++)
        if (sets[i].offered)
            chosen |= 1u << i;
    return chosen;
}

enum status registry_read_sets(struct str names, unsigned *chosen)
{
    unsigned all = 0;

    for (size_t start = 0, end; start <= names.n; start = end + 1) {
        unsigned set;

        for (end = start; end < names.n && names.p[end] != ',';)
            end++;
        if (find_set(str_make(names.p + start, end - start), &set) != ST_OK)
            return ST_MISSING;
        all |= set;
    }
    *chosen = all;
    return ST_OK;
}

bool registry_has_editor_set(unsigned chosen)
{
    for (size_t i = 0; i < SET_COUNT; i++)
        if (!sets[i].tools && (chosen & 1u << i))
            return true;
    return false;
}

/* The tools of the Ith set when it is one of CHOSEN, else none. */
static const struct tool *const *tools_of(unsigned chosen, size_t i)
{
    static const struct tool *const none[] = {NULL};

    return (chosen & 1u << i) && sets[i].tools ? sets[i].tools : none;
}

const struct tool *registry_find(unsigned chosen, struct str name)
{
    for (size_t i = 0; i < SET_COUNT; i++)
        for (const struct tool *const *tool = tools_of(chosen, i); *tool;
             tool++)
            if (tool_has_name(*tool, name))
                return *tool;
    return NULL;
}

const struct tool *registry_at(unsigned chosen, size_t index)
{
    for (size_t i = 0; i < SET_COUNT; i++)
        for (const struct tool *const *tool = tools_of(chosen, i); *tool;
             tool++)
            if (index-- == 0)
                return *tool;
    return NULL;
}
