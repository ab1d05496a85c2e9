/* SPDX-License-Identifier: GPL-3.0-or-later */
/* result.c: see result.h. */
#include "mcp/result.h"

#include "base/version.h"
#include "gate/approval_form.h"

#define ELICITATION "elicitation/create"

const char *result_version_name(enum mcp_version version)
{
    static const char *const names[] = {
        [MCP_2024_11_05] = "2024-11-05", [MCP_2025_03_26] = "2025-03-26",
        [MCP_2025_06_18] = "2025-06-18", [MCP_2025_11_25] = "2025-11-25",
        [MCP_2026_07_28] = "2026-07-28",
    };
    return names[version];
}

bool result_is_modern(enum mcp_version version)
{
    return version >= MCP_2026_07_28;
}

void result_write_server(struct jsonw *w, enum mcp_version version)
{
    jsonw_object(w);
    jsonw_member(w, "name", STR("ecl-mcp"));
    if (version >= MCP_2025_06_18)
        jsonw_member(w, "title", STR("ECL Common Lisp"));
    jsonw_member(w, "version", STR(ECL_MCP_VERSION));
    if (version >= MCP_2025_11_25)
        jsonw_member(w, "description",
                     STR("A live Common Lisp image for agents."));
    jsonw_end_object(w);
}

void result_begin(struct rpc_reply *reply, const struct rpc_to *to,
                  enum mcp_version version)
{
    rpc_begin_result(reply, to);
    jsonw_object(&reply->json);
    if (result_is_modern(version))
        jsonw_member(&reply->json, "resultType", STR("complete"));
}

/* The time of execution does not include the time that a human took to
   decide. */
static void write_call_meta(struct jsonw *w, const struct tool_call *call,
                            int64_t now_ms)
{
    int64_t start = call->decision ? call->decided_ms : call->started_ms;

    jsonw_member_int(w, "ecl-mcp/executionTimeMs", now_ms - start);
    jsonw_member(w, "ecl-mcp/safetyLevel",
                 str_from(tool_level_name(call->tool->level)));
    jsonw_member_bool(w, "ecl-mcp/approved", call->approved);
}

/* CALL is NULL unless this is the result of a tools/call. */
static enum status end_with_meta(struct rpc_reply *reply,
                                 enum mcp_version version,
                                 const struct tool_call *call, int64_t now_ms)
{
    struct jsonw *w = &reply->json;
    if (call || result_is_modern(version)) {
        jsonw_name(w, "_meta");
        jsonw_object(w);
        if (call)
            write_call_meta(w, call, now_ms);
        if (result_is_modern(version)) {
            jsonw_name(w, MCP_NAMESPACE "serverInfo");
            result_write_server(w, version);
        }
        jsonw_end_object(w);
    }
    jsonw_end_object(w);
    return rpc_end(reply);
}

enum status result_end(struct rpc_reply *reply, enum mcp_version version)
{
    return end_with_meta(reply, version, NULL, 0);
}

static void write_block(struct jsonw *w, struct str text)
{
    jsonw_object(w);
    jsonw_member(w, "type", STR("text"));
    jsonw_member(w, "text", text);
    jsonw_end_object(w);
}

/* The content of an answer; NOTICE is not empty. */
static void write_noticed(struct jsonw *w, const struct tool_answer *answer,
                          struct str notice)
{
    struct str blocks = answer->content;
    struct buf text = BUF_EMPTY;

    buf_str(&text, notice);
    if (blocks.n <= 2) {
        buf_byte(&text, '\n');
        buf_str(&text, answer->text);
    }
    w->out->failed = w->out->failed || buf_failed(&text);
    jsonw_array(w);
    write_block(w, buf_view(&text));
    if (blocks.n > 2) // an array of blocks: those, without the brackets
        jsonw_raw(w, str_make(blocks.p + 1, blocks.n - 2));
    jsonw_end_array(w);
    buf_release(&text);
}

static void write_content(struct jsonw *w, const struct tool_answer *answer,
                          struct str notice)
{
    if (notice.n > 0) {
        write_noticed(w, answer, notice);
    } else if (answer->content.n > 0) {
        jsonw_raw(w, answer->content);
    } else {
        jsonw_array(w);
        write_block(w, answer->text);
        jsonw_end_array(w);
    }
}

