/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reference.c: see reference.h. */
#include "bench/reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/peer.h"

enum {
    ROUNDS = 8, /* of which the best counts, */
    TIMES = 5,  /* of the form in each: clocks of Lisp can be coarse */
    FIRSTS = 3  /* programs that run a form once, of which the best counts */
};

bool reference_is_installed(const char *program)
{
    const char *folder = getenv("PATH");
    char path[1024];

    while (folder && *folder != '\0') {
        int n = (int)strcspn(folder, ":");

        (void)snprintf(path, sizeof path, "%.*s/%s", n, folder, program);
        if (access(path, X_OK) == 0)
            return true;
        folder += n + (folder[n] == ':');
    }
    return false;
}

/* Runs CODE in PROGRAM, and returns the milliseconds in the line that begins
   with "took". */
static double run(const char *program, const char *code)
{
    bool sbcl = strcmp(program, "sbcl") == 0;
    const char *command[] = {
        program,  sbcl ? "--no-userinit" : "--norc",     "--eval", code,
        "--eval", sbcl ? "(sb-ext:exit)" : "(ext:quit)", NULL};
    struct peer peer;
    double time = 0;

    peer_start(&peer, command);
    while (time == 0) {
        struct str line = peer_line(&peer);

        if (line.n > 5 && memcmp(line.p, "took ", 5) == 0)
            time = strtod(line.p + 5, NULL);
    }
    peer_stop(&peer);
    return time;
}

double reference_time(const char *program, const char *form)
{
    char code[1024];

    (void)snprintf(code, sizeof code,
                   "(let ((best nil)) (dotimes (i %d)"
                   " (let ((start (get-internal-real-time)))"
                   " (dotimes (j %d) %s) (finish-output)"
                   " (let ((time (- (get-internal-real-time) start)))"
                   " (when (or (null best) (< time best))"
                   " (setf best time)))))"
                   " (format t \"~&took ~,4f~%%\" (/ (* 1000.0 best) %d"
                   " internal-time-units-per-second)))",
                   ROUNDS, TIMES, form, TIMES);
    return run(program, code);
}

double reference_first(const char *program, const char *form)
{
    char code[1024];
    double best = 0;

    (void)snprintf(code, sizeof code,
                   "(let ((start (get-internal-real-time))) %s"
                   " (format t \"~&took ~,4f~%%\" (/ (* 1000.0 (-"
                   " (get-internal-real-time) start))"
                   " internal-time-units-per-second)))",
                   form);
    for (int i = 0; i < FIRSTS; i++) {
        double time = run(program, code);

        if (best == 0 || time < best)
            best = time;
    }
    return best;
}
