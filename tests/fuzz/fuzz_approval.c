/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Only "accept" with "approve" approves, and a choice of hunks is never empty.
   The text that a human is shown has no hidden character. */
#include "base/utf8.h"
#include "fuzz/fuzz.h"
#include "gate/approval_form.h"

static const struct schema_field fields[] = {
    {.name = "code", .alias = "text", .kind = SCHEMA_CODE},
    {.name = "a", .kind = SCHEMA_INTEGER},
    {0}};

static const struct tool tool = {
    .name = "tool", .title = "Tool", .fields = fields};

static void check_reply(struct arena *arena, struct json reply, size_t hunks)
{
    struct tool_call call = {.tool = &tool, .question.hunks = hunks};
    struct json content = json_get(reply, "content");
    struct approval approval;
    REQUIRE(approval_form_read(arena, reply, &call, &approval) == ST_OK);
    REQUIRE(!approval.remember);
    if (approval.decision.consent == APPROVAL_APPROVED)
        REQUIRE(json_is_string(json_get(reply, "action"), "accept") &&
                json_is_string(json_get(content, "decision"), "approve"));
    size_t chosen = 0;
    for (size_t i = 0; approval.decision.chosen && i < hunks; i++)
        chosen += approval.decision.chosen[i];
    REQUIRE(!approval.decision.chosen || chosen > 0);
}

static void check_text(struct arena *arena, struct json arguments)
{
    struct buf out = BUF_EMPTY;
    REQUIRE(approval_form_describe(&out, arena, &tool, arguments) == ST_OK);
    // each line is one of ours, or that of a value, which is indented
    for (size_t i = 0; i + 1 < out.n; i++)
        REQUIRE(out.p[i] != '\n' || strchr("\nca( ", out.p[i + 1]));
    REQUIRE(approval_form_make_visible(&out) == ST_OK);
    for (size_t i = 0; i < out.n; i++)
        REQUIRE((unsigned char)out.p[i] >= ' ' || strchr("\n\t", out.p[i]));
    REQUIRE(utf8_is_valid(buf_view(&out)));
    buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = ARENA_EMPTY;
    struct json root;
    struct json_error error;
    struct str text = str_make((const char *)data, size);
    if (json_parse(&arena, text, &root, &error) == ST_OK) {
        check_reply(&arena, root, size % 4);
        if (json_type(root) == JSON_OBJECT)
            check_text(&arena, root);
    }
    arena_release(&arena);
    return 0;
}
