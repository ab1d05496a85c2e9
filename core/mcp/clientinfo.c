/* SPDX-License-Identifier: GPL-3.0-or-later */
/* clientinfo.c: see clientinfo.h. */
#include "mcp/clientinfo.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "json/jsonw.h"

/* Bytes of a clientInfo that is remembered, to be compared with the next one.
   No real client says more. */
#define REMEMBERED 1000

void clientinfo_release(struct clientinfo *client)
{
    buf_release(&client->raw);
    buf_release(&client->text);
}

static void write_member(struct jsonw *w, struct arena *arena, struct json info,
                         const char *name)
{
    struct str text;

    if (json_string(arena, json_get(info, name), &text) == ST_OK)
        jsonw_member(w, name, utf8_head(text, LIMIT_CLIENT_NAME));
}

struct str clientinfo_read(struct clientinfo *client, struct arena *arena,
                           struct json value)
{
    struct str raw = json_raw(value);
    struct jsonw w;

    if (json_type(json_get(value, "name")) != JSON_STRING)
        return STR("");
    if (client->raw.n > 0 && str_eq(raw, buf_view(&client->raw)))
        return buf_view(&client->text);
    buf_reset(&client->raw);
    buf_reset(&client->text);
    jsonw_init(&w, &client->text);
    jsonw_object(&w);
    write_member(&w, arena, value, "name");
    write_member(&w, arena, value, "version");
    jsonw_end_object(&w);
    if (buf_failed(&client->text))
        buf_reset(&client->text);
    else if (raw.n <= REMEMBERED)
        buf_str(&client->raw, raw);
    if (buf_failed(&client->raw))
        buf_reset(&client->raw);
    return buf_view(&client->text);
}
