/* SPDX-License-Identifier: GPL-3.0-or-later */
/* functions_core.c: the core, for Emacs Lisp. A call feeds or takes all of its
   bytes or none: a quit comes before or after.

   Whatever calls Lisp may collect garbage, and then anything may run, even what
   closes the core: so each function looks at the core after its last such
   call. */
#include <stdio.h>
#include <time.h>

#include "module/functions.h"
#include "module/handle.h"
#include "module/values.h"

/* Bytes of storage that buffers hold on to once their bytes are taken: what
   common answers need. */
#define IDLE_STORAGE ((size_t)64 * 1024)

#define NIL value_symbol(SYM_NIL)

static emacs_value get_version(emacs_env *env, ptrdiff_t count,
                               emacs_value *args, void *data)
{
    (void)count;
    (void)args;
    (void)data;
    return value_text(env, STR(ECL_MCP_VERSION));
}

static emacs_value open_one(emacs_env *env, ptrdiff_t count, emacs_value *args,
                            void *data)
{
    (void)count;
    (void)data;
    return handle_open(env, args[0]);
}

static emacs_value close_one(emacs_env *env, ptrdiff_t count, emacs_value *args,
                             void *data)
{
    struct handle *handle = handle_get(env, args[0]);

    (void)count;
    (void)data;
    if (handle)
        handle_close(handle);
    return NIL;
}

/* The peer that VALUE names. When it names none: SYM_NIL, and a signal. */
static enum symbol get_peer(emacs_env *env, emacs_value value)
{
    static const enum symbol peers[] = {SYM_CLIENT, SYM_IMAGE, SYM_EDITOR};

    for (size_t i = 0; i < sizeof peers / sizeof peers[0]; i++) {
        if (value_is(env, value, peers[i]))
            return peers[i];
    }
    signal_type(env, SYM_PEERP, value);
    return SYM_NIL;
}

/* Whether the bytes in VALUE may go to PEER. */
static bool may_feed(emacs_env *env, const struct handle *handle,
                     enum symbol peer, emacs_value value)
{
    if (peer == SYM_CLIENT && core_is_behind(handle->core)) {
        signal_error(env,
                     "%u bytes from or for the client wait; tick, and take the "
                     "answers first",
                     LIMIT_OUTPUT_BACKLOG);
        return false;
    }
    if (peer != SYM_IMAGE)
        return true;
    emacs_value multibyte = value_call(env, FN_MULTIBYTE_STRING_P, 1, &value);
    if (is_fine(env) && env->is_not_nil(env, multibyte))
        signal_type(env, SYM_UNIBYTEP, value); // frames are not text
    return is_fine(env);
}

/* Milliseconds of the processor that this thread has used: what other programs
   do must not decide how far the work comes. */
static int64_t used(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); // cannot fail
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Goes on with what came in, for as long as Emacs may stand still; most is done
   then, and Emacs takes the answers next. The rest is for the timer that calls
   tick. */
static void work(struct core *core)
{
    int64_t end = used() + LIMIT_MODULE_TURN_MS;
    int64_t now = host_now();

    do {
        core_tick(core, now);
        now = host_now();
    } while (used() < end && core_deadline(core, now) == now);
}

static void feed(struct handle *handle, enum symbol peer, struct str bytes)
{
    int64_t now = host_now();

    if (peer == SYM_CLIENT)
        core_feed(handle->core, bytes.p, bytes.n, now);
    else if (peer == SYM_EDITOR)
        core_editor_feed(handle->core, bytes.p, bytes.n, now);
    else
        core_image_feed(handle->core, bytes.p, bytes.n, now);
    if (peer != SYM_IMAGE)
        work(handle->core);
}

/* Signals why the supervisor can no longer be understood, if that is so. */
static void tell_fault(emacs_env *env, const struct handle *handle)
{
    struct str why = core_image_fault(handle->core);

    if (why.n > 0)
        signal_error(env, "%.*s", STR_ARG(why));
}

static emacs_value feed_one(emacs_env *env, ptrdiff_t count, emacs_value *args,
                            void *data)
{
    struct handle *handle = handle_get_open(env, args[0]);
    enum symbol peer = handle ? get_peer(env, args[1]) : SYM_NIL;
    struct buf bytes = BUF_EMPTY;

    (void)count;
    (void)data;
    if (handle && is_fine(env) && may_feed(env, handle, peer, args[2]) &&
        value_bytes(env, args[2], &bytes) && handle_get_open(env, args[0])) {
        feed(handle, peer, buf_view(&bytes));
        if (peer == SYM_IMAGE)
            tell_fault(env, handle);
    }
    buf_release(&bytes);
    return NIL;
}

