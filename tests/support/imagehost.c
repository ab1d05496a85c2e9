/* SPDX-License-Identifier: GPL-3.0-or-later */
/* imagehost.c: see imagehost.h. */
#include "support/imagehost.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "image/homes.h"
#include "image/linux.h"
#include "support/check.h"
#include "support/folder.h"
#include "wire/wire.h"

#define MAX_FDS 2048

/* Variables with folders of the user. */
static const char *const folders_of_user[] = {
    "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"};

static char *image_path;

/* Where Lisp starts and may write: the current folder, which is empty at first
   and removed at the end, unless a test chooses another one. */
static char own_folder[] = "/tmp/ecl-mcp-test-XXXXXX";
static const char *start_folder;

struct supervisor *host;
struct front *host_front;
struct front *host_owner;
struct front *host_guest;
struct buf host_answer;
bool host_error;
static uint64_t answer_id;

static int64_t now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* All that the supervisor has logged. */
static struct buf logged;

static void print_line(void *context, enum log_level level, struct str line)
{
    (void)context;
    (void)level;
    (void)printf("# %.*s\n", STR_ARG(line));
    buf_str(&logged, line);
    buf_byte(&logged, '\n');
}

struct front *host_join(bool owner)
{
    struct front *front = front_open(host, owner);
    struct buf hello = BUF_EMPTY;
    size_t start = wire_begin(&hello, WIRE_HELLO, 0, 0);
    struct wire_head head;
    struct str body;

    assert_non_null(front);
    wire_put_int(&hello, WIRE_VERSION);
    wire_put_string(&hello, STR("test"));
    wire_put_int(&hello, 0);
    wire_end(&hello, start);
    assert_int_equal(intake_feed(front, hello.p, hello.n, now_ms()), ST_OK);
    buf_release(&hello);
    while (front_is_busy(front)) // this turn is full
        host_turn(100);
    assert_int_equal(wire_frame(buf_view(front_output(front)), &head, &body),
                     ST_OK);
    assert_int_equal(head.kind, WIRE_WELCOME);
    buf_consume(front_output(front), WIRE_HEAD + head.size);
    return front;
}

void host_leave(struct front *front)
{
    intake_close(front, now_ms());
}

void host_start(const char *path, const char *workspace)
{
    struct supervisor_config config = {.image_path = path ? path : image_path,
                                       .workspace = workspace,
                                       .log = {LOG_INFO, print_line, NULL}};

    start_folder = workspace ? workspace : ".";
    host = supervisor_new(&config, now_ms());
    assert_non_null(host);
    supervisor_begin(host, now_ms());
    host_front = host_join(true);
}

int host_setup(void **state)
{
    (void)state;
    host_start(NULL, NULL);
    return 0;
}

int host_setup_two(void **state)
{
    int status = host_setup(state);

    host_owner = host_front;
    host_guest = host_join(false);
    return status;
}

void host_as(struct front *front)
{
    host_front = front;
}

void host_expect_quiet(struct front *front)
{
    assert_int_equal(front_output(front)->n, 0);
}

int host_teardown(void **state)
{
    pid_t children[16];

    (void)state;
    supervisor_free(host);
    host = NULL;
    buf_release(&host_answer);
    buf_release(&logged);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
    return linux_children(children, 16) == 0 ? 0 : -1; // none is left
}

int host_setup_in_folder(void **state)
{
    (void)state;
    if (folder_make() < 0)
        return -1;
    (void)setenv("TMPDIR", folder, 1); // fails only without memory
    host_start(NULL, folder);
    return 0;
}

int host_teardown_in_folder(void **state)
{
    int status = host_teardown(state);

    folder_remove();
    return status;
}

size_t host_turns;

/* One round of what a host does. */
void host_turn(int64_t wait_ms)
{
    struct pollfd fds[MAX_FDS];
    size_t n = supervisor_fds(host, fds, MAX_FDS);
    int64_t deadline = supervisor_deadline(host);
    int64_t now = now_ms();

    if (deadline >= 0 && deadline - now < wait_ms)
        wait_ms = deadline > now ? deadline - now : 0;
    if (poll(fds, (nfds_t)n, (int)wait_ms) < 0)
        n = 0;
    host_turns++;
    supervisor_reap(host, now_ms());
    supervisor_run(host, fds, n, now_ms());
}

void host_pass(int64_t ms)
{
    int64_t end = now_ms() + ms;

    while (now_ms() < end)
        host_turn(end - now_ms());
}

void host_wait_log(const char *part)
{
    int64_t end = now_ms() + HOST_PATIENCE_MS;

    while (logged.n == 0 || !memmem(logged.p, logged.n, part, strlen(part))) {
        assert_true(now_ms() < end);
        host_turn(100);
    }
}

/* Takes the oldest reply out of the supervisor's output. */
static bool take_reply(void)
{
    struct buf *out = front_output(host_front);
    struct wire_head head;
    struct str body;
    struct str text;

    if (wire_frame(buf_view(out), &head, &body) != ST_OK)
        return false;
    assert_int_equal(head.kind, WIRE_REPLY);
    assert_int_equal(wire_take_string(&body, &text), ST_OK);
    buf_reset(&host_answer);
    buf_str(&host_answer, text);
    buf_byte(&host_answer, '\0');
    answer_id = head.id;
    host_error = (head.flags & WIRE_ERROR) != 0;
    buf_consume(out, WIRE_HEAD + head.size);
    return true;
}

