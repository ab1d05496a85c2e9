/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tier.c: see tier.h. */
#include "image/tier.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ecl/ecl.h>

#include "base/buf.h"
#include "base/limits.h"
#include "image/linux.h"
#include "image/lisp_text.h"
#include "image/middle.h"
#include "image/names.h"

/* Bytes of a result that are read at once. */
#define CHUNK (64u * 1024)

/* Pauses of 0.1 ms for a process that forks and ends: one second and more. */
#define BETWEEN_PAUSES 10000

/* Milliseconds behind the time of a job in which its compiler ends by itself.
 */
#define LATE_MS 2000

static struct tier {
    cl_object prepare;
    cl_object run;
    cl_object abandon;
    cl_object own_locks;
    cl_object finish;
    cl_object version;
    cl_object state;
    cl_object prepare_in_middle;
    cl_object finish_in_middle;
    cl_object run_in_middle;
    cl_object candidates; /* a variable */
    cl_object seconds;    /* another: for which a job may last */
    cl_object later;      /* a keyword */
    struct connection *connection;
    bool in_call;
    bool compiles;  /* this process was started in the middle of a call, */
    ptrdiff_t base; /* and leaves it for this frame of Lisp's stack */
    pid_t owner;    /* the live image */
    pid_t self;     /* which has prepared a job */
    pid_t between;  /* in the compiler: its first parent, which ends at once */
    int ends[2];    /* of its pipe; -1: there is none */
    struct stat pipe; /* its identity: code can put others in its place */
    struct buf text;  /* what has come: the group of the job's processes, and
                         the result */
    int64_t said[3];  /* what the supervisor knows */
} tier = {.ends = {-1, -1}};

static cl_object find(const char *name)
{
    return ecl_make_symbol(name, "ECL-MCP");
}

/* The interpreted version of FUNCTION if that has become native, or FUNCTION.
 */
static cl_object version_of(cl_object function)
{
    cl_type type = ecl_t_of(function);

    if (tier.version && (type == t_cfun || type == t_cclosure))
        return cl_funcall(2, tier.version, function);
    return function;
}

