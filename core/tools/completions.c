/* SPDX-License-Identifier: GPL-3.0-or-later */
/* completions.c: calls that complete what a user types. They pass the gate
   under the rules of the nearest tool. Their answers are results of
   completion/complete. */
#include "base/limits.h"
#include "base/utf8.h"
#include "gate/place.h"
#include "json/jsonw.h"
#include "tools/sets.h"

enum { FOLDER, TYPED };

static const struct schema_field fields[] = {
    [FOLDER] = {.name = "path", .kind = SCHEMA_PATH, .fallback = "\".\""},
    [TYPED] = {.name = "typed", .kind = SCHEMA_STRING, .required = true},
    {0},
};

/* The values that are found. */
struct found {
    struct buf out;
    struct jsonw json;
    size_t count; /* those that LIMIT_COMPLETIONS left out, too */
    bool more;    /* and others may exist */
};

static void found_begin(struct found *found)
{
    *found = (struct found){.out = BUF_EMPTY};
    jsonw_init(&found->json, &found->out);
    jsonw_object(&found->json);
    jsonw_name(&found->json, "values");
    jsonw_array(&found->json);
}

/* HEAD, NAME and TAIL together are a value. */
static void found_add(struct found *found, struct str head, struct str name,
                      const char *tail)
{
    struct buf value = BUF_EMPTY;

    if (found->count++ >= LIMIT_COMPLETIONS)
        return;
    buf_str(&value, head);
    buf_str(&value, name);
    buf_str(&value, str_from(tail));
    if (buf_failed(&value))
        found->more = true;
    else
        jsonw_string(&found->json, buf_view(&value));
    buf_release(&value);
}

static enum status found_end(struct found *found, struct arena *arena,
                             struct tool_answer *answer)
{
    struct jsonw *w = &found->json;

    jsonw_end_array(w);
    if (!found->more)
        jsonw_member_int(w, "total", (int64_t)found->count);
    jsonw_member_bool(w, "hasMore",
                      found->more || found->count > LIMIT_COMPLETIONS);
    jsonw_end_object(w);
    answer->state = TOOL_ANSWERED;
    return arena_take(arena, &found->out, &answer->structured);
}

/* A name that a client can send back as it is, and a user can read. */
static bool is_plain(struct str name)
{
    struct buf visible = BUF_EMPTY;

    utf8_append_visible(&visible, name);
    bool plain = !buf_failed(&visible) && str_eq(buf_view(&visible), name);
    buf_release(&visible);
    return plain;
}

/* --- Paths -------------------------------------------------------------- */

/* As in a shell, names that begin with a full stop are shown when one is typed.
 */
static bool completes(struct str name, struct str start)
{
    return str_starts(name, start) && is_plain(name) &&
           (name.p[0] != '.' || start.n > 0);
}

static enum status complete_path(const struct tool_request *request,
                                 struct tool_answer *answer)
{
    struct str typed = request->values[TYPED].string;
    struct str head = str_folder(typed);
    struct str start = str_make(typed.p + head.n, typed.n - head.n);
    struct files_folder folder;
    struct found found;

    if (!tool_has_files(request, answer))
        return ST_OK;
    enum files_result result =
        place_list(request, request->arena, &folder, &answer->text);
    answer->state = TOOL_FAILED;
    if (result != FILES_OK)
        return result == FILES_NOMEM ? ST_NOMEM : ST_OK;
    found_begin(&found);
    for (size_t i = 0; i < folder.count; i++) {
        const struct files_entry *entry = &folder.entries[i];
        if (completes(entry->name, start) && !entry->secret)
            found_add(&found, head, entry->name,
                      entry->kind == FILES_FOLDER ? "/" : "");
    }
    found.more = found.more || folder.cut;
    return found_end(&found, request->arena, answer);
}

const struct tool complete_paths = {
    .name = "list-directory",
    .title = "Complete a path",
    .description = "Names of the workspace that begin as a path does.",
    .fields = fields,
    .level = TOOL_SAFE,
    .rules_of = &tool_list_directory,
    .look_up = true,
    .idempotent = true,
    .in_steps = true,
    .handler = complete_path,
};

/* --- Systems ------------------------------------------------------------ */

#define DEFINITION ".asd"
#define DEPTH 2 /* folders below the workspace, as in vendor/NAME/ */

struct search {
    const struct tool_request *request;
    struct str start; /* of the names */
    struct found found;
    size_t folders; /* looked at */
};

static void add_systems(struct search *search,
                        const struct files_folder *folder)
{
    for (size_t i = 0; i < folder->count; i++) {
        struct str name = folder->entries[i].name;
        size_t n = sizeof DEFINITION - 1;
        if (name.n <= n || folder->entries[i].kind != FILES_FILE ||
            !str_eq(str_make(name.p + name.n - n, n), STR(DEFINITION)))
            continue;
        name.n -= n;
        if (completes(name, search->start))
            found_add(&search->found, STR(""), name, "");
    }
}

/* Looks into the folder NAME, and into those below it down to DEPTH. What
   cannot be read has no systems. */
static enum status search_folder(struct search *search, struct str name,
                                 int depth)
{
    const struct files *files = search->request->files;
    struct arena *arena = search->request->arena;
    struct files_place place;
    struct files_folder folder;
    struct str problem;

    if (search->folders++ >= LIMIT_COMPLETION_FOLDERS) {
        search->found.more = true;
        return ST_OK;
    }
    enum files_result result =
        files->locate(files->context, arena, name, &place, &problem);
    if (result == FILES_OK)
        result = files->list(files->context, arena, &place, &folder, &problem);
    if (result != FILES_OK)
        return result == FILES_NOMEM ? ST_NOMEM : ST_OK;
    add_systems(search, &folder);
    enum status status = arena_spend(arena, folder.count * 64);
    for (size_t i = 0; i < folder.count && status == ST_OK; i++) {
        const struct files_entry *entry = &folder.entries[i];
        if (depth == 0 || entry->kind != FILES_FOLDER || entry->name.n == 0 ||
            entry->name.p[0] == '.')
            continue;
        struct str below = arena_printf(arena, "%.*s/%.*s", STR_ARG(name),
                                        STR_ARG(entry->name));
        status =
            below.n > 0 ? search_folder(search, below, depth - 1) : ST_NOMEM;
    }
    return status;
}

static enum status complete_system(const struct tool_request *request,
                                   struct tool_answer *answer)
{
    struct search search = {.request = request,
                            .start = request->values[TYPED].string};

    if (!tool_has_files(request, answer))
        return ST_OK;
    found_begin(&search.found);
    enum status status = search_folder(&search, STR("."), DEPTH);
    if (status == ST_OK)
        return found_end(&search.found, request->arena, answer);
    buf_release(&search.found.out);
    return status;
}

const struct tool complete_systems = {
    .name = "list-systems",
    .title = "Complete the name of a system",
    .description = "Systems of the workspace whose names begin so.",
    .fields = fields,
    .level = TOOL_SAFE,
    .rules_of = &tool_list_directory,
    .look_up = true,
    .idempotent = true,
    .in_steps = true,
    .handler = complete_system,
};
