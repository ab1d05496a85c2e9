/* SPDX-License-Identifier: GPL-3.0-or-later */
/* live.c: see live.h. Everything about frames, descriptors and signals of a
   live image is here; everything about Lisp is in lisp/. */
#include "image/live.h"

#include <errno.h>
#include <fcntl.h>
#include <gc/gc.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ecl/ecl.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "image/linux.h"
#include "image/names.h"
#include "wire/wire.h"

/* Environment variable with the number of the collector's marker threads. */
#define MARKERS "GC_MARKERS"

/* Descriptors of our own stand above this, out of the way of user code. */
#define PRIVATE_FD 200

/* Sleeping copies of one image, more than the supervisor ever wants. */
#define LIVE_KEEPERS 64

/* Reasons of a stop: as many as CONTROL_SIGNAL_VALUE has room for. */
#define REASONS 4

/* Bytes read from the socket at once. */
#define CHUNK (64u * 1024)

enum { OUT, ERR, PIPES };

static struct live {
    int socket;
    int pipes[PIPES]; /* write ends */
    struct stat
        identity[PIPES]; /* of the pipes, to see whether 1 and 2 still are */
    unsigned char key[WIRE_MARK_KEY];
    uint64_t heap;
    struct buf in;
    size_t used; /* bytes of in that were handled */
    struct buf out;
    uint64_t previous;               /* id of the last call */
    uint64_t withdrawn[LIMIT_AHEAD]; /* ids not to be begun */
    size_t withdrawn_n;
    pid_t keepers[LIVE_KEEPERS]; /* copies of this process that sleep */
    size_t keepers_n;
    cl_object streams[PIPES];
    cl_object dispatch;
    cl_object stop_reason;      /* the variable *STOP-REASON*, */
    cl_object reasons[REASONS]; /* and its values, keywords */
    cl_object time_limit;       /* the variable *TIME-LIMIT* */
    char *stack_limit;          /* where ECL finds an overflow of the C stack */
} live;

/* The call that runs, as far as it fits a signal's value; 0 between calls. */
static volatile sig_atomic_t running;

/* ECL's own handler of SIGINT. */
static struct sigaction lisp_interrupt;

extern void init_lib_ecl_mcp_lisp(cl_object module);

static cl_object symbol(const char *name)
{
    return ecl_make_symbol(name, "ECL-MCP");
}

/* The page around an address of the stack, as a number: what is done to it is
   beyond every object that the compiler knows. */
static uintptr_t page_of(const volatile void *p)
{
    uintptr_t size = (uintptr_t)sysconf(_SC_PAGESIZE);

    return (uintptr_t)p / size * size;
}

/* Grows the stack of this thread to the limit that the supervisor has set for
   the program, as far as the system allows. Only one page of it is touched;
   read(2) fails where a plain access could end the process. */
static void grow_stack(void)
{
    struct rlimit limit;
    volatile char here = 0;
    uintptr_t far = page_of(&here) - LIMIT_C_STACK + LIMIT_LISP_STACK_SAFETY;
    int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);

    if (zero < 0)
        return;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur >= LIMIT_C_STACK)
        (void)!read(zero, (void *)far, 1);
    (void)close(zero); // was only read
}

/* ECL takes the limit that it finds for the size of every thread's stack, and
   checks there for overflow. */