void host_wait(uint64_t id)
{
    int64_t end = now_ms() + HOST_PATIENCE_MS;

    while (!take_reply()) {
        assert_true(now_ms() < end);
        host_turn(100);
    }
    assert_int_equal(answer_id, id);
}

static void feed(struct buf *frame)
{
    assert_int_equal(intake_feed(host_front, frame->p, frame->n, now_ms()),
                     ST_OK);
    buf_release(frame);
}

void host_begin(struct buf *frame, const char *session, uint64_t id,
                const char *operation, int64_t timeout_ms)
{
    *frame = BUF_EMPTY;
    (void)wire_begin(frame, WIRE_CALL, 0, id);
    wire_put_string(frame, str_from(session));
    wire_put_string(frame, str_from(operation));
    wire_put_int(frame, 10000);
    wire_put_int(frame, timeout_ms);
}

void host_send(struct buf *frame)
{
    wire_end(frame, 0);
    feed(frame);
}

void host_call_in(const char *session, uint64_t id, const char *code)
{
    struct buf frame;

    host_begin(&frame, session, id, "evaluate", 0);
    wire_put_string(&frame, STR("code"));
    wire_put_string(&frame, str_from(code));
    host_send(&frame);
}

void host_call(uint64_t id, const char *code)
{
    host_call_in("main", id, code);
}

void host_stop(uint64_t id)
{
    struct buf frame = BUF_EMPTY;

    wire_end(&frame, wire_begin(&frame, WIRE_STOP, 0, id));
    feed(&frame);
}

void host_expect(uint64_t id, const char *code, const char *text)
{
    host_call(id, code);
    host_wait(id);
    assert_string_equal(host_answer.p, text);
}

void host_expect_success(void)
{
    if (host_error)
        fail_msg("failed: %s", host_answer.p);
}

void host_expect_part(const char *part)
{
    if (!strstr(host_answer.p, part))
        fail_msg("\"%s\" is not in \"%s\"", part, host_answer.p);
}

/* The process of the image that runs session main. */
pid_t host_image_pid(uint64_t id)
{
    host_call(id, "(ext:getpid)");
    host_wait(id);
    assert_int_equal(strncmp(host_answer.p, "=> ", 3), 0);
    return (pid_t)strtol(host_answer.p + 3, NULL, 10);
}

bool host_exists(pid_t pid)
{
    return kill(pid, 0) == 0;
}

void host_wait_gone(pid_t pid)
{
    int64_t end = now_ms() + HOST_PATIENCE_MS;

    while (host_exists(pid)) {
        assert_true(now_ms() < end);
        host_turn(10);
    }
}

void host_call_within(uint64_t id, const char *before, const char *after)
{
    char flag[256];
    char text[256];
    int64_t end = now_ms() + HOST_PATIENCE_MS;

    (void)snprintf(flag, sizeof flag, "%s/call-runs", start_folder);
    // in one step; ECL's OPEN makes a file and then opens it again by its name,
    // which is removed below
    (void)snprintf(text, sizeof text, "%s (si:mkdir \"call-runs\" #o700) %s",
                   before, after);
    host_call(id, text);
    while (access(flag, F_OK) < 0) {
        assert_true(now_ms() < end);
        host_turn(10);
    }
    assert_int_equal(rmdir(flag), 0);
}

void host_call_and_see_it_run(uint64_t id, const char *code)
{
    char after[200];

    (void)snprintf(after, sizeof after, "%s)", code);
    host_call_within(id, "(progn", after);
}

static void remove_own_folder(void)
{
    if (chdir("/") < 0 || rmdir(own_folder) < 0)
        perror(own_folder);
}

void host_use(int argc, char **argv)
{
    if (argc == 2)
        image_path = realpath(argv[1], NULL);
    if (!image_path) {
        (void)fputs("usage: give ecl-mcp-image as argument\n", stderr);
        exit(2);
    }
    if (!mkdtemp(own_folder) || chdir(own_folder) < 0 ||
        atexit(remove_own_folder) != 0) {
        perror(own_folder);
        exit(2);
    }
    (void)setenv("HOME", "/nonexistent", 1);
    homes_set_user(""); // what changes in it or beside it would change rules
    for (size_t i = 0; i < COUNT(folders_of_user); i++)
        (void)unsetenv(folders_of_user[i]);
    (void)unsetenv("TMPDIR");
    (void)signal(SIGPIPE, SIG_IGN);
}

long host_process_field(pid_t pid, int n, char *letter)
{
    char path[64];
    char line[1000];
    FILE *file;
    char *at;

    (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "re");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    (void)fclose(file); // was only read
    at = strrchr(line, ')');
    assert_non_null(at);
    at += 2;
    *letter = *at;
    for (; n > 0; n--) {
        at = strchr(at, ' ');
        assert_non_null(at);
        at++;
    }
    return strtol(at, NULL, 10);
}
