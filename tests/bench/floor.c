/* SPDX-License-Identifier: GPL-3.0-or-later */
/* floor.c: an evaluation with what no server of this kind can leave out, and
   nothing else:
     floor LOG [all]
   A line from the client is answered by plain ECL in a second process, which
   reads a form, evaluates it, and prints the value. While it does, this program
   hears the client, who may cancel the call, and what the code prints, by two
   pipes, and would notice the end of its time. Each of what follows is done in
   the cheapest way that was found:
   - the line is checked to be JSON, once, in one pass over its bytes;
   - the second process may not make all system calls (a filter of the kernel,
     which decides about most of them without running);
   - an error in the code ends the call and not the process (a handler that is
     made once);
   - a number says to which call an answer belongs (a character);
   - when the answer is out, a line about it goes to the file LOG, with the
     hashes of code and answer.
   With `all` it also makes the system calls without which promises are not
   kept, and takes no consequence of their answers:
   - from the second process it receives with room for descriptors (recvmsg):
     what code sends unasked must be closed in a thread, for a file can take
     seconds to close, and recv would close it;
   - of both pipes it is asked whether output is left (poll): one that waits for
     several descriptors may hear of an answer before the output behind which it
     was sent;
   - of the folder whether it has changed (fstat): the code may have made files
     that later code must not write to;
   - of LOG whether it still has a name (statx), for a line in a file that was
     removed is lost; and the clock, for the line;
   - of descriptors 1 and 2 what they are (fstat), in the second process: code
     may have put others there.
   No member of the JSON is looked up but three by their text, nothing is
   decided, no output is kept, and no death would be survived. */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <nettle/sha2.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bench/floor_lisp.h"

/* Milliseconds that a call may take. */
#define TIME_LIMIT 30000

enum { CLIENT, SOCKET, OUT, ERR, FDS };

static int fds[FDS];
static int epoll;
static int log_file;
static int folder;
static bool all;

/* Refuses one system call from now on. */
static bool confine(void)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog filter = {sizeof program / sizeof *program,
                                      program};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

static int run_lisp(int socket, int out, int err)
{
    if (!confine() || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(err, STDERR_FILENO) < 0)
        return 1;
    floor_lisp(socket, all);
}

static bool watch(int which, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.u32 = (uint32_t)which};

    fds[which] = fd;
    return epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* Starts the second process; false: it cannot be. */
static bool start(void)
{
    int pair[2];
    int out[2];
    int err[2];
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0 ||
        pipe2(out, O_CLOEXEC) < 0 || pipe2(err, O_CLOEXEC) < 0)
        return false;
    pid = fork();
    if (pid == 0) {
        (void)close(pair[0]); // else it would not see the end
        _exit(run_lisp(pair[1], out[1], err[1]));
    }
    (void)close(pair[1]);
    (void)close(out[1]);
    (void)close(err[1]);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    folder = open(".", O_PATH | O_CLOEXEC);
    return pid > 0 && folder >= 0 && watch(CLIENT, STDIN_FILENO) &&
           watch(SOCKET, pair[0]) && watch(OUT, out[0]) && watch(ERR, err[0]);
}

static size_t take_bytes(int which, char *room, size_t size)
{
    char control[CMSG_SPACE(sizeof(int))];
    struct iovec part = {room, size};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = control,
                            .msg_controllen = sizeof control};
    ssize_t n = all && which == SOCKET
                    ? recvmsg(fds[which], &header, MSG_CMSG_CLOEXEC)
                    : read(fds[which], room, size);

    return n > 0 ? (size_t)n : 0;
}

/* Waits for what comes; returns the bytes from WHICH, 0 at its end. */
static size_t receive(int which, char *room, size_t size)
{
    for (;;) {
        struct epoll_event events[FDS];
        int found =
            epoll_wait(epoll, events, FDS, which == SOCKET ? TIME_LIMIT : -1);
        bool ready = false;

        if (found <= 0)
            return 0;
        for (int i = 0; i < found; i++) {
            uint32_t place = events[i].data.u32;
            char printed[4096];

            ready = ready || place == (uint32_t)which;
            if (place == OUT || place == ERR)
                (void)!read(fds[place], printed, sizeof printed); // dropped
        }
        if (ready)
            return take_bytes(which, room, size);
    }
}

/* What else cannot be left out before an answer; false: nothing works. */
static bool look(void)
{
    struct pollfd pipes[] = {{fds[OUT], POLLIN, 0}, {fds[ERR], POLLIN, 0}};
    struct stat info;

    return !all || (poll(pipes, 2, 0) >= 0 && fstat(folder, &info) == 0);
}

/* The same before a line of the log. */
static bool look_at_log(void)
{
    struct timespec now;
    struct statx info;

    return !all || (clock_gettime(CLOCK_REALTIME, &now) == 0 &&
                    statx(log_file, "", AT_EMPTY_PATH, STATX_NLINK | STATX_SIZE,
                          &info) == 0);
}

static void hash(const char *p, size_t n, char *digits)
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    struct sha256_ctx context;

    sha256_init(&context);
    sha256_update(&context, n, (const uint8_t *)p);
    sha256_digest(&context, sizeof digest, digest);
    for (size_t i = 0; i < sizeof digest; i++) {
        digits[2 * i] = "0123456789abcdef"[digest[i] >> 4];
        digits[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
    }
    digits[2 * sizeof digest] = '\0';
}

