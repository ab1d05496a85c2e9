/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lisp_files.c: see lisp_files.h. */
#include "tools/lisp_files.h"

#include <string.h>

#include "base/limits.h"
#include "files/text.h"
#include "gate/place.h"

/* The work (strand.h) of finding and opening a file or a folder. */
#define LOOK 8192

/* The files and folders that are found. */
struct finding {
    struct arena *arena;
    struct lisp_file *folders; /* to look into */
    struct lisp_file *files;   /* the last one first */
    size_t count;
};

const char *const lisp_files_ends[] = {".lisp", ".lsp", ".cl", ".asd", NULL};

static bool is_lisp(struct str name)
{
    for (const char *const *end = lisp_files_ends; *end; end++) {
        size_t n = strlen(*end);

        if (name.n > n && memcmp(name.p + name.n - n, *end, n) == 0)
            return true;
    }
    return false;
}

static enum status add(struct finding *f, struct str folder, struct str name,
                       bool is_folder)
{
    struct lisp_file *file = arena_array(f->arena, 1, sizeof *file);
    struct lisp_file **list = is_folder ? &f->folders : &f->files;

    if (!file)
        return ST_NOMEM;
    if (!is_folder && f->count++ == LIMIT_RENAME_FILES)
        return ST_LIMIT;
    file->path = str_eq(folder, STR("."))
                     ? arena_printf(f->arena, "%.*s", STR_ARG(name))
                     : arena_printf(f->arena, "%.*s/%.*s", STR_ARG(folder),
                                    STR_ARG(name));
    file->next = *list;
    *list = file;
    return file->path.n > 0 ? ST_OK : ST_NOMEM;
}

static bool is_wanted(const struct files_entry *entry)
{
    if (entry->secret || str_eq(entry->name, STR(".git")))
        return false;
    return entry->kind == FILES_FOLDER ||
           (entry->kind == FILES_FILE && is_lisp(entry->name));
}

static enum status look_into(struct finding *f,
                             const struct tool_request *request,
                             struct str path)
{
    struct arena arena = {.strand = f->arena->strand};
    const struct files *files = request->files;
    const struct files_place place = {.asked = path, .name = path};
    struct files_folder folder = {.count = 0};
    struct str problem;
    enum files_result result =
        files->list(files->context, &arena, &place, &folder, &problem);
    enum status status = result == FILES_NOMEM ? ST_NOMEM : ST_OK;

    for (size_t i = 0; i < folder.count && status == ST_OK; i++) {
        // of the folders, the one that is added last comes first
        const struct files_entry *file = &folder.entries[i];
        const struct files_entry *other = &folder.entries[folder.count - 1 - i];

        if (is_wanted(other) && other->kind == FILES_FOLDER)
            status = add(f, path, other->name, true);
        if (status == ST_OK && is_wanted(file) && file->kind == FILES_FILE)
            status = add(f, path, file->name, false);
    }
    arena_release(&arena);
    return status == ST_OK ? arena_spend(f->arena, LOOK) : status;
}

/* Whether the folder or file that the call names exists. */
static enum status check(const struct tool_request *request,
                         struct arena *arena, struct str *why)
{
    struct files_folder folder;
    struct files_content file;
    enum files_result result = place_list(request, arena, &folder, why);

    if (result != FILES_OK && result != FILES_NOMEM)
        result = place_read(request, arena, LIMIT_RENAME_FILE, &file, why);
    if (result == FILES_OK)
        return ST_OK;
    why->n -= why->n > 0; // its full stop
    return result == FILES_NOMEM ? ST_NOMEM : ST_INVALID;
}

/* Whether PATH leads through a folder .git. */
static bool is_in_git(struct str path)
{
    static const char git[] = ".git/";
    size_t n = sizeof git - 1;

    for (size_t i = 0; i + n <= path.n; i++)
        if (memcmp(path.p + i, git, n) == 0 && (i == 0 || path.p[i - 1] == '/'))
            return true;
    return false;
}

