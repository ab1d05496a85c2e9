/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rename_scan.c: looks through a text for the symbol of rename.h, and for those
   that are derived from it. */
#include <string.h>

#include "source/package.h"
#include "source/rename.h"

struct scan {
    const struct rename *rename;
    struct arena *arena;
    struct str text;
    rename_visit *visit;
    void *context;
    struct package_walk walk;
    size_t passed;             /* bytes in which comments were looked for */
    struct rename_mark *marks; /* of words that are still to come */
};

/* Bytes of the longest name that is looked for in comments and strings. */
#define NAME_BYTES 256

static char upper(char c)
{
    return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Whether the name stands at AT as a word of its own. */
static bool stands_at(const struct scan *s, struct str name, size_t at,
                      size_t end)
{
    if (end - at < name.n ||
        (at > 0 && rename_is_part_of_name(s->text.p[at - 1])) ||
        (at + name.n < s->text.n &&
         rename_is_part_of_name(s->text.p[at + name.n])))
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (upper(s->text.p[at + i]) != upper(name.p[i]))
            return false;
    return true;
}

/* Whether the word that begins at AT is the name of a target, as far as names
   of usual characters go. */
static bool word_stands_at(const struct scan *s, size_t at, size_t end)
{
    char name[NAME_BYTES];
    size_t n = 0;

    if (!rename_is_part_of_name(s->text.p[at]) ||
        (at > 0 && rename_is_part_of_name(s->text.p[at - 1])))
        return false;
    for (; at + n < end && rename_is_part_of_name(s->text.p[at + n]); n++) {
        if (n == sizeof name)
            return false;
        name[n] = upper(s->text.p[at + n]);
    }
    const struct rename_entry *entry =
        s->rename->names[rename_hash(str_make(name, n))].first;
    while (entry && !(entry->target && !entry->is_new &&
                      str_eq(entry->target->name, str_make(name, n))))
        entry = entry->next;
    return entry != NULL;
}

static bool any_stands_at(const struct scan *s, size_t at, size_t end)
{
    const struct rename_target *target = s->rename->odd;

    while (target && !stands_at(s, target->name_text, at, end))
        target = target->next_odd;
    return target || word_stands_at(s, at, end);
}

/* Mentions in the text from START, which is in LINE, to END. */
static enum status find_mentions(const struct scan *s, size_t start, size_t end,
                                 uint32_t line)
{
    enum status status = ST_OK;

    for (size_t i = start; i < end && status == ST_OK; i++) {
        const struct rename_place place = {RENAME_MENTION, i, i, line, STR("")};
        if (s->text.p[i] == '\n')
            line++;
        else if (any_stands_at(s, i, end))
            status = s->visit(s->context, &place);
    }
    return status == ST_OK
               ? arena_spend(s->arena,
                             (end - start) * (1 + s->rename->odd_count))
               : status;
}

/* The end, at most END, of the comment at AT; AT when there is none. */
static size_t skip_comment(struct str text, size_t at, size_t end)
{
    size_t depth = 1;

    if (text.p[at] == ';') {
        const char *feed = memchr(text.p + at, '\n', end - at);
        return feed ? (size_t)(feed - text.p) : end;
    }
    if (end - at < 2 || memcmp(text.p + at, "#|", 2) != 0)
        return at;
    for (at += 2; at + 2 <= end && depth > 0; at++) {
        bool opens = memcmp(text.p + at, "#|", 2) == 0;
        bool closes = memcmp(text.p + at, "|#", 2) == 0;

        depth = depth + opens - closes;
        at += opens || closes;
    }
    return depth > 0 ? end : at;
}

/* Looks for the name in the comments since the last word. */
static enum status look_back(struct scan *s, const struct token *token)
{
    struct str text = s->text;
    size_t start = s->passed;
    uint32_t line = token->line;
    enum status status = ST_OK;

    s->passed = token->end;
    for (size_t i = start; i < token->start; i++)
        line -= text.p[i] == '\n';
    for (size_t i = start; i < token->start && status == ST_OK; i++) {
        size_t end = skip_comment(text, i, token->start);

        if (text.p[i] == '#' && i + 1 < token->start && text.p[i + 1] == '\\')
            i += 2; // a character
        else if (end > i)
            status = find_mentions(s, i, end, line);
        for (; i + 1 < end; i++)
            line += text.p[i] == '\n';
        line += i < token->start && text.p[i] == '\n';
    }
    return status;
}

/* The new name, written as the old one OLD is. */
static struct str write_name(const struct rename *rename, struct str old)
{
    bool upper_only = false;

    for (size_t i = 0; i < old.n; i++) {
        char c = old.p[i];
        if ((c >= 'a' && c <= 'z') || c == '|' || c == '\\')
            return rename->to_text;
        upper_only = upper_only || (c >= 'A' && c <= 'Z');
    }
    return upper_only ? rename->to : rename->to_text;
}

/* A word that may be TARGET, or what that will be called. */
struct found {
    const struct rename_target *target;
    struct str name; /* in the text */
    bool is_new;
};

static enum status tell(const struct scan *s, enum rename_verdict verdict,
                        const struct found *found)
{
    const struct rename *rename = s->rename;
    const struct rename_target *target = found->target;
    const struct token *token = &s->walk.token;
    struct str name = found->name;
    struct rename_place place = {.line = token->line};

    if (verdict == RENAME_NO || (found->is_new && verdict != RENAME_YES))
        return ST_OK;
    if (found->is_new)
        place.kind = RENAME_TAKEN;
    else
        place.kind =
            verdict == RENAME_YES && target->sure ? RENAME_SURE : RENAME_UNSURE;
    // Of a derived name only the part that changes is replaced; one with
    // escapes of its own, whose parts are not known, is not touched.
    if (target->derived && name.n != target->name_text.n &&
        place.kind == RENAME_SURE)
        place.kind = RENAME_UNSURE;
    if (target->derived && place.kind == RENAME_SURE)
        name = str_make(name.p + target->offset, rename->name_text.n);
    place.start = (size_t)(name.p - s->text.p);
    place.end = place.start + name.n;
    place.text = token->mark == '"' ? rename->to : write_name(rename, name);
    return s->visit(s->context, &place);
}

/* The verdict whether WORD, in code, is FOUND. */
static enum status judge_code(const struct scan *s, struct str word,
                              const struct found *found,
                              enum rename_verdict *out)
{
    const struct rename_target as = {
        .name = found->is_new ? found->target->to : found->target->name,
        .package = found->target->package};

    return rename_judge_word(s->rename, s->arena, s->walk.current, word, &as,
                             out);
}

/* The verdict about a name in an option of defpackage. */
static enum rename_verdict judge_option(const struct scan *s,
                                        const struct found *found)
{
    const struct rename *rename = s->rename;
    const struct rename_target *target = found->target;
    struct str name = found->is_new ? target->to : target->name;
    struct str package = rename_real_name(rename, s->walk.defined, STR(""));

    if (s->walk.role == PACKAGE_IMPORTED)
        package = rename_real_name(rename, s->walk.source, package);
    else if (s->walk.role != PACKAGE_EXPORTED &&
             s->walk.role != PACKAGE_SHADOWED)
        return RENAME_NO;
    return rename_judge(rename, target->package, package, name);
}

/* What is between the quotes of STRING, which may lack the second one. */
static struct str inside(struct str string)
{
    return string.n < 2 ? STR("") : str_make(string.p + 1, string.n - 2);
}

/* The target that NAME is, or will be the name of; false: none. */
static bool find_target(const struct scan *s, struct str name, bool string,
                        struct found *out)
{
    size_t hash = string ? rename_hash(name) : rename_hash_word(name);
    const struct rename_entry *entry = s->rename->names[hash].first;

    for (; entry; entry = entry->next) {
        const struct rename_target *target = entry->target;

        if (!target)
            continue;
        struct str raw = entry->is_new ? target->to : target->name;
        struct str text = entry->is_new ? target->to_text : target->name_text;
        *out = (struct found){target, name, entry->is_new};
        if (string ? str_eq(name, raw) : token_same_name(name, text))
            return true;
    }
    return false;
}

/* Whether the word at which S is was marked. */
static bool take_mark(struct scan *s)
{
    size_t start = s->walk.token.start;

    while (s->marks && s->marks->start < start)
        s->marks = s->marks->next;
    return s->marks && s->marks->start == start;
}

/* A keyword in code: when the symbol is a slot, the constructors know it. */
static enum status look_at_keyword(const struct scan *s, struct str word)
{
    const struct rename *rename = s->rename;
    const struct rename_target *main = rename->targets;
    struct str name = token_split(word).name;
    struct str current = rename_real_name(rename, s->walk.current, STR(""));

    if (!rename->is_slot || s->walk.token.mark == ':' ||
        !token_same_name(name, rename->name_text) ||
        rename_judge(rename, main->package, current, main->name) != RENAME_YES)
        return ST_OK;
    const struct found found = {main, name, false};
    return tell(s, RENAME_UNKNOWN, &found);
}

static enum status look_at(struct scan *s)
{
    const struct rename *rename = s->rename;
    const struct token *token = &s->walk.token;
    struct str word = tokens_text(&s->walk.tokens, *token);
    bool string = token->mark == '"';
    bool code = s->walk.role == PACKAGE_CODE ||
                s->walk.role == PACKAGE_STRING ||
                s->walk.role == PACKAGE_DEFINED;
    struct str name = string ? inside(word) : token_split(word).name;
    enum rename_verdict verdict = RENAME_NO;
    struct found found = {rename->targets, name, false};

    if (code && token->mark == TOKEN_WORD && take_mark(s))
        return tell(s, RENAME_YES, &found);
    if (code && string)
        return find_mentions(s, token->start, token->end, token->line);
    if (code && (word.p[0] == ':' || token->mark == ':'))
        return look_at_keyword(s, word); // or uninterned
    if (!find_target(s, name, string, &found))
        return ST_OK;
    enum status status = arena_spend(s->arena, 8 * rename->package_facts);
    if (status == ST_OK && code)
        status = judge_code(s, word, &found, &verdict);
    else if (status == ST_OK)
        verdict = judge_option(s, &found);
    return status == ST_OK ? tell(s, verdict, &found) : status;
}

enum status rename_scan(const struct rename *rename, struct arena *arena,
                        struct str text, rename_visit *visit, void *context)
{
    struct scan s = {.rename = rename,
                     .arena = arena,
                     .text = text,
                     .visit = visit,
                     .context = context};
    enum status status = ST_OK;

    package_walk_init(&s.walk, arena, text);
    while (status == ST_OK) {
        status = package_walk_next(&s.walk);
        if (status == ST_OK || status == ST_MISSING) {
            enum status before = look_back(&s, &s.walk.token);
            status = before == ST_OK ? status : before;
        }
        if (status == ST_OK && s.walk.token.mark == TOKEN_WORD)
            status = rename_look_ahead(rename, arena, &s.walk, &s.marks, visit,
                                       context);
        if (status == ST_OK)
            status = look_at(&s);
    }
    return status == ST_MISSING ? ST_OK : status;
}
