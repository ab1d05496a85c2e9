/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search_files.c: finds a text in the files below a folder, a few files in each
   step. */
#include <stdlib.h>

#include "base/finder.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "gate/place.h"
#include "tools/sets.h"

/* Characters that are shown of a line. */
#define SHOWN_CHARS 200

enum { PATTERN, PATH };

static const struct schema_field fields[] = {
    [PATTERN] =
        {
            .name = "pattern",
            .kind = SCHEMA_STRING,
            .required = true,
            .help = "Literal text.",
        },
    [PATH] =
        {
            .name = "path",
            .kind = SCHEMA_PATH,
            .fallback = "\".\"",
            .help = "Folder or file.",
        },
    {0},
};

/* A file or folder that is still to be searched. */
struct place {
    struct place *next;
    struct str path;
    bool folder;
};

struct search {
    struct tool_work work; /* first */
    struct arena arena;    /* of the places and the pattern */
    struct place *places;
    struct finder finder; /* of the pattern */
    struct buf found;
    size_t matches;
    size_t files;
    size_t skipped;
    bool cut; /* a folder has more entries than are read */
    uint64_t bytes;
    const char *limit; /* the one that ended the search, or NULL */
};

static void search_free(struct tool_work *work)
{
    struct search *search = (struct search *)work;

    buf_release(&search->found);
    arena_release(&search->arena);
    free(search);
}

static enum status push(struct search *search, struct str folder,
                        struct str name, bool is_folder)
{
    struct place *place = arena_array(&search->arena, 1, sizeof *place);
    bool root = str_eq(folder, STR("."));

    if (!place)
        return ST_NOMEM;
    place->path = root ? arena_printf(&search->arena, "%.*s", STR_ARG(name))
                       : arena_printf(&search->arena, "%.*s/%.*s",
                                      STR_ARG(folder), STR_ARG(name));
    place->folder = is_folder;
    place->next = search->places;
    search->places = place;
    return place->path.n > 0 ? ST_OK : ST_NOMEM;
}

/* Adds the entries of a folder, in reverse: the first is searched next. */
static enum status look_into(struct search *search,
                             const struct tool_request *request,
                             struct arena *arena, struct str path)
{
    struct files_folder folder;
    struct str problem;
    const struct files_place place = {.asked = path, .name = path};
    enum files_result result = request->files->list(
        request->files->context, arena, &place, &folder, &problem);
    enum status status = result == FILES_NOMEM ? ST_NOMEM : ST_OK;

    if (result != FILES_OK) {
        search->skipped++;
        return status;
    }
    search->cut = search->cut || folder.cut;
    for (size_t i = folder.count; i-- > 0 && status == ST_OK;) {
        const struct files_entry *entry = &folder.entries[i];
        bool is_folder = entry->kind == FILES_FOLDER;

        if (entry->secret || (!is_folder && entry->kind != FILES_FILE) ||
            str_eq(entry->name, STR(".git")))
            continue;
        if (!is_folder && entry->size > LIMIT_SEARCH_FILE) {
            search->skipped++;
            continue;
        }
        status = push(search, path, entry->name, is_folder);
    }
    return status;
}

static void show_match(struct search *search, struct str path, size_t line,
                       struct str text)
{
    utf8_append_visible(&search->found, path);
    buf_printf(&search->found, ":%zu: ", line);
    utf8_append_visible(&search->found, utf8_head(text, SHOWN_CHARS));
    if (utf8_head(text, SHOWN_CHARS).n < text.n)
        buf_str(&search->found, STR("…"));
    buf_byte(&search->found, '\n');
    search->matches++;
}

static bool has(const struct search *search, struct str text)
{
    return finder_next(&search->finder, text, 0) != FINDER_NONE;
}

static void look_through(struct search *search, struct str path,
                         struct str text)
{
    if (!has(search, text))
        return; // most files
    for (size_t line = 1; text.n > 0; line++) {
        const char *feed = memchr(text.p, '\n', text.n);
        size_t n = feed ? (size_t)(feed - text.p) : text.n;
        struct str one = str_make(text.p, n);

        if (n > 0 && one.p[n - 1] == '\r')
            one.n--;
        if (search->matches == LIMIT_SEARCH_MATCHES)
            return;
        if (has(search, one))
            show_match(search, path, line, one);
        n += feed != NULL;
        text = str_make(text.p + n, text.n - n);
    }
}

static enum status look_at(struct search *search,
                           const struct tool_request *request,
                           struct arena *arena, struct str path)
{
    struct files_content file;
    struct str problem;
    const struct files_place place = {.asked = path, .name = path};
    enum files_result result =
        request->files->read(request->files->context, arena, &place,
                             LIMIT_SEARCH_FILE, &file, &problem);