/* Stores in *FUNCTION the library's definition of NAME. */
static void find_original(cl_object (**function)(cl_object), const char *name)
{
    void *found;

    if (*function)
        return;
    found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

/* The definition of a function that has become native is that of its
   interpreted version, and so is its file: a closure has no room for one. */
cl_object cl_function_lambda_expression(cl_object function)
{
    static cl_object (*original)(cl_object);

    find_original(&original, "cl_function_lambda_expression");
    return original(version_of(function));
}

/* The place of the block of a closure that has become native is in use. */
cl_object si_compiled_function_block(cl_object function)
{
    static cl_object (*original)(cl_object);

    find_original(&original, "si_compiled_function_block");
    if (ecl_t_of(function) == t_cclosure && version_of(function) != function)
        ecl_return1(ecl_process_env(), ECL_NIL);
    return original(function);
}

cl_object si_compiled_function_file(cl_object function)
{
    static cl_object (*original)(cl_object);

    find_original(&original, "si_compiled_function_file");
    return original(version_of(function));
}

static void close_end(int end)
{
    if (tier.ends[end] >= 0)
        (void)close(tier.ends[end]);
    tier.ends[end] = -1;
}

/* Calls the Lisp function NAME with ARGUMENT, unless that is NULL, and returns
   its value. It handles its errors; what gets through all the same changes
   nothing, and NIL is returned. */
static cl_object call_lisp(cl_object name, cl_object argument)
{
    cl_env_ptr env = ecl_process_env();
    volatile cl_object result = ECL_NIL;

    ECL_CATCH_ALL_BEGIN(env)
    {
        result = argument ? cl_funcall(2, name, argument) : cl_funcall(1, name);
    }
    ECL_CATCH_ALL_END;
    return result;
}

/* Tells the supervisor how far native code is, if that has changed. */
static void say_state(struct connection *connection)
{
    cl_env_ptr env = ecl_process_env();
    int64_t state[3] = {0, 0, 0};
    volatile bool known = false;

    ECL_CATCH_ALL_BEGIN(env)
    {
        (void)cl_funcall(1, tier.state);
        known = env->nvalues == 3;
        for (int i = 0; known && i < 3; i++)
            state[i] = ecl_to_fixnum(env->values[i]);
    }
    ECL_CATCH_ALL_END;
    if (!known || memcmp(state, tier.said, sizeof state) == 0)
        return; // no functions become native, or none has since
    memcpy(tier.said, state, sizeof state);
    connection_send_native(connection, state);
}

void tier_begin(struct connection *connection)
{
    tier.connection = connection;
    tier.owner = getpid();
    tier.said[0] = -1;
    say_state(connection);
}

/* Whether FD is the pipe of the job: code can close any descriptor, and others
   take its number. */
static bool is_pipe(int fd)
{
    struct stat now;

    return fd >= 0 && fstat(fd, &now) == 0 && now.st_ino == tier.pipe.st_ino &&
           now.st_dev == tier.pipe.st_dev;
}

/* Nothing more comes of the result. */
static void forget_result(struct connection *connection)
{
    if (is_pipe(connection->aside))
        (void)close(connection->aside);
    connection->aside = -1;
    tier.ends[0] = -1;
    buf_release(&tier.text);
}

/* Lisp has a job: makes the pipe for its result. */
static void open_pipe(void)
{
    tier.self = getpid();
    forget_result(tier.connection); // of a job that was given up
    if (pipe2(tier.ends, O_CLOEXEC) < 0)
        tier.ends[0] = tier.ends[1] = -1;
    if (tier.ends[0] < 0 || !connection_hide_pair(tier.ends) ||
        fstat(tier.ends[0], &tier.pipe) < 0) {
        close_end(0);
        close_end(1);
        (void)call_lisp(tier.abandon, NULL); // it has a job for certain
    }
}

void tier_before_copy(void)
{
    if (call_lisp(tier.prepare, NULL) != ECL_NIL)
        open_pipe();
}

/* The time of the compiler is over, and so is that of the programs that it has
   started: its group is its own. */
static void end_group(int signal)
{
    (void)signal;
    (void)kill(0, SIGKILL);
}

/* In the process that compiles: waits until the keeper has adopted it, and from
   then on does not outlive that. Nobody else might end it who knows of it, and
   when it was stopped, it does not end by itself. */
static void belong_to_keeper(void)
{
    const struct timespec pause = {0, 1000 * 1000};

    while (getppid() == tier.between)
        (void)nanosleep(&pause, NULL); // a signal only shortens it
    linux_signal_on_orphaned(SIGKILL);
}

/* In the process that compiles: it belongs to no image, reports to the pipe,
   and can be killed. */
static NO_RETURN void compile(void)
{
    const int result = STDERR_FILENO + 1;
    sigset_t none;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    belong_to_keeper();
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGALRM, end_group);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL); // cannot fail
    if (null < 0 || dup2(null, STDOUT_FILENO) < 0 ||
        dup2(null, STDERR_FILENO) < 0 ||
        (tier.ends[1] != result && dup3(tier.ends[1], result, O_CLOEXEC) < 0))
        _exit(1);
    // whoever waits for the end of a pipe of the image must not wait for this
    linux_close_from(result + 1);
    (void)call_lisp(tier.compiles ? tier.run_in_middle : tier.run,
                    ecl_make_fixnum(result));
    _exit(0);
}

/* In the process that compiles, when it was started in the middle of a call:
   leaves that, without a cleanup, for where it began. There Lisp is as it is
   between calls. */
static NO_RETURN void leave_call(void)
{
    cl_env_ptr env = ecl_process_env();

    tier.compiles = true;
    env->frs_top = env->frs_org + tier.base;
    ecl_unwind(env, env->frs_top);
}

void tier_left_call(void)
{
    if (tier.compiles)
        compile();
}

