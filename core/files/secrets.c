/* SPDX-License-Identifier: GPL-3.0-or-later */
/* secrets.c: see secrets.h. */
#include "files/secrets.h"

const char *const secrets_patterns[] = {
    ".ssh",
    ".gnupg",
    ".netrc",
    ".authinfo",
    ".authinfo.gpg",
    ".env",
    ".env.*",
    ".aws",
    ".azure",
    ".kube",
    ".docker/config.json",
    ".config/gcloud",
    ".config/gh",
    ".config/ecl-mcp",
    ".local/state/ecl-mcp",
    ".local/share/keyrings",
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".my.cnf",
    ".password-store",
    ".mozilla",
    ".config/google-chrome",
    ".config/chromium",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "*.kdbx",
    NULL,
};

/* Whether NAME matches PATTERN, in which "*" is any characters. Without
   recursion: only the last star may have to take more. */
static bool name_fits(struct str name, struct str pattern)
{
    size_t star = pattern.n; // none yet
    size_t mark = 0;         // where the text after the star starts in NAME
    size_t i = 0;
    size_t j = 0;

    while (i < name.n) {
        if (j < pattern.n && pattern.p[j] == '*') {
            star = j++;
            mark = i;
        } else if (j < pattern.n && pattern.p[j] == name.p[i]) {
            i++;
            j++;
        } else if (star < pattern.n) {
            j = star + 1;
            i = ++mark;
        } else {
            return false;
        }
    }
    while (j < pattern.n && pattern.p[j] == '*')
        j++;
    return j == pattern.n;
}

/* Takes the name at the start of *PATH, and its "/", off it. */
static struct str take_name(struct str *path)
{
    size_t n = 0;

    while (n < path->n && path->p[n] != '/')
        n++;
    struct str name = str_make(path->p, n);
    size_t used = n < path->n ? n + 1 : n;
    *path = str_make(path->p + used, path->n - used);
    return name;
}

/* Whether PATH starts with the names of PATTERN. */
static bool starts_here(struct str path, struct str pattern)
{
    while (pattern.n > 0) {
        if (path.n == 0 || !name_fits(take_name(&path), take_name(&pattern)))
            return false;
    }
    return true;
}

static bool is_in(struct str path, const char *const *patterns)
{
    for (; path.n > 0; (void)take_name(&path))
        for (size_t i = 0; patterns[i]; i++)
            if (starts_here(path, str_from(patterns[i])))
                return true;
    return false;
}

bool secrets_is_pattern(struct str pattern)
{
    if (pattern.n == 0 || pattern.p[0] == '~' ||
        pattern.p[pattern.n - 1] == '/')
        return false;
    while (pattern.n > 0) {
        struct str name = take_name(&pattern);

        if (name.n == 0 || str_eq(name, STR(".")) || str_eq(name, STR("..")))
            return false;
    }
    return true;
}

bool secrets_match(struct str path, const char *const *more)
{
    return is_in(path, secrets_patterns) || (more && is_in(path, more));
}
