/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Evaluated code speaks to the supervisor in the name of its image. The
   supervisor, which is not in the sandbox, must not do anything for the code
   that the code cannot do itself. Argument 1 of the program is
   ecl-mcp-image. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/check.h"
#include "support/folder.h"
#include "support/imagehost.h"

/* Lisp with C in it. A child of the image stops it, answers its call 2, waits
   for the order to make a copy, and says that the copy is process VICTIM. Then
   the image dies, and the supervisor turns to the copy. */
static const char attack[] =
    "(ffi:clines \"\n"
    "#include <signal.h>\n"
    "#include <string.h>\n"
    "#include <sys/socket.h>\n"
    "#include <sys/stat.h>\n"
    "#include <unistd.h>\n"
    "static void frame(unsigned char *p, int kind, const unsigned char *id,\n"
    "                  int size)\n"
    "{\n"
    "    memmove(p + 8, id, 8);\n"
    "    memset(p, 0, 8);\n"
    "    p[0] = size; p[4] = kind;\n"
    "}\n"
    "static void forge(int victim)\n"
    "{\n"
    "    unsigned char bytes[64];\n"
    "    unsigned char two[8] = {2};\n"
    "    char room[CMSG_SPACE(sizeof(int))];\n"
    "    struct iovec part = {bytes, 25};\n"
    "    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1,\n"
    "        .msg_control = room, .msg_controllen = CMSG_LEN(sizeof(int))};\n"
    "    struct cmsghdr *cmsg = CMSG_FIRSTHDR(&header);\n"
    "    struct stat status;\n"
    "    int pair[2];\n"
    "    int fd = 200;\n"
    "    while (fstat(fd, &status) < 0 || !S_ISSOCK(status.st_mode))\n"
    "        fd++;\n"
    "    if (fork() != 0)\n"
    "        for (;;)\n"
    "            pause();\n"
    "    setsid();\n"
    "    kill(getppid(), SIGSTOP);\n"
    "    frame(bytes, 16, two, 7);\n"
    "    memcpy(bytes + 16, \\\"S\\\\2\\\\0\\\\0\\\\0hi\\\", 7);\n"
    "    send(fd, bytes, 23, 0);\n"
    "    recv(fd, bytes, 16, MSG_WAITALL);\n"
    "    frame(bytes, 12, bytes + 8, 9);\n"
    "    memset(bytes + 16, 0, 9);\n"
    "    bytes[16] = 73;\n"
    "    memcpy(bytes + 17, &victim, 4);\n"
    "    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);\n"
    "    cmsg->cmsg_level = SOL_SOCKET;\n"
    "    cmsg->cmsg_type = SCM_RIGHTS;\n"
    "    cmsg->cmsg_len = CMSG_LEN(sizeof(int));\n"
    "    memcpy(CMSG_DATA(cmsg), pair, sizeof(int));\n"
    "    sendmsg(fd, &header, 0);\n"
    "    kill(getppid(), SIGKILL);\n"
    "    for (;;)\n"
    "        pause();\n"
    "}\n"
    "\")\n"
    "(defun forge (victim)\n"
    "  (ffi:c-inline (victim) (:int) :void \"forge(#0);\"))\n";

static int set_up(void **state)
{
    char path[FOLDER_SIZE + 20];
    FILE *file;

    (void)state;
    if (folder_make() < 0)
        return -1;
    (void)snprintf(path, sizeof path, "%s/attack.lisp", folder);
    file = fopen(path, "we");
    if (!file || fputs(attack, file) == EOF || fclose(file) == EOF)
        return -1;
    host_start(NULL, folder);
    return 0;
}

static int tear_down(void **state)
{
    int status = host_teardown(state);

    folder_remove();
    return status;
}

static pid_t start_victim(void)
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        for (;;)
            (void)pause();
    return pid;
}

static void forgery_of_a_copy_reaches_no_other_process(void **state)
{
    pid_t victim = start_victim();
    char code[64];
    int status;

    (void)state;
    host_call(1, "(progn (load (compile-file \"attack.lisp\")) 1)");
    host_wait(1);
    assert_false(host_error);
    (void)snprintf(code, sizeof code, "(forge %d)", (int)victim);
    host_call(2, code);
    host_wait(2);
    assert_string_equal(host_answer.p, "hi");
    host_wait_log("was killed by signal 9");
    host_call(3, "(+ 1 1)");
    host_wait(3);
    host_expect_part("The Lisp image was killed by signal 9");
    host_expect_part("=> 2");
    assert_int_equal(waitpid(victim, &status, WNOHANG), 0); // it lives
    assert_int_equal(kill(victim, SIGKILL), 0);
    assert_int_equal(waitpid(victim, &status, 0), victim);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            forgery_of_a_copy_reaches_no_other_process, set_up, tear_down),
    };

    host_use(argc, argv);
    return RUN_TESTS("forgery", tests);
}
