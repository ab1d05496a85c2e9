/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of image_process.c: what an image says about its native code. */
#include "supervisor/image_process.h"
#include "support/check.h"

static struct buf body;

static int tear_down(void **state)
{
    (void)state;
    buf_release(&body);
    return 0;
}

/* The status of a NATIVE with N numbers. */
static enum status take(struct image_process *image, const int64_t *numbers,
                        size_t n)
{
    buf_reset(&body);
    for (size_t i = 0; i < n; i++)
        wire_put_int(&body, numbers[i]);
    assert_memory(!buf_failed(&body));
    return image_process_take_native(image, buf_view(&body));
}

static void image_process_takes_counts_of_native_code(void **state)
{
    static const struct {
        int64_t numbers[4];
        size_t n;
        enum status status;
    } cases[] = {
        {{0, 0, NATIVE_UNHINDERED}, 3, ST_OK},
        {{2, 3, NATIVE_NO_FOLDER}, 3, ST_OK},
        {{INT64_MAX, INT64_MAX, NATIVE_NO_COMPILER}, 3, ST_OK},
        {{2, 3, NATIVE_OBSTACLES}, 3, ST_INVALID},
        {{2, 3, -1}, 3, ST_INVALID},
        {{-1, 3, 0}, 3, ST_INVALID},
        {{2, INT64_MIN, 0}, 3, ST_INVALID},
        {{2, 3, 0}, 2, ST_INVALID},
        {{2, 3, 0, 0}, 4, ST_INVALID},
        {{0}, 0, ST_INVALID},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const int64_t *numbers = cases[i].numbers;
        struct image_process image;

        image_process_init(&image);
        assert_false(image.native.known);
        assert_status(take(&image, numbers, cases[i].n), cases[i].status);
        assert_int_equal(image.native.known, cases[i].status == ST_OK);
        if (image.native.known) {
            assert_int_equal(image.native.functions, numbers[0]);
            assert_int_equal(image.native.waiting, numbers[1]);
            assert_int_equal(image.native.obstacle, numbers[2]);
        }
        image_process_disconnect(&image); // a copy that wakes says its own
        assert_false(image.native.known);
        image_process_release(&image);
    }
}

static void image_process_refuses_what_are_no_counts(void **state)
{
    struct image_process image;

    (void)state;
    wire_put_int(&body, 1);
    wire_put_string(&body, STR("two"));
    wire_put_int(&body, 0);
    assert_memory(!buf_failed(&body));
    image_process_init(&image);
    for (size_t n = 0; n <= body.n; n++)
        assert_status(image_process_take_native(&image, str_make(body.p, n)),
                      ST_INVALID);
    assert_false(image.native.known);
    image_process_release(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(image_process_takes_counts_of_native_code,
                                  tear_down),
        cmocka_unit_test_teardown(image_process_refuses_what_are_no_counts,
                                  tear_down),
    };

    return RUN_TESTS("image_process", tests);
}
