/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Whatever the message, its error response is one line of JSON with its id. */
#include "fuzz/fuzz.h"
#include "json/rpc.h"

static void check(struct arena *arena, struct json value)
{
    struct rpc_message message;
    REQUIRE(rpc_read(arena, value, &message) == ST_OK);
    REQUIRE(message.kind != RPC_REQUEST || !str_eq(message.id, RPC_NO_ID));
    struct str detail = message.method;
    if (message.kind == RPC_INVALID)
        detail = str_from(message.fault);
    struct buf out = BUF_EMPTY;
    struct rpc_to to = {&out, NULL, message.id};
    REQUIRE(rpc_error(&to, RPC_INVALID_REQUEST, detail) == ST_OK);
    REQUIRE(memchr(out.p, '\n', out.n) == out.p + out.n - 1);
    struct json_error error;
    REQUIRE(json_parse(arena, buf_view(&out), &value, &error) == ST_OK);
    REQUIRE(str_eq(json_raw(json_get(value, "id")), message.id));
    buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = ARENA_EMPTY;
    struct json root;
    struct json_error error;
    struct str text = str_make((const char *)data, size);
    if (json_parse(&arena, text, &root, &error) == ST_OK)
        check(&arena, root);
    arena_release(&arena);
    return 0;
}
