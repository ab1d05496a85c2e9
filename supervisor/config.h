/* SPDX-License-Identifier: GPL-3.0-or-later */
/* config.h: what a supervisor is given when it starts. */
#ifndef SUPERVISOR_CONFIG_H
#define SUPERVISOR_CONFIG_H

#include <stdint.h>

#include "base/log.h"
#include "image/sandbox.h"

/* The strings must outlive the supervisor. */
struct supervisor_config {
    const char *image_path; /* ecl-mcp-image; absolute with a workspace */
    const char *workspace;  /* working directory of the images, or NULL */
    uint64_t heap;          /* bytes of Lisp heap; 0 = LIMIT_HEAP */
    struct sandbox sandbox; /* around the images */
    struct log log;
};

#endif
