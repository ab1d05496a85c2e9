/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of units.c. */
#include "base/limits.h"
#include "base/units.h"
#include "support/check.h"

static void units_writes_sizes(void **state)
{
    static const struct {
        uint64_t bytes;
        const char *text;
    } cases[] = {
        {0, "0 bytes"},
        {1000, "1000 bytes"},
        {1024, "1 KiB"},
        {LIMIT_HEAP, "1 GiB"},
        {LIMIT_HEAP_MAX, "1 TiB"},
        {1536ull * 1024 * 1024, "1536 MiB"},
        {1ull << 50, "1024 TiB"},
        {UINT64_MAX, "18446744073709551615 bytes"},
    };
    (void)state;
    char out[UNITS_TEXT];
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(units_size(cases[i].bytes, out), cases[i].text);
}

static void units_writes_times(void **state)
{
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {
        {0, "0 s"},
        {1, "0.001 s"},
        {500, "0.5 s"},
        {1020, "1.02 s"},
        {30000, "30 s"},
        {100000, "100 s"},
        {12345, "12.345 s"},
        {86400000, "86400 s"},
        {INT64_MAX, "9223372036854775.807 s"},
    };
    (void)state;
    char out[UNITS_TEXT];
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(units_time(cases[i].ms, out), cases[i].text);
}

static void units_writes_moments(void **state)
{
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {
        {0, "1970-01-01 00:00"},
        {-1, "1969-12-31 23:59"},
        {951782399999, "2000-02-28 23:59"},
        {951782400000, "2000-02-29 00:00"},
        {951868800000, "2000-03-01 00:00"},
        {1709251140000, "2024-02-29 23:59"},
        {1735689599999, "2024-12-31 23:59"},
        {1735689600000, "2025-01-01 00:00"},
        {4107542400000, "2100-03-01 00:00"},
        {253402300799999, "9999-12-31 23:59"},
        {253402300800000, "-"},
        {-62167219200000, "0000-01-01 00:00"},
        {-62167219200001, "-"},
        {INT64_MIN, "-"},
        {INT64_MAX, "-"},
    };
    (void)state;
    char out[UNITS_TEXT];
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_string_equal(units_moment(cases[i].ms, out), cases[i].text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_writes_sizes),
        cmocka_unit_test(units_writes_times),
        cmocka_unit_test(units_writes_moments),
    };
    return RUN_TESTS("units", tests);
}
