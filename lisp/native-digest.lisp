;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; native-digest.lisp: the C code of a file, with what belongs to it, as one text:
;;;; by what it is recognized, so that it need not be compiled twice.

(in-package #:ecl-mcp)

(ffi:clines "
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
")

(ffi:clines "
struct ecl_mcp_text { char *bytes; size_t n; };

static struct ecl_mcp_text ecl_mcp_read(const char *stem, const char *type)
{
    struct ecl_mcp_text text = {NULL, 0};
    char path[PATH_MAX];
    struct stat status;
    int fd;

    (void)snprintf(path, sizeof path, \"%s.%s\", stem, type);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &status) == 0 &&
        (text.bytes = malloc((size_t)status.st_size + 1))) {
        size_t size = (size_t)status.st_size;
        ssize_t n = 1;

        while (text.n < size &&
               (n = read(fd, text.bytes + text.n, size - text.n)) > 0)
            text.n += (size_t)n;
        text.bytes[text.n] = '\\0';
    }
    if (fd >= 0)
        close(fd);
    return text;
}

/* C code that comes from several files. */
struct ecl_mcp_code {
    const char *stem;
    struct ecl_mcp_text parts[3]; /* .c, .eclh and .data */
    int used[3];
    char *bytes;
    size_t n;
};

static const char *const ecl_mcp_types[] = {\"c\", \"eclh\", \"data\"};

/* Behind the blanks at P. */
static const char *ecl_mcp_blanks(const char *p)
{
    return p + strspn(p, \" \\t\\f\\v\");
}

/* What of the code the line at P includes: 1 or 2; 0 when it includes nothing of
   the user's, or -1 when it includes another file. */
static int ecl_mcp_included(const struct ecl_mcp_code *code, const char *p)
{
    size_t n = strlen(code->stem);

    p = ecl_mcp_blanks(p);
    if (*p != '#')
        return 0;
    p = ecl_mcp_blanks(p + 1);
    if (strncmp(p, \"include\", 7) != 0)
        return 0;
    p = ecl_mcp_blanks(p + 7);
    if (*p == '<')
        return 0;
    if (*p != '\"' || strncmp(p + 1, code->stem, n) != 0)
        return -1;
    p += 1 + n;
    return strncmp(p, \".eclh\\\"\", 6) == 0    ? 1
           : strncmp(p, \".data\\\"\", 6) == 0 ? 2
                                               : -1;
}

/* Appends part I, without comments at its beginning, which have the time, and
   with what it includes. False when it includes what is not known. */
static int ecl_mcp_inline(struct ecl_mcp_code *code, int i)
{
    const char *p = code->parts[i].bytes;

    if (!p || code->used[i] || strlen(p) != code->parts[i].n)
        return 0;
    code->used[i] = 1;
    while (strncmp(p, \"/*\", 2) == 0 && strchr(p, '\\n'))
        p = strchr(p, '\\n') + 1;
    while (*p) {
        size_t n = strcspn(p, \"\\n\") + 1;
        int other = ecl_mcp_included(code, p);

        n = p[n - 1] ? n : n - 1;
        if (other < 0 || (other > 0 && !ecl_mcp_inline(code, other)))
            return 0;
        if (other == 0) {
            memcpy(code->bytes + code->n, p, n);
            code->n += n;
        }
        p += n;
    }
    return 1;
}
")

(ffi:clines "
/* Whether CODE has a meaning that depends on its file. */
static int ecl_mcp_knows_file(const struct ecl_mcp_code *code)
{
    static const char *const names[] = {\"__FILE__\", \"__BASE_FILE__\", \"__LINE__\",
                                        \"__DATE__\", \"__TIME__\",
                                        \"__TIMESTAMP__\", \"__has_include\",
                                        \"__INCLUDE_LEVEL__\",
                                        \"__has_embed\", \"incbin\",
                                        \"__builtin_FILE\", \"__builtin_LINE\",
                                        \"__FILE_NAME__\", \".include\",
                                        \"assert(\", \"assert (\"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(code->bytes, names[i]))
            return 1;
    return 0;
}

/* Adds N bytes to two numbers that differ for different texts. */
static void ecl_mcp_digest(uint64_t sums[2], const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sums[0] = (sums[0] ^ (unsigned char)bytes[i]) * 1099511628211u;
        sums[1] = (sums[1] + (unsigned char)bytes[i] + 1) *
                  6364136223846793005u;
        sums[1] ^= sums[1] >> 29;
    }
}

/* Adds CODE, but for the name of its init function, in which the time is. */
static void ecl_mcp_digest_code(uint64_t sums[2],
                                const struct ecl_mcp_code *code)
{
    static const char mark[] = \"\\100EcLtAg:\";
    const char *p = code->bytes;
    const char *tag = strstr(p, mark);
    const char *name = tag ? tag + sizeof mark - 1 : \"\";
    size_t n = strcspn(name, \"\\100\");

    while (*p) {
        const char *next = n ? memmem(p, strlen(p), name, n) : NULL;

        ecl_mcp_digest(sums, p, next ? (size_t)(next - p) : strlen(p));
        if (!next)
            return;
        ecl_mcp_digest(sums, \"\\n#init\\n\", 7);
        p = next + n;
    }
}

/* Reads the code of STEM into CODE as one text; false when it must stay where it
   is. To be freed in any case. */
static int ecl_mcp_read_code(struct ecl_mcp_code *code, const char *stem)
{
    size_t room = 1;

    memset(code, 0, sizeof *code);
    code->stem = stem;
    for (int i = 0; i < 3; i++) {
        code->parts[i] = ecl_mcp_read(stem, ecl_mcp_types[i]);
        room += code->parts[i].n;
    }
    code->bytes = malloc(room);
    if (!code->bytes || !ecl_mcp_inline(code, 0))
        return 0;
    code->bytes[code->n] = '\\0';
    return !ecl_mcp_knows_file(code);
}

static void ecl_mcp_free_code(struct ecl_mcp_code *code)
{
    for (int i = 0; i < 3; i++)
        free(code->parts[i].bytes);
    free(code->bytes);
}

static int ecl_mcp_write(const struct ecl_mcp_code *code, const char *path)
{
    FILE *file = fopen(path, \"we\");
    int done = file && fwrite(code->bytes, 1, code->n, file) == code->n;

    return (file && fclose(file) == 0) && done;
}
")

(defun c-code-key (stem more)
  "Returns a text that differs for different C code in the file STEM without its
type, with what it includes, and for different texts MORE, simple base strings; or
NIL when the code cannot move to another file."
  (ffi:c-inline (stem more) (:object :object) :object "{
    struct ecl_mcp_code code;
    uint64_t sums[2] = {14695981039346656037u, 88172645463325252u};
    char key[33];
    int known = ecl_mcp_read_code(&code, (const char *)(#0)->base_string.self);
    if (known) {
        ecl_mcp_digest(sums, (const char *)(#1)->base_string.self,
                       (#1)->base_string.fillp + 1);
        ecl_mcp_digest_code(sums, &code);
        (void)snprintf(key, sizeof key, \"%016llx%016llx\",
                       (unsigned long long)sums[0], (unsigned long long)sums[1]);
    }
    ecl_mcp_free_code(&code);
    @(return) = known ? ecl_make_simple_base_string(key, -1) : ECL_NIL;
  }" :one-liner nil))

(defun write-c-code (stem file)
  "Writes the C code of the file STEM, with what it includes, to FILE, simple base
strings. True on success."
  (ffi:c-inline (stem file) (:object :object) :bool "{
    struct ecl_mcp_code code;
    @(return) =
        ecl_mcp_read_code(&code, (const char *)(#0)->base_string.self) &&
        ecl_mcp_write(&code, (const char *)(#1)->base_string.self);
    ecl_mcp_free_code(&code);
  }" :one-liner nil))

(ffi:clines "
/* Takes the next name off the list at *P, which a C compiler has written for make,
   and returns it, in place; NULL at the end. */
static char *ecl_mcp_next_file(char **p)
{
    char *from = *p;
    char *to;
    char *name;

    while (strchr(\" \\t\\n\", *from) ? *from : *from == '\\\\' && from[1] == '\\n')
        from++;
    name = to = from;
    while (*from && !strchr(\" \\t\\n\", *from)) {
        if (*from == '\\\\' && from[1] && strchr(\" \\t#\", from[1]))
            from++;
        else if (*from == '$' && from[1] == '$')
            from++;
        *to++ = *from++;
    }
    *p = *from ? from + 1 : from;
    *to = '\\0';
    return *name ? name : NULL;
}

static int ecl_mcp_is_older(const struct stat *one, const struct stat *other)
{
    return one->st_ctim.tv_sec != other->st_ctim.tv_sec
               ? one->st_ctim.tv_sec < other->st_ctim.tv_sec
               : one->st_ctim.tv_nsec < other->st_ctim.tv_nsec;
}

/* Whether all files that STEM.d lists, but for STEM.c, are as they were when
   STEM.claim was made. */
static int ecl_mcp_is_current(const char *stem)
{
    struct ecl_mcp_text list = ecl_mcp_read(stem, \"d\");
    size_t n = strlen(stem);
    char *p = list.bytes ? strchr(list.bytes, ':') : NULL;
    char claim[PATH_MAX];
    struct stat begun;
    struct stat status;
    const char *name;
    int current;

    (void)snprintf(claim, sizeof claim, \"%s.claim\", stem);
    current = p && stat(claim, &begun) == 0;
    if (p)
        p++;
    while (current && (name = ecl_mcp_next_file(&p)))
        current = (strncmp(name, stem, n) == 0 && strcmp(name + n, \".c\") == 0) ||
                  (stat(name, &status) == 0 &&
                   ecl_mcp_is_older(&status, &begun));
    free(list.bytes);
    return current;
}
")

(defun object-current-p (stem)
  "True when nothing that the C code in the file STEM, a simple base string without
its type, includes has changed since its object was begun."
  (ffi:c-inline (stem) (:object) :bool
                "ecl_mcp_is_current((const char *)(#0)->base_string.self)"
                :one-liner t))
