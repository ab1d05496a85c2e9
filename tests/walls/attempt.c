/* SPDX-License-Identifier: GPL-3.0-or-later */
/* attempt.c: attempt PLAN makes the attempts of the file PLAN, each in a
   process of its own, and prints what became of them. A line of PLAN is "NUMBER
   KIND TEXT", a line of output "NUMBER done" or "NUMBER WHY". README.md
   explains the kinds. attempt --victim FOLDER is what they attack. */
#include "walls/attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"

/* Seconds that an attempt may take: a lease or a lock may make it wait. */
enum { SECONDS = 5 };

/* The exit status of a process whose line is wrong. Others are error
   numbers. */
enum { WRONG_LINE = 200 };

/* Bytes of the first version of struct sched_attr. */
enum { SCHEDULE = 48 };

static char zeros[65536];

static NO_RETURN void wrong_line(const char *why, const char *what)
{
    (void)fprintf(stderr, "%s: %s\n", why, what);
    _exit(WRONG_LINE);
}

/* The descriptor of PATH; what cannot be opened is refused. */
static long opened(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        _exit(errno);
    return fd;
}

/* A buffer of the numbers in LIST, of SIZE bytes each. */
static long numbers(const char *list, size_t size)
{
    char *at = zeros + 4096;
    char *buffer = at;

    while (*list) {
        char *end;
        long value = strtol(list, &end, 0);

        memcpy(at, &value, size); // the low half comes first
        at += size;
        list = *end == ',' ? end + 1 : "";
    }
    return (long)buffer;
}

/* A buffer with the scheduling attributes of this process, which it may give to
   others of its user whatever its priority. */
static long own_schedule(void)
{
    static char buffer[SCHEDULE];

    (void)syscall(SYS_sched_getattr, 0, buffer, SCHEDULE, 0);
    return (long)buffer;
}

/* The value of an argument, see README.md. */
static long argument(char *word)
{
    long value;

    if (word_value(word, &value))
        return value;
    switch (word[0]) {
    case '<':
        return opened(word + 1, O_RDONLY);
    case '>':
        return opened(word + 1, O_WRONLY);
    case '@':
        return opened(word + 1, O_PATH);
    case '%':
        value = syscall(SYS_pidfd_open, strtol(word + 1, NULL, 10), 0);
        if (value < 0)
            _exit(errno);
        return value;
    default:
        break;
    }
    if (strcmp(word, "zeros") == 0)
        return (long)zeros;
    if (strcmp(word, "nice") == 0)
        return getpriority(PRIO_PROCESS, 0);
    if (strcmp(word, "schedule") == 0)
        return own_schedule();
    if (strncmp(word, "ints:", 5) == 0)
        return numbers(word + 5, 4);
    if (strncmp(word, "shorts:", 7) == 0)
        return numbers(word + 7, 2);
    if (strncmp(word, "longs:", 6) == 0)
        return numbers(word + 6, 8);
    return (long)word;
}

static long make_call(char *const *words, int n)
{
    long a[6] = {0};
    long call = word_call(words[0]);

    if (call < 0)
        wrong_line("no such call", words[0]);
    if (n > 7)
        wrong_line("too many arguments", words[0]);
    for (int i = 1; i < n; i++)
        a[i - 1] = argument(words[i]);
    errno = 0;
    return syscall(call, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* Cuts TEXT into words. */
static int split(char *text, char **words)
{
    int n = 0;

    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        if (n == WORDS_MAX)
            wrong_line("too many words", word);
        words[n++] = word;
    }
    if (n == 0)
        wrong_line("no words", text);
    return n;
}

/* In a process of its own. */
static NO_RETURN void attempt(const char *kind, char *text)
{
    char *words[WORDS_MAX];
    long result;
    int n;

    (void)alarm(SECONDS);
    if (strcmp(kind, "sh") == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);

        (void)dup2(null, STDOUT_FILENO); // what it prints is no result
        (void)dup2(null, STDERR_FILENO);
        (void)execl("/bin/sh", "sh", "-c", text, (char *)NULL);
        _exit(errno);
    }
    n = split(text, words);
    result = strcmp(kind, "sys") == 0 ? make_call(words, n) : act_run(words, n);
    _exit(result >= 0 ? 0 : errno);
}

static void report(const char *number, const char *kind, int status)
{
    if (WIFSIGNALED(status))
        (void)printf("%s signal %d\n", number, WTERMSIG(status));
    else if (WEXITSTATUS(status) == 0)
        (void)printf("%s done\n", number);
    else if (strcmp(kind, "sh") == 0 || WEXITSTATUS(status) == WRONG_LINE)
        (void)printf("%s exit %d\n", number, WEXITSTATUS(status));
    else
        (void)printf("%s %s\n", number, strerrorname_np(WEXITSTATUS(status)));
    (void)fflush(stdout);
}

/* Makes the attempt of LINE. */
static bool make_attempt(char *line)
{
    char *rest = NULL;
    const char *number = strtok_r(line, " ", &rest);
    const char *kind = strtok_r(NULL, " ", &rest);
    int status = 0;
    pid_t pid;

    if (!number || !kind)
        return false;
    (void)fflush(NULL); // nothing must be printed twice
    pid = fork();
    if (pid == 0)
        attempt(kind, rest);
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        return false;
    report(number, kind, status);
    return true;
}

int main(int argc, char **argv)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t length;
    FILE *plan;

    if (argc == 3 && strcmp(argv[1], "--victim") == 0)
        return victim_run(argv[2]);
    if (argc != 2)
        return 2;
    plan = fopen(argv[1], "re");
    if (!plan) {
        perror(argv[1]);
        return 1;
    }
    (void)dup2(STDOUT_FILENO, STDERR_FILENO); // in the order of the attempts
    while ((length = getline(&line, &size, plan)) > 0) {
        line[length - 1] = '\0'; // the line end
        if (!make_attempt(line)) {
            (void)fprintf(stderr, "not a line of a plan, or no process\n");
            return 1;
        }
    }
    free(line);
    (void)fclose(plan);
    return 0;
}