enum status result_of_call(const struct rpc_to *to, enum mcp_version version,
                           const struct tool_call *call,
                           const struct tool_answer *answer, struct str notice,
                           int64_t now_ms)
{
    struct rpc_reply reply;
    struct jsonw *w = &reply.json;
    result_begin(&reply, to, version);
    jsonw_name(w, "content");
    write_content(w, answer, notice);
    if (answer->structured.n > 0 && notice.n == 0 &&
        version >= MCP_2025_06_18) {
        jsonw_name(w, "structuredContent");
        jsonw_raw(w, answer->structured);
    }
    jsonw_member_bool(w, "isError", answer->state == TOOL_FAILED);
    return end_with_meta(&reply, version, call, now_ms);
}

void result_write_cache_hints(struct jsonw *w, enum mcp_version version,
                              int64_t ttl_ms, const char *scope)
{
    if (!result_is_modern(version))
        return;
    jsonw_member_int(w, "ttlMs", ttl_ms);
    jsonw_member(w, "cacheScope", str_from(scope));
}

static void begin_contents(struct rpc_reply *reply, const struct rpc_to *to,
                           enum mcp_version version)
{
    result_begin(reply, to, version);
    jsonw_name(&reply->json, "contents");
}

/* What a resource shows may change at any time. */
static enum status end_contents(struct rpc_reply *reply,
                                enum mcp_version version)
{
    result_write_cache_hints(&reply->json, version, 0, "private");
    return result_end(reply, version);
}

enum status result_of_text(const struct rpc_to *to, enum mcp_version version,
                           struct str uri, const char *type, struct str text)
{
    struct rpc_reply reply;
    struct jsonw *w = &reply.json;
    begin_contents(&reply, to, version);
    jsonw_array(w);
    jsonw_object(w);
    jsonw_member(w, "uri", uri);
    jsonw_member(w, "mimeType", str_from(type));
    jsonw_member(w, "text", text);
    jsonw_end_object(w);
    jsonw_end_array(w);
    return end_contents(&reply, version);
}

enum status result_of_contents(const struct rpc_to *to,
                               enum mcp_version version, struct str contents)
{
    struct rpc_reply reply;
    begin_contents(&reply, to, version);
    jsonw_raw(&reply.json, contents);
    return end_contents(&reply, version);
}

enum status result_of_completion(const struct rpc_to *to,
                                 enum mcp_version version,
                                 struct str completion)
{
    struct rpc_reply reply;

    result_begin(&reply, to, version);
    jsonw_name(&reply.json, "completion");
    jsonw_raw(&reply.json, completion.n > 0
                               ? completion
                               : STR("{\"values\":[],\"hasMore\":false}"));
    return result_end(&reply, version);
}

/* Begins an error whose message is the standard text of WORDS, then DETAIL. The
   caller writes the members of its data. */
static void begin_error(struct rpc_reply *reply, const struct rpc_to *to,
                        enum rpc_code code, enum rpc_code words,
                        struct str detail)
{
    struct arena arena = ARENA_EMPTY;
    struct str message =
        arena_printf(&arena, "%s: %.*s", rpc_code_text(words), STR_ARG(detail));

    rpc_begin_error(reply, to, code, message.n > 0 ? message : detail);
    arena_release(&arena);
    jsonw_name(&reply->json, "data");
    jsonw_object(&reply->json);
}

static enum status end_error(struct rpc_reply *reply)
{
    jsonw_end_object(&reply->json);
    return rpc_end(reply);
}

enum status result_no_resource(const struct rpc_to *to,
                               enum mcp_version version, struct str uri,
                               struct str detail)
{
    struct rpc_reply reply;
    enum rpc_code code =
        result_is_modern(version) ? RPC_INVALID_PARAMS : RPC_NO_RESOURCE;

    begin_error(&reply, to, code, RPC_NO_RESOURCE, detail);
    jsonw_member(&reply.json, "uri", uri);
    return end_error(&reply);
}

