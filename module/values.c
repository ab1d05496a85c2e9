/* SPDX-License-Identifier: GPL-3.0-or-later */
/* values.c: see values.h. */
#include "module/values.h"

#include <math.h>
#include <nettle/base64.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/limits.h"
#include "base/utf8.h"

/* Characters of a message. */
#define MESSAGE_SIZE 1000

static const char *const NAMES[SYM_COUNT] = {
    [SYM_NIL] = "nil",
    [SYM_T] = "t",
    [SYM_INTEGER] = "integer",
    [SYM_FLOAT] = "float",
    [SYM_CLIENT] = "client",
    [SYM_IMAGE] = "image",
    [SYM_EDITOR] = "editor",
    [SYM_ERROR] = "error",
    [SYM_WARN] = "warn",
    [SYM_INFO] = "info",
    [SYM_DEBUG] = "debug",
    [SYM_APPLIED] = "applied",
    [SYM_SKIPPED] = "skipped",
    [SYM_STALE] = "stale",
    [SYM_WORKSPACE] = ":workspace",
    [SYM_TOOLS] = ":tools",
    [SYM_AUDIT] = ":audit",
    [SYM_POLICY] = ":policy",
    [SYM_ALLOW] = ":allow",
    [SYM_DENY] = ":deny",
    [SYM_SECRETS] = ":secrets",
    [SYM_APPROVAL_SECONDS] = ":approval-seconds",
    [SYM_MAX_OUTPUT] = ":max-output",
    [SYM_MEMORY] = ":memory",
    [SYM_UTF_8_EMACS_UNIX] = "utf-8-emacs-unix",
    [SYM_ECL_MCP_ERROR] = "ecl-mcp-error",
    [SYM_ERROR_CONDITIONS] = "error-conditions",
    [SYM_WRONG_TYPE_ARGUMENT] = "wrong-type-argument",
    [SYM_COREP] = "ecl-mcp-module-core-p",
    [SYM_PEERP] = "ecl-mcp-module-peer-p",
    [SYM_NUMBERP] = "numberp",
    [SYM_UNIBYTEP] = "unibyte-string-p",
    [FN_BASE64_ENCODE_STRING] = "base64-encode-string",
    [FN_CONS] = "cons",
    [FN_DECODE_CODING_STRING] = "decode-coding-string",
    [FN_DEFALIAS] = "defalias",
    [FN_DEFINE_ERROR] = "define-error",
    [FN_ENCODE_CODING_STRING] = "encode-coding-string",
    [FN_GARBAGE_COLLECT] = "garbage-collect",
    [FN_GET] = "get",
    [FN_LIST] = "list",
    [FN_MATCH_DATA] = "match-data",
    [FN_MULTIBYTE_STRING_P] = "multibyte-string-p",
    [FN_SET_MATCH_DATA] = "set-match-data",
    [FN_SPLIT_STRING] = "split-string",
    [FN_VCONCAT] = "vconcat",
};

/* What lasts as long as this Emacs. */
static struct {
    bool ready;
    emacs_value symbols[SYM_COUNT];
    emacs_value nomem; /* the data of that error */
} refs;

bool is_fine(emacs_env *env)
{
    return env->non_local_exit_check(env) == emacs_funcall_exit_return;
}

/* Clears a pending signal of this NAME and returns true; clears nothing
   else. */
static bool forgive(emacs_env *env, enum symbol name)
{
    emacs_value symbol;
    emacs_value data;

    if (env->non_local_exit_get(env, &symbol, &data) !=
        emacs_funcall_exit_signal)
        return false;
    env->non_local_exit_clear(env); // nothing works while one is pending
    if (value_is(env, symbol, name))
        return true;
    env->non_local_exit_signal(env, symbol, data);
    return false;
}

