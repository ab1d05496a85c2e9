/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keeper that waits for the next session, and its image. Argument 1 of the
   program is ecl-mcp-image. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image/family.h"
#include "supervisor/state.h"
#include "support/check.h"
#include "support/folder.h"
#include "support/imagehost.h"

/* The session of which PID is the keeper; NULL: of none. */
static const struct session *kept_by(pid_t pid)
{
    const struct session *session = host->sessions;

    while (session && session->image.keeper_pid != pid)
        session = session->next;
    return session;
}

/* The keeper that waits for a session, as soon as there is one. */
static pid_t wait_for_spare(void)
{
    pid_t found = 0;

    for (int tries = 0; found == 0; tries++) {
        struct family family = {NULL, 0, 0};

        assert_true(tries < HOST_PATIENCE_MS / 5);
        family_find(&family, host->zygote.pid, NULL);
        for (size_t i = 0; i < family.n; i++)
            if (family.list[i].parent == host->zygote.pid &&
                !kept_by(family.list[i].pid))
                found = family.list[i].pid;
        family_release(&family);
        if (found == 0)
            host_turn(5);
    }
    return found;
}

/* The image that waits with KEEPER, as soon as there is one. */
static pid_t wait_for_waiting(pid_t keeper)
{
    pid_t found = 0;

    for (int tries = 0; found == 0; tries++) {
        struct family family = {NULL, 0, 0};

        assert_true(tries < HOST_PATIENCE_MS / 5);
        family_find(&family, keeper, NULL);
        if (family.n > 0)
            found = family.list[0].pid;
        family_release(&family);
        if (found == 0)
            host_turn(5);
    }
    return found;
}

static void open_session(const char *name, uint64_t id)
{
    host_call_in(name, id, "(+ 1 2)");
    host_wait(id);
    host_expect_success();
}

static void keeper_waits_for_its_session(void **state)
{
    pid_t spare;
    pid_t zygote;

    (void)state;
    host_expect(1, "(+ 1 2)", "=> 3");
    open_session("one", 2);
    spare = wait_for_spare();
    open_session("two", 3);
    assert_string_equal(kept_by(spare)->name, "two");
    // one that is killed is not missed
    spare = wait_for_spare();
    assert_int_equal(kill(spare, SIGKILL), 0);
    host_wait_gone(spare);
    open_session("three", 4);
    // none outlives the zygote
    spare = wait_for_spare();
    zygote = host->zygote.pid;
    assert_int_equal(kill(zygote, SIGKILL), 0);
    host_wait_gone(zygote);
    host_wait_gone(spare);
    open_session("three", 5);
}

/* The image of the session that KEEPER has now. */
static pid_t image_kept_by(pid_t keeper)
{
    const struct session *session = kept_by(keeper);

    assert_non_null(session);
    return session ? session->image.pid : 0;
}

/* Waits until PID has ended; its parent need not have noticed. */
static void wait_for_end(pid_t pid)
{
    char path[64];
    char line[256] = "";

    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    for (int tries = 0; !strstr(line, ") Z "); tries++) {
        FILE *file = fopen(path, "re");

        assert_non_null(file);
        assert_true(tries < HOST_PATIENCE_MS / 5);
        assert_non_null(fgets(line, sizeof line, file));
        (void)fclose(file); // was only read
        host_turn(5);
    }
}

/* Its image waits with it, behind the walls. */
static void keeper_has_its_image_ready(void **state)
{
    pid_t spare;
    pid_t image;

    (void)state;
    host_expect(1, "(+ 1 2)", "=> 3");
    open_session("one", 2);
    spare = wait_for_spare();
    image = wait_for_waiting(spare);
    open_session("two", 3);
    assert_int_equal(image_kept_by(spare), image);
    // one that is killed is replaced by its keeper
    spare = wait_for_spare();
    image = wait_for_waiting(spare);
    assert_int_equal(kill(image, SIGKILL), 0);
    wait_for_end(image);
    open_session("three", 4);
    assert_int_not_equal(image_kept_by(spare), image);
    // and one that waits does not outlive its keeper
    spare = wait_for_spare();
    image = wait_for_waiting(spare);
    assert_int_equal(kill(spare, SIGKILL), 0);
    host_wait_gone(image);
}

/* When no session comes soon, it does what the first call would do: that one
   finds the pages that it writes. */
static void image_that_waits_gets_warm(void **state)
{
    enum { COLD = 80, WARM = 120 }; // pages
    pid_t spare;
    pid_t image;
    long before = 0;
    char waits = 'R';

    (void)state;
    if (sysconf(_SC_PAGESIZE) != 4096)
        skip();
    host_expect(1, "(+ 1 2)", "=> 3");
    open_session("one", 2);
    spare = wait_for_spare();
    image = wait_for_waiting(spare);
    for (int tries = 0; before < WARM || waits != 'S'; tries++) {
        assert_true(tries < HOST_PATIENCE_MS / 5);
        host_turn(5);
        before = host_process_field(image, 7, &waits); // pages made or copied
    }
    host_call_in("two", 3, "(+ 1 2)");
    host_wait(3);
    assert_int_equal(image_kept_by(spare), image);
    // no copy is taken before the next turn of the supervisor
    assert_true(host_process_field(image, 7, &waits) - before < COLD);
}

#define TEST(f)                                                                \
    cmocka_unit_test_setup_teardown(f, host_setup_in_folder,                   \
                                    host_teardown_in_folder)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(keeper_waits_for_its_session),
        TEST(keeper_has_its_image_ready),
        TEST(image_that_waits_gets_warm),
    };

    host_use(argc, argv);
    return RUN_TESTS("spare", tests);
}