enum status result_missing_capability(const struct rpc_to *to, const char *name,
                                      struct str detail)
{
    struct rpc_reply reply;
    struct jsonw *w = &reply.json;

    begin_error(&reply, to, RPC_MISSING_CAPABILITY, RPC_MISSING_CAPABILITY,
                detail);
    jsonw_name(w, "requiredCapabilities");
    jsonw_object(w);
    jsonw_name(w, name);
    jsonw_object(w);
    jsonw_end_object(w);
    jsonw_end_object(w);
    return end_error(&reply);
}

/* Begins NOTE, a notification about the progress of the call with TOKEN. */
static void begin_progress(struct rpc_reply *note, struct buf *output,
                           struct str token, int64_t progress)
{
    rpc_begin_notification(note, output, "notifications/progress");
    jsonw_object(&note->json);
    jsonw_name(&note->json, "progressToken");
    jsonw_raw(&note->json, token);
    jsonw_member_int(&note->json, "progress", progress);
}

enum status result_progress(struct buf *output, enum mcp_version version,
                            struct str token, int64_t progress,
                            struct str message)
{
    struct rpc_reply note;
    begin_progress(&note, output, token, progress);
    if (version >= MCP_2025_03_26)
        jsonw_member(&note.json, "message", message);
    jsonw_end_object(&note.json);
    return rpc_end_notification(&note);
}

enum status result_progress_input(struct buf *output, struct str token,
                                  int64_t progress)
{
    struct rpc_reply note;
    begin_progress(&note, output, token, progress);
    jsonw_name(&note.json, "_meta");
    jsonw_object(&note.json);
    jsonw_member_bool(&note.json, "ecl-mcp/input", true);
    jsonw_end_object(&note.json);
    jsonw_end_object(&note.json);
    return rpc_end_notification(&note);
}

/* Writes the params of a request that puts the question of CALL to a human. */
static void write_elicitation(struct jsonw *w, enum mcp_version version,
                              const struct tool_call *call)
{
    const struct tool_question *question = &call->question;

    jsonw_object(w);
    if (version >= MCP_2025_11_25)
        jsonw_member(w, "mode", STR("form"));
    jsonw_member(w, "message", buf_view(&question->message));
    jsonw_name(w, "requestedSchema");
    if (question->form.n > 0)
        jsonw_raw(w, buf_view(&question->form));
    else
        approval_form_write_schema(w, call, version >= MCP_2025_11_25);
    jsonw_end_object(w);
}

enum status result_elicit(struct buf *output, enum mcp_version version,
                          struct str id, const struct tool_call *call)
{
    struct rpc_reply request;

    rpc_begin_request(&request, output, id, ELICITATION);
    write_elicitation(&request.json, version, call);
    return rpc_end_notification(&request);
}

const char *result_question_name(const struct tool_call *call)
{
    return call->question.form.n > 0 ? call->question.name : "approval";
}

enum status result_input_required(const struct rpc_to *to,
                                  enum mcp_version version,
                                  const struct tool_call *call,
                                  struct str state)
{
    struct rpc_reply reply;
    struct jsonw *w = &reply.json;

    rpc_begin_result(&reply, to);
    jsonw_object(w);
    jsonw_member(w, "resultType", STR("input_required"));
    jsonw_name(w, "inputRequests");
    jsonw_object(w);
    jsonw_name(w, result_question_name(call));
    jsonw_object(w);
    jsonw_member(w, "method", STR(ELICITATION));
    jsonw_name(w, "params");
    write_elicitation(w, version, call);
    jsonw_end_object(w);
    jsonw_end_object(w);
    jsonw_member(w, "requestState", state);
    return result_end(&reply, version);
}

enum status result_withdraw(struct buf *output, struct str id, struct str why)
{
    struct rpc_reply note;

    rpc_begin_notification(&note, output, "notifications/cancelled");
    jsonw_object(&note.json);
    jsonw_name(&note.json, "requestId");
    jsonw_raw(&note.json, id);
    jsonw_member(&note.json, "reason", why);
    jsonw_end_object(&note.json);
    return rpc_end_notification(&note);
}