static void limit_stack(void)
{
    struct rlimit limit;
    pthread_attr_t attributes;

    if (getrlimit(RLIMIT_STACK, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max < LIMIT_LISP_STACK ? limit.rlim_max
                                                           : LIMIT_LISP_STACK;
        (void)setrlimit(RLIMIT_STACK, &limit); // else ECL finds the old one
    }
    if (pthread_attr_init(&attributes) != 0)
        return; // threads then have stacks of another size than ECL thinks
    (void)pthread_attr_setstacksize(&attributes, limit.rlim_cur);
    (void)pthread_setattr_default_np(&attributes);
    (void)pthread_attr_destroy(&attributes);
}

void live_boot(char *name)
{
    static char *argv[2]; // ECL keeps it

    argv[0] = name;
    (void)setenv(MARKERS, "1", 1); // the collector must start no threads
    ecl_set_option(ECL_OPT_SIGNAL_HANDLING_THREAD, 0);
    ecl_set_option(ECL_OPT_C_STACK_SAFETY_AREA, LIMIT_LISP_STACK_SAFETY);
    grow_stack();
    limit_stack();
    GC_set_free_space_divisor(1); // small answers and the boot cost less
    (void)cl_boot(1, argv);
    (void)unsetenv(MARKERS); // it is not meant for the programs that we start
    (void)sigaction(SIGINT, NULL, &lisp_interrupt);
    ecl_init_module(NULL, init_lib_ecl_mcp_lisp);
    (void)cl_funcall(1, symbol("PREPARE"));
}

/* An interrupt that the supervisor sent for another call comes too late and is
   dropped; one from anywhere else is meant for the call that runs, if any. */
static void interrupt(int signal, siginfo_t *info, void *context)
{
    int why = STOP_CANCELLED;

    if (running == 0)
        return;
    if (info->si_code == SI_QUEUE) {
        if (info->si_value.sival_int / 4 != running)
            return;
        why = info->si_value.sival_int % 4;
    }
    ECL_SET(live.stop_reason, live.reasons[why]);
    lisp_interrupt.sa_sigaction(signal, info, context);
}

/* The parent is gone: the zygote, or the supervisor after it. Without a
   supervisor nobody wants this image, whatever it is doing. */
static void orphaned(int signal)
{
    struct pollfd fd = {live.socket, POLLIN, 0};

    (void)signal;
    if (poll(&fd, 1, 0) != 0 && (fd.revents & (POLLHUP | POLLERR | POLLNVAL)))
        (void)kill(-getpid(), SIGKILL); // ourselves and what we started
}

static NO_RETURN void give_up(const char *what)
{
    static const char text[] = "ecl-mcp-image: ";

    (void)!write(STDERR_FILENO, text,
                 sizeof text - 1); // the last word, heard or not
    (void)!write(STDERR_FILENO, what, strlen(what));
    (void)!write(STDERR_FILENO, "\n", 1);
    _exit(1);
}

static void write_all(int fd, const char *p, size_t n, const char *what)
{
    while (n > 0) {
        ssize_t done = write(fd, p, n);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            give_up(what);
        p += done;
        n -= (size_t)done;
    }
}

/* Ends the output of the last call in both pipes, for a call that was sent
   ahead of its answer. */
static void write_marks(void)
{
    char mark[WIRE_MARK];
    int i;

    wire_mark(live.key, live.previous, mark);
    for (i = 0; i < PIPES; i++)
        write_all(live.pipes[i], mark, sizeof mark, "output pipe");
}

/* Descriptors 1 and 2 are user code's to break; every call finds them whole. */
static void mend_descriptors(void)
{
    int i;

    for (i = 0; i < PIPES; i++) {
        struct stat now;
        int fd = i == OUT ? STDOUT_FILENO : STDERR_FILENO;

        if (fstat(fd, &now) < 0 || now.st_ino != live.identity[i].st_ino ||
            now.st_dev != live.identity[i].st_dev)
            (void)dup2(live.pipes[i],
                       fd); // else its output is lost, not the call
    }
}

static cl_object make_stream(int pipe)
{
    char form[160];
    int fd = fcntl(live.pipes[pipe], F_DUPFD_CLOEXEC, PRIVATE_FD);

    if (fd < 0)
        give_up("no descriptor for output");
    (void)snprintf(form, sizeof form,
                   "(ext:make-stream-from-fd %d :output :buffering :line "
                   ":element-type 'character :external-format :utf-8)",
                   fd);
    return cl_eval(c_string_to_object(form));
}

/* Creates the streams, or those that were closed again, and hands them to
   Lisp, which may touch the handler of SIGINT: ours is put over it. */
static void start_streams(void)
{
    struct sigaction action = {.sa_sigaction = interrupt,
                               .sa_flags = SA_SIGINFO};
    int i;

    for (i = 0; i < PIPES; i++)
        live.streams[i] = make_stream(i);
    (void)cl_funcall(4, symbol("START-SESSION"), live.streams[OUT],
                     live.streams[ERR], ecl_make_unsigned_integer(live.heap));
    (void)sigfillset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
}

static bool streams_are_open(void)
{
    return cl_open_stream_p(live.streams[OUT]) != ECL_NIL &&
           cl_open_stream_p(live.streams[ERR]) != ECL_NIL;
}

static cl_object string_to_lisp(struct str s)
{
    cl_object string;
    size_t i;
    size_t n = 0;

    for (i = 0; i < s.n && (unsigned char)s.p[i] < 0x80; i++)
        continue;
    if (i == s.n) {
        string = ecl_alloc_simple_base_string(s.n);
        if (s.n > 0)
            memcpy(string->base_string.self, s.p, s.n);
        return string;
    }
    string = ecl_alloc_simple_extended_string(utf8_count(s));
    while (s.n > 0) {
        uint32_t code = 0xfffd;
        size_t used = utf8_decode(s, &code);

        string->string.self[n++] = (ecl_character)code;
        s.p += used ? used : 1;
        s.n -= used ? used : 1;
    }
    return string;
}

static void string_from_lisp(cl_object string, struct buf *out)
{
    cl_index n = (cl_index)ecl_length(string); // never negative
    cl_index i;

    if (n > LIMIT_OUTPUT_KEPT)
        n = LIMIT_OUTPUT_KEPT;
    for (i = 0; i < n; i++) {
        uint32_t code = (uint32_t)ecl_char(string, i);
        char bytes[4];

        if (code < 0x80) {
            buf_byte(out, (char)code);
            continue;
        }
        if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            code = 0xfffd;
        buf_append(out, bytes, utf8_encode(code, bytes));
    }
}

static cl_object field_to_lisp(const struct wire_field *field)
{
    switch (field->type) {
    case WIRE_TRUE:
        return ECL_T;
    case WIRE_INT:
        return ecl_make_int64_t(field->integer);
    case WIRE_REAL:
        return ecl_make_double_float(field->real);
    case WIRE_STRING:
        return string_to_lisp(field->string);
    case WIRE_NULL:
    case WIRE_FALSE:
    default:
        return ECL_NIL;
    }
}

/* Pairs of name and value as an alist. */
static cl_object arguments_to_lisp(struct str body)
{
    cl_object arguments = ECL_NIL;
    struct str name;
    struct wire_field value;

    while (wire_take_string(&body, &name) == ST_OK &&
           wire_field(&body, &value) == ST_OK)
        arguments =
            CONS(CONS(string_to_lisp(name), field_to_lisp(&value)), arguments);
    return cl_nreverse(arguments);
}

static void reply(uint64_t id, bool error, struct str text)
{
    size_t start;

    buf_reset(&live.out);
    start = wire_begin(&live.out, WIRE_REPLY, error ? WIRE_ERROR : 0, id);
    wire_put_string(&live.out, text);
    wire_end(&live.out, start);
    if (buf_failed(&live.out))
        give_up("no memory for an answer");
    write_all(live.socket, live.out.p, live.out.n, "socket");
    buf_trim(&live.out, CHUNK);
}

/* Calls into Lisp; TEXT says what happened. DISPATCH lets no exit through: one
   that comes through nevertheless shows that the evaluator is broken (its
   stacks are full, its memory was overwritten), and a checkpoint serves better.
 */
static bool dispatch(struct str body, struct buf *text)
{
    cl_env_ptr env = ecl_process_env();
    volatile bool error = true;
    struct str operation;
    int64_t timeout_ms;

    if (wire_take_int(&body, &timeout_ms) != ST_OK ||
        wire_take_string(&body, &operation) != ST_OK)
        give_up("a call without operation");
    ECL_SET(live.time_limit, ecl_make_int64_t(timeout_ms));
    ECL_CATCH_ALL_BEGIN(env)
    {
        cl_object answer =
            cl_funcall(3, live.dispatch, string_to_lisp(operation),
                       arguments_to_lisp(body));

        error = ecl_nth_value(env, 1) != ECL_NIL;
        if (ECL_STRINGP(answer))
            string_from_lisp(answer, text);
    }
    ECL_CATCH_ALL_IF_CAUGHT
    {
        give_up("the evaluator was left by a non-local exit");
    }
    ECL_CATCH_ALL_END;
    return error;
}

static bool take_withdrawn(uint64_t id)
{
    size_t i;

    for (i = 0; i < live.withdrawn_n; i++) {
        if (live.withdrawn[i] != id)
            continue;
        live.withdrawn[i] = live.withdrawn[--live.withdrawn_n];
        return true;
    }
    return false;
}

/* An overflow of the C stack lowers ECL's guard to give its handlers room, and
   leaves it there; the next overflow would have none. */
static void restore_stack_guard(void)
{
    cl_env_ptr env = ecl_process_env();
    volatile char here = 0;
    uintptr_t end = page_of(env->cs_org) - LIMIT_C_STACK;
    uintptr_t start = page_of(&here) - LIMIT_LISP_STACK_SAFETY;

    if (env->cs_limit == live.stack_limit)
        return;
    env->cs_limit = live.stack_limit;
    // what the overflow has touched goes back to the system
    (void)madvise((void *)end, (size_t)(start - end), MADV_DONTNEED);
}

static void call(struct wire_head head, struct str body)
{
    struct buf text = BUF_EMPTY;
    bool error;

    if (head.flags & WIRE_AHEAD)
        write_marks();
    live.previous = head.id;
    if (take_withdrawn(head.id)) {
        reply(head.id, true,
              STR("[ERROR] ECL-MCP:NOT-EVALUATED\nThe call was not begun: it "
                  "was stopped."));
        return;
    }
    mend_descriptors();
    if (!streams_are_open())
        start_streams();
    restore_stack_guard();
    running = CONTROL_SIGNAL_VALUE(head.id, 0) / 4;
    error = dispatch(body, &text);
    running = 0;
    reply(head.id, error, buf_view(&text));
    buf_release(&text);
}

/* Reads from the socket; with WAIT at least one byte. The end of it is the end
   of this image. */
static void fill(bool wait)
{
    for (;;) {
        char *room = buf_reserve(&live.in, CHUNK);
        ssize_t n;

        if (!room)
            give_up("no memory for a call");
        n = recv(live.socket, room, CHUNK, wait ? 0 : MSG_DONTWAIT);
        if (n > 0) {
            live.in.n += (size_t)n;
            return;
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && !wait && errno == EAGAIN)
            return;
        _exit(0);
    }
}

/* Notes every STOP frame that is there, wherever it stands: the calls between
   here and it have not begun. */
static void note_stops(void)
{
    struct str rest = str_make(live.in.p + live.used, live.in.n - live.used);
    struct wire_head head;
    struct str body;

    while (wire_frame(rest, &head, &body) == ST_OK) {
        if (head.kind == WIRE_STOP && live.withdrawn_n < LIMIT_AHEAD)
            live.withdrawn[live.withdrawn_n++] = head.id;
        rest.p += WIRE_HEAD + head.size;
        rest.n -= WIRE_HEAD + head.size;
    }
}

/* Sends the answer to KEEP: the process that sleeps, and the socket by which it
   is woken; pid 0 when there is none. */
static void send_kept(uint64_t id, pid_t pid, int socket)
{
    union {
        char bytes[CMSG_SPACE(sizeof(int))];
        struct cmsghdr align;
    } extra;
    struct iovec part;
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};
    size_t start;
    ssize_t n;

    buf_reset(&live.out);
    start = wire_begin(&live.out, WIRE_KEPT, 0, id);
    wire_put_int(&live.out, pid > 0 ? pid : 0);
    wire_end(&live.out, start);
    if (buf_failed(&live.out))
        give_up("no memory for an answer");
    part = (struct iovec){live.out.p, live.out.n};
    if (pid > 0) {
        struct cmsghdr *cmsg;

        memset(&extra, 0, sizeof extra);
        header.msg_control = extra.bytes;
        header.msg_controllen = sizeof extra.bytes;
        cmsg = CMSG_FIRSTHDR(&header);
        cmsg->cmsg_level = SOL_SOCKET;
        cmsg->cmsg_type = SCM_RIGHTS;
        cmsg->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(cmsg), &socket, sizeof socket);
    }
    do
        n = sendmsg(live.socket, &header, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        give_up("socket");
    write_all(live.socket, live.out.p + n, live.out.n - (size_t)n, "socket");
}

