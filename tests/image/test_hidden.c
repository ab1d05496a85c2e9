/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of hidden.c: what is hidden where KRB5CCNAME says that tickets are, and
   in a home that is not listed; and of folders_lead_straight. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "image/folders.h"
#include "image/hidden.h"

#define TEXT 256

/* A "%s" stands for the folder of this test. */
struct cache {
    const char *variable;
    const char *hidden; /* NULL: nothing more than without the variable */
};

static const struct cache caches[] = {
    {"%s/dir/tkt", "%s/dir/tkt"},
    {"FILE:%s/dir/tkt", "%s/dir/tkt"},
    {"FILE:/%s//dir/./tkt", "%s/dir/tkt"},
    {"FILE:%s/none/", "%s/none"}, // may come later
    {"DIR:%s/dir", "%s/dir"},
    {"DIR:%s/dir/", "%s/dir"},
    {"DIR:%s/dir//", "%s/dir"},
    {"DIR:%s/dir/.", "%s/dir"},
    {"DIR:%s/link/", "%s/link"},
    {"DIR:%s/link/", "%s/dir"}, // to which it leads
    {"DIR::%s/dir/tkt", "%s/dir"},
    {"DIR::%s/dir/tkt/", "%s/dir"},
    {"DIR::/tkt", "/tkt"}, // never the whole system
    {"DIR:/", NULL},
    {"DIR:/.//", NULL},
    {"DIR::", NULL},
    {"FILE:dir/tkt", NULL},
    {"KEYRING:%s/dir/tkt", NULL},
};

static char root[] = "/tmp/ecl-mcp-hidden-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(root) && chdir(root) == 0 && mkdir("dir", 0700) == 0 &&
                   symlink("dir", "link") == 0
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return unlink("link") == 0 && rmdir("dir") == 0 && chdir("/") == 0 &&
                   rmdir(root) == 0
               ? 0
               : -1;
}

/* Fills in the folder of this test. */
static const char *filled(char text[TEXT], const char *pattern)
{
    const char *mark = strstr(pattern, "%s");
    int n = mark ? snprintf(text, TEXT, "%.*s%s%s", (int)(mark - pattern),
                            pattern, root, mark + 2)
                 : snprintf(text, TEXT, "%s", pattern);

    assert_in_range(n, 1, TEXT - 1);
    return text;
}

static struct hidden hidden_with(const char *tickets)
{
    static struct sandbox_places places; // large
    struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE};
    struct hidden hidden;

    places.tickets = tickets;
    assert_int_equal(hidden_find(&hidden, &sandbox, &places, NULL), ST_OK);
    return hidden;
}

static void tickets_are_hidden_however_written(void **state)
{
    struct hidden none = hidden_with(NULL);

    (void)state;
    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        const struct cache *cache = &caches[i];
        char variable[TEXT];
        char wanted[TEXT];
        struct hidden hidden = hidden_with(filled(variable, cache->variable));
        bool found = false;

        for (size_t j = 0; cache->hidden && j < hidden.secrets.n; j++)
            if (strcmp(hidden.secrets.list[j].name,
                       filled(wanted, cache->hidden)) == 0)
                found = true;
        if (cache->hidden && !found)
            fail_msg("%s does not hide %s", variable, wanted);
        if (!cache->hidden)
            assert_int_equal(hidden.secrets.n, none.secrets.n);
        hidden_release(&hidden);
    }
    hidden_release(&none);
}

/* Where images have a /tmp of their own, that of all programs is not read. */
static void tickets_are_sought_where_they_can_be_seen(void **state)
{
    static struct sandbox_places places; // large
    struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE};
    char ticket[TEXT];
    int file;

    (void)state;
    (void)snprintf(ticket, sizeof ticket, "/tmp/krb5cc_test-%d", (int)getpid());
    file = open(ticket, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(file >= 0);
    assert_int_equal(close(file), 0);
    for (int own = 0; own < 2; own++) {
        struct hidden hidden;

        places.own_tmp = own == 1;
        assert_int_equal(hidden_find(&hidden, &sandbox, &places, NULL), ST_OK);
        assert_int_equal(hidden_has(&hidden, "/tmp", ticket + 5, 0, 0), !own);
        hidden_add_tickets(&hidden);
        assert_true(hidden_has(&hidden, "/tmp", ticket + 5, 0, 0));
        hidden_release(&hidden);
    }
    assert_int_equal(unlink(ticket), 0);
}

/* The usual ticket is known by its number where its name cannot be seen. */
static void a_ticket_has_no_other_name_in_a_home(void **state)
{
    static struct sandbox_places places; // large
    struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE};
    struct hidden hidden;
    struct stat status;
    char ticket[TEXT];
    char folder[TEXT];
    int file;

    (void)state;
    (void)snprintf(ticket, sizeof ticket, "/tmp/krb5cc_%u",
                   (unsigned)geteuid());
    file = open(ticket, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_int_equal(link(ticket, "dir/letter"), 0);
    assert_int_equal(stat(ticket, &status), 0);
    assert_true(file < 0 || close(file) == 0); // else it is the real one
    filled(places.homes[0].path, "%s");
    places.homes[0].within = "";
    for (int own = 0; own < 2; own++) {
        places.own_tmp = own == 1;
        assert_int_equal(hidden_find(&hidden, &sandbox, &places, NULL), ST_OK);
        assert_true(hidden_has(&hidden, filled(folder, "%s/dir"), "letter",
                               status.st_dev, status.st_ino));
        hidden_release(&hidden);
    }
    if (file >= 0)
        assert_int_equal(unlink(ticket), 0);
    assert_int_equal(unlink("dir/letter"), 0);
}

/* A link is not listed, as a home with too many entries is not: the secrets
   that only a pattern names are found all the same. */
static void secrets_are_hidden_without_a_listing(void **state)
{
    static struct sandbox_places places; // large
    struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE};
    struct hidden hidden;
    char home[TEXT];
    char folder[TEXT];
    int file = open("dir/pw.kdbx", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

    (void)state;
    assert_true(file >= 0);
    assert_int_equal(close(file), 0);
    (void)snprintf(places.homes[0].path, sizeof places.homes[0].path, "%s",
                   filled(home, "%s/link"));
    places.homes[0].within = "";
    assert_int_equal(hidden_find(&hidden, &sandbox, &places, NULL), ST_OK);
    assert_int_equal(unlink("dir/pw.kdbx"), 0);
    assert_true(hidden_has(&hidden, home, "pw.kdbx", 0, 0));
    assert_true(hidden_has(&hidden, filled(folder, "%s/dir"), "pw.kdbx", 0, 0));
    hidden_release(&hidden);
}

/* What is not the only name of a file leads to it in another way. */
static void only_plain_paths_lead_straight(void **state)
{
    static const char *const crooked[] = {"%s/link",  "%s/link/tkt", "%s//dir",
                                          "/%s/dir",  "%s/./dir",    "%s/dir/",
                                          "%s/dir/.", "%s/none/"};
    char path[TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof crooked / sizeof *crooked; i++)
        if (folders_lead_straight(filled(path, crooked[i])))
            fail_msg("%s leads straight", path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tickets_are_hidden_however_written),
        cmocka_unit_test(tickets_are_sought_where_they_can_be_seen),
        cmocka_unit_test(a_ticket_has_no_other_name_in_a_home),
        cmocka_unit_test(secrets_are_hidden_without_a_listing),
        cmocka_unit_test(only_plain_paths_lead_straight),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
