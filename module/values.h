/* SPDX-License-Identifier: GPL-3.0-or-later */
/* values.h: conversions between values of Emacs Lisp and of C. Every function
   here may leave a non-local exit pending (a signal, a quit): then it returns
   false, or a value that must not be used, and the caller returns to Emacs at
   once. */
#ifndef MODULE_VALUES_H
#define MODULE_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <emacs-module.h>

#include "base/buf.h"
#include "base/str.h"

/* The symbols and functions of Emacs that the module uses. */
enum symbol {
    SYM_NIL,
    SYM_T,
    SYM_INTEGER,
    SYM_FLOAT,
    SYM_CLIENT,
    SYM_IMAGE,
    SYM_EDITOR,
    SYM_ERROR,
    SYM_WARN,
    SYM_INFO,
    SYM_DEBUG,
    SYM_APPLIED,
    SYM_SKIPPED,
    SYM_STALE,
    SYM_WORKSPACE,
    SYM_TOOLS,
    SYM_AUDIT,
    SYM_POLICY,
    SYM_ALLOW,
    SYM_DENY,
    SYM_SECRETS,
    SYM_APPROVAL_SECONDS,
    SYM_MAX_OUTPUT,
    SYM_MEMORY,
    SYM_UTF_8_EMACS_UNIX,
    SYM_ECL_MCP_ERROR,
    SYM_ERROR_CONDITIONS,
    SYM_WRONG_TYPE_ARGUMENT,
    SYM_COREP,
    SYM_PEERP,
    SYM_NUMBERP,
    SYM_UNIBYTEP,
    FN_BASE64_ENCODE_STRING,
    FN_CONS,
    FN_DECODE_CODING_STRING,
    FN_DEFALIAS,
    FN_DEFINE_ERROR,
    FN_ENCODE_CODING_STRING,
    FN_GARBAGE_COLLECT,
    FN_GET,
    FN_LIST,
    FN_MATCH_DATA,
    FN_MULTIBYTE_STRING_P,
    FN_SET_MATCH_DATA,
    FN_SPLIT_STRING,
    FN_VCONCAT,
    SYM_COUNT
};

/* Gets the symbols ready. A second call does nothing. */
bool values_init(emacs_env *env);

emacs_value value_symbol(enum symbol symbol);
bool value_is(emacs_env *env, emacs_value value, enum symbol symbol);

/* Whether nothing was signalled. */
bool is_fine(emacs_env *env);

/* Calls the function FN with COUNT arguments. */
emacs_value value_call(emacs_env *env, enum symbol fn, ptrdiff_t count,
                       emacs_value *args);

/* Signals ecl-mcp-error with a sentence. */
void signal_error(emacs_env *env, const char *format, ...) PRINTF_LIKE(2, 3);

/* Signals that memory ran out, without asking for any. */
void signal_nomem(emacs_env *env);

/* Signals wrong-type-argument: VALUE does not satisfy PREDICATE. */
void signal_type(emacs_env *env, enum symbol predicate, emacs_value value);

/* Replaces what OUT holds with the bytes of the string VALUE and a NUL; the
   caller releases OUT. Text becomes UTF-8. A raw byte, in a unibyte string or
   as a character of its own in a multibyte one, stays that byte. */
bool value_bytes(emacs_env *env, emacs_value value, struct buf *out);

/* The same for a name, which must not contain a NUL; WHAT is what the message
   calls it. *OUT lives in BUF. */
bool value_name(emacs_env *env, emacs_value value, const char *what,
                struct buf *buf, const char **out);

/* A whole number from LEAST to MOST; WHAT is what the message calls it. */
bool value_integer(emacs_env *env, emacs_value value, const char *what,
                   int64_t least, int64_t most, int64_t *out);

/* A number of seconds, integer or float, from 0 to LIMIT_TIMEOUT_MAX, in
   milliseconds. */
bool value_ms(emacs_env *env, emacs_value value, int64_t *out);

/* The elements of a list as a vector, and their number. */
bool value_elements(emacs_env *env, emacs_value list, emacs_value *vector,
                    ptrdiff_t *count);

/* S as a unibyte string. */
emacs_value value_unibyte(emacs_env *env, struct str s);

/* The UTF-8 S as a string; bytes that are not UTF-8 become characters that
   stand for bytes. */
emacs_value value_text(emacs_env *env, struct str s);

/* (CAR . CDR); with CDR nil, a list of one element. */
emacs_value value_cons(emacs_env *env, emacs_value car, emacs_value cdr);

#endif
