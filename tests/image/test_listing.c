/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of what makes a start cheap: the entries of a folder that are read once
   (listing.c), if they are not too many, and answers to system calls that are
   found by halving (filter_program.c). */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "image/filter_program.h"
#include "image/listing.h"

typedef void reader(struct listing *listing, int fd, const char *const *more);

/* Lists a new folder with files of these NAMES, up to a NULL, by READ. */
static struct listing list_by(const char *const *names, reader *read,
                              const char *const *more)
{
    char path[] = "/tmp/ecl-mcp-listing-XXXXXX";
    struct listing listing;
    int fd;

    assert_non_null(mkdtemp(path));
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    for (size_t i = 0; names[i]; i++) {
        int file = openat(fd, names[i], O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

        assert_true(file >= 0);
        assert_int_equal(close(file), 0);
    }
    read(&listing, fd, more);
    for (size_t i = 0; names[i]; i++)
        assert_int_equal(unlinkat(fd, names[i], 0), 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(rmdir(path), 0);
    return listing;
}

static void read_all(struct listing *listing, int fd, const char *const *more)
{
    (void)more;
    listing_read(listing, fd);
}

static struct listing list_of(const char *const *names)
{
    return list_by(names, read_all, NULL);
}

static void a_listing_has_all_entries(void **state)
{
    const char *names[1000 + 1] = {NULL};
    char texts[1000][sizeof "entry-" + 11];
    struct listing listing;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "entry-%d", i);
        names[i] = texts[i];
    }
    listing = list_of(names);
    assert_true(listing.read);
    assert_int_equal(listing.n, 1000);
    for (size_t i = 0; i < listing.n; i++) {
        long number = strtol(listing_name(&listing, i) + 6, NULL, 10);

        assert_in_range(number, 0, 999);
        assert_string_equal(listing_name(&listing, i), texts[number]);
        texts[number][0] = '\0'; // once
    }
    listing_release(&listing);
}

/* Of a folder on the way to secrets, that is: no more plain files than can get
   rules, some more that may be hidden, and all whose names are secret. */
static void a_way_leaves_plain_files_out(void **state)
{
    static const char *const more[] = {"*.jks", NULL};
    const char *names[1000 + 1] = {NULL};
    char texts[1000][sizeof ".entry-.pem" + 11];
    size_t found[4] = {0};
    struct listing listing;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        (void)snprintf(texts[i], sizeof texts[i], "%sentry-%d%s",
                       i % 2 ? "." : "", i,
                       i % 100 == 7   ? ".pem"
                       : i % 100 == 9 ? ".jks"
                                      : "");
        names[i] = texts[i];
    }
    listing = list_by(names, listing_read_way, more);
    assert_true(listing.read);
    assert_int_equal(listing.seen, 1000);
    assert_true(listing_may_have(&listing, "entry-999"));
    assert_true(listing_may_have(&listing, ".entry-998"));
    assert_false(listing_may_have(&listing, ".ssh"));
    for (size_t i = 0; i < listing.n; i++) {
        const char *name = listing_name(&listing, i);

        found[name[0] == '.']++;
        found[2] += strstr(name, ".pem") != NULL;
        found[3] += strstr(name, ".jks") != NULL;
    }
    assert_int_equal(found[2], 10);
    assert_int_equal(found[3], 10);
    assert_in_range(found[0], LIMIT_FILES_READABLE, 250);
    assert_in_range(found[1], LIMIT_FILES_READABLE, 250);
    listing_release(&listing);
}

/* A name counts as missing only if no file system could find it there. */
static void a_listing_misses_no_name(void **state)
{
    static const char *const names[] = {".Config", "entry-1", "ab", NULL};
    static const char *const foreign[] = {"\xc5\xbfnap", NULL}; // a long s
    static const char *const hidden[] = {".s\xc2\xadsh", NULL}; // soft hyphen
    struct listing listing = list_of(names);

    (void)state;
    assert_true(listing_may_have(&listing, ".Config/gh"));
    assert_true(listing_may_have(&listing, ".config/gh"));
    assert_true(listing_may_have(&listing, "ENTRY-1"));
    assert_true(listing_may_have(&listing, "ab"));
    assert_true(listing_may_have(&listing, "ab."));
    assert_false(listing_may_have(&listing, ".ssh"));
    assert_false(listing_may_have(&listing, "snap/firefox"));
    listing_release(&listing);
    assert_true(listing_may_have(&listing, ".ssh")); // was never read
    listing = list_of(foreign);
    assert_true(listing_may_have(&listing, "snap/firefox"));
    listing_release(&listing);
    listing = list_of(hidden);
    assert_true(listing_may_have(&listing, ".ssh"));
    listing_release(&listing);
}

static void what_cannot_be_read_has_everything(void **state)
{
    struct listing listing;
    int fd;

    (void)state;
    listing_read(&listing, -1);
    assert_false(listing.read);
    assert_int_equal(listing.n, 0);
    assert_true(listing_may_have(&listing, ".ssh"));
    fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    listing_read(&listing, fd);
    assert_int_equal(close(fd), 0);
    assert_false(listing.read);
    listing_release(&listing);
}

