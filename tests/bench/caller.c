/* SPDX-License-Identifier: GPL-3.0-or-later */
/* caller.c: see caller.h. */
#include "bench/caller.h"

#include <stdio.h>
#include <string.h>

void caller_initialize(struct peer *peer)
{
    peer_send(peer,
              STR("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\","
                  "\"params\":{\"protocolVersion\":\"2025-06-18\","
                  "\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\","
                  "\"version\":\"1\"}}}\n"));
    (void)peer_line(peer); // the calls will show whether it worked
    peer_send(peer, STR("{\"jsonrpc\":\"2.0\",\"method\":"
                        "\"notifications/initialized\"}\n"));
}

void caller_write(struct buf *out, int id, const char *tool,
                  const char *arguments)
{
    buf_printf(out,
               "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\","
               "\"params\":{\"name\":\"%s\",\"arguments\":{%s}}}\n",
               id, tool, arguments);
}

const char *caller_take(struct peer *peer, int id, const char *text)
{
    static struct buf answer;
    struct str line = peer_line(peer);
    char wanted[32];

    buf_reset(&answer);
    buf_str(&answer, line);
    buf_byte(&answer, '\0');
    if (buf_failed(&answer))
        peer_fail(peer, "out of memory");
    (void)snprintf(wanted, sizeof wanted, "\"id\":%d,", id);
    if (!strstr(answer.p, wanted) || !strstr(answer.p, text))
        peer_fail(peer, "gives a wrong answer");
    return answer.p;
}

/* The id of the last request but initialize. */
static int last_id;

int caller_send(struct peer *peer, const char *tool, const char *arguments)
{
    struct buf line = BUF_EMPTY;

    caller_write(&line, ++last_id, tool, arguments);
    if (buf_failed(&line))
        peer_fail(peer, "out of memory");
    peer_send(peer, buf_view(&line));
    buf_release(&line);
    return last_id;
}

double caller_ping(struct peer *peer)
{
    double start = peer_now();
    char line[64];
    int n = snprintf(line, sizeof line,
                     "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}\n",
                     ++last_id);

    peer_send(peer, str_make(line, (size_t)n));
    (void)caller_take(peer, last_id, "result");
    return peer_now() - start;
}

double caller_call(struct peer *peer, const char *tool, const char *arguments,
                   const char *text)
{
    double start = peer_now();

    (void)caller_take(peer, caller_send(peer, tool, arguments), text);
    return peer_now() - start;
}

double caller_evaluate(struct peer *peer, const char *code, const char *text)
{
    struct buf arguments = BUF_EMPTY;
    double time;

    buf_printf(&arguments, "\"code\":\"%s\"", code);
    buf_byte(&arguments, '\0');
    if (buf_failed(&arguments))
        peer_fail(peer, "out of memory");
    time = caller_call(peer, "evaluate-lisp", arguments.p, text);
    buf_release(&arguments);
    return time;
}