/* Waits for PID, which ends at once, unless code has stopped it. */
static void await_between(pid_t pid)
{
    const struct timespec pause = {0, 100 * 1000};

    for (int i = 0; waitpid(pid, NULL, WNOHANG) == 0; i++) {
        if (i == BETWEEN_PAUSES)
            (void)kill(pid, SIGKILL);
        (void)nanosleep(&pause, NULL); // a signal only shortens it
    }
}

/* Starts the compiler for the job that was prepared. */
static void start_compiler(void)
{
    // forked twice: the keeper adopts the second one, and waits for it
    pid_t pid = fork();

    if (pid == 0) {
        linux_set_name(NAME_COMPILER); // and that of the second one
        tier.between = getpid();
        // what stops its group must not stop the copy, or the image once woken;
        // the system weighs sessions, and the image's must not pay
        if (setsid() >= 0 &&
            write(tier.ends[1], &tier.between, sizeof tier.between) > 0 &&
            fork() == 0) {
            if (tier.in_call)
                leave_call();
            compile();
        }
        _exit(0);
    }
    if (pid > 0)
        await_between(pid);
    close_end(1);
}

void tier_in_copy(const struct connection *connection)
{
    (void)connection;
    if (tier.ends[1] < 0)
        return;
    start_compiler();
    close_end(0);
}

static void take_result(struct connection *connection);

/* The result of the compiler will come. Code can write to its pipe as well, and
   keep it open: the image never waits for the rest. */
static void expect_result(struct connection *connection)
{
    int result = tier.ends[0];
    cl_object seconds;

    close_end(1);
    (void)fcntl(result, F_SETFL, O_NONBLOCK);
    tier.ends[0] = connection->aside = result;
    // code may have set it to anything
    seconds = ECL_SYM_VAL(ecl_process_env(), tier.seconds);
    connection->aside_until =
        linux_now_ms() + LATE_MS +
        1000 *
            (ECL_FIXNUMP(seconds) ? (int64_t)(int32_t)ecl_fixnum(seconds) : 0);
    connection->take_aside = take_result;
}

/* Reads some of the result. True: that was all. */
static bool read_more(int fd)
{
    char *p;
    ssize_t n;

    if (!is_pipe(fd))
        buf_reset(&tier.text); // the rest is lost
    if (!is_pipe(fd) || tier.text.n > LIMIT_OUTPUT_KEPT)
        return true;
    p = buf_reserve(&tier.text, CHUNK);
    if (!p)
        return true; // what has come is no result
    n = read(fd, p, CHUNK);
    if (n < 0)
        return errno != EAGAIN && errno != EINTR;
    tier.text.n += (size_t)n;
    return n == 0 || tier.text.n > LIMIT_OUTPUT_KEPT;
}

/* The result as far as it has come. */
static struct str result(void)
{
    const size_t head = sizeof tier.between;

    return tier.text.n > head ? str_make(tier.text.p + head, tier.text.n - head)
                              : STR("");
}

/* Ends what is left of the job. Code could name another group, but only one
   that it could end itself. */
static void end_job(void)
{
    pid_t group = 0;

    if (tier.text.n >= sizeof group)
        memcpy(&group, tier.text.p, sizeof group);
    if (group > 1)
        (void)kill(-group, SIGKILL); // nearly always it is gone
}

/* Reads what there is of the result. True: that was all, or it is too late for
   more. A compiler that was stopped does not end by itself, and neither does
   what it has started; one that has ended without a result may have left that.
   One that has ended with a result is not late, whenever this looks. */
static bool read_result(const struct connection *connection)
{
    bool late = linux_now_ms() >= connection->aside_until;
    size_t before;
    bool all;

    do {
        before = tier.text.n;
        all = read_more(connection->aside);
    } while (!all && tier.text.n > before);
    if (!all && !late)
        return false;
    if (!all || result().n == 0) {
        end_job();
        buf_reset(&tier.text);
    }
    return true;
}

/* Some of the result is there, or the compiler has ended without one. What was
   defined meanwhile comes next, without a copy: none may be made before the
   next call. */