static bool write_all(int fd, const char *p, size_t n)
{
    return write(fd, p, n) == (ssize_t)n;
}

/* A line as long as that of the server. */
static bool note(const char *code, size_t n, const char *answer, size_t size)
{
    enum { REST = 220 };
    char line[600];
    char code_hash[2 * SHA256_DIGEST_SIZE + 1];
    char answer_hash[2 * SHA256_DIGEST_SIZE + 1];

    if (!look_at_log())
        return false;
    hash(code, n, code_hash);
    hash(answer, size, answer_hash);
    n = (size_t)snprintf(line, sizeof line,
                         "{\"tool\":\"evaluate-lisp\",\"argumentSha256\":\"%s"
                         "\",\"answerSha256\":\"%s\",",
                         code_hash, answer_hash);
    memset(line + n, ' ', REST);
    line[n + REST] = '\n';
    return write_all(log_file, line, n + REST + 1);
}

/* Receives a value, a line, into ROOM without its end; its bytes, or 0. */
static size_t receive_value(char *room, size_t size)
{
    size_t n = 0;

    while (n == 0 || room[n - 1] != '\n') {
        size_t more = n < size ? receive(SOCKET, room + n, size - n) : 0;

        if (more == 0)
            return 0;
        n += more;
    }
    return n - 1;
}

/* Answers ID with TEXT of N bytes. */
static bool answer(long id, const char *text, size_t n)
{
    char line[256];
    int length =
        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"content\":[{"
                 "\"type\":\"text\",\"text\":\"=> %.*s\"}],\"isError\":false}"
                 "}\n",
                 id, (int)n, text);

    return write_all(STDOUT_FILENO, line, (size_t)length);
}

/* Where the string behind the quote before P ends: behind its quote; NULL: it
   has a control character, or no end. No client here sends escapes, or other
   characters than ASCII. */
static const char *string_end(const char *p)
{
    while ((unsigned char)*p >= ' ' && (unsigned char)*p < 0x80 && *p != '"' &&
           *p != '\\')
        p++;
    return *p == '"' ? p + 1 : NULL;
}

/* Where the string, the number or the word at P ends, or NULL. */
static const char *scalar_end(const char *p)
{
    static const char *const words[] = {"true", "false", "null"};
    const char *start = p;

    if (*p == '"')
        return string_end(p + 1);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(p, words[i], strlen(words[i])) == 0)
            return p + strlen(words[i]);
    while (*p >= '0' && *p <= '9')
        p++;
    return p > start ? p : NULL;
}

/* Where the value of the member at P begins, or NULL. */
static const char *name_end(const char *p)
{
    const char *end = *p == '"' ? string_end(p + 1) : NULL;

    return end && *end == ':' ? end + 1 : NULL;
}

/* Whether P is a value of JSON, without blanks and arrays, as the clients of
   the bench write it. */
static bool is_json(const char *p)
{
    int depth = 0;

    while (p) {
        if (*p == '{' && p[1] != '}') {
            depth++;
            p = name_end(p + 1);
            continue;
        }
        p = *p == '{' ? p + 2 : scalar_end(p);
        for (; p && *p == '}' && depth > 0; depth--)
            p++;
        if (!p || depth == 0)
            break;
        p = *p == ',' ? name_end(p + 1) : NULL;
    }
    return p && *p == '\0';
}

/* Evaluates the code in LINE, a call by caller.c whose code has no escapes and
   is in parentheses, and answers it; false: that cannot be. */
static bool take(char *line)
{
    const char *id = strstr(line, "\"id\":");
    char *code = strstr(line, "\"code\":\"");
    char *end;
    char value[64];
    long number;
    size_t n;
    size_t size;

    if (!is_json(line))
        return false;
    if (!id)
        return true; // a notification
    number = strtol(id + strlen("\"id\":"), NULL, 10);
    if (!code)
        return answer(number, "", 0); // to initialize
    code += strlen("\"code\":\"");
    end = strchr(code, '"');
    if (!end)
        return false;
    n = (size_t)(end - code);
    code[-1] = (char)('0' + number % 10);
    *end = '\n';
    if (!write_all(fds[SOCKET], code - 1, n + 2))
        return false;
    size = receive_value(value, sizeof value);
    return size > 1 && value[0] == code[-1] && look() &&
           answer(number, value + 1, size - 1) &&
           note(code, n, value + 1, size - 1);
}

int main(int argc, char **argv)
{
    static char lines[4096]; // whole ones: the client waits for answers
    size_t n;

    all = argc == 3 && strcmp(argv[2], "all") == 0;
    log_file =
        argc == 2 || all
            ? open(argv[1], O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC,
                   0600)
            : -1;
    if (log_file < 0 || !start())
        return 1;
    while ((n = receive(CLIENT, lines, sizeof lines - 1)) > 0) {
        lines[n] = '\0';
        for (char *line = lines, *end; (end = strchr(line, '\n'));
             line = end + 1) {
            *end = '\0';
            if (!take(line))
                return 1;
        }
    }
    (void)close(fds[SOCKET]);
    (void)wait(NULL);
    return 0;
}
