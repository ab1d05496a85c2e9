/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tests of hidden.c: what is hidden where KRB5CCNAME says that tickets are, and
   in a home that is not listed, and in one that is too large to be searched;
   and of folders_lead_straight. */
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

#include "base/limits.h"
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

/* Runs the shell's COMMAND in the folder of this test. */
static void run(const char *command)
{
    assert_int_equal(system(command), 0); // NOLINT(cert-env33-c): fixed texts
}

/* What is hidden in the home "home". */
static struct hidden hidden_at_home(void)
{
    static struct sandbox_places places; // large
    struct sandbox sandbox = {.mode = SANDBOX_WORKSPACE};
    struct hidden hidden;

    places.own_tmp = true;
    (void)filled(places.homes[0].path, "%s/home");
    places.homes[0].within = "";
    assert_int_equal(hidden_find(&hidden, &sandbox, &places, NULL), ST_OK);
    return hidden;
}

/* How many of the folders 1 to N of the home have a hidden pw.kdbx. */
static int count_hidden(const struct hidden *hidden, int n)
{
    char folder[TEXT];
    int found = 0;

    for (int i = 1; i <= n; i++) {
        (void)snprintf(folder, sizeof folder, "%s/home/%d", root, i);
        found += hidden_has(hidden, folder, "pw.kdbx", 0, 0);
    }
    return found;
}

/* With one more than the limit, the state says that there may be others. */
static void secrets_are_sought_in_few_folders(void **state)
{
    (void)state;
    run("mkdir home home/.ssh home/.dots");
    for (int more = 0; more < 2; more++) {
        int n = LIMIT_SECRET_FOLDERS + more;
        char command[TEXT];
        struct hidden hidden;

        (void)snprintf(command, sizeof command,
                       "cd home && seq %d | xargs mkdir -p && "
                       "seq -f %%.0f/pw.kdbx %d | xargs touch",
                       n, n);
        run(command);
        hidden = hidden_at_home();
        assert_int_equal(count_hidden(&hidden, n), LIMIT_SECRET_FOLDERS);
        assert_int_equal(hidden.unsought, more ? SANDBOX_UNSOUGHT_FOLDERS : 0);
        hidden_release(&hidden);
    }
    run("rm -r home");
}

/* Those of one file, as many files would take long to make. */
static void secrets_are_sought_among_few_names(void **state)
{
    struct hidden hidden;
    char name[TEXT];

    (void)state;
    run("mkdir -p home/1 && : >home/1/pw.kdbx && : >home/1/0");
    for (int i = 1; i < LIMIT_SECRET_NAMES - 1; i++) {
        (void)snprintf(name, sizeof name, "home/1/%d", i);
        assert_int_equal(link("home/1/0", name), 0);
    }
    hidden = hidden_at_home();
    assert_int_equal(count_hidden(&hidden, 1), 1);
    assert_int_equal(hidden.unsought, 0);
    hidden_release(&hidden);
    assert_int_equal(link("home/1/0", "home/1/more"), 0);
    hidden = hidden_at_home();
    assert_int_equal(hidden.unsought, SANDBOX_UNSOUGHT_NAMES);
    hidden_release(&hidden);
    run("rm -r home");
}

static void other_names_of_few_secrets_are_sought(void **state)
{
    (void)state;
    run("mkdir -p home/.ssh other");
    for (int more = 0; more < 2; more++) {
        char command[TEXT];
        struct hidden hidden;

        (void)snprintf(command, sizeof command,
                       "seq %d | sed s,^,home/.ssh/, | xargs touch && "
                       "rm -r other && cp -al home/.ssh other",
                       LIMIT_SECRET_INSIDE + more);
        run(command);
        hidden = hidden_at_home();
        assert_int_equal(hidden.inside.n, LIMIT_SECRET_INSIDE);
        assert_int_equal(hidden.unsought, more ? SANDBOX_UNSOUGHT_INSIDE : 0);
        hidden_release(&hidden);
    }
    run("rm -r home other");
}