static bool is_found(const struct finding *f, struct str path)
{
    const struct lisp_file *file = f->files;

    while (file && !str_eq(file->path, path))
        file = file->next;
    return file != NULL;
}

/* Adds the files that the user's editor has not saved yet, and that do not
   exist. */
static enum status add_unsaved(struct finding *f,
                               const struct tool_unsaved *unsaved)
{
    enum status status = ST_OK;

    for (size_t i = 0; i < unsaved->count && status == ST_OK; i++) {
        struct str path = unsaved->files[i].path;

        status = arena_spend(f->arena, LOOK);
        if (status == ST_OK && is_lisp(path) && !is_in_git(path) &&
            !is_found(f, path))
            status = add(f, STR("."), path, false);
    }
    return status;
}

bool lisp_files_are_named(const struct tool_request *request, struct str path)
{
    struct str name = buf_view(&request->call->place.name);

    return str_eq(name, STR(".")) || str_eq(name, path) ||
           (path.n > name.n && path.p[name.n] == '/' &&
            memcmp(path.p, name.p, name.n) == 0);
}

enum status lisp_files_find(const struct tool_request *request,
                            struct arena *arena, struct lisp_file **out,
                            struct str *why)
{
    struct finding f = {.arena = arena};
    enum status status = check(request, arena, why);
    if (status == ST_OK)
        status = look_into(&f, request, STR("."));

    while (status == ST_OK && f.folders) {
        struct str path = f.folders->path;

        f.folders = f.folders->next;
        status = look_into(&f, request, path);
    }
    if (status == ST_OK)
        status = add_unsaved(&f, &request->call->unsaved);
    *out = NULL;
    while (f.files) { // the other way round
        struct lisp_file *next = f.files->next;

        f.files->next = *out;
        *out = f.files;
        f.files = next;
    }
    return status;
}

/* Reads FILE, and calls VISIT when it is a text. */
static enum status read_one(const struct tool_request *request,
                            struct arena *arena, struct lisp_file *file,
                            size_t *bytes, lisp_files_visit *visit,
                            void *context)
{
    const struct files *files = request->files;
    const struct files_place place = {.asked = file->path, .name = file->path};
    const struct tool_unsaved_file *unsaved =
        tool_find_unsaved(request->call, file->path);
    bool sent = unsaved && unsaved->sent;
    struct files_content content;
    struct text text;
    struct str problem;
    enum files_result result = files->read(
        files->context, arena, &place, LIMIT_RENAME_FILE, &content, &problem);

    file->skipped = NULL;
    if (result != FILES_OK && !(result == FILES_MISSING && sent)) {
        if (result != FILES_MISSING) // gone, or not in the workspace yet
            file->skipped = "it is too large or cannot be read";
        return result == FILES_NOMEM ? ST_NOMEM : ST_OK;
    }
    *bytes += sent ? unsaved->text.n : content.bytes.n;
    if (*bytes > LIMIT_RENAME_BYTES)
        return ST_LIMIT;
    if (sent)
        return visit(context, file->path, unsaved->text);
    enum status status = text_decode(arena, content.bytes, SIZE_MAX, &text);
    if (status == ST_OK)
        return visit(context, file->path, text.text);
    if (status == ST_INVALID)
        file->skipped = "it is not text";
    return status == ST_INVALID ? ST_OK : status;
}

enum status lisp_files_read(const struct tool_request *request,
                            const struct arena *work, struct lisp_file *files,
                            lisp_files_visit *visit, void *context)
{
    enum status status = ST_OK;
    size_t bytes = 0;

    for (; files && status == ST_OK; files = files->next) {
        struct arena arena = {.strand = work->strand};

        status = read_one(request, &arena, files, &bytes, visit, context);
        arena_release(&arena);
        if (status == ST_OK)
            status = arena_spend(work, LOOK);
    }
    return status;
}