    if (result == FILES_NOMEM)
        return ST_NOMEM;
    search->files++;
    if (result != FILES_OK) {
        search->skipped++;
        return ST_OK;
    }
    search->bytes += file.bytes.n;
    if (file.bytes.n == 0 || memchr(file.bytes.p, '\0', file.bytes.n))
        return ST_OK; // nothing to find, or not text
    look_through(search, path, file.bytes);
    return ST_OK;
}

/* Whether a limit ends the search now. */
static bool is_over(struct search *search)
{
    if (search->matches == LIMIT_SEARCH_MATCHES)
        search->limit = "matches";
    else if (search->files >= LIMIT_SEARCH_FILES)
        search->limit = "files";
    else if (search->bytes >= LIMIT_SEARCH_BYTES)
        search->limit = "bytes";
    return search->limit || !search->places;
}

static enum status finish(struct search *search,
                          const struct tool_request *request,
                          struct tool_answer *answer)
{
    struct buf *out = &search->found;

    if (search->matches == 0)
        buf_str(out, STR("Nothing found"));
    else
        buf_printf(out, "%zu match%s", search->matches,
                   search->matches == 1 ? "" : "es");
    buf_printf(out, " in %zu file%s", search->files,
               search->files == 1 ? "" : "s");
    if (search->skipped > 0)
        buf_printf(out, ", %zu skipped (too large or unreadable)",
                   search->skipped);
    if (search->cut)
        buf_printf(out, "; only %d entries of a folder are read",
                   LIMIT_FOLDER_ENTRIES);
    if (search->limit)
        buf_printf(
            out,
            "; stopped at the limit of %s (%d matches, %d files, %u MiB): "
            "search a smaller folder, or for a longer text",
            search->limit, LIMIT_SEARCH_MATCHES, LIMIT_SEARCH_FILES,
            LIMIT_SEARCH_BYTES >> 20);
    buf_byte(out, '.');
    answer->state = TOOL_ANSWERED;
    return arena_take(request->arena, out, &answer->text);
}

static enum status search_step(struct tool_work *work,
                               const struct tool_request *request,
                               struct tool_answer *answer)
{
    struct search *search = (struct search *)work;
    uint64_t until = search->bytes + LIMIT_SEARCH_STEP;
    size_t most = search->files + LIMIT_SEARCH_STEP / 4096;
    enum status status = ST_OK;

    while (status == ST_OK && search->bytes < until && search->files < most) {
        struct arena arena = ARENA_EMPTY;
        struct place *place = search->places;

        if (is_over(search))
            return finish(search, request, answer);
        search->places = place->next;
        if (place->folder) {
            most--; // costs about as much as a file
            status = look_into(search, request, &arena, place->path);
        } else {
            status = look_at(search, request, &arena, place->path);
        }
        arena_release(&arena);
    }
    return status;
}

/* Adds the folder or file that the call is about. When it is neither, ANSWER
   says so. */
static enum status start(struct search *search,
                         const struct tool_request *request,
                         struct tool_answer *answer)
{
    struct files_folder folder;
    struct files_content file;
    struct str problem;
    enum files_result result =
        place_list(request, request->arena, &folder, &problem);
    bool is_folder = result == FILES_OK;

    if (!is_folder && result != FILES_NOMEM)
        result = place_read(request, request->arena, LIMIT_SEARCH_FILE, &file,
                            &problem);
    if (result == FILES_OK)
        return push(search, STR("."), is_folder ? folder.name : file.name,
                    is_folder);
    answer->state = result == FILES_MISSING ? TOOL_ANSWERED : TOOL_FAILED;
    answer->text = problem;
    return result == FILES_NOMEM ? ST_NOMEM : ST_OK;
}

static enum status search_files(const struct tool_request *request,
                                struct tool_answer *answer)
{
    const struct schema_value *values = request->values;
    struct search *search;

    if (!tool_has_files(request, answer))
        return ST_OK;
    if (values[PATTERN].string.n == 0) {
        answer->state = TOOL_FAILED;
        answer->text = STR("argument pattern must not be empty");
        return ST_OK;
    }
    search = calloc(1, sizeof *search);
    if (!search)
        return ST_NOMEM;
    search->work.step = search_step;
    search->work.free = search_free;
    struct str pattern;
    enum status status =
        arena_str(&search->arena, values[PATTERN].string, &pattern);
    if (status == ST_OK)
        status = finder_init(&search->finder, &search->arena, pattern);
    if (status == ST_OK)
        status = start(search, request, answer);
    if (status != ST_OK || !search->places) {
        search_free(&search->work);
        return status;
    }
    request->call->work = &search->work;
    answer->state = TOOL_WORKS;
    return ST_OK;
}

const struct tool tool_search_files = {
    .name = "search-files",
    .title = "Search files",
    .description =
        "Find a text in the files of the workspace: file, line number, line.",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .handler = search_files,
};