/* Whichever of the folders is looked at first: some come before that of the
   secret, and some after it. */
static void other_names_are_found_in_all_folders(void **state)
{
    struct hidden hidden;

    (void)state;
    run("mkdir home && cd home && seq 40 | xargs mkdir && : >20/my.key && "
        "for i in $(seq 40); do ln 20/my.key $i/letter; done");
    hidden = hidden_at_home();
    for (int i = 1; i <= 40; i++) {
        struct stat status;
        char folder[TEXT];

        (void)snprintf(folder, sizeof folder, "%s/home/%d", root, i);
        assert_int_equal(stat("home/20/my.key", &status), 0);
        assert_non_null(
            hidden_paths_find(&hidden.ways, folder, hidden_hash(folder)));
        assert_true(hidden_has(&hidden, folder, "letter", status.st_dev,
                               status.st_ino));
    }
    hidden_release(&hidden);
    run("rm -r home");
}

/* A link of the home leads to a folder with a secret, another to one that is
   missing and may come, others to what is no folder of the user's. */
static void links_to_folders_are_followed(void **state)
{
    struct hidden hidden;
    char folder[TEXT];

    (void)state;
    run("mkdir home far far/keys && : >far/pw.kdbx && : >far/keys/x.pem && "
        "ln -s ../far home/near && ln -s ../late home/later && "
        "ln -s /etc/ssl/certs home/certs && ln -s / home/all && "
        "ln -s home/loop home/loop && ln -s ../far/keys home/.keys");
    hidden = hidden_at_home();
    assert_true(hidden_has(&hidden, filled(folder, "%s/far"), "pw.kdbx", 0, 0));
    assert_false(
        hidden_has(&hidden, filled(folder, "%s/far/keys"), "x.pem", 0, 0));
    (void)filled(folder, "%s/home/later");
    assert_non_null(
        hidden_paths_find(&hidden.looked, folder, hidden_hash(folder)));
    assert_null(hidden_paths_find(&hidden.looked, "/etc/ssl/certs",
                                  hidden_hash("/etc/ssl/certs")));
    hidden_release(&hidden);
    run("rm -r home far");
}

/* Whether the folder PATTERN is on the way to secrets, and, with SECRET, in one
   itself. */
static bool is_way(const struct hidden *hidden, const char *pattern,
                   bool secret)
{
    char folder[TEXT];
    const struct hidden_path *way;

    (void)filled(folder, pattern);
    way = hidden_paths_find(&hidden->ways, folder, hidden_hash(folder));
    return way && way->secret == secret;
}

/* What is beside a secret in a folder that is secret stays so. */
static void links_open_no_secret_folder(void **state)
{
    struct hidden hidden;

    (void)state;
    run("mkdir -p home/.ssh/more && : >home/.ssh/more/id && "
        "ln -s .ssh/more/id home/id_rsa && : >home/.netrc");
    hidden = hidden_at_home();
    assert_true(is_way(&hidden, "%s/home", false));
    assert_true(is_way(&hidden, "%s/home/.ssh", true));
    assert_true(is_way(&hidden, "%s/home/.ssh/more", true));
    hidden_release(&hidden);
    hidden = hidden_with("FILE:/run/user/0/krb5cc");
    assert_true(is_way(&hidden, "/run", false));
    assert_true(is_way(&hidden, "/run/user", true));
    assert_true(is_way(&hidden, "/run/user/0", true));
    hidden_release(&hidden);
    run("rm -r home");
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
        cmocka_unit_test(secrets_are_sought_in_few_folders),
        cmocka_unit_test(secrets_are_sought_among_few_names),
        cmocka_unit_test(other_names_of_few_secrets_are_sought),
        cmocka_unit_test(other_names_are_found_in_all_folders),
        cmocka_unit_test(links_to_folders_are_followed),
        cmocka_unit_test(links_open_no_secret_folder),
        cmocka_unit_test(only_plain_paths_lead_straight),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
