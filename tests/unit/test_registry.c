/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of registry.c, and of every descriptor in it. */
#include "mcp/instructions.h"
#include "support/check.h"
#include "tools/registry.h"

/* Models read the name, description and schema of every tool with each of their
   requests, in a context that should be free for the user's work. So each tool
   has a budget of TOOL_SHARE bytes, some 95 tokens: 15,000 bytes when there
   are 40 tools. A new tool brings its own share. It fits if it is as terse as
   the others, which need not become shorter for it, nor may become wordier.
   TOOL_MOST bounds a single tool; evaluate-lisp needs it, since it explains
   sessions for all of them. */
#define TOOL_SHARE 375
#define TOOL_MOST 900

/* The whole list, with the titles and hints that only clients read, some 155
   bytes for each tool: it must fit on one page. */
#define LIST_MOST 24500

static struct buf out;
static struct arena arena;

static int tear_down(void **state)
{
    (void)state;
    arena_release(&arena);
    buf_release(&out);
    return 0;
}

static const struct tool *tool_at(size_t i)
{
    return registry_at(REGISTRY_ALL_SETS, i);
}

/* A tool that takes code evaluates, in the eyes of the user's rules; three
   only look at it. */
static void registry_marks_tools_that_evaluate(void **state)
{
    const struct tool *tool;
    size_t count = 0;
    (void)state;
    for (size_t i = 0; (tool = tool_at(i)) != NULL; i++) {
        bool only_looks = tool_has_name(tool, STR("validate-syntax")) ||
                          tool_has_name(tool, STR("macroexpand-form")) ||
                          tool_has_name(tool, STR("inspect-value"));

        count += tool->evaluates;
        if (schema_first(tool->fields, SCHEMA_CODE))
            assert_int_equal(tool->evaluates, !only_looks);
        if (tool->loads_code)
            assert_true(tool->evaluates);
    }
    assert_true(count >= 7);
}