/* In a copy of the image: sleeps until the supervisor wakes it by one byte, and
   is the live image then, or ends when it is not wanted any more. */
static void sleep_until_woken(int socket)
{
    char number[16];
    char wake;
    ssize_t n;
    size_t start;

    (void)close(live.socket); // the original's
    live.socket = fcntl(socket, F_DUPFD_CLOEXEC, PRIVATE_FD);
    (void)close(socket); // its private copy stays
    if (live.socket < 0)
        _exit(1);
    (void)setsid(); // the end of the original must not reach this one
    linux_set_name(NAME_SLEEPER);
    linux_signal_on_orphaned(SIGRTMAX);
    buf_reset(&live.in);
    live.used = 0;
    live.keepers_n = 0;
    write_all(live.socket, "", 1, "socket"); // asleep, as good as
    do
        n = recv(live.socket, &wake, 1, 0);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        _exit(0);
    linux_set_name(NAME_LIVE);
    (void)snprintf(number, sizeof number, "%d", (int)getpid());
    (void)setenv(NAME_ENVIRONMENT, number, 1); // without it, orphans end later
    buf_reset(&live.out);
    start = wire_begin(&live.out, WIRE_WOKEN, 0, 0);
    wire_put_int(&live.out, getpid());
    wire_end(&live.out, start);
    if (buf_failed(&live.out))
        give_up("no memory for an answer");
    write_all(live.socket, live.out.p, live.out.n, "socket");
}