static emacs_value lose_image(emacs_env *env, ptrdiff_t count,
                              emacs_value *args, void *data)
{
    const struct handle *handle = handle_get_open(env, args[0]);
    struct buf why = BUF_EMPTY;

    (void)count;
    (void)data;
    if (handle && value_bytes(env, args[1], &why) &&
        handle_get_open(env, args[0]))
        core_image_lost(handle->core, buf_view(&why), host_now());
    buf_release(&why);
    return NIL;
}

static struct buf *output(struct core *core, enum symbol peer)
{
    if (peer == SYM_CLIENT)
        return core_output(core);
    return peer == SYM_EDITOR ? core_editor_output(core)
                              : core_image_output(core);
}

static emacs_value take_one(emacs_env *env, ptrdiff_t count, emacs_value *args,
                            void *data)
{
    struct handle *handle = handle_get_open(env, args[0]);
    enum symbol peer = handle ? get_peer(env, args[1]) : SYM_NIL;

    (void)count;
    (void)data;
    if (!handle || !is_fine(env))
        return NIL;
    struct buf *from = output(handle->core, peer);
    if (from->n == 0)
        return NIL;
    emacs_value bytes = value_unibyte(env, buf_view(from));
    if (is_fine(env)) {
        buf_trim(from, IDLE_STORAGE);
        buf_reset(from);
    }
    return bytes;
}

static emacs_value set_editor(emacs_env *env, ptrdiff_t count,
                              emacs_value *args, void *data)
{
    const struct handle *handle = handle_get_open(env, args[0]);

    (void)count;
    (void)data;
    if (!handle)
        return NIL;
    if (env->is_not_nil(env, args[1]))
        core_editor_open(handle->core, host_now());
    else
        core_editor_close(handle->core, host_now());
    return NIL;
}

static emacs_value tick(emacs_env *env, ptrdiff_t count, emacs_value *args,
                        void *data)
{
    const struct handle *handle = handle_get_open(env, args[0]);

    (void)count;
    (void)data;
    if (!handle)
        return NIL;
    work(handle->core);
    int64_t now = host_now();
    int64_t deadline = core_deadline(handle->core, now);
    if (deadline < 0)
        return NIL;
    return env->make_float(env, deadline > now ? (double)(deadline - now) / 1000
                                               : 0.0);
}

static emacs_value finish(emacs_env *env, ptrdiff_t count, emacs_value *args,
                          void *data)
{
    const struct handle *handle = handle_get_open(env, args[0]);
    int64_t grace_ms;

    (void)count;
    (void)data;
    if (handle && value_ms(env, args[1], &grace_ms))
        core_finish(handle->core, grace_ms, host_now());
    return NIL;
}

static emacs_value stop_others(emacs_env *env, ptrdiff_t count,
                               emacs_value *args, void *data)
{
    const struct handle *handle = handle_get_open(env, args[0]);

    (void)count;
    (void)data;
    if (handle)
        core_stop_others(handle->core);
    return NIL;
}

static emacs_value is_idle(emacs_env *env, ptrdiff_t count, emacs_value *args,
                           void *data)
{
    const struct handle *handle = handle_get_open(env, args[0]);

    (void)count;
    (void)data;
    return value_symbol(handle && core_is_idle(handle->core) ? SYM_T : SYM_NIL);
}

static emacs_value log_entry(emacs_env *env, enum log_level level,
                             struct str text)
{
    static const enum symbol symbols[] = {[LOG_ERROR] = SYM_ERROR,
                                          [LOG_WARN] = SYM_WARN,
                                          [LOG_INFO] = SYM_INFO,
                                          [LOG_DEBUG] = SYM_DEBUG};

    return value_cons(env, value_symbol(symbols[level]), value_text(env, text));
}

/* The lines in RING as a list for Emacs Lisp. */
static emacs_value log_list(emacs_env *env, const struct ring *ring)
{
    emacs_value list = NIL;

    for (size_t i = ring->count; i-- > 0 && is_fine(env);) {
        const struct ring_line *line = ring_at(ring, i);
        emacs_value entry =
            log_entry(env, line->level, str_make(line->p, line->n));

        list = value_cons(env, entry, list);
    }
    if (ring->lost > 0) {
        char text[80];

        (void)snprintf(text, sizeof text, "module: %zu older lines are lost",
                       ring->lost);
        list = value_cons(env, log_entry(env, LOG_WARN, str_from(text)), list);
    }
    return list;
}

static emacs_value get_log(emacs_env *env, ptrdiff_t count, emacs_value *args,
                           void *data)
{
    struct handle *handle = handle_get(env, args[0]);

    (void)count;
    (void)data;
    if (!handle)
        return NIL;
    struct ring ring = handle->log;
    handle->log = (struct ring){0}; // for what is logged meanwhile
    emacs_value list = log_list(env, &ring);
    if (is_fine(env) || handle->log.count > 0)
        ring_clear(&ring);
    else
        handle->log = ring; // a quit comes before
    return list;
}

