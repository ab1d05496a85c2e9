/* SPDX-License-Identifier: GPL-3.0-or-later */
/* entries.c: see entries.h. */
#include "image/entries.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

DIR *entries_open(int workspace, const char *path)
{
    int fd = openat(workspace, path[0] != '\0' ? path : ".",
                    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *folder = fd >= 0 ? fdopendir(fd) : NULL;

    if (!folder && fd >= 0)
        (void)close(fd); // nothing in it is found
    return folder;
}

const struct dirent *entries_next(DIR *folder)
{
    const struct dirent *entry;

    do
        entry = readdir(folder);
    while (entry && (strcmp(entry->d_name, ".") == 0 ||
                     strcmp(entry->d_name, "..") == 0));
    return entry;
}

bool entries_is_folder(DIR *folder, const struct dirent *entry)
{
    struct stat status;

    if (entry->d_type != DT_UNKNOWN)
        return entry->d_type == DT_DIR;
    return fstatat(dirfd(folder), entry->d_name, &status,
                   AT_SYMLINK_NOFOLLOW) == 0 &&
           S_ISDIR(status.st_mode);
}

bool entries_join(const char *path, const char *name, char out[SANDBOX_PATH])
{
    const char *slash = path[0] != '\0' ? "/" : "";
    int n = snprintf(out, SANDBOX_PATH, "%s%s%s", path, slash, name);

    return n > 0 && n < SANDBOX_PATH;
}
