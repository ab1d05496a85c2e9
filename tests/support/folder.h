/* SPDX-License-Identifier: GPL-3.0-or-later */
/* folder.h: a temporary folder for one test. */
#ifndef TESTS_SUPPORT_FOLDER_H
#define TESTS_SUPPORT_FOLDER_H

/* Its path, below /tmp or what TMPDIR was for the first, and room for it. */
#define FOLDER_SIZE 200
extern char folder[FOLDER_SIZE];

/* Makes it; for setup functions. -1: it cannot be made. */
int folder_make(void);

/* Runs the shell's COMMAND in it, which has to succeed. */
void folder_run(const char *command);

/* Removes it with all that is in it. */
void folder_remove(void);

#endif