/* Takes leave of copies that have ended. */
static void reap_keepers(void)
{
    size_t i = 0;

    while (i < live.keepers_n) {
        if (waitpid(live.keepers[i], NULL, WNOHANG) == 0)
            i++;
        else
            live.keepers[i] = live.keepers[--live.keepers_n];
    }
}

/* Waits for the word of a copy that it is out of the reach of what may happen
   to this process. */
static bool is_asleep(int socket)
{
    char word;
    ssize_t n;

    do
        n = recv(socket, &word, 1, 0);
    while (n < 0 && errno == EINTR);
    return n == 1;
}

/* Leaves a sleeping copy of this process behind: a checkpoint. */
static void keep(uint64_t id)
{
    int pair[2] = {-1, -1};
    pid_t pid = -1;

    reap_keepers();
    if (live.keepers_n < LIVE_KEEPERS &&
        socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0)
        pid = fork();
    if (pid == 0) {
        (void)close(pair[0]); // the supervisor's
        sleep_until_woken(pair[1]);
        return;
    }
    if (pair[1] >= 0)
        (void)close(pair[1]); // the copy has it
    if (pid > 0)
        live.keepers[live.keepers_n++] = pid;
    send_kept(id, pid > 0 && is_asleep(pair[0]) ? pid : 0, pair[0]);
    if (pair[0] >= 0)
        (void)close(pair[0]); // the supervisor has it
}

