/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reading.c: see reading.h. */
#include "gate/reading.h"

#include "base/utf8.h"
#include "source/source.h"

static bool is_lisp(struct str name)
{
    static const char *const endings[] = {".lisp", ".asd", ".cl", ".lsp", NULL};

    for (size_t i = 0; endings[i]; i++) {
        struct str ending = str_from(endings[i]);

        if (name.n > ending.n &&
            str_eq(str_make(name.p + name.n - ending.n, ending.n), ending))
            return true;
    }
    return false;
}

enum status reading_note(struct arena *arena, struct str name,
                         struct str before, struct str after, struct buf *out)
{
    struct source_report now;
    struct source_report then = {.certain = 0};

    if (!is_lisp(name))
        return ST_OK;
    enum status status = source_check(arena->strand, after, &now);
    if (status != ST_OK || now.certain == 0)
        return status;
    status = source_check(arena->strand, before, &then);
    if (status != ST_OK)
        return status;
    struct str where = source_describe_first(arena, &now);
    if (where.n == 0)
        return ST_NOMEM;
    utf8_append_visible(out, name);
    const char *words = "no longer reads";
    if (then.certain > 0)
        words = "did not read before, and does not now";
    else if (before.n == 0)
        words = "does not read";
    buf_printf(out, " %s: %.*s\n", words, STR_ARG(where));
    return ST_OK;
}
