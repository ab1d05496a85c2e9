/* SPDX-License-Identifier: GPL-3.0-or-later */
/* writing.c: see writing.h. ECL encodes each character of a string through a
   pointer, and counts columns, before it gives some of them to the C library.
   This definition of the function behind WRITE-STRING, WRITE-LINE and
   WRITE-SEQUENCE takes the place of the one in the library, which calls it
   through its table of symbols. It does the same, quicker, for what is ASCII in
   a string, if the stream ends in a file of the C library that is encoded in
   UTF-8; the rest is the library's, and all errors. What is in the file
   afterwards, and what in the buffer, is the same: lines are flushed as ever.
   */
#include "image/writing.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <ecl/ecl.h>

enum {
    PIECE = 2048, /* characters that the C library gets at once, as from ECL */
    BLOCK = 16,   /* that are looked at together */
    SYNONYMS = 8, /* between a stream and what it stands for */
    TAB = 8       /* columns from one to the next */
};

static cl_object (*library_write)(cl_object sequence, cl_object stream,
                                  cl_object start, cl_object end);

__attribute__((constructor)) static void find_original(void)
{
    void *found = dlsym(RTLD_NEXT, "si_do_write_sequence");

    memcpy(&library_write, &found, sizeof found);
}

cl_object writing_final_stream(cl_env_ptr env, cl_object stream)
{
    for (int i = 0; i < SYNONYMS; i++) {
        if (!stream || !ECL_ANSI_STREAM_P(stream) || stream->stream.closed)
            return NULL;
        switch (stream->stream.mode) {
        case ecl_smm_synonym:
            stream = ECL_SYM_VAL(env, stream->stream.object0);
            break;
        case ecl_smm_output:
        case ecl_smm_output_file:
            return (stream->stream.flags & ECL_STREAM_FORMAT) !=
                               ECL_STREAM_BINARY &&
                           (stream->stream.flags & ECL_STREAM_CR) == 0
                       ? stream
                       : NULL;
        case ecl_smm_string_output:
            return stream;
        default:
            return NULL;
        }
    }
    return NULL;
}

/* The file that output to STREAM ends in, or NULL when it is none of the C
   library or encoded otherwise. */
static cl_object final_file(cl_env_ptr env, cl_object stream)
{
    cl_object last = writing_final_stream(env, stream);

    return last && last->stream.mode == ecl_smm_output &&
                   (last->stream.flags & ECL_STREAM_FORMAT) == ECL_STREAM_UTF_8
               ? last
               : NULL;
}

/* Characters that are looked at together, and their bytes. */
typedef ecl_character wide __attribute__((vector_size(BLOCK * 4)));
typedef char narrow __attribute__((vector_size(BLOCK)));

/* Copies N characters; returns bits that any of them has. */
static unsigned copy_wide(const ecl_character *restrict from, cl_index n,
                          char *restrict to)
{
    wide found = {0};
    unsigned seen = 0;
    cl_index i = 0;

    for (; i + BLOCK <= n; i += BLOCK) {
        wide characters;

        memcpy(&characters, from + i, sizeof characters);
        found |= characters;
        for (int j = 0; j < BLOCK; j++) // becomes one store
            to[i + (cl_index)j] = (char)from[i + (cl_index)j];
    }
    for (int j = 0; j < BLOCK; j++)
        seen |= (unsigned)found[j];
    for (; i < n; i++) {
        seen |= (unsigned)from[i];
        to[i] = (char)from[i];
    }
    return seen;
}

static unsigned copy_narrow(const ecl_base_char *from, cl_index n, char *to)
{
    narrow found = {0};
    unsigned seen = 0;
    cl_index i = 0;

    memcpy(to, from, n);
    for (; i + BLOCK <= n; i += BLOCK) {
        narrow bytes;

        memcpy(&bytes, to + i, sizeof bytes);
        found |= bytes;
    }
    for (int j = 0; j < BLOCK; j++)
        seen |= (unsigned char)found[j];
    for (; i < n; i++)
        seen |= from[i];
    return seen;
}

/* Copies N characters of STRING from START on; false: some are not ASCII. */
static bool encode(cl_object string, cl_index start, cl_index n, char *to)
{
    unsigned seen =
        ecl_t_of(string) == t_base_string
            ? copy_narrow(string->base_string.self + start, n, to)
            : copy_wide((const ecl_character *)string->string.self + start, n,
                        to);

    return seen < 128;
}

/* The column behind N characters at P that begin in COLUMN. */
static cl_index column_after(cl_index column, const char *p, size_t n)
{
    const char *line = memrchr(p, '\n', n);
    size_t i = line ? (size_t)(line + 1 - p) : 0;

    if (line)
        column = 0;
    if (!memchr(p + i, '\t', n - i))
        return column + (n - i);
    for (; i < n; i++)
        column = p[i] == '\t' ? column / TAB * TAB + TAB : column + 1;
    return column;
}

/* Writes N bytes at P to FILE; returns how many it took. No interrupt may leave
   the C library, which holds a lock: one that waited comes at the end. */
static size_t write_piece(cl_env_ptr env, cl_object file, const char *p,
                          size_t n)
{
    FILE *stream = file->stream.file.stream;
    size_t written;

    ecl_disable_interrupts_env(env);
    written = fwrite(p, 1, n, stream);
    if (written < n)
        clearerr(stream); // the library will meet the error again
    file->stream.column = column_after(file->stream.column, p, written);
    ecl_enable_interrupts_env(env);
    return written;
}

/* Writes what it can of STRING between START and END to FILE; returns where
   that ends. An interrupt between two pieces may change the string, or close
   the file. */
static cl_index write_ascii(cl_env_ptr env, cl_object string, cl_object file,
                            cl_index start, cl_index end)
{
    char piece[PIECE];

    while (start < end && end <= string->base_string.dim &&
           !file->stream.closed) {
        size_t n = end - start < PIECE ? end - start : PIECE;
        size_t written;

        if (!encode(string, start, n, piece))
            break;
        written = write_piece(env, file, piece, n);
        start += written;
        if (written < n)
            break;
    }
    return start;
}

/* Whether START and END, or NIL for its end, are places in STRING, in order. */
static bool is_part(cl_object string, cl_object start, cl_object end)
{
    cl_fixnum limit = (cl_fixnum)string->base_string.fillp;
    cl_fixnum first;

    if (!ECL_FIXNUMP(start) || (end != ECL_NIL && !ECL_FIXNUMP(end)))
        return false;
    first = ecl_fixnum(start);
    if (end != ECL_NIL && ecl_fixnum(end) < limit)
        limit = ecl_fixnum(end);
    return first >= 0 && first <= limit &&
           (end == ECL_NIL || ecl_fixnum(end) == limit);
}

cl_object si_do_write_sequence(cl_object string, cl_object stream,
                               cl_object start, cl_object end)
{
    cl_env_ptr env = ecl_process_env();
    cl_object file =
        ecl_t_of(string) == t_base_string || ecl_t_of(string) == t_string
            ? final_file(env, stream)
            : NULL;
    cl_index last;
    cl_index at;

    if (!file || !is_part(string, start, end))
        return library_write(string, stream, start, end);
    last =
        end == ECL_NIL ? string->base_string.fillp : (cl_index)ecl_fixnum(end);
    at = write_ascii(env, string, file, (cl_index)ecl_fixnum(start), last);
    if (at < last)
        return library_write(string, stream, ecl_make_fixnum((cl_fixnum)at),
                             end);
    ecl_return1(env, string);
}
