/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lines come out the same however their bytes come in. The first byte is the
   length limit of a line, the second the length of a piece. */
#include "fuzz/fuzz.h"
#include "json/linereader.h"

static void cut(struct buf *seen, struct str input, size_t max, size_t step)
{
    struct linereader reader;
    linereader_init(&reader, max);
    for (size_t at = 0; at <= input.n; at += step) {
        size_t n = input.n - at < step ? input.n - at : step;
        REQUIRE(linereader_feed(&reader, input.p + at, n) == ST_OK);
        if (n < step)
            linereader_finish(&reader);
        struct str line = STR("");
        enum status status;
        while ((status = linereader_next(&reader, &line)) != ST_MISSING) {
            REQUIRE(status == ST_LIMIT || line.n <= max);
            buf_byte(seen, status == ST_OK ? '<' : '!');
            buf_str(seen, status == ST_OK ? line : STR(""));
        }
    }
    linereader_release(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    struct str input = str_make((const char *)data + 2, size - 2);
    struct buf seen[2] = {BUF_EMPTY, BUF_EMPTY};
    cut(&seen[0], input, data[0], size);
    cut(&seen[1], input, data[0], data[1] % 32 + 1u);
    REQUIRE(str_eq(buf_view(&seen[0]), buf_view(&seen[1])));
    buf_release(&seen[0]);
    buf_release(&seen[1]);
    return 0;
}
