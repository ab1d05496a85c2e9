/* SPDX-License-Identifier: GPL-3.0-or-later */
/* version_facts.c: a program that prints the file ecl-mcp-module.version, which
   lies beside the module, so that Emacs Lisp knows what it would load. A line
   has a name, a blank and a value. */
#include <stdio.h>

#include <emacs-module.h>

#include "base/version.h"

/* The oldest Emacs whose environment has everything that the module uses. */
#define EMACS_LEAST 28

int main(void)
{
    return printf("version %s\nemacs %d\nheader %d\nruntime %zu\n"
                  "environment %zu\n",
                  ECL_MCP_VERSION, EMACS_LEAST, EMACS_MAJOR_VERSION,
                  sizeof(struct emacs_runtime),
                  sizeof(struct emacs_env_28)) < 0;
}