static void registry_finds_tools_by_name_and_alias(void **state)
{
    static const struct {
        const char *name, *tool;
    } cases[] = {
        {"evaluate-lisp", "evaluate-lisp"},
        {"evaluate_lisp", "evaluate-lisp"},
        {"eval-form", "evaluate-lisp"},
        {"eval_form", "evaluate-lisp"},
        {"list-definitions", "list-definitions"},
        {"reset_session", "reset-session"},
        {"load-system", "load-system"},
        {"quickload", "load-system"},
        {"read-output", "read-output"},
        {"describe-last-error", "describe-last-error"},
        {"configure_limits", "configure-limits"},
        {"checkpoint-session", "checkpoint-session"},
        {"restore-session", "restore-session"},
        {"list-sessions", "list-sessions"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct tool *tool =
            registry_find(REGISTRY_ALL_SETS, str_from(cases[i].name));
        assert_non_null(tool);
        assert_string_equal(tool->name, cases[i].tool);
    }
}

static void registry_finds_nothing_else(void **state)
{
    static const char *const names[] = {
        "", "-", "evaluate", "evaluate-lis", "evaluate-lispy", "Evaluate-Lisp",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        assert_null(registry_find(REGISTRY_ALL_SETS, str_from(names[i])));
    assert_null(registry_find(REGISTRY_ALL_SETS, STR("evaluate-lisp\0")));
}

static void registry_reads_sets(void **state)
{
    (void)state;
    unsigned eval;
    unsigned session;
    unsigned both;
    assert_ok(registry_read_sets(STR("eval"), &eval));
    assert_ok(registry_read_sets(STR("session"), &session));
    assert_ok(registry_read_sets(STR("session,eval,session"), &both));
    assert_int_equal(both, eval | session);
    assert_non_null(registry_find(eval, STR("evaluate-lisp")));
    assert_null(registry_find(session, STR("evaluate-lisp")));
    assert_string_equal(registry_at(session, 0)->name, "list-definitions");
    assert_string_equal(registry_at(eval, 1)->name, "load-system");
    assert_null(registry_at(eval, 100));

    static const char *const bad[] = {
        "", ",", "eval,", ",eval", "Eval", "eval session", "All"};
    for (size_t i = 0; i < COUNT(bad); i++)
        assert_status(registry_read_sets(str_from(bad[i]), &both), ST_MISSING);
}

/* Every set that the text names exists. Together they have all tools except
   those of an editor. */
static void registry_names_its_sets(void **state)
{
    (void)state;
    unsigned all = 0;
    for (const char *p = registry_set_names(); *p != '\0';) {
        size_t n = strcspn(p, ",");
        unsigned set;
        assert_ok(registry_read_sets(str_make(p, n), &set));
        if (registry_has_editor_set(set))
            assert_null(registry_at(set, 0));
        else
            assert_non_null(registry_at(set, 0));
        all |= set;
        p += n + strspn(p + n, ", ");
    }
    for (size_t i = 0; i < 100; i++)
        assert_ptr_equal(registry_at(all, i), tool_at(i));
}

/* The index of the field NAME, or the number of fields. */
static size_t field_at(const struct tool *tool, const char *name)
{
    size_t i = 0;
    while (i < schema_count(tool->fields) &&
           strcmp(tool->fields[i].name, name) != 0)
        i++;
    return i;
}

static bool is_name(const char *s)
{
    return *s >= 'a' && *s <= 'z' &&
           strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(s) &&
           strlen(s) <= 40;
}

static bool is_sentence(const char *s)
{
    size_t n = strlen(s);
    return n > 1 && n < 2048 && s[0] >= 'A' && s[0] <= 'Z' && s[n - 1] == '.';
}

/* Words that need no help: they mean the same in every tool. */
static bool is_plain_word(const char *s)
{
    static const char *const words[] = {
        "session",   "package",  "code",     "form",  "path",   "system",
        "symbol",    "function", "variable", "class", "action", "id",
        "kind",      "limit",    "pattern",  "name",  "type",   "old",
        "new",       "all",      "dry-run",  "regex", "delete", "edits",
        "direction", "to",       "show",     "error", "frame",  "runs"};
    for (size_t i = 0; i < COUNT(words); i++)
        if (strcmp(s, words[i]) == 0)
            return true;
    return false;
}

static void check_field(const struct schema_field *field)
{
    assert_true(is_name(field->name));
    assert_true(field->alias == NULL || is_name(field->alias));
    assert_true(field->help != NULL || field->hidden ||
                is_plain_word(field->name));
    assert_true(field->help == NULL || is_sentence(field->help));
    assert_true((field->choices != NULL) == (field->kind == SCHEMA_CHOICE));
    assert_true(field->min <= field->max);
    if (field->kind == SCHEMA_CHOICE && field->fallback) {
        // clients are not told the fallback: it is always the first choice
        size_t n = strlen(field->choices[0]);
        assert_int_equal(strlen(field->fallback), n + 2);
        assert_memory_equal(field->fallback + 1, field->choices[0], n);
    }
    assert_false(field->required && field->fallback != NULL);
    if (field->kind == SCHEMA_INTEGER || field->kind == SCHEMA_NUMBER ||
        field->kind == SCHEMA_SIZE)
        assert_true(field->max > 0);
}

/* Checks that schema_check accepts the fallback of field I. */
static void check_fallback(const struct tool *tool, size_t i)
{
    struct schema_value values[20] = {{.given = false}};
    struct schema_notes notes;
    struct json value;
    struct json_error error;
    const struct schema_field *field = &tool->fields[i];
    if (!field->fallback)
        return;
    struct str text =
        arena_printf(&arena, "{\"%s\":%s}", field->name, field->fallback);
    assert_memory(text.n > 0);
    assert_ok(json_parse(&arena, text, &value, &error));
    const struct schema_field alone[] = {*field, {.name = NULL}};
    assert_ok(schema_check(&arena, alone, value, values, &notes));
}

static void registry_has_good_descriptors(void **state)
{
    (void)state;
    const struct tool *tool;
    for (size_t i = 0; (tool = tool_at(i)) != NULL; i++) {
        assert_true(is_name(tool->name));
        assert_true(is_sentence(tool->description));
        assert_true(strlen(tool->title) > 3);
        assert_true((tool->operation == NULL) != (tool->handler == NULL));
        assert_false(tool->level == TOOL_SAFE && tool->destructive);
        for (size_t k = 0; k < schema_count(tool->fields); k++) {
            check_field(&tool->fields[k]);
            check_fallback(tool, k);
        }
    }
}

/* No name, alias or argument means two things. */
static void registry_has_unique_names(void **state)
{
    (void)state;
    const struct tool *tool;
    for (size_t i = 0; (tool = tool_at(i)) != NULL; i++) {
        assert_ptr_equal(registry_find(REGISTRY_ALL_SETS, str_from(tool->name)),
                         tool);
        for (size_t k = 0; tool->aliases && tool->aliases[k]; k++)
            assert_ptr_equal(
                registry_find(REGISTRY_ALL_SETS, str_from(tool->aliases[k])),
                tool);
        size_t count = schema_count(tool->fields);
        for (size_t k = 0; k < count; k++)
            for (size_t m = k + 1; m < count; m++)
                assert_false(schema_same_name(str_from(tool->fields[k].name),
                                              tool->fields[m].name));
    }
}

/* What a model reads of all tools is small enough, and so is the whole list. */
static void registry_writes_a_small_list(void **state)
{
    (void)state;
    struct jsonw w;
    const struct tool *tool;
    size_t count = 0;
    size_t before = 0;
    jsonw_init(&w, &out);
    for (; (tool = tool_at(count)) != NULL; count++) {
        jsonw_object(&w);
        jsonw_member(&w, "name", str_from(tool->name));
        jsonw_member(&w, "description", str_from(tool->description));
        jsonw_name(&w, "inputSchema");
        schema_write(&w, tool->fields);
        jsonw_end_object(&w);
        assert_memory(!buf_failed(&out));
        if (out.n - before > TOOL_MOST)
            fail_msg("%s has %zu bytes, more than %d", tool->name,
                     out.n - before, TOOL_MOST);
        before = out.n;
    }
    if (out.n > count * TOOL_SHARE)
        fail_msg("all tools have %zu bytes, %zu more than %d for each", out.n,
                 out.n - count * TOOL_SHARE, TOOL_SHARE);
    buf_reset(&out);
    for (size_t i = 0; (tool = tool_at(i)) != NULL; i++)
        tool_write(&w, tool, true);
    assert_memory(!buf_failed(&out));
    assert_in_range(out.n, 100, LIST_MOST);
}

/* --- What others act on ------------------------------------------------- */

/* The supervisor and the editor act on facts about a tool that its descriptor
   states. Nobody would notice a missing one: a look-up would count as an
   evaluation, code would be approved without its risk. So each tool states
   them, or is in one of these tables with a reason. */
struct exception {
    const char *tool; /* NULL: any */
    const char *name; /* of a field, or NULL */
    const char *why;
};

static bool is_exception(const struct exception *table, size_t n,
                         const struct tool *tool, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if ((!table[i].tool || strcmp(table[i].tool, tool->name) == 0) &&
            (!name || strcmp(table[i].name, name) == 0))
            return true;
    return false;
}

/* A safe operation only reads. An operation that only reads is safe, or there
   is a reason why not. */
static void registry_says_which_tools_only_read(void **state)
{
    static const struct exception cautious[] = {
        {"compile-form", NULL, "runs macros, but defines nothing"},
        {"configure-limits", NULL, "no limit is part of a session"},
    };
    (void)state;
    const struct tool *tool;
    for (size_t i = 0; (tool = tool_at(i)) != NULL; i++) {
        if (tool->level == TOOL_SAFE && tool->operation && !tool->reads_only)
            fail_msg("%s is safe, but does not say reads_only", tool->name);
        if (tool->level != TOOL_SAFE && tool->reads_only &&
            !is_exception(cautious, COUNT(cautious), tool, NULL))
            fail_msg("%s is not safe, but says reads_only", tool->name);
        assert_false(tool->reads_only && tool->destructive);
    }
}

/* A tool that reaches the world loads code, unless an argument is code. */
static void registry_says_which_tools_load_code(void **state)
{
    (void)state;
    const struct tool *tool;
    for (size_t i = 0; (tool = tool_at(i)) != NULL; i++) {
        bool loads =
            tool->open_world && !schema_first(tool->fields, SCHEMA_CODE);
        if (loads != tool->loads_code)
            fail_msg("%s %s loads_code", tool->name,
                     loads ? "runs code from elsewhere, but does not say"
                           : "has its code among its arguments, but says");
    }
}

/* A string is code, a path, or known to be neither. */
static void check_string(const struct tool *tool,
                         const struct schema_field *field)
{
    static const struct exception neither[] = {
        {NULL, "package", "names a package"},
        {NULL, "system", "names a system"},
        {NULL, "symbol", "names a symbol"},
        {NULL, "function", "names a function"},
        {NULL, "variable", "names a variable"},
        {NULL, "class", "names a class"},
        {NULL, "pattern", "a part of a name or of a line"},
        {"evaluate-lisp", "source", "what errors call the code; is not read"},
        {"search-files", "files", "a pattern of names"},
        {"edit-definition", "kind", "the first word of a form"},
        {"edit-definition", "name", "the second one"},
        {"edit-definition", "content", "is reviewed as a diff"},
        {"run-tests", "name", "names a test"},
        {"invoke-restart", "restart", "names a restart"},
        {NULL, "functions", "names functions"},
        {"replay-evaluation", "stop", "names a function"},
        {"replay-evaluation", "watch", "names variables, found by name"},
        {"write-file", "content", "is reviewed as a diff"},
        {"propose-file-edit", "original", "is reviewed as a diff"},
        {"propose-file-edit", "modified", "is reviewed as a diff"},
        {"propose-file-edit", "old", "is reviewed as a diff"},
        {"propose-file-edit", "new", "is reviewed as a diff"},
        {"propose-file-edit", "description", "words for the user"},
        {"rename-symbol", "to", "names a symbol"},
        {"move-file", "to", "is a part of the call, with rules of its own"},
        {"propose-changes", "old", "is reviewed as a diff"},
        {"propose-changes", "new", "is reviewed as a diff"},
        {"propose-changes", "description", "words for the user"},
        {"inspect-value", "path", "leads into a value, not to a file"},
    };
    if (field->kind == SCHEMA_STRING &&
        !is_exception(neither, COUNT(neither), tool, field->name))
        fail_msg("is %s of %s code (SCHEMA_CODE), a path (SCHEMA_PATH), or "
                 "neither?",
                 field->name, tool->name);
}

/* An editor finds the argument by the name of its field: there must be only
   one, with one spelling. */
static void check_single(const struct tool *tool, enum schema_kind kind)
{
    const struct schema_field *field = schema_first(tool->fields, kind);
    if (!field)
        return;
    assert_null(field->alias);
    assert_null(strchr(field->name, '-'));
    assert_null(schema_first(field + 1, kind));
}

static void registry_says_which_arguments_are_code_or_paths(void **state)
{
    (void)state;
    const struct tool *tool;
    for (size_t i = 0; (tool = tool_at(i)) != NULL; i++) {
        for (size_t k = 0; k < schema_count(tool->fields); k++) {
            const struct schema_field *field = &tool->fields[k];
            check_string(tool, field);
            for (size_t m = 0; m < schema_count(field->items); m++)
                check_string(tool, &field->items[m]);
        }
        check_single(tool, SCHEMA_CODE);
        check_single(tool, SCHEMA_PATH);
    }
}

/* Emacs hides the calls of a tool that looks things up, so such a tool must not
   change anything. tests/elisp/test-client.el finds those that Emacs uses. */
static void registry_says_which_tools_look_up(void **state)
{
    (void)state;
    const struct tool *tool;
    for (size_t i = 0; (tool = tool_at(i)) != NULL; i++)
        if (tool->look_up && (tool->level != TOOL_SAFE || !tool->reads_only))
            fail_msg("%s says look_up, but may change something", tool->name);
}

/* The same word means the same thing in every tool. */
static void registry_uses_words_alike(void **state)
{
    (void)state;
    const struct tool *tool;
    for (size_t i = 0; (tool = tool_at(i)) != NULL; i++)
        for (size_t k = 0; k < schema_count(tool->fields); k++) {
            const struct schema_field *field = &tool->fields[k];
            if (strcmp(field->name, TOOL_SESSION) == 0)
                assert_int_equal(field->kind, SCHEMA_NAME);
            if (strcmp(field->name, TOOL_TIMEOUT) == 0)
                assert_int_equal(field->kind, SCHEMA_NUMBER);
            if (field->instead_of)
                assert_int_not_equal(field_at(tool, field->instead_of),
                                     schema_count(tool->fields));
        }
}

static void registry_writes_tools(void **state)
{
    (void)state;
    struct jsonw w;
    const struct tool *tool =
        registry_find(REGISTRY_ALL_SETS, STR("list-sessions"));
    jsonw_init(&w, &out);
    jsonw_array(&w);
    tool_write(&w, tool, true);
    tool_write(&w, tool, false);
    assert_memory(!buf_failed(&out));
    const char *text = "\"description\":\"List open sessions, checkpoints and "
                       "memory.\","
                       "\"inputSchema\":{\"type\":\"object\","
                       "\"properties\":{},\"additionalProperties\":false},"
                       "\"annotations\":{\"title\":\"List sessions\","
                       "\"readOnlyHint\":true,\"destructiveHint\":false,"
                       "\"idempotentHint\":true,\"openWorldHint\":false}}";
    struct str wanted = arena_printf(
        &arena,
        "[{\"name\":\"list-sessions\",\"title\":\"List sessions\",%s,"
        "{\"name\":\"list-sessions\",%s",
        text, text);
    assert_memory(str_eq(buf_view(&out), wanted));
}

#define TEST(name) cmocka_unit_test_teardown(name, tear_down)

/* The tools that the instructions name exist. Words with hyphens are tools,
   except for two. */
static void instructions_name_tools(void **state)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz-";
    size_t found = 0;
    (void)state;
    assert_true(strlen(instructions_text) < 2048);
    for (const char *p = instructions_text; *p != '\0';) {
        size_t n = strspn(p, letters);
        struct str word = str_make(p, n);
        bool named = n > 2 && p[0] != '-' && memchr(p, '-', n) != NULL &&
                     !str_eq(word, STR("in-package")) &&
                     !str_eq(word, STR("top-level"));
        if (named && registry_find(REGISTRY_ALL_SETS, word) == NULL)
            fail_msg("there is no tool %.*s", STR_ARG(word));
        found += named;
        p += n > 0 ? n : 1;
    }
    assert_true(found > 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(instructions_name_tools),
        TEST(registry_marks_tools_that_evaluate),
        TEST(registry_finds_tools_by_name_and_alias),
        TEST(registry_finds_nothing_else),
        TEST(registry_reads_sets),
        TEST(registry_names_its_sets),
        TEST(registry_has_good_descriptors),
        TEST(registry_has_unique_names),
        TEST(registry_writes_a_small_list),
        TEST(registry_says_which_tools_only_read),
        TEST(registry_says_which_tools_load_code),
        TEST(registry_says_which_arguments_are_code_or_paths),
        TEST(registry_says_which_tools_look_up),
        TEST(registry_uses_words_alike),
        TEST(registry_writes_tools),
    };
    return RUN_TESTS("registry", tests);
}
