/* SPDX-License-Identifier: GPL-3.0-or-later */
/* floor_lisp.c: see floor_lisp.h. */
#include "bench/floor_lisp.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ecl/ecl.h>

static int channel;
static bool looks; /* at descriptors 1 and 2 */
static char number;
static cl_object out; /* the stream that values are printed to */

/* Sends TEXT, a value or what stands for it. */
static cl_object answer(cl_object text)
{
    char line[256];
    cl_index n = text->base_string.fillp;

    if (n > sizeof line - 2)
        n = sizeof line - 2;
    line[0] = number;
    for (cl_index i = 0; i < n; i++)
        line[i + 1] = (char)ecl_char(text, i);
    line[n + 1] = '\n';
    if (send(channel, line, n + 2, MSG_NOSIGNAL) != (ssize_t)(n + 2))
        _exit(1);
    return ECL_NIL;
}

/* Takes one form. */
static cl_object step(void)
{
    char line[4096];
    ssize_t n = recv(channel, line, sizeof line, 0);
    struct stat info;
    cl_object text;
    cl_object form;

    if (n <= 1)
        _exit(n < 0);
    if (looks &&
        (fstat(STDOUT_FILENO, &info) < 0 || fstat(STDERR_FILENO, &info) < 0))
        _exit(1);
    number = line[0];
    text = ecl_alloc_simple_base_string((cl_index)n - 1);
    memcpy(text->base_string.self, line + 1, (size_t)n - 1);
    form = cl_read(1, ecl_make_string_input_stream(text, 0, (cl_index)n - 1));
    ecl_prin1(cl_eval(form), out);
    return answer(cl_get_output_stream_string(out));
}

/* Answers with the type of an error. */
static cl_object fail(cl_object type)
{
    return answer(cl_prin1_to_string(type));
}

_Noreturn void floor_lisp(int socket, bool careful)
{
    char name[] = "floor";
    char *argv[] = {name, NULL};

    channel = socket;
    looks = careful;
    (void)cl_boot(1, argv);
    ecl_register_root(&out);
    out = ecl_make_string_output_stream(64, 1);
    ecl_def_c_function(ecl_read_from_cstring("floor-step"),
                       (cl_objectfn_fixed)step, 0);
    ecl_def_c_function(ecl_read_from_cstring("floor-fail"),
                       (cl_objectfn_fixed)fail, 1);
    (void)cl_eval(ecl_read_from_cstring(
        "(loop (handler-case (loop (floor-step))"
        " (serious-condition (c) (floor-fail (type-of c)))))"));
    _exit(1); // it does not end
}
