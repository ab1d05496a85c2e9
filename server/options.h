/* SPDX-License-Identifier: GPL-3.0-or-later */
/* options.h: the command line of ecl-mcp. */
#ifndef SERVER_OPTIONS_H
#define SERVER_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/limits.h"
#include "base/log.h"
#include "gate/policy.h"
#include "image/sandbox.h"
#include "server/address.h"

struct options {
    const char *workspace; /* directory in which Lisp starts, or NULL */
    const char *tools;     /* comma-separated tool sets, or NULL */
    enum log_level level;
    size_t max_message;                     /* bytes */
    size_t max_output;                      /* characters */
    uint64_t memory;                        /* bytes of Lisp heap */
    const char *secrets[LIMIT_SECRETS + 1]; /* further patterns, up to a NULL */
    const char *protects[LIMIT_PROTECTS + 1]; /* the same of --protect */
    struct sandbox sandbox;                   /* has the patterns above */
    int64_t approval_ms;                      /* how long a human may think */
    bool of_images;      /* an option was given that is for images alone */
    const char *policy;  /* file of the user's rules, or NULL */
    const char *audit;   /* file for lines about calls, "off", or NULL */
    struct policy rules; /* of the command line */
    bool supervise;      /* frames instead of MCP on standard input */
    const char *listen;  /* socket for servers that share the images, or NULL */
    const char *attach;  /* socket to the images of another, or NULL */
    char socket[ADDRESS_SIZE]; /* room for the default of attach */
};

/* Reads the command line into *OPTIONS. Returns -1 when the program should run,
   else the exit status: 0 after --help or --version (printed on standard
   output), 2 after a wrong option (explained on standard error, with the valid
   ones named), 1 without memory. The caller releases options->rules. Do not
   copy *OPTIONS: it points into itself. */
int options_parse(int argc, char **argv, struct options *options);

#endif
