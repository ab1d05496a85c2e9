/* SPDX-License-Identifier: GPL-3.0-or-later */
/* folder.h: a temporary folder for one test. */
#ifndef TESTS_SUPPORT_FOLDER_H
#define TESTS_SUPPORT_FOLDER_H

/* The folder's path and the room for it. It is below /tmp, or the value that
   TMPDIR had when the first folder was made. */
#define FOLDER_SIZE 200
extern char folder[FOLDER_SIZE];

/* Makes the folder; for setup functions. Returns -1 if it cannot be made. */
int folder_make(void);

/* Runs the shell's COMMAND in the folder, or in that with PATH; it must
 * succeed.
 */
void folder_run(const char *command);
void folder_run_in(const char *path, const char *command);

/* Removes the folder with all that is in it. */
void folder_remove(void);

#endif
