/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Only a text that was written as a ticket is one. */
#include "fuzz/fuzz.h"
#include "mcp/ticket.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct tickets tickets = {.key = "key"};
    struct arena arena = ARENA_EMPTY;
    struct str text = str_make((const char *)data, size);
    struct ticket ticket = {.expires_ms = 7, .extra = text};
    struct ticket back;
    struct str written;
    REQUIRE(ticket_read(&tickets, &arena, text, &back) == ST_INVALID);
    enum status status = ticket_write(&tickets, &arena, &ticket, &written);
    REQUIRE(status == (size > LIMIT_TICKET_EXTRA ? ST_LIMIT : ST_OK));
    if (status == ST_OK) {
        REQUIRE(ticket_read(&tickets, &arena, written, &back) == ST_OK);
        REQUIRE(back.number == tickets.last && back.expires_ms == 7);
        REQUIRE(str_eq(back.extra, text));
        REQUIRE(ticket_use(&tickets, back.number));
        REQUIRE(!ticket_use(&tickets, back.number));
    }
    arena_release(&arena);
    return 0;
}
