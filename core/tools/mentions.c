/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mentions.c: looks for the name of a file in the system definitions above it.
   A string that happens to be the same is reported, too: the model looks. */
#include "tools/mentions.h"

#include <string.h>

#include "base/finder.h"
#include "base/limits.h"
#include "base/utf8.h"

/* The work (strand.h) of opening a file or a folder. */
#define LOOK 8192

struct mentions {
    const struct tool_request *request;
    struct str ends[2]; /* how a string of Lisp ends that names the file:
                           without the type, and with it */
    struct buf out;
    size_t files;          /* that were searched */
    size_t found;          /* one more than LIMIT_MENTIONS: there are others */
    size_t left;           /* definitions that were not searched; */
    struct buf first_left; /* the path of the first of them, to be shown */
};

/* The path of NAME in FOLDER. */
static struct str join(struct arena *arena, struct str folder, struct str name)
{
    if (str_eq(folder, STR(".")))
        return name;
    return arena_printf(arena, "%.*s/%.*s", STR_ARG(folder), STR_ARG(name));
}

/* Where the string begins of which N bytes at AT of TEXT are the end; AT when
   they are not its last name: a component may be in a folder. */
static size_t string_start(struct str text, size_t at)
{
    size_t start = at;

    if (start > 0 && text.p[start - 1] == '/')
        while (start > 0 && text.p[start - 1] != '"' &&
               text.p[start - 1] != '\n')
            start--;
    return start > 0 && text.p[start - 1] == '"' ? start - 1 : at;
}

/* Says that the end at AT of N bytes in TEXT, of the file PATH, names the file,
   if it does. */
static void say(struct mentions *m, struct str path, struct str text, size_t at,
                size_t n)
{
    size_t start = string_start(text, at);
    size_t line = 1;

    if (start == at)
        return;
    if (m->found++ == LIMIT_MENTIONS)
        return; // that there are others is said at the end
    for (size_t i = 0; i < at; i++)
        line += text.p[i] == '\n';
    buf_str(&m->out, m->out.n == 0 ? STR("") : STR("\n"));
    utf8_append_visible(&m->out, path);
    buf_printf(&m->out, ":%zu has ", line);
    utf8_append_visible(&m->out, str_make(text.p + start, at + n - start));
    buf_str(&m->out, STR("; change it, too."));
}

/* The definition PATH is not searched. */
static void leave(struct mentions *m, struct str path)
{
    if (m->left++ == 0)
        utf8_append_visible(&m->first_left, path);
}

/* Says what the limits have kept back. */
static void say_limits(struct mentions *m)
{
    if (m->found > LIMIT_MENTIONS)
        buf_printf(&m->out,
                   "\nOther places name it, too: only %d are listed. "
                   "search-files finds them.",
                   LIMIT_MENTIONS);
    if (m->left > 0)
        buf_printf(&m->out,
                   "%sNot searched for its name: %zu system definition%s, "
                   "first %.*s; at most %d are, of at most %u bytes each.",
                   m->out.n > 0 ? "\n" : "", m->left, m->left == 1 ? "" : "s",
                   STR_ARG(buf_view(&m->first_left)), LIMIT_MENTIONS_FILES,
                   LIMIT_MENTIONS_FILE);
}

static enum status search_end(struct mentions *m, struct arena *arena,
                              struct str path, struct str text, struct str end)
{
    struct finder finder;
    size_t at = 0;
    enum status status = finder_init(&finder, arena, end);

    for (; status == ST_OK && m->found <= LIMIT_MENTIONS; at++) {
        status = finder_next(&finder, text, at, &at);
        if (status != ST_OK || at == FINDER_NONE)
            break;
        say(m, path, text, at, end.n);
    }
    return status;
}

static enum status search(struct mentions *m, struct arena *arena,
                          struct str path)
{
    const struct files *files = m->request->files;
    const struct files_place place = {.asked = path, .name = path};
    struct files_content content;
    struct str problem;

    if (m->files == LIMIT_MENTIONS_FILES) {
        leave(m, path);
        return ST_OK;
    }
    m->files++;
    enum files_result result = files->read(
        files->context, arena, &place, LIMIT_MENTIONS_FILE, &content, &problem);
    if (result == FILES_NOMEM)
        return ST_NOMEM;
    if (result != FILES_OK) {
        leave(m, path);
        return ST_OK;
    }
    enum status status = search_end(m, arena, path, content.bytes, m->ends[0]);
    if (status == ST_OK && m->ends[1].n > 0)
        status = search_end(m, arena, path, content.bytes, m->ends[1]);
    return status;
}

/* Searches the definitions in FOLDER. */
static enum status look_into(struct mentions *m, struct str name)
{
    struct arena arena = {.strand = m->request->arena->strand};
    const struct files *files = m->request->files;
    const struct files_place place = {.asked = name, .name = name};
    struct files_folder folder = {.count = 0};
    struct str problem;
    enum files_result result =
        files->list(files->context, &arena, &place, &folder, &problem);
    enum status status = result == FILES_NOMEM ? ST_NOMEM : ST_OK;

    for (size_t i = 0;
         result == FILES_OK && status == ST_OK && i < folder.count; i++) {
        const struct files_entry *entry = &folder.entries[i];
        struct str last = entry->name;

        if (entry->kind != FILES_FILE || entry->secret || last.n <= 4 ||
            memcmp(last.p + last.n - 4, ".asd", 4) != 0)
            continue;
        status = search(m, &arena, join(&arena, name, last));
    }
    if (status == ST_OK)
        status = arena_spend(&arena, LOOK);
    arena_release(&arena);
    return status;
}

/* The place of the last C in S, or NULL. */
static const char *find_last(struct str s, char c)
{
    while (s.n > 0 && s.p[s.n - 1] != c)
        s.n--;
    return s.n > 0 ? s.p + s.n - 1 : NULL;
}

/* Fills ENDS for the file NAME. */
static enum status make_ends(struct arena *arena, struct str name,
                             struct str ends[2])
{
    const char *slash = find_last(name, '/');
    size_t start = slash ? (size_t)(slash - name.p) + 1 : 0;
    struct str last = str_make(name.p + start, name.n - start);
    const char *dot = find_last(last, '.');
    size_t n = dot && dot > last.p ? (size_t)(dot - last.p) : last.n;

    ends[0] = arena_printf(arena, "%.*s\"", (int)n, last.p);
    ends[1] =
        n < last.n ? arena_printf(arena, "%.*s\"", STR_ARG(last)) : STR("");
    return ends[0].n > 0 && (n == last.n || ends[1].n > 0) ? ST_OK : ST_NOMEM;
}

enum status mentions_find(const struct tool_request *request,
                          const struct tool_call *part, struct str *out)
{
    struct str name = buf_view(&part->place.name);
    struct mentions m = {
        .request = request, .out = BUF_EMPTY, .first_left = BUF_EMPTY};
    enum status status = make_ends(request->arena, name, m.ends);

    while (status == ST_OK && name.n > 0 && !str_eq(name, STR("."))) {
        const char *slash = find_last(name, '/');

        name.n = slash ? (size_t)(slash - name.p) : 0;
        status = look_into(&m, name.n > 0 ? name : STR("."));
    }
    if (status == ST_OK)
        say_limits(&m);
    if (buf_failed(&m.first_left))
        status = ST_NOMEM;
    buf_release(&m.first_left);
    if (status == ST_OK)
        return arena_take(request->arena, &m.out, out);
    buf_release(&m.out);
    return status;
}
