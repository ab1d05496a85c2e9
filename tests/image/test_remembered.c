/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of remembered.c: a large home is as it was read, until it changes, and
   nothing else counts as what was remembered; and of hidden.c, which asks. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"
#include "image/hidden.h"
#include "image/remembered.h"

#define TEXT 256

/* More than a home needs to be remembered. */
#define ENTRIES 1200

/* In memory, whose file system is one of those that count. */
static char root[] = "/dev/shm/ecl-mcp-remembered-XXXXXX";

#define FILE_BELOW "home/.local/state/ecl-mcp/home"

/* Runs the shell's COMMAND in the folder of this test. */
static void run(const char *command)
{
    assert_int_equal(system(command), 0); // NOLINT(cert-env33-c): fixed texts
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(root) && chdir(root) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return chdir("/") == 0 && rmdir(root) == 0 ? 0 : -1;
}

static void make_home(void)
{
    char command[TEXT];

    (void)snprintf(command, sizeof command,
                   "mkdir -p home/.local/state/ecl-mcp home/folder && cd home "
                   "&& seq %d | xargs touch && touch last.pem .dotted && "
                   "ln -s folder link",
                   ENTRIES);
    run(command);
}

/* The home as it is now, or as if it had last changed SECONDS before. */
static struct hidden_path look(char *name, time_t seconds)
{
    struct stat status;

    (void)snprintf(name, TEXT, "%s/home", root);
    assert_int_equal(stat(name, &status), 0);
    status.st_ctim.tv_sec -= seconds;
    return (struct hidden_path){.name = name,
                                .device = status.st_dev,
                                .number = status.st_ino,
                                .changed = status.st_ctim};
}

static struct listing list_home(const char *const *more)
{
    int fd = open("home", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct listing listing;

    assert_true(fd >= 0);
    listing_read_way(&listing, fd, more);
    assert_int_equal(close(fd), 0);
    assert_true(listing.read);
    return listing;
}

static bool recalls(const struct hidden_path *home, const char *const *more)
{
    struct listing listing;
    bool done = remembered_recall(home, more, &listing);

    assert_int_equal(listing.read, done);
    listing_release(&listing);
    return done;
}

static bool has(const struct listing *listing, const char *name)
{
    for (size_t i = 0; i < listing->n; i++)
        if (strcmp(listing_name(listing, i), name) == 0)
            return true;
    return false;
}

static void a_home_is_recalled_as_it_was_read(void **state)
{
    char name[TEXT];
    struct hidden_path home;
    struct listing read;
    struct listing now;

    (void)state;
    make_home();
    home = look(name, 10);
    read = list_home(NULL);
    assert_in_range(read.seen, ENTRIES, ENTRIES + 10);
    assert_in_range(read.n, LIMIT_FILES_READABLE, ENTRIES / 2);
    assert_true(has(&read, "last.pem") && has(&read, ".dotted"));
    assert_false(recalls(&home, NULL));
    remembered_note(&home, NULL, &read);
    assert_true(remembered_recall(&home, NULL, &now));
    assert_int_equal(now.n, read.n);
    assert_int_equal(now.seen, read.seen);
    assert_int_equal(now.device, read.device);
    assert_int_equal(now.foreign, read.foreign);
    assert_memory_equal(now.starts, read.starts, sizeof now.starts);
    for (size_t i = 0; i < now.n; i++) {
        assert_string_equal(listing_name(&now, i), listing_name(&read, i));
        assert_int_equal(now.list[i].type, read.list[i].type);
        assert_int_equal(now.list[i].number, read.list[i].number);
    }
    listing_release(&now);
    listing_release(&read);
    run("rm -r home");
}

/* Another home, or the same at another time, with other patterns. */
static void what_differs_is_not_recalled(void **state)
{
    static const char *const more[] = {"*.jks", NULL};
    char name[TEXT];
    struct hidden_path home;
    struct hidden_path other;
    struct listing read;

    (void)state;
    make_home();
    home = look(name, 10);
    read = list_home(NULL);
    remembered_note(&home, NULL, &read);
    listing_release(&read);
    assert_true(recalls(&home, NULL));
    assert_false(recalls(&home, more));
    other = home;
    other.device++;
    assert_false(recalls(&other, NULL));
    other = home;
    other.number++;
    assert_false(recalls(&other, NULL));
    other.number = 0; // there is nothing
    assert_false(recalls(&other, NULL));
    other = home;
    other.changed.tv_sec++;
    assert_false(recalls(&other, NULL));
    other = home;
    other.changed.tv_nsec ^= 1;
    assert_false(recalls(&other, NULL));
    run("rm -r home");
}

/* Nothing is noted of a home that may change within the step of its time, and
   of one that is read in no time. */
static void little_is_noted(void **state)
{
    char name[TEXT];
    struct hidden_path home;
    struct listing read;

    (void)state;
    make_home();
    home = look(name, -60); // it may be a minute old when this is looked at
    read = list_home(NULL);
    remembered_note(&home, NULL, &read);
    assert_int_equal(access(FILE_BELOW, F_OK), -1);
    home = look(name, 10);
    read.seen = 50;
    remembered_note(&home, NULL, &read);
    assert_int_equal(access(FILE_BELOW, F_OK), -1);
    read.seen = ENTRIES;
    read.read = false;
    remembered_note(&home, NULL, &read);
    assert_int_equal(access(FILE_BELOW, F_OK), -1);
    read.read = true;
    remembered_note(&home, NULL, &read);
    assert_int_equal(access(FILE_BELOW, F_OK), 0);
    listing_release(&read);
    run("rm -r home");
}

/* Of LIMIT_HOME_REMEMBERED bytes at most: folders, of which none is left out,
   fill it up. */
static void what_is_noted_is_bounded(void **state)
{
    char name[TEXT];
    struct hidden_path home;
    struct listing read;
    struct stat status;
    size_t rest;

    (void)state;
    make_home();
    home = look(name, 10);
    read = list_home(NULL);
    remembered_note(&home, NULL, &read);
    assert_int_equal(stat(FILE_BELOW, &status), 0);
    rest = LIMIT_HOME_REMEMBERED - (size_t)status.st_size;
    read.names = realloc(read.names, read.names_n + rest + 1);
    assert_non_null(read.names);
    memset(read.names + read.names_n, 0, rest + 1);
    read.names_n += rest;
    remembered_note(&home, NULL, &read);
    assert_int_equal(stat(FILE_BELOW, &status), 0);
    assert_int_equal(status.st_size, LIMIT_HOME_REMEMBERED);
    assert_true(recalls(&home, NULL));
    read.names_n++;
    run("rm " FILE_BELOW);
    remembered_note(&home, NULL, &read);
    assert_int_equal(access(FILE_BELOW, F_OK), -1);
    listing_release(&read);
    run("rm -r home");
}

/* Whatever else is in the file, it is not taken for what a home holds. */
static void a_damaged_file_is_not_recalled(void **state)
{
    char name[TEXT];
    struct hidden_path home;
    struct listing read;
    struct stat status;
    int fd;

    (void)state;
    make_home();
    home = look(name, 10);
    read = list_home(NULL);
    remembered_note(&home, NULL, &read);
    fd = open(FILE_BELOW, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fstat(fd, &status), 0);
    for (off_t i = 0; i < status.st_size; i++) {
        unsigned char byte;
        unsigned char wrong;

        assert_int_equal(pread(fd, &byte, 1, i), 1);
        wrong = byte ^ 0x81;
        assert_int_equal(pwrite(fd, &wrong, 1, i), 1);
        if (recalls(&home, NULL))
            fail_msg("byte %ld does not count", (long)i);
        assert_int_equal(pwrite(fd, &byte, 1, i), 1);
    }
    assert_true(recalls(&home, NULL));
    assert_int_equal(ftruncate(fd, status.st_size + 1), 0);
    assert_true(recalls(&home, NULL)); // of an earlier, larger one
    for (off_t n = status.st_size - 1; n >= 0; n -= 7) {
        assert_int_equal(ftruncate(fd, n), 0);
        assert_false(recalls(&home, NULL));
    }
    remembered_note(&home, NULL, &read);
    assert_true(recalls(&home, NULL));
    assert_int_equal(fchmod(fd, 0660), 0); // others may write
    assert_false(recalls(&home, NULL));
    assert_int_equal(fchmod(fd, 0600), 0);
    assert_true(recalls(&home, NULL));
    assert_int_equal(close(fd), 0);
    run("mv " FILE_BELOW " elsewhere && ln -s ../../../../elsewhere " FILE_BELOW
        " && cmp -s elsewhere " FILE_BELOW);
    assert_false(recalls(&home, NULL));
    run("rm elsewhere " FILE_BELOW " && mkfifo " FILE_BELOW);
    assert_false(recalls(&home, NULL));
    listing_release(&read);
    run("rm -r home");
}

static struct hidden find_hidden(void)
{
    static struct sandbox_places places; // large
    struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE};
    struct hidden hidden;