static void take_result(struct connection *connection)
{
    if (!read_result(connection))
        return;
    cl_object text = lisp_text_new(result());
    forget_result(connection);
    (void)call_lisp(tier.finish, text);
    tier_before_copy();
    if (tier.ends[1] >= 0) {
        start_compiler();
        expect_result(connection);
    }
    say_state(connection);
}

/* --- In the middle of a call -------------------------------------------- */

/* Takes the result over if all of it is there, and if Lisp can do so now. */
static void take_in_middle(void)
{
    struct connection *connection = tier.connection;

    // the text is made when it can be taken, not for each look
    if (!read_result(connection) ||
        call_lisp(tier.finish_in_middle, ECL_NIL) == ECL_NIL ||
        call_lisp(tier.finish_in_middle, lisp_text_new(result())) == ECL_NIL)
        return;
    forget_result(connection);
    say_state(connection);
}

/* For middle.h. */
static bool work_in_middle(void)
{
    cl_object prepared;

    if (tier.connection->aside >= 0)
        take_in_middle();
    if (tier.connection->aside >= 0)
        return true;
    prepared = call_lisp(tier.prepare_in_middle, NULL);
    if (prepared == ECL_NIL || prepared == tier.later)
        return prepared != ECL_NIL;
    open_pipe();
    if (tier.ends[1] < 0)
        return false;
    start_compiler();
    expect_result(tier.connection);
    return true;
}

/* EXPECT-LONG-CALL: something was defined that waits to become native. In
   copies of the image, nothing does. */
static cl_object expect_long_call(void)
{
    cl_env_ptr env = ecl_process_env();

    if (tier.in_call && tier.owner == getpid())
        middle_watch(LIMIT_NATIVE_AFTER_MS);
    ecl_return0(env);
}

void tier_begin_call(void)
{
    cl_env_ptr env = ecl_process_env();
    bool comes = tier.connection->aside >= 0;

    tier.in_call = true;
    tier.base = env->frs_top - env->frs_org;
    if (!comes && ecl_symbol_value(tier.candidates) == ECL_NIL)
        return; // nearly always; to ask who this is takes a system call
    if (tier.owner == getpid())
        middle_watch(comes ? 0 : LIMIT_NATIVE_AFTER_MS);
}

void tier_end_call(void)
{
    tier.in_call = false;
    middle_stop();
}

/* --- Copies ------------------------------------------------------------- */

/* This copy was woken; what is compiled belongs to another process, and so does
   what the supervisor knows. But locks that its thread held are held by it. */
static void begin_anew(struct connection *connection)
{
    (void)call_lisp(tier.own_locks, NULL);
    if (tier.self != 0)
        (void)call_lisp(tier.abandon, NULL); // there was a job at some time
    forget_result(connection);
    tier.self = 0;
    tier_begin(connection);
}

void tier_after_copy(struct connection *connection)
{
    linux_own_page(&tier.connection); // each call writes there
    if (getpid() != tier.owner)
        begin_anew(connection);
    else if (tier.ends[1] >= 0)
        expect_result(connection);
    say_state(connection);
}

void tier_prepare(void)
{
    tier.prepare = find("PREPARE-JOB");
    tier.run = find("RUN-JOB");
    tier.abandon = find("ABANDON-JOB");
    tier.own_locks = find("OWN-LOCKS-AGAIN");
    tier.finish = find("FINISH-JOB");
    tier.version = find("INTERPRETED-VERSION");
    tier.state = find("NATIVE-STATE");
    tier.prepare_in_middle = find("PREPARE-JOB-IN-MIDDLE");
    tier.finish_in_middle = find("FINISH-JOB-IN-MIDDLE");
    tier.run_in_middle = find("RUN-JOB-IN-MIDDLE");
    tier.candidates = find("*CANDIDATES*");
    tier.seconds = find("*JOB-SECONDS*");
    tier.later = ecl_make_keyword("LATER");
    ecl_def_c_function(find("EXPECT-LONG-CALL"),
                       (cl_objectfn_fixed)expect_long_call, 0);
    middle_prepare(work_in_middle);
    // symbols of a package are never collected
}
