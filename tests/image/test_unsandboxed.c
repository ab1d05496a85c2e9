/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A system without any part of the sandbox, as in a container whose runtime
   refuses the calls: everything works, and the log says what is missing.
   Argument 1 of the program is ecl-mcp-image. */
#include <errno.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "image/linux.h"
#include "support/check.h"
#include "support/imagehost.h"

/* Makes the kernel an old one for this process and its children. */
static bool age_kernel(void)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    struct scmp_arg_cmp mode = SCMP_A0(SCMP_CMP_EQ, PR_SET_SECCOMP, 0);
    bool done = filter != NULL;

    for (int call = 444; done && call <= 446; call++) // Landlock's
        done = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), call, 0) == 0;
    done = done &&
           seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(seccomp),
                            0) == 0 &&
           seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EINVAL),
                                  SCMP_SYS(prctl), 1, &mode) == 0 &&
           seccomp_load(filter) == 0;
    seccomp_release(filter);
    return done;
}

static void system_without_sandbox_is_reported(void **state)
{
    (void)state;
    assert_int_equal(linux_landlock_version(), 0);
    host_expect(1, "(+ 1 1)", "=> 2");
    host_wait_log("sandbox: workspace, NO Landlock in this kernel: files are "
                  "not protected, NO seccomp in this system: network and "
                  "system calls are not restricted");
    host_expect(2, "(funcall (compile nil '(lambda () 3)))", "=> 3");
    host_call(3, "(ext:system \"grep -c '^CapPrm:.0*$' /proc/self/status; "
                 "grep -c '^NoNewPrivs:.1' /proc/self/status\")");
    host_wait(3);
    host_expect_part("1\n1\n"); // even for root, these hold
    // and other programs of the user cannot inspect this process
    assert_int_equal(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 0);
    host_call(4, "(ext:system \"cat /proc/$(cut -d' ' -f4 /proc/$(cut -d' ' "
                 "-f4 /proc/$PPID/stat)/stat)/environ\")");
    host_wait(4);
    host_expect_part("/environ: Permission denied");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(system_without_sandbox_is_reported,
                                        host_setup, host_teardown),
    };

    host_use(argc, argv);
    if (!age_kernel()) {
        (void)fputs("this system has no seccomp to take away\n", stderr);
        return 1;
    }
    return RUN_TESTS("unsandboxed", tests);
}