    places.own_tmp = true;
    (void)snprintf(places.homes[0].path, TEXT, "%s/home", root);
    places.homes[0].within = "";
    assert_int_equal(hidden_find(&hidden, &sandbox, &places, NULL), ST_OK);
    return hidden;
}

/* As soon as the home has been left alone for a while. */
static void what_is_hidden_is_remembered(void **state)
{
    const struct timespec pause = {0, 50000000};
    char name[TEXT];
    struct hidden_path home;
    struct hidden hidden;
    int tries = 0;

    (void)state;
    make_home();
    do {
        assert_true(tries++ < 600); // half a minute
        (void)nanosleep(&pause, NULL);
        hidden = find_hidden();
        home = look(name, 0);
        assert_true(hidden_has(&hidden, name, "last.pem", 0, 0));
        hidden_release(&hidden);
    } while (access(FILE_BELOW, F_OK) < 0);
    assert_true(recalls(&home, NULL));
    hidden = find_hidden();
    assert_true(hidden_has(&hidden, name, "last.pem", 0, 0));
    assert_false(hidden_has(&hidden, name, "folder", 0, 0));
    hidden_release(&hidden);
    run("touch home/new.pem home/.netrc");
    home = look(name, 0);
    assert_false(recalls(&home, NULL));
    hidden = find_hidden();
    assert_true(hidden_has(&hidden, name, "new.pem", 0, 0));
    assert_true(hidden_has(&hidden, name, ".netrc", 0, 0));
    hidden_release(&hidden);
    run("rm -r home");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_home_is_recalled_as_it_was_read),
        cmocka_unit_test(what_differs_is_not_recalled),
        cmocka_unit_test(little_is_noted),
        cmocka_unit_test(what_is_noted_is_bounded),
        cmocka_unit_test(a_damaged_file_is_not_recalled),
        cmocka_unit_test(what_is_hidden_is_remembered),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