static NO_RETURN void serve(void)
{
    for (;;) {
        struct wire_head head;
        struct str body;
        enum status status;

        fill(false);
        live.withdrawn_n = 0;
        note_stops();
        status =
            wire_frame(str_make(live.in.p + live.used, live.in.n - live.used),
                       &head, &body);
        if (status == ST_MISSING) {
            buf_consume(&live.in, live.used);
            live.used = 0;
            fill(true);
            continue;
        }
        if (status != ST_OK)
            give_up("a frame that is none");
        live.used += WIRE_HEAD + head.size;
        if (head.kind == WIRE_CALL)
            call(head, body);
        else if (head.kind == WIRE_KEEP)
            keep(head.id);
    }
}

static void take_descriptors(const int fds[CONTROL_FDS])
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int i;

    live.socket = fcntl(fds[CONTROL_SOCKET], F_DUPFD_CLOEXEC, PRIVATE_FD);
    live.pipes[OUT] = fcntl(fds[CONTROL_STDOUT], F_DUPFD_CLOEXEC, PRIVATE_FD);
    live.pipes[ERR] = fcntl(fds[CONTROL_STDERR], F_DUPFD_CLOEXEC, PRIVATE_FD);
    if (live.socket < 0 || live.pipes[OUT] < 0 || live.pipes[ERR] < 0)
        give_up("no descriptors");
    for (i = 0; i < CONTROL_FDS; i++)
        (void)close(fds[i]); // the private copies stay
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 ||
        dup2(live.pipes[OUT], STDOUT_FILENO) < 0 ||
        dup2(live.pipes[ERR], STDERR_FILENO) < 0)
        give_up("no standard descriptors");
    (void)close(null); // standard input has it
    for (i = 0; i < PIPES; i++)
        (void)fstat(live.pipes[i],
                    &live.identity[i]); // cannot fail on an open one
}

