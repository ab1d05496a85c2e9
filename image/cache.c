/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cache.c: see cache.h. What is in the cache is up to lisp/cache.lisp. */
#include "image/cache.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "image/folders.h"
#include "image/names.h"

/* Below the folder of all caches; the number is the user's. */
#define PLACE "ecl-mcp/lisp-%u%s"

/* In the private temporary folder. */
#define SUBSTITUTE "lisp"

/* The ends of their names. */
static const char *const ends[] = {
    [CACHE_CONFINED] = "",
    [CACHE_UNPROTECTED] = "-no-protect",
    [CACHE_NETWORK] = "-network",
    [CACHE_NETWORK_UNPROTECTED] = "-network-no-protect",
    [CACHE_UNCONFINED] = "-off",
};

void cache_find_at_home(char path[HOMES_PATH], enum cache_reach reach)
{
    const char *home = getenv("HOME");
    char real[HOMES_PATH];
    int n = 0;

    if (home && home[0] == '/' && folders_resolve(home, real))
        n = snprintf(path, HOMES_PATH, "%s/.cache/" PLACE,
                     strcmp(real, "/") == 0 ? "" : real, (unsigned)geteuid(),
                     ends[reach]);
    if (n <= 0 || n >= HOMES_PATH)
        path[0] = '\0';
}

void cache_find(char path[HOMES_PATH], enum cache_reach reach)
{
    const char *caches = getenv("XDG_CACHE_HOME");
    int n;

    if (!caches || caches[0] != '/') {
        cache_find_at_home(path, reach);
        return;
    }
    n = snprintf(path, HOMES_PATH, "%s/" PLACE, caches, (unsigned)geteuid(),
                 ends[reach]);
    if (n <= 0 || n >= HOMES_PATH)
        path[0] = '\0';
}

void cache_cut(char path[HOMES_PATH])
{
    char *slash = strrchr(path, '/');

    if (slash)
        *slash = '\0';
}

/* Whether the path REAL is FOLDER or lies in it. */
static bool lies_in(const char *real, const char *folder)
{
    size_t n = strlen(folder);

    return n > 0 && strncmp(real, folder, n) == 0 &&
           (real[n] == '/' || real[n] == '\0');
}

bool cache_leads_into(const char *path, const char *folder)
{
    char start[HOMES_PATH];
    char real[HOMES_PATH];
    size_t n = strlen(path);
    bool found = false;

    for (size_t i = 1; i <= n && !found; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(start, path, i);
        start[i] = '\0';
        if (!folders_resolve(start, real))
            break; // what does not exist leads nowhere
        found = lies_in(real, folder);
    }
    return found;
}

/* Makes the folder PATH, and those on the way to it. */
static void make_folders(char path[HOMES_PATH])
{
    char *slash = path;

    if (mkdir(path, 0700) == 0 || errno == EEXIST)
        return; // most often all are there
    while ((slash = strchr(slash + 1, '/'))) {
        *slash = '\0';
        (void)mkdir(path, 0700); // it may be there; the last one shows it
        *slash = '/';
    }
    (void)mkdir(path, 0700);
}

/* Whether the folder PATH belongs to this user, who alone may write to it. */
static bool is_ours(const char *path)
{
    struct stat status;

    if (lstat(path, &status) < 0 || !S_ISDIR(status.st_mode) ||
        status.st_uid != geteuid() || access(path, W_OK) < 0)
        return false;
    return (status.st_mode & (S_IWGRP | S_IWOTH)) == 0 ||
           chmod(path, 0700) == 0;
}

void cache_open(char path[HOMES_PATH], bool making)
{
    char real[HOMES_PATH];

    if (path[0] == '\0')
        return;
    if (making)
        make_folders(path);
    if (folders_resolve(path, real) && is_ours(real))
        memcpy(path, real, sizeof real);
    else
        path[0] = '\0';
}

/* Whether PATH leads into ROOT. MAKING: then there is a folder of all caches in
   ROOT, which can be covered, so that code cannot make one. */
static bool is_exposed(const char *path, const char *root, bool making)
{
    bool exposed = cache_leads_into(path, root);
    char caches[HOMES_PATH];

    if (!exposed || !making || !folders_lead_straight(path))
        return exposed;
    (void)snprintf(caches, sizeof caches, "%s", path);
    cache_cut(caches);
    make_folders(caches);
    return true;
}

void cache_choose(char path[HOMES_PATH], enum cache_reach reach,
                  const char *root, bool making)
{
    if (is_exposed(path, root, making))
        cache_find_at_home(path, reach);
    if (is_exposed(path, root, making))
        path[0] = '\0';
}

/* Appends TEXT as Lisp reads a string. */
static void put_lisp_string(struct buf *out, const char *text)
{
    buf_byte(out, '"');
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            buf_byte(out, '\\');
        buf_byte(out, *text);
    }
    buf_byte(out, '"');
}

void cache_announce(const char *cache, const char *temporary)
{
    char path[HOMES_PATH + sizeof SUBSTITUTE + 2];
    struct buf text = BUF_EMPTY;

    (void)unsetenv(NAME_CACHE);
    if (cache[0] == '\0' && temporary[0] == '\0')
        return;
    (void)snprintf(path, sizeof path, "%s%s/",
                   cache[0] != '\0' ? cache : temporary,
                   cache[0] != '\0' ? "" : "/" SUBSTITUTE);
    buf_str(&text, STR("(:output-translations (t ("));
    put_lisp_string(&text, path);
    buf_str(&text, STR(" :implementation)) :ignore-inherited-configuration)"));
    buf_byte(&text, '\0');
    if (!buf_failed(&text)) {
        (void)setenv(NAME_CACHE, path, 1); // without memory, nothing is cached
        (void)setenv("ASDF_OUTPUT_TRANSLATIONS", text.p, 1);
    }
    buf_release(&text);
}

void cache_open_unconfined(const char *root)
{
    char path[HOMES_PATH] = "";
    char folder[HOMES_PATH + 1];

    (void)unsetenv(NAME_CACHE);
    cache_find(path, CACHE_UNCONFINED);
    cache_choose(path, CACHE_UNCONFINED, root, true);
    cache_open(path, true);
    if (path[0] == '\0')
        return;
    (void)snprintf(folder, sizeof folder, "%s/", path);
    (void)setenv(NAME_CACHE, folder, 1); // without memory, ASDF has its own
}