bool values_init(emacs_env *env)
{
    if (refs.ready)
        return true;
    for (size_t i = 0; i < SYM_COUNT; i++) {
        emacs_value symbol = env->intern(env, NAMES[i]);

        if (is_fine(env))
            refs.symbols[i] = env->make_global_ref(env, symbol);
        if (!is_fine(env))
            return false;
    }
    emacs_value text = value_text(env, STR("Out of memory"));
    emacs_value data = value_cons(env, text, value_symbol(SYM_NIL));
    if (is_fine(env))
        refs.nomem = env->make_global_ref(env, data);
    refs.ready = is_fine(env);
    return refs.ready;
}

emacs_value value_symbol(enum symbol symbol)
{
    return refs.symbols[symbol];
}

bool value_is(emacs_env *env, emacs_value value, enum symbol symbol)
{
    return env->eq(env, value, refs.symbols[symbol]);
}

emacs_value value_call(emacs_env *env, enum symbol fn, ptrdiff_t count,
                       emacs_value *args)
{
    if (!is_fine(env))
        return refs.symbols[SYM_NIL];
    return env->funcall(env, refs.symbols[fn], count, args);
}

emacs_value value_cons(emacs_env *env, emacs_value car, emacs_value cdr)
{
    return value_call(env, FN_CONS, 2, (emacs_value[]){car, cdr});
}

void signal_error(emacs_env *env, const char *format, ...)
{
    char message[MESSAGE_SIZE];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof message, format, args);
    va_end(args);
    emacs_value text = value_text(env, str_from(message));
    emacs_value data = value_cons(env, text, refs.symbols[SYM_NIL]);
    if (is_fine(env))
        env->non_local_exit_signal(env, refs.symbols[SYM_ECL_MCP_ERROR], data);
}

void signal_nomem(emacs_env *env)
{
    if (is_fine(env))
        env->non_local_exit_signal(env, refs.symbols[SYM_ECL_MCP_ERROR],
                                   refs.nomem);
}

void signal_type(emacs_env *env, enum symbol predicate, emacs_value value)
{
    emacs_value data = value_call(
        env, FN_LIST, 2, (emacs_value[]){refs.symbols[predicate], value});

    if (is_fine(env))
        env->non_local_exit_signal(env, refs.symbols[SYM_WRONG_TYPE_ARGUMENT],
                                   data);
}

/* Puts the UTF-8 of VALUE into OUT. False, with a signal, also when VALUE
   holds raw bytes. */
static bool copy_text(emacs_env *env, emacs_value value, struct buf *out)
{
    ptrdiff_t size = 0;

    if (!is_fine(env) || !env->copy_string_contents(env, value, NULL, &size) ||
        !is_fine(env))
        return false;
    buf_reset(out);
    char *p = buf_reserve_exact(out, (size_t)size);
    if (!p) {
        signal_nomem(env);
        return false;
    }
    if (!env->copy_string_contents(env, value, p, &size) || !is_fine(env))
        return false;
    out->n = (size_t)size - 1; // without the NUL
    return true;
}

/* Decodes the base64 in CODED, which Emacs made, to OUT. */
static bool decode(emacs_env *env, const struct buf *coded, struct buf *out)
{
    struct base64_decode_ctx base64;
    size_t n = BASE64_DECODE_LENGTH(coded->n);

    buf_reset(out);
    char *p = buf_reserve_exact(out, n + 1);
    if (!p) {
        signal_nomem(env);
        return false;
    }
    base64_decode_init(&base64);
    if (!base64_decode_update(&base64, &n, (uint8_t *)p, coded->n, coded->p) ||
        !base64_decode_final(&base64)) {
        signal_error(env, "Emacs returned invalid base64");
        return false;
    }
    p[n] = '\0';
    out->n = n;
    return true;
}

/* Puts the bytes of the unibyte string VALUE into OUT. Emacs copies UTF-8
   only; base64 is the way around. */