/* Links cost less than files. */
static void a_listing_is_bounded(void **state)
{
    char memory[] = "/dev/shm/ecl-mcp-listing-XXXXXX"; // much quicker
    char disk[] = "/tmp/ecl-mcp-listing-XXXXXX";
    const char *path = mkdtemp(memory);
    struct listing listing;
    char name[16];
    int fd;

    (void)state;
    if (!path)
        path = mkdtemp(disk);
    assert_non_null(path);
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    for (int i = 0; i <= LIMIT_WAY_ENTRIES; i++) {
        (void)snprintf(name, sizeof name, "%d", i);
        assert_int_equal(symlinkat("x", fd, name), 0);
    }
    listing_read(&listing, fd);
    assert_false(listing.read);
    assert_int_equal(listing.n, 0);
    assert_true(listing_may_have(&listing, ".ssh"));
    listing_release(&listing);
    assert_int_equal(unlinkat(fd, "0", 0), 0);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    listing_read(&listing, fd);
    assert_true(listing.read);
    assert_int_equal(listing.n, LIMIT_WAY_ENTRIES);
    listing_release(&listing);
    for (int i = 1; i <= LIMIT_WAY_ENTRIES; i++) {
        (void)snprintf(name, sizeof name, "%d", i);
        assert_int_equal(unlinkat(fd, name, 0), 0);
    }
    assert_int_equal(close(fd), 0);
    assert_int_equal(rmdir(path), 0);
}

/* Of few entries, whatever the size of the folder says: that of the descriptors
   of this process is 0, or their number, and each of them an entry. */
static void a_short_listing_ends_soon(void **state)
{
    int fds[500];
    struct listing listing;
    int fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct stat status;

    (void)state;
    assert_true(fd >= 0);
    listing_read_few(&listing, fd);
    assert_true(listing.read);
    assert_in_range(listing.n, 3, 100);
    listing_release(&listing);
    for (size_t i = 0; i < 500; i++)
        assert_true((fds[i] = dup(fd)) >= 0);
    assert_int_equal(fstat(fd, &status), 0);
    assert_in_range(status.st_size, 0, 4096); // as if they were few
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    listing_read_few(&listing, fd);
    assert_false(listing.read);
    assert_int_equal(listing.n, 0);
    assert_true(listing_may_have(&listing, ".ssh"));
    // two rounds of some 340, of more than 500, were the most
    assert_in_range(lseek(fd, 0, SEEK_CUR), 200, 1000);
    listing_release(&listing);
    assert_int_equal(lseek(fd, 0, SEEK_SET), 0);
    listing_read(&listing, fd);
    assert_true(listing.read);
    assert_in_range(listing.n, 500, 600);
    listing_release(&listing);
    for (size_t i = 0; i < 500; i++)
        assert_int_equal(close(fds[i]), 0);
    assert_int_equal(close(fd), 0);
}

/* What the steps from START on answer for call NUMBER. */
static uint32_t run(const struct filter_program *program, size_t start,
                    uint32_t number)
{
    for (size_t i = start; i < program->n; i++) {
        const struct sock_filter *step = &program->steps[i];

        if (step->code == (BPF_RET | BPF_K))
            return step->k;
        assert_int_equal(step->code, BPF_JMP | BPF_JGE | BPF_K);
        i += number >= step->k ? step->jt : step->jf;
    }
    fail_msg("no answer to %u", number);
    return 0;
}

static void each_call_gets_the_answer_of_its_range(void **state)
{
    struct filter_range ranges[200];
    struct filter_program program;

    (void)state;
    for (size_t n = 1; n <= 200; n++) {
        size_t start;

        program_init(&program);
        start = program.n;
        for (size_t i = 0; i < n; i++)
            ranges[i] = (struct filter_range){(uint32_t)(3 * i), (int)i + 1};
        program_answer_ranges(&program, ranges, n);
        assert_false(program.failed);
        for (uint32_t call = 0; call < 3 * n + 3; call++) {
            uint32_t range = call / 3 < n ? call / 3 : (uint32_t)n - 1;

            assert_int_equal(run(&program, start, call),
                             SECCOMP_RET_ERRNO | (range + 1));
        }
        assert_int_equal(run(&program, start, UINT32_MAX),
                         SECCOMP_RET_ERRNO | (uint32_t)n);
        program_release(&program);
    }
}

/* What a jump cannot reach fails as a whole. */
static void too_many_ranges_fail(void **state)
{
    struct filter_range ranges[600];
    struct filter_program program;

    (void)state;
    for (size_t i = 0; i < 600; i++)
        ranges[i] = (struct filter_range){(uint32_t)i, (int)(i % 2) + 1};
    program_init(&program);
    program_answer_ranges(&program, ranges, 600);
    assert_true(program.failed);
    program_release(&program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_listing_has_all_entries),
        cmocka_unit_test(a_way_leaves_plain_files_out),
        cmocka_unit_test(a_listing_misses_no_name),
        cmocka_unit_test(a_listing_is_bounded),
        cmocka_unit_test(a_short_listing_ends_soon),
        cmocka_unit_test(what_cannot_be_read_has_everything),
        cmocka_unit_test(each_call_gets_the_answer_of_its_range),
        cmocka_unit_test(too_many_ranges_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
