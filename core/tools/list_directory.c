/* SPDX-License-Identifier: GPL-3.0-or-later */
/* list_directory.c: lists a folder of the workspace, or describes a file. */
#include <inttypes.h>

#include "base/limits.h"
#include "base/units.h"
#include "base/utf8.h"
#include "gate/place.h"
#include "tools/sets.h"

enum { PATH };

static const struct schema_field fields[] = {
    [PATH] =
        {
            .name = "path",
            .kind = SCHEMA_PATH,
            .fallback = "\".\"",
        },
    {0},
};

static void write_entry(struct buf *out, const struct files_entry *entry)
{
    char moment[UNITS_TEXT];

    utf8_append_visible(out, entry->name);
    switch (entry->kind) {
    case FILES_FOLDER:
        buf_byte(out, '/');
        break;
    case FILES_FILE:
        buf_printf(out, "  %" PRIu64 "  %s", entry->size,
                   units_moment(entry->changed_ms, moment));
        break;
    case FILES_LINK:
        buf_str(out, STR("  (symbolic link)"));
        break;
    case FILES_OTHER:
        buf_str(out, STR("  (special file)"));
        break;
    }
    buf_str(out, entry->secret ? STR("  (secret)\n") : STR("\n"));
}

/* Writes the folders, then the files, in about CHARS bytes, then how many
   entries were left out. */
static void write_folder(struct buf *out, const struct files_folder *folder,
                         size_t chars)
{
    size_t shown = 0;

    utf8_append_visible(out, folder->name);
    buf_printf(out, ": %s%zu entr%s\n", folder->cut ? "more than " : "",
               folder->count, folder->count == 1 ? "y" : "ies");
    for (int folders = 1; folders >= 0; folders--)
        for (size_t i = 0; i < folder->count && out->n < chars; i++)
            if ((folder->entries[i].kind == FILES_FOLDER) == (folders == 1)) {
                write_entry(out, &folder->entries[i]);
                shown++;
            }
    if (shown < folder->count)
        buf_printf(out, "… and %zu more\n", folder->count - shown);
    if (folder->cut)
        buf_printf(out, "Only %d entries of a folder are read.\n",
                   LIMIT_FOLDER_ENTRIES);
}

/* Describes the file that the call is about, which is no folder, as its folder
   lists it. False: it is not there. */
static bool describe_file(const struct tool_request *request, struct buf *out,
                          bool *no_memory)
{
    const struct files *files = request->files;
    struct files_place place = place_view(request->call);
    struct files_folder folder;
    struct str problem;
    struct str name = place.name;

    while (name.n > 0 && name.p[name.n - 1] != '/')
        name.n--;
    struct str last = str_make(place.name.p + name.n, place.name.n - name.n);
    place.name = name.n > 1 ? str_make(name.p, name.n - 1) : STR(".");
    enum files_result result =
        files->list(files->context, request->arena, &place, &folder, &problem);
    *no_memory = result == FILES_NOMEM;
    for (size_t i = 0; result == FILES_OK && i < folder.count; i++) {
        struct files_entry entry = folder.entries[i];

        if (entry.kind != FILES_FILE || !str_eq(entry.name, last))
            continue;
        entry.name = place_view(request->call).name;
        write_entry(out, &entry);
        return true;
    }
    return false;
}

static enum status list_directory(const struct tool_request *request,
                                  struct tool_answer *answer)
{
    struct files_folder folder;
    struct buf out = BUF_EMPTY;

    if (!tool_has_files(request, answer))
        return ST_OK;
    enum files_result result =
        place_list(request, request->arena, &folder, &answer->text);

    answer->state = TOOL_FAILED;
    bool no_memory = result == FILES_NOMEM;
    bool described = result == FILES_REFUSED && place_is_known(request->call) &&
                     describe_file(request, &out, &no_memory);
    if (no_memory)
        return ST_NOMEM;
    if (result != FILES_OK && !described)
        return ST_OK;
    if (!described)
        write_folder(&out, &folder, request->limits->max_output);
    buf_truncate(&out, out.n > 0 ? out.n - 1 : 0); // the last line end
    answer->state = TOOL_ANSWERED;
    return arena_take(request->arena, &out, &answer->text);
}

const struct tool tool_list_directory = {
    .name = "list-directory",
    .title = "List directory",
    .description = "List a folder of the workspace: names, sizes, times (UTC).",
    .fields = fields,
    .level = TOOL_SAFE,
    .idempotent = true,
    .in_steps = true,
    .handler = list_directory,
};