static bool copy_bytes(emacs_env *env, emacs_value value, struct buf *out)
{
    struct buf coded = BUF_EMPTY;
    emacs_value base64 =
        value_call(env, FN_BASE64_ENCODE_STRING, 2,
                   (emacs_value[]){value, refs.symbols[SYM_T]});
    bool ok = copy_text(env, base64, &coded) && decode(env, &coded, out);

    buf_release(&coded);
    return ok;
}

bool value_bytes(emacs_env *env, emacs_value value, struct buf *out)
{
    emacs_value multibyte;

    if (copy_text(env, value, out)) // a third of the time of the other way
        return true;
    if (!forgive(env, SYM_WRONG_TYPE_ARGUMENT)) // not ASCII, or raw bytes
        return false;
    multibyte = value_call(env, FN_MULTIBYTE_STRING_P, 1, &value);
    if (!is_fine(env))
        return false;
    if (!env->is_not_nil(env, multibyte))
        return copy_bytes(env, value, out); // signals a wrong type, too
    value =
        value_call(env, FN_ENCODE_CODING_STRING, 2,
                   (emacs_value[]){value, refs.symbols[SYM_UTF_8_EMACS_UNIX]});
    return copy_bytes(env, value, out);
}

bool value_name(emacs_env *env, emacs_value value, const char *what,
                struct buf *buf, const char **out)
{
    if (!value_bytes(env, value, buf))
        return false;
    if (memchr(buf->p, '\0', buf->n)) {
        signal_error(env, "%s contains a NUL", what);
        return false;
    }
    *out = buf->p;
    return true;
}

bool value_integer(emacs_env *env, emacs_value value, const char *what,
                   int64_t least, int64_t most, int64_t *out)
{
    if (!is_fine(env))
        return false;
    intmax_t n = env->extract_integer(env, value);
    if (!is_fine(env))
        return false;
    if (n < least || n > most) {
        signal_error(env, "%s %jd is not valid; valid: %jd to %jd", what, n,
                     (intmax_t)least, (intmax_t)most);
        return false;
    }
    *out = n;
    return true;
}

bool value_ms(emacs_env *env, emacs_value value, int64_t *out)
{
    double seconds;

    if (!is_fine(env))
        return false;
    emacs_value type = env->type_of(env, value);
    if (!is_fine(env))
        return false;
    if (value_is(env, type, SYM_INTEGER)) {
        seconds = (double)env->extract_integer(env, value);
    } else if (value_is(env, type, SYM_FLOAT)) {
        seconds = env->extract_float(env, value);
    } else {
        signal_type(env, SYM_NUMBERP, value);
        return false;
    }
    if (!is_fine(env))
        return false;
    if (!(seconds >= 0 && seconds <= LIMIT_TIMEOUT_MAX)) {
        signal_error(env, "%g seconds are not valid; valid: 0 to %d", seconds,
                     LIMIT_TIMEOUT_MAX);
        return false;
    }
    *out = (int64_t)ceil(seconds * 1000);
    return true;
}

bool value_elements(emacs_env *env, emacs_value list, emacs_value *vector,
                    ptrdiff_t *count)
{
    *vector = value_call(env, FN_VCONCAT, 1, &list);
    if (!is_fine(env))
        return false;
    *count = env->vec_size(env, *vector);
    return is_fine(env);
}

emacs_value value_unibyte(emacs_env *env, struct str s)
{
    if (!is_fine(env))
        return refs.symbols[SYM_NIL];
    return env->make_unibyte_string(env, s.n > 0 ? s.p : "", (ptrdiff_t)s.n);
}

emacs_value value_text(emacs_env *env, struct str s)
{
    if (!is_fine(env))
        return refs.symbols[SYM_NIL];
    if (utf8_is_valid(s))
        return env->make_string(env, s.n > 0 ? s.p : "", (ptrdiff_t)s.n);
    return value_call(env, FN_DECODE_CODING_STRING, 2,
                      (emacs_value[]){value_unibyte(env, s),
                                      refs.symbols[SYM_UTF_8_EMACS_UNIX]});
}
