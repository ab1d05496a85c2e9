/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prompts.c: the table of prompts, and their texts. */
#include "mcp/prompts.h"

#include <string.h>

#include "tools/registry.h"

static const struct prompts_entry prompts[] = {
    {"explain-error",
     "Explain the last error",
     "Explain why the last evaluation failed, and how to fix it.",
     {"describe-last-error"},
     {{"session", "Lisp session, default main.", false, PROMPTS_SESSION}},
     "The last evaluation in this Lisp failed. Call describe-last-error[ with "
     "session {session}] and explain the error to me: what happened, in which "
     "function, and why. Read the source that the frames name before you "
     "explain. Say how you would fix it, but change nothing until I agree."},
    {"explore-system",
     "Explore a system",
     "Load a system and show what it does, with examples that run.",
     {"load-system"},
     {{"system", "Name of the system.", true, PROMPTS_SYSTEM}},
     "Show me around the system {system}. Load it with load-system and look at "
     "it with describe-system, list-package-symbols and describe-symbol. Tell "
     "me what it is for, which packages and files it has and how they depend "
     "on each other, and which functions a user starts with. Give a short "
     "example for each of those and run it with evaluate-lisp, so that the "
     "value you show is the real one. Change no files."},
    {"review-file",
     "Review a file",
     "Review a Lisp file; propose each finding as a hunk of its own.",
     {"read-file", "propose-file-edit"},
     {{"path", "File in the workspace.", true, PROMPTS_PATH},
      {"focus", "What to look at above all.", false, PROMPTS_FREE}},
     "Review the Lisp file {path}[, above all for {focus}]. Read it, and look "
     "up what it calls (describe-symbol, function-arglist, who-calls) instead "
     "of guessing. List what you find, the most harmful first: the line, what "
     "is wrong, and an input that shows it. Where that is safe, try the input "
     "with evaluate-lisp first, and drop what it does not confirm. Then "
     "propose the fixes with propose-file-edit, one edit for each finding, so "
     "that I can decide about each."},
    {"write-tests",
     "Write tests",
     "Write tests for a Lisp file, with values that were tried.",
     {"run-tests", "write-file"},
     {{"path", "File in the workspace.", true, PROMPTS_PATH},
      {"framework", "Test framework, default the one of the project.", false,
       PROMPTS_FREE}},
     "Write tests for the Lisp file {path}[ with {framework}]. Use the test "
     "framework and the folder that the project already has. Cover ordinary "
     "values, the edges (empty, zero, NIL, very large, Unicode) and the "
     "errors that the code signals. Try each expected value with "
     "evaluate-lisp before you write it down. When the code is wrong, say so; "
     "do not write the wrong value into a test. Run the tests with run-tests "
     "and report what fails and why. Do not change the code itself."},
    {"fix-tests",
     "Fix failing tests",
     "Run the tests of a system, and fix what fails.",
     {"run-tests", "propose-file-edit"},
     {{"system", "System whose tests to run.", true, PROMPTS_SYSTEM}},
     "Run the tests of the system {system} with run-tests. For each failure "
     "find the cause with describe-last-error, evaluate-lisp and who-calls, "
     "and say whether the code or the test is wrong. Propose the smallest "
     "change that fixes the cause, then run the failed tests again. Stop when "
     "all pass, or when you need a decision of mine. Weaken no test to make it "
     "pass."},
    {"speed-up",
     "Make code faster",
     "Find out where Lisp code spends its time, and make it faster.",
     {"profile-code", "time-execution"},
     {{"code", "A call that is too slow.", true, PROMPTS_FREE}},
     "Make this faster: {code}\n"
     "Measure it with time-execution, and find with profile-code where the "
     "time goes. Change one thing at a time in the live Lisp, check that the "
     "values stay the same, and measure again. Then show me the times before "
     "and after each change and propose the changes to the files that are "
     "worth it."},
};

#define PROMPTS (sizeof prompts / sizeof *prompts)

static bool is_enabled(unsigned sets, const struct prompts_entry *prompt)
{
    for (size_t i = 0; i < sizeof prompt->needs / sizeof *prompt->needs; i++)
        if (prompt->needs[i] &&
            !registry_find(sets, str_from(prompt->needs[i])))
            return false;
    return true;
}

const struct prompts_entry *prompts_find(unsigned sets, struct str name)
{
    for (size_t i = 0; i < PROMPTS; i++)
        if (str_eq(name, str_from(prompts[i].name)) &&
            is_enabled(sets, &prompts[i]))
            return &prompts[i];
    return NULL;
}

const struct prompts_entry *prompts_at(unsigned sets, size_t index)
{
    for (size_t i = 0; i < PROMPTS; i++)
        if (is_enabled(sets, &prompts[i]) && index-- == 0)
            return &prompts[i];
    return NULL;
}

int prompts_argument_index(const struct prompts_entry *prompt, struct str name)
{
    for (int i = 0; prompt->arguments[i].name; i++)
        if (str_eq(name, str_from(prompt->arguments[i].name)))
            return i;
    return -1;
}

/* --- The list ----------------------------------------------------------- */

static void write_argument(struct jsonw *w, const struct prompts_argument *arg)
{
    jsonw_object(w);
    jsonw_member(w, "name", str_from(arg->name));
    jsonw_member(w, "description", str_from(arg->description));
    jsonw_member_bool(w, "required", arg->required);
    jsonw_end_object(w);
}

void prompts_list(struct jsonw *w, unsigned sets, bool with_title)
{
    const struct prompts_entry *prompt;

    jsonw_name(w, "prompts");
    jsonw_array(w);
    for (size_t i = 0; (prompt = prompts_at(sets, i)) != NULL; i++) {
        jsonw_object(w);
        jsonw_member(w, "name", str_from(prompt->name));
        if (with_title)
            jsonw_member(w, "title", str_from(prompt->title));
        jsonw_member(w, "description", str_from(prompt->description));
        jsonw_name(w, "arguments");
        jsonw_array(w);
        for (int k = 0; prompt->arguments[k].name; k++)
            write_argument(w, &prompt->arguments[k]);
        jsonw_end_array(w);
        jsonw_end_object(w);
    }
    jsonw_end_array(w);
}

/* --- The text ----------------------------------------------------------- */

/* The value that "{name}" at AT stands for. *END: after the closing brace. */
static struct str value_at(const struct prompts_entry *prompt,
                           const struct str *values, const char *at,
                           const char **end)
{
    const char *close = strchr(at, '}');
    int index = prompts_argument_index(
        prompt, str_make(at + 1, (size_t)(close - at) - 1));

    *end = close + 1;
    return values[index];
}

/* Whether all arguments between AT, a "[", and its "]" are given. */
static bool is_whole(const struct prompts_entry *prompt,
                     const struct str *values, const char *at)
{
    const char *end = strchr(at, ']');

    while ((at = strchr(at, '{')) != NULL && at < end)
        if (value_at(prompt, values, at, &at).n == 0)
            return false;
    return true;
}

void prompts_write(struct buf *out, const struct prompts_entry *prompt,
                   const struct str values[PROMPTS_ARGUMENTS])
{
    const char *at = prompt->text;

    while (*at != '\0') {
        size_t plain = 0;
        while (!strchr("[]{", at[plain])) // the NUL at the end is found, too
            plain++;
        buf_append(out, at, plain);
        at += plain;
        if (*at == '{')
            buf_str(out, value_at(prompt, values, at, &at));
        else if (*at == '[' && !is_whole(prompt, values, at))
            at = strchr(at, ']') + 1;
        else if (*at != '\0')
            at++;
    }
}
