/* SPDX-License-Identifier: GPL-3.0-or-later */
/* search_files.c: finds a text, or what a regular expression matches, in the
   files below a folder. */
#include "base/finder.h"
#include "base/glob.h"
#include "base/limits.h"
#include "base/regex.h"
#include "base/utf8.h"
#include "gate/place.h"
#include "tools/sets.h"

/* The work (strand.h) of finding and opening a file or a folder. */
#define LOOK 8192

enum { PATTERN, PATH, FILES, REGEX };

static const struct schema_field fields[] = {
    [PATTERN] =
        {
            .name = "pattern",
            .kind = SCHEMA_STRING,
            .required = true,
            .help = "Literal text, or regex.",
        },
    [PATH] =
        {
            .name = "path",
            .kind = SCHEMA_PATH,
            .fallback = "\".\"",
            .help = "Folder or file.",
        },
    [FILES] =
        {
            .name = "files",
            .kind = SCHEMA_STRING,
            .help = "Such as *.lisp.",
        },
    [REGEX] =
        {
            .name = "regex",
            .kind = SCHEMA_BOOLEAN,
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
    struct arena *arena; /* of the places and the pattern */
    struct place *places;
    struct finder finder; /* of the pattern, or of what all that match a regular
                             expression have; its part may be empty */
    struct regex *regex;  /* NULL: the pattern is a literal text */
    struct str names;     /* the pattern of the names of files, or empty */
    struct buf found;
    size_t matches;
    size_t files;
    size_t skipped;
    bool cut; /* a folder has more entries than are read */
    uint64_t bytes;
    const char *limit; /* the one that ended the search, or NULL */
};

/* Whether the file PATH is searched. A pattern without a slash is one of the
   name in its folder. */
static bool is_wanted(const struct search *search, struct str path)
{
    struct str names = search->names;

    if (names.n == 0)
        return true;
    if (!memchr(names.p, '/', names.n))
        for (size_t i = path.n; i > 0; i--)
            if (path.p[i - 1] == '/') {
                path = str_make(path.p + i, path.n - i);
                break;
            }
    return glob_matches(names, path);
}

static enum status push(struct search *search, struct str folder,
                        struct str name, bool is_folder)
{
    struct place *place = arena_array(search->arena, 1, sizeof *place);
    bool root = str_eq(folder, STR("."));

    if (!place)
        return ST_NOMEM;
    place->path = root ? arena_printf(search->arena, "%.*s", STR_ARG(name))
                       : arena_printf(search->arena, "%.*s/%.*s",
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

/* TEXT is line number LINE of the file PATH, and matches at its byte AT. */
static void show_match(struct search *search, struct str path, size_t line,
                       struct str text, size_t at)
{
    utf8_append_visible(&search->found, path);
    buf_printf(&search->found, ":%zu: ", line);
    utf8_append_around(&search->found, text, at);
    buf_byte(&search->found, '\n');
    search->matches++;
}

/* Moves *START, where a line of TEXT starts, down to the line that AT is in,
   and *LINE, its number. */
static enum status go_down(const struct search *search, struct str text,
                           size_t at, size_t *start, size_t *line)
{
    size_t from = *start;
    size_t feeds = 0;

    for (size_t i = from; i < at; i++)
        feeds += text.p[i] == '\n';
    *line += feeds;
    for (*start = at; *start > from && text.p[*start - 1] != '\n';)
        (*start)--;
    return arena_spend(search->arena, (at - from) / 2);
}

/* *AT is where the next match may begin, from the line at START on, or
   FINDER_NONE. */
static enum status find_next(const struct search *search, struct str text,
                             size_t start, size_t *at)
{
    *at = start;
    return search->finder.part.n > 0
               ? finder_next(&search->finder, text, start, at)
               : ST_OK;
}

/* Whether LINE, in which the byte *AT is near a match, has one, and where. */
static enum status check_line(struct search *search, struct str line,
                              size_t *at, bool *matches)
{
    *matches = *at + search->finder.part.n <= line.n;
    if (!search->regex || !*matches)
        return ST_OK;
    return regex_search(search->regex, search->arena, line, matches, at);
}

static enum status look_through(struct search *search, struct str path,
                                struct str text)
{
    size_t at = 0;
    size_t line = 1;
    size_t start = 0;

    while (search->matches < LIMIT_SEARCH_MATCHES && start < text.n) {
        bool matches = false;
        enum status status = find_next(search, text, start, &at);

        if (status == ST_OK && at != FINDER_NONE)
            status = go_down(search, text, at, &start, &line);
        if (status != ST_OK || at == FINDER_NONE)
            return status;
        const char *feed = memchr(text.p + at, '\n', text.n - at);
        size_t end = feed ? (size_t)(feed - text.p) : text.n;
        struct str one = str_make(text.p + start, end - start);
        if (one.n > 0 && one.p[one.n - 1] == '\r')
            one.n--;
        at -= start;
        status = check_line(search, one, &at, &matches);
        if (status == ST_OK)
            status = arena_spend(search->arena, 16);
        if (status != ST_OK)
            return status;
        if (matches)
            show_match(search, path, line, one, at);
        if (search->regex && search->regex->work > LIMIT_SEARCH_WORK)
            return ST_OK;
        start = end + 1;
        line++;
    }
    return ST_OK;
}

static enum status look_at(struct search *search,
                           const struct tool_request *request,
                           struct arena *arena, struct str path)
{
    struct files_content file;
    struct str problem;
    const struct files_place place = {.asked = path, .name = path};
    if (!is_wanted(search, path))
        return ST_OK;
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
    return look_through(search, path, file.bytes);
}

/* Whether a limit ends the search now. */
static bool is_over(struct search *search)
{
    if (search->matches == LIMIT_SEARCH_MATCHES)
        search->limit = "matches";
    else if (search->regex && search->regex->work > LIMIT_SEARCH_WORK)
        search->limit = "work"; // also in the middle of the last file
    else if (!search->places)
        return true; // all was searched
    else if (search->files >= LIMIT_SEARCH_FILES)
        search->limit = "files";
    else if (search->bytes >= LIMIT_SEARCH_BYTES)
        search->limit = "bytes";
    return search->limit;
}

/* Whether the literal text PATTERN may have been meant as an expression. */
static bool looks_like_regex(struct str pattern)
{
    static const char *const signs[] = {".*", ".+", "\\", "|", "[^",
                                        "]*", "]+", "^",  "$", NULL};

    for (size_t i = 0; signs[i]; i++)
        for (size_t at = 0; at < pattern.n; at++)
            if (str_starts(str_make(pattern.p + at, pattern.n - at),
                           str_from(signs[i])))
                return true;
    return false;
}

static enum status finish(struct search *search, struct str pattern,
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
        buf_printf(out, ", %zu skipped (more than %u MiB, or unreadable)",
                   search->skipped, LIMIT_SEARCH_FILE >> 20);
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
    if (search->matches == 0 && !search->regex && looks_like_regex(pattern))
        buf_str(out, STR(" The pattern was taken literally; with regex:true it "
                         "is a regular expression."));
    answer->state = TOOL_ANSWERED;
    return arena_take(search->arena, out, &answer->text);
}

/* Searches all places, and those that are found in them. */
static enum status search_all(struct search *search,
                              const struct tool_request *request)
{
    enum status status = ST_OK;

    while (status == ST_OK && !is_over(search)) {
        struct arena arena = {.strand = search->arena->strand};
        struct place *place = search->places;

        search->places = place->next;
        status = place->folder ? look_into(search, request, &arena, place->path)
                               : look_at(search, request, &arena, place->path);
        arena_release(&arena);
        if (status == ST_OK)
            status = arena_spend(search->arena, LOOK);
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
    answer->state = TOOL_FAILED;
    answer->text = problem;
    return result == FILES_NOMEM ? ST_NOMEM : ST_OK;
}

/* Reads the pattern. When it is not one, ANSWER says so. */
static enum status read_pattern(struct search *search,
                                const struct schema_value *values,
                                struct tool_answer *answer)
{
    struct str pattern = values[PATTERN].string;
    struct arena *arena = search->arena;
    struct str why;

    if (pattern.n == 0) {
        answer->state = TOOL_FAILED;
        answer->text = STR("argument pattern must not be empty");
        return ST_OK;
    }
    if (pattern.n > LIMIT_SEARCH_PATTERN) {
        answer->state = TOOL_FAILED;
        answer->text = arena_printf(
            arena,
            "argument pattern has %zu bytes; at most %u are searched for. "
            "Search for a part of it.",
            pattern.n, LIMIT_SEARCH_PATTERN);
        return answer->text.n > 0 ? ST_OK : ST_NOMEM;
    }
    if (!values[REGEX].boolean)
        return finder_init(&search->finder, arena, pattern);
    search->regex = arena_array(arena, 1, sizeof *search->regex);
    if (!search->regex)
        return ST_NOMEM;
    enum status status = regex_init(search->regex, arena, pattern, &why);
    if (status == ST_OK && search->regex->literal.n > 0)
        return finder_init(&search->finder, arena, search->regex->literal);
    if (status != ST_INVALID)
        return status;
    answer->state = TOOL_FAILED;
    answer->text = arena_printf(
        arena, "argument pattern is not a regular expression: %.*s",
        STR_ARG(why));
    return answer->text.n > 0 ? ST_OK : ST_NOMEM;
}

static enum status search_files(const struct tool_request *request,
                                struct tool_answer *answer)
{
    const struct schema_value *values = request->values;
    struct search search = {.arena = request->arena,
                            .names = values[FILES].string};

    if (!tool_has_files(request, answer))
        return ST_OK;
    enum status status = read_pattern(&search, values, answer);
    if (status == ST_OK && answer->state != TOOL_FAILED)
        status = start(&search, request, answer);
    if (status != ST_OK || !search.places)
        return status;
    status = search_all(&search, request);
    if (status == ST_OK)
        return finish(&search, values[PATTERN].string, answer);
    buf_release(&search.found);
    return status;
}

const struct tool tool_search_files = {
    .name = "search-files",
    .title = "Search files",
    .description = "Find lines with a text in the files of the workspace.",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .in_steps = true,
    .handler = search_files,
};
