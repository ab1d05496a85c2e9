;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; native.lisp: the few functions that need a line of C. ECL's compiler can
;;;; process this file, its interpreter cannot.

(in-package #:ecl-mcp)

(ffi:clines "
#include <errno.h>
#include <fcntl.h>
#include <gc/gc.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
")

(defun start-measuring-collections ()
  "Makes the collector measure how long its collections take."
  (ffi:c-inline () () :void "GC_start_performance_measurement();"
                :one-liner nil))

(defun collection-milliseconds ()
  "Returns how many milliseconds collections have taken since measuring began."
  (ffi:c-inline () () :unsigned-long "GC_get_full_gc_total_time()"
                :one-liner t))

(defun bytes-allocated ()
  "Returns how many bytes were allocated since the process started."
  (ffi:c-inline () () :unsigned-long "(unsigned long)GC_get_total_bytes()"
                :one-liner t))

(defun bytes-in-use ()
  "Returns how many bytes of the heap are not free."
  (ffi:c-inline () () :unsigned-long
                "(unsigned long)(GC_get_heap_size() - GC_get_free_bytes())"
                :one-liner t))

(defun bytes-held ()
  "Returns how many bytes the heap has, free or not."
  (ffi:c-inline () () :unsigned-long "(unsigned long)GC_get_heap_size()"
                :one-liner t))

(defun collection-count ()
  "Returns how many collections there have been."
  (ffi:c-inline () () :unsigned-long "(unsigned long)GC_get_gc_no()"
                :one-liner t))

(defun finalizers-wait-p ()
  "True when there are finalizers to be called."
  (ffi:c-inline () () :bool "GC_should_invoke_finalizers()" :one-liner t))

(defun invoke-finalizers ()
  "Calls the finalizers that wait. One that does not return takes those after it
along, which wait again."
  (ffi:c-inline () () :void "GC_invoke_finalizers();" :one-liner nil))

(defun monotonic-nanoseconds ()
  "Returns the time of a clock that only goes forward, in nanoseconds."
  (ffi:c-inline () () :int64-t "{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    @(return) = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
  }" :one-liner nil))

(defun forget-column (stream)
  "Makes STREAM assume that it is at the start of a line."
  (ffi:c-inline (stream) (:object) :void
                "if (ECL_ANSI_STREAM_P(#0)) (#0)->stream.column = 0;"
                :one-liner nil))

(defun output-pending-p (stream)
  "False when STREAM holds nothing that is not yet passed on."
  (ffi:c-inline (stream) (:object) :bool
                "(!ECL_ANSI_STREAM_P(#0) || (#0)->stream.closed ||
                  (#0)->stream.mode != ecl_smm_output ||
                  __fpending((#0)->stream.file.stream) > 0)"
                :one-liner t))

(defun throw-past-cleanups (tag)
  "Throws NIL to TAG without running the cleanup forms in between. This is the
last resort before the process is killed."
  (ffi:c-inline (tag) (:object) :void "{
    cl_env_ptr env = ecl_process_env();
    ecl_frame_ptr frame = env->frs_top;
    while (frame > env->frs_org && frame->frs_val != #0)
        --frame;
    if (frame->frs_val == #0) {
        env->values[0] = ECL_NIL;
        env->nvalues = 1;
        env->frs_top = frame;
        ecl_unwind(env, frame);
    }
  }" :one-liner nil))

(defun leave-lisp ()
  "Returns to the C code that has called Lisp, after the cleanup forms in between.
Where there is none, ends this process."
  (ffi:c-inline () () :void "{
    cl_env_ptr env = ecl_process_env();
    env->values[0] = ECL_NIL;
    env->nvalues = 0;
    if (env->frs_top >= env->frs_org)
        ecl_unwind(env, env->frs_org);
    _exit(1);
  }" :one-liner nil))

;;; Symbols

(ffi:clines "
/* Puts values of TABLE, the symbols of a package, into BLOCK, from entry *AT on,
   which moves on. Returns how many. They are far apart in memory: it is told
   about all of them, and about their names, before anyone waits for the first. */
static cl_index ecl_mcp_fetch_symbols(cl_object table, cl_index *at,
                                      cl_object block)
{
    cl_object *to = block->vector.self.t;
    cl_index n = 0;

    for (; *at < table->hash.size && n < block->vector.dim; ++*at)
        if (table->hash.data[*at].key != OBJNULL) {
            to[n] = table->hash.data[*at].value;
            __builtin_prefetch(to[n]);
            __builtin_prefetch(&to[n]->symbol.hpack);
            n++;
        }
    for (cl_index i = 0; i < n; i++)
        if (to[i] != ECL_NIL)
            __builtin_prefetch(to[i]->symbol.name);
    for (cl_index i = 0; i < n; i++)
        if (to[i] != ECL_NIL)
            __builtin_prefetch(to[i]->symbol.name->base_string.self);
    return n;
}
")

(defun fetch-symbols (table at block)
  "Puts symbols of TABLE, a copy of one of the tables of a package, into BLOCK, a
simple vector, from entry AT on. Returns how many, and the next AT. Looking at
them then waits for memory hardly ever."
  (ffi:c-inline (table at block) (:object :fixnum :object)
                (values :fixnum :fixnum) "{
    cl_index at = #1;
    @(return 0) = ecl_mcp_fetch_symbols(#0, &at, #2);
    @(return 1) = at;
  }" :one-liner nil))

(ffi:clines "
static int ecl_mcp_has_values(cl_object names, cl_object values)
{
    const cl_env_ptr env = ecl_process_env();

    for (cl_index i = 0; i < names->vector.dim; i++)
        if (ECL_SYM_VAL(env, names->vector.self.t[i]) !=
            values->vector.self.t[i])
            return 0;
    return 1;
}

static void ecl_mcp_take_values(cl_object names, cl_object values)
{
    const cl_env_ptr env = ecl_process_env();

    for (cl_index i = 0; i < names->vector.dim; i++) {
        cl_object value = ECL_SYM_VAL(env, names->vector.self.t[i]);

        values->vector.self.t[i] = value == OBJNULL ? ECL_NIL : value;
    }
}
")

(defun values-are-p (names values)
  "True when the variables with NAMES have VALUES, both simple vectors. To ask
BOUNDP and SYMBOL-VALUE in turns takes ten times as long."
  (ffi:c-inline (names values) (:object :object) :bool
                "ecl_mcp_has_values(#0, #1)" :one-liner t))

(defun note-values (names values)
  "Puts the values of the variables with NAMES into VALUES; NIL for those without
one."
  (ffi:c-inline (names values) (:object :object) :void
                "ecl_mcp_take_values(#0, #1);" :one-liner nil))

(defun remember-values (form values)
  "Makes VALUES, those of FORM, the latest ones in the variables of the
read-eval-print loop."
  (ffi:c-inline (form values) (:object :object) :void "{
    const cl_env_ptr env = ecl_process_env();
    ECL_SETQ(env, @'+++, ECL_SYM_VAL(env, @'++));
    ECL_SETQ(env, @'++, ECL_SYM_VAL(env, @'+));
    ECL_SETQ(env, @'+, #0);
    ECL_SETQ(env, @'///, ECL_SYM_VAL(env, @'//));
    ECL_SETQ(env, @'//, ECL_SYM_VAL(env, @'/));
    ECL_SETQ(env, @'/, #1);
    ECL_SETQ(env, @'***, ECL_SYM_VAL(env, @'**));
    ECL_SETQ(env, @'**, ECL_SYM_VAL(env, @'*));
    ECL_SETQ(env, @'*, ECL_CONSP(#1) ? ECL_CONS_CAR(#1) : ECL_NIL);
  }" :one-liner nil))

(defun copy-record (record)
  "Returns a copy of RECORD, a simple vector. MAKE-ARRAY takes three times as long."
  (ffi:c-inline (record) (:object) :object "{
    cl_index n = (#0)->vector.dim;
    cl_object copy = ecl_alloc_simple_vector(n, ecl_aet_object);
    memcpy(copy->vector.self.t, (#0)->vector.self.t, n * sizeof(cl_object));
    @(return) = copy;
  }" :one-liner nil))

(defun open-stream-of-ecl-p (object)
  "True when OBJECT is an open stream that is not of a class of the user's."
  (ffi:c-inline (object) (:object) :bool
                "ECL_ANSI_STREAM_P(#0) && !(#0)->stream.closed" :one-liner t))

(defun plain-string-p (object)
  "True when OBJECT is a simple base string. TYPEP looks the type up each time."
  (ffi:c-inline (object) (:object) :bool
                "ECL_BASE_STRING_P(#0) && !ECL_ADJUSTABLE_ARRAY_P(#0) &&
                 !ECL_ARRAY_HAS_FILL_POINTER_P(#0)"
                :one-liner t))

;;; Packages

(defun living-package-p (object)
  "True when OBJECT is a package that has not been deleted. To ask PACKAGE-NAME
takes 450 instructions."
  (ffi:c-inline (object) (:object) :bool
                "ECL_PACKAGEP(#0) && (#0)->pack.name != ECL_NIL"
                :one-liner t))

;;; Readtables

(ffi:clines "
static int ecl_mcp_has_plain_escapes(cl_object table)
{
    if (table->readtable.locked)
        return 0;
    for (int c = 0; c < 128; c++)
        if ((table->readtable.table[c].syntax_type == cat_single_escape) !=
            (c == '\\\\'))
            return 0;
    return 1;
}
")

(defun plain-escapes-p (readtable)
  "True when the backslash is the only single escape character of READTABLE in
ASCII, and READTABLE can be changed."
  (ffi:c-inline (readtable) (:object) :bool "ecl_mcp_has_plain_escapes(#0)"
                :one-liner t))

(ffi:clines "
/* Whether none of the characters of TEXT, a base string, from START on can call
   code of the user when it is read by TABLE: each means what it does in
   STANDARD, and none dispatches on the next. */
static int ecl_mcp_reads_by_itself(cl_object text, cl_index start,
                                   cl_object table, cl_object standard)
{
    const struct ecl_readtable_entry *ours = table->readtable.table;
    const struct ecl_readtable_entry *theirs = standard->readtable.table;

    for (cl_index i = start; i < text->base_string.fillp; i++) {
        unsigned char c = text->base_string.self[i];

        if (c >= 128 || c == '#' ||
            ours[c].syntax_type != theirs[c].syntax_type ||
            ours[c].dispatch != theirs[c].dispatch)
            return 0;
    }
    return 1;
}

/* Makes STREAM, as MAKE-STRING-INPUT-STREAM has made it for a base string, read
   TEXT, another one. False when STREAM is not as it was made. */
static int ecl_mcp_reads_anew(cl_object stream, cl_object text)
{
    if (ecl_t_of(stream) != t_stream || stream->stream.closed ||
        stream->stream.mode != (int8_t)ecl_smm_string_input ||
        !ECL_BASE_STRING_P(stream->stream.object0) ||
        stream->stream.int1 !=
            (cl_fixnum)stream->stream.object0->base_string.fillp ||
        stream->stream.byte_stack != ECL_NIL)
        return 0;
    stream->stream.object0 = text;
    stream->stream.int0 = 0;
    stream->stream.int1 = (cl_fixnum)text->base_string.fillp;
    stream->stream.column = 0;
    stream->stream.last_char = EOF;
    stream->stream.last_code[0] = stream->stream.last_code[1] = EOF;
    stream->stream.last_op = 0;
    return 1;
}
")

(defun reads-by-itself-p (text start readtable standard)
  "True when reading TEXT, a simple base string, from START on with READTABLE calls
no code of the user: READTABLE does with it what STANDARD does."
  (ffi:c-inline (text start readtable standard)
                (:object :fixnum :object :object) :bool
                "ecl_mcp_reads_by_itself(#0, #1, #2, #3)" :one-liner t))

(defun read-anew-p (stream text)
  "Makes STREAM, a string input stream for a simple base string, one for TEXT,
which is one, too; or returns false."
  (ffi:c-inline (stream text) (:object :object) :bool
                "ecl_mcp_reads_anew(#0, #1)" :one-liner t))

;;; Processes

(ffi:clines "
/* True in a process in which this was called before; not in its copies. A page
   that the system empties in copies tells that without a system call. Where it
   cannot, the number of the process does. */
static int ecl_mcp_is_known_process(void)
{
    static volatile pid_t *known;
    static pid_t number;
    pid_t ours;

    if (!known) {
        size_t size = (size_t)sysconf(_SC_PAGESIZE);
        void *page = mmap(NULL, size, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (page != MAP_FAILED && madvise(page, size, MADV_WIPEONFORK) == 0)
            known = page;
        else if (page != MAP_FAILED)
            munmap(page, size);
    }
    if (known && *known != 0)
        return 1;
    ours = getpid();
    if (known) {
        *known = ours;
        return 0;
    }
    if (number == ours)
        return 1;
    number = ours;
    return 0;
}
")

(defun known-process-p ()
  "True in a process in which this was called before, which a copy of it is not."
  (ffi:c-inline () () :bool "ecl_mcp_is_known_process()" :one-liner t))

;;; Children

(ffi:clines "
extern char **environ;

static int ecl_mcp_spawn(const char *command)
{
    char *argv[] = {\"sh\", \"-c\", (char *)command, NULL};
    pid_t pid;

    return posix_spawn(&pid, \"/bin/sh\", NULL, NULL, argv, environ) ? -1 : pid;
}

static int ecl_mcp_wait(int pid)
{
    int status = -1;

    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        continue;
    return status;
}
")

(defun spawn-shell (command)
  "Starts a shell that runs COMMAND, a simple base string, and returns its
process id, or -1."
  (ffi:c-inline (command) (:object) :int
                "ecl_mcp_spawn((const char *)(#0)->base_string.self)"
                :one-liner t))

(defun wait-for-child (pid)
  "Waits for the end of the child PID and returns its status, as wait(2) does."
  (ffi:c-inline (pid) (:int) :int "ecl_mcp_wait(#0)" :one-liner t))

(defun interrupt-child (pid)
  "Sends SIGINT to the child PID."
  (ffi:c-inline (pid) (:int) :void "kill(#0, SIGINT);" :one-liner nil))

(defun kill-child (pid)
  "Kills the child PID immediately unless it has ended. Returns its status, as
wait(2) does."
  (ffi:c-inline (pid) (:int) :void "kill(#0, SIGKILL);" :one-liner nil)
  (wait-for-child pid))

;;; Copies of this process

(ffi:clines "
/* Makes a pipe whose ends no program inherits, then forks. Returns 0 in the
   copy, which gets the write end as *FD, the process id of the copy in the
   original, which gets the read end, or -1 on failure. SIGINT ends the copy:
   only the original can report it. */
static int ecl_mcp_fork(int *fd)
{
    int ends[2];
    pid_t pid;

    if (pipe(ends) < 0)
        return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    pid = fork();
    if (pid == 0)
        signal(SIGINT, SIG_DFL);
    *fd = ends[pid == 0];
    close(ends[pid != 0]);
    if (pid < 0)
        close(*fd);
    return pid;
}

static int ecl_mcp_readable(int fd, int milliseconds)
{
    struct pollfd one = {fd, POLLIN, 0};

    return poll(&one, 1, milliseconds) > 0;
}
")

(defun fork-process ()
  "Copies this process; of its threads, only the calling one exists in the copy.
Returns 0 in the copy, the process id of the copy in the original, or -1 on
failure; and the descriptor of a pipe from the copy to the original."
  (ffi:c-inline () () (values :int :int) "{
    int fd = -1;
    @(return 0) = ecl_mcp_fork(&fd);
    @(return 1) = fd;
  }" :one-liner nil))

(defun end-process (status)
  "Ends this process immediately and runs nothing else."
  (ffi:c-inline (status) (:int) :void "_exit(#0);" :one-liner nil))

(defun readable-p (descriptor milliseconds)
  "True when DESCRIPTOR can be read from, or is at its end, within
MILLISECONDS."
  (ffi:c-inline (descriptor milliseconds) (:int :int) :bool
                "ecl_mcp_readable(#0, #1)" :one-liner t))

;;; Locks in a copy

(ffi:clines "
#include <gc/gc_mark.h>

#if ECL_VERSION_NUMBER >= 230909 && defined(__GLIBC__)
#define ECL_MCP_LOCKS_HAVE_OWNERS

static void ecl_mcp_own_lock(cl_object lock, cl_object thread)
{
    if (lock->d.t == t_lock && lock->lock.owner == thread)
        lock->lock.mutex.__data.__owner = gettid();
}

static void GC_CALLBACK ecl_mcp_own_found(void *object, size_t size,
                                          void *thread)
{
    if (size >= sizeof(struct ecl_lock))
        ecl_mcp_own_lock(object, thread);
}

static void *ecl_mcp_own_locks(void *thread)
{
    GC_enumerate_reachable_objects_inner(ecl_mcp_own_found, thread);
    return NULL;
}
#endif
")

(defun own-locks-again ()
  "In a copy of a process: makes the calling thread the owner of the locks that it
held in the original. Since ECL 23.9 these are locks of the C library, which knows
threads by numbers of the system: they are others in the copy."
  (ffi:c-inline () () :void "{
#ifdef ECL_MCP_LOCKS_HAVE_OWNERS
    GC_gcollect(); /* only what it has seen is enumerated */
    GC_call_with_alloc_lock(ecl_mcp_own_locks, ecl_process_env()->own_process);
#endif
  }" :one-liner nil))

(defun own-lock-again (lock)
  "Does that for LOCK alone, for copies that hardly live longer than it takes to
find all."
  (ffi:c-inline (lock) (:object) :void "{
#ifdef ECL_MCP_LOCKS_HAVE_OWNERS
    ecl_mcp_own_lock(#0, ecl_process_env()->own_process);
#else
    (void)#0;
#endif
  }" :one-liner nil))

;;; Threads

(defun current-thread ()
  "Returns the calling thread. MP:*CURRENT-PROCESS* is wrong in a thread that is
about to end, where a signal may still be handled."
  (ffi:c-inline () () :object "ecl_process_env()->own_process" :one-liner t))
