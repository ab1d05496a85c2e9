/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fields.h: rows of field tables that several tools share. */
#ifndef TOOLS_FIELDS_H
#define TOOLS_FIELDS_H

#include "base/limits.h"
#include "gate/tool.h"

/* The field table of a descriptor, from one or more rows. */
#define FIELDS(...)                                                            \
    (const struct schema_field[])                                              \
    {                                                                          \
        __VA_ARGS__,                                                           \
        {                                                                      \
            0                                                                  \
        }                                                                      \
    }

/* A string that its name explains. */
#define FIELD_REQUIRED(word)                                                   \
    {                                                                          \
        .name = (word), .kind = SCHEMA_STRING, .required = true                \
    }
#define FIELD_OPTIONAL(word)                                                   \
    {                                                                          \
        .name = (word), .kind = SCHEMA_STRING                                  \
    }

/* The Lisp code that a tool is about. */
#define FIELD_CODE                                                             \
    {                                                                          \
        .name = "code", .kind = SCHEMA_CODE, .required = true                  \
    }

/* The package in which code or a name is read. */
#define FIELD_PACKAGE                                                          \
    {                                                                          \
        .name = "package", .kind = SCHEMA_STRING, .package = true              \
    }

/* The file that a tool is about. */
#define FIELD_PATH                                                             \
    {                                                                          \
        .name = "path", .kind = SCHEMA_PATH, .required = true                  \
    }

/* The Lisp session in which a call runs. evaluate-lisp and the instructions say
   what a session is: a word about it in each of 30 tools would be a tenth of
   all that models read about tools. */
#define FIELD_SESSION                                                          \
    {                                                                          \
        .name = TOOL_SESSION, .kind = SCHEMA_NAME                              \
    }

/* Whether a change of a file is only shown. */
#define FIELD_DRY_RUN                                                          \
    {                                                                          \
        .name = "dry-run", .kind = SCHEMA_BOOLEAN                              \
    }

/* How many things a list shows. */
#define FIELD_LIMIT                                                            \
    {                                                                          \
        .name = "limit", .kind = SCHEMA_INTEGER, .min = 1,                     \
        .max = LIMIT_LISTED, .fallback = "50"                                  \
    }

#endif