const struct function FUNCTIONS_CORE[] = {
    {"ecl-mcp-module-version", 0, get_version,
     "Return the version of the module, a string such as \"0.1.0\".\n\n(fn)"},
    {"ecl-mcp-module-open", 1, open_one,
     "Create a core and return it.\n"
     "OPTIONS is a property list.  An option that is absent or nil has its\n"
     "default:\n"
     "  :workspace  absolute name of the folder whose files the tools may\n"
     "              use; default: none\n"
     "  :tools      tool sets, separated by commas, or all; default: all but\n"
     "              step, threads and replay\n"
     "  :audit      absolute name of the file for the log of calls, or\n"
     "              \"off\"; default: one file for each day\n"
     "  :policy     absolute name of the file of rules\n"
     "  :allow, :deny  lists of tool names, strings\n"
     "  :secrets    further files to keep from the agent, a list of\n"
     "              patterns as for the option --secret\n"
     "  :approval-seconds  how long a human may think, an integer\n"
     "  :max-output  characters of an answer, an integer\n"
     "  :memory     bytes of the Lisp heap of an image, an integer\n"
     "Signal `ecl-mcp-error' with a sentence when an option is not valid or\n"
     "what it names cannot be used.\n"
     "The core lives until `ecl-mcp-module-close', or until nothing refers\n"
     "to it and garbage is collected.\n\n(fn OPTIONS)"},
    {"ecl-mcp-module-close", 1, close_one,
     "Close CORE: calls that wait get no answer.\n"
     "Only its log can be read afterwards.  Closing it again does nothing.\n"
     "\n(fn CORE)"},
    {"ecl-mcp-module-feed", 3, feed_one,
     "Give CORE the string BYTES that came from PEER.\n"
     "PEER is `client' (lines of MCP), `image' (what the process\n"
     "\"ecl-mcp --supervise\" wrote, a unibyte string) or `editor' (lines of\n"
     "the editor protocol).  Lines may come in pieces.  The text of a\n"
     "multibyte string becomes UTF-8.  What CORE then has to say to any\n"
     "peer, `ecl-mcp-module-take' returns.\n"
     "Signal `ecl-mcp-error' when CORE is closed, or when megabytes for the\n"
     "client have not been taken, or what it sent before still waits while\n"
     "CORE is at work.  Signal it, too, when what came from `image' is\n"
     "invalid or of another version: CORE then refuses calls until\n"
     "`ecl-mcp-module-image-lost' says that the process has ended.\n"
     "\n(fn CORE PEER BYTES)"},
    {"ecl-mcp-module-image-lost", 2, lose_image,
     "Tell CORE that the process which keeps the Lisp images has ended.\n"
     "Calls that wait for it are answered with WHY, a sentence for the\n"
     "model; bytes for it that were not taken are dropped.  What is taken\n"
     "for `image' from then on is for a new process.\n\n(fn CORE WHY)"},
    {"ecl-mcp-module-take", 2, take_one,
     "Return all bytes that CORE has for PEER, or nil when it has none.\n"
     "PEER is `client' (whole lines of MCP), `image' (for the process\n"
     "\"ecl-mcp --supervise\") or `editor' (whole lines of the editor\n"
     "protocol).  The bytes are a unibyte string, lines in UTF-8.\n"
     "Call it for each peer after every call that feeds or ticks.\n"
     "\n(fn CORE PEER)"},
    {"ecl-mcp-module-editor", 2, set_editor,
     "Tell CORE that the editor is present, when ON is non-nil.\n"
     "With nil, tell it that the editor has gone.\n\n(fn CORE ON)"},
    {"ecl-mcp-module-tick", 1, tick,
     "Let CORE do what does not wait for bytes.\n"
     "Return the seconds, a float, after which it must be called again, or\n"
     "nil when it need not be called before CORE is fed.\n\n(fn CORE)"},
    {"ecl-mcp-module-stop-others", 1, stop_others,
     "Stop the calls of the others that share the Lisp images of CORE.\n"
     "The answer to each says that the user stopped it.\n\n(fn CORE)"},
    {"ecl-mcp-module-finish", 2, finish,
     "Let CORE end: it reads no more from the client.\n"
     "Calls that run get SECONDS, a number, before they are stopped; each\n"
     "is answered.  `ecl-mcp-module-idle-p' tells when all of them are.\n"
     "\n(fn CORE SECONDS)"},
    {"ecl-mcp-module-idle-p", 1, is_idle,
     "Return t when CORE was let end and has answered every call.\n"
     "\n(fn CORE)"},
    {"ecl-mcp-module-log", 1, get_log,
     "Return what CORE has logged since the last call of this function.\n"
     "The result is a list of (LEVEL . TEXT), oldest first; LEVEL is\n"
     "`error', `warn' or `info'.  After a long time without a call the\n"
     "oldest lines are lost, and the first element says so.  This works for\n"
     "a closed CORE, too.\n\n(fn CORE)"},
    {0}};
