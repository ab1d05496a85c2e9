/* SPDX-License-Identifier: GPL-3.0-or-later */
/* file.h: one file of a workspace is read, replaced, removed or moved. */
#ifndef HOST_FILE_H
#define HOST_FILE_H

#include "files/files.h"
#include "host/location.h"

/* Whether LOCATION, whose name is set, is a file that has another name, too: a
   hard link. */
bool file_is_linked(const struct location *location);

/* Reads the file of LOCATION, whose name is set, into *OUT; a missing one is
   FILES_OK, too, and OUT->exists is false. More than MAX bytes are refused.
   With KNOWN, which may be NULL, as the function `read_again` in files.h. */
enum files_result file_read(const struct location *location, uint64_t max,
                            const struct files_content *known,
                            struct files_content *out);

/* Puts BYTES in place of the file of LOCATION, whose name is set, as the
   function `write` in files.h says. After a failure the folders that were made
   for it are gone again. */
enum files_result file_write(const struct location *location,
                             const struct files_content *expected,
                             struct str bytes);

/* Removes the file of LOCATION, as the function `remove` in files.h says. */
enum files_result file_remove(const struct location *location,
                              const struct files_content *expected);

/* Renames the file of FROM to TO, as the function `move` in files.h says. */
enum files_result file_move(const struct location *from,
                            const struct files_content *expected,
                            const struct location *to);

#endif