/* Makes a write to a pipe without reader, or beyond LIMIT_FILE_WRITTEN, an
   error of the stream. A signal that is ignored would do the same, but the
   programs we start would inherit it. */
static void failed_write(int signal)
{
    (void)signal;
}

static void take_signals(void)
{
    struct sigaction action = {.sa_handler = orphaned, .sa_flags = SA_RESTART};

    (void)signal(SIGCHLD, SIG_DFL); // the zygote's handlers go
    (void)signal(SIGTERM, SIG_DFL);
    (void)signal(SIGHUP, SIG_DFL);
    (void)signal(SIGPIPE, failed_write);
    (void)signal(SIGXFSZ, failed_write);
    (void)sigfillset(&action.sa_mask);
    (void)sigaction(SIGRTMAX, &action, NULL);
    linux_signal_on_orphaned(SIGRTMAX);
}

/* Looks up the names that C and Lisp share. The keywords are made here because
   a signal handler must not make them. */
static void find_names(void)
{
    static const char *const reasons[REASONS] = {
        [STOP_CANCELLED] = "CANCELLED",
        [STOP_TIME] = "TIME",
        [STOP_ENDING] = "ENDING",
        [STOP_BY_USER] = "USER",
    };
    int i;

    live.dispatch = symbol("DISPATCH");
    live.stop_reason = symbol("*STOP-REASON*");
    live.time_limit = symbol("*TIME-LIMIT*");
    ecl_register_root(&live.dispatch);
    ecl_register_root(&live.stop_reason);
    ecl_register_root(&live.time_limit);
    for (i = 0; i < REASONS; i++) {
        live.reasons[i] = ecl_make_keyword(reasons[i]);
        ecl_register_root(&live.reasons[i]);
    }
}

void live_run(const struct control_message *open_message,
              const int fds[CONTROL_FDS])
{
    char number[16];

    memcpy(live.key, open_message->key, sizeof live.key);
    live.heap = open_message->heap;
    take_descriptors(fds);
    (void)setsid(); // a process group of its own and no terminal
    (void)snprintf(number, sizeof number, "%d", (int)getpid());
    (void)setenv(NAME_ENVIRONMENT, number, 1); // without it, orphans end later
    live.stack_limit = ecl_process_env()->cs_limit;
    find_names();
    ecl_register_root(&live.streams[OUT]);
    ecl_register_root(&live.streams[ERR]);
    start_streams();
    take_signals();
    serve();
}
