/* SPDX-License-Identifier: GPL-3.0-or-later */
/* secrets.c: see secrets.h. */
#include "files/secrets.h"

#include <string.h>

#include "files/foldname.h"

const char *const secrets_own_places[] = {
    ".config/ecl-mcp",
    ".local/state/ecl-mcp",
    ".emacs.d/ecl-mcp",
    ".config/emacs/ecl-mcp",
    NULL,
};

const char *const secrets_patterns[] = {
    /* Those that begin with no dot come first: starts_ours relies on it. */
    "id_rsa*",
    "id_dsa*",
    "id_ecdsa*",
    "id_ed25519*",
    "id_xmss*",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.kdbx",
    "snap/firefox",
    "snap/chromium",
    "snap/thunderbird",
    /* keys */
    ".ssh",
    ".gnupg",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".password-store",
    ".Xauthority",
    ".config/sops",
    ".config/age",
    /* passwords and tokens */
    ".netrc",
    ".authinfo",
    ".authinfo.gpg",
    ".env",
    ".env.*",
    ".envrc",
    ".git-credentials",
    ".config/git/credentials",
    ".pgpass",
    ".my.cnf",
    ".msmtprc",
    ".fetchmailrc",
    ".mbsyncrc",
    ".vault-token",
    ".config/op",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    /* packages */
    ".npmrc",
    ".pypirc",
    ".cargo/credentials*",
    ".gem/credentials",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".config/composer/auth.json",
    ".composer/auth.json",
    /* clouds */
    ".aws",
    ".azure",
    ".kube",
    ".docker/config.json",
    ".config/containers/auth.json",
    ".config/gcloud",
    ".config/doctl",
    ".config/hcloud",
    ".config/rclone",
    ".rclone.conf",
    ".s3cfg",
    ".boto",
    ".terraform.d",
    ".terraformrc",
    ".pulumi/credentials.json",
    /* agents */
    ".claude.json",
    ".claude/.credentials.json",
    ".config/Claude",
    ".codex/auth.json",
    ".codex/.credentials.json",
    ".gemini/*creds*",
    ".gemini/*token*",
    ".gemini/*account*",
    ".copilot",
    ".config/github-copilot",
    ".local/share/opencode",
    ".mcp-auth",
    /* what was typed */
    ".*history",
    ".local/share/fish",
    /* browsers and mail */
    ".mozilla",
    ".thunderbird",
    ".config/mozilla",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".librewolf",
    ".var/app/org.mozilla.*",
    ".var/app/com.google.Chrome",
    ".var/app/org.chromium.*",
    ".var/app/com.brave.*",
    /* files on which this program relies */
    ".config/ecl-mcp",
    ".local/state/ecl-mcp",
    ".emacs.d/ecl-mcp",
    ".config/emacs/ecl-mcp",
    NULL,
};

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether NAME, folded, matches PATTERN, in which "*" is any characters.
   Without recursion: only the last star may have to take more. */
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
        } else if (j < pattern.n && lower(pattern.p[j]) == name.p[i]) {
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

/* Whether PATTERN is for private keys that have a public part beside them. */
static bool has_public_part(struct str pattern)
{
    return str_starts(pattern, STR("id_"));
}

/* Whether PATH, folded, starts with the names of PATTERN; with PART, whether
   PATTERN starts with the names of PATH, and has more. */
static bool starts_here(struct str path, struct str pattern, bool part)
{
    // most fail at once: thousands of names may be looked at
    if (path.n > 0 && pattern.n > 0 && pattern.p[0] != '*' &&
        pattern.p[0] != path.p[0])
        return false;
    while (pattern.n > 0) {
        struct str name;
        struct str wanted;

        if (path.n == 0)
            return part;
        name = take_name(&path);
        wanted = take_name(&pattern);
        if (!name_fits(name, wanted) ||
            (has_public_part(wanted) && name_fits(name, STR("*.pub"))))
            return false;
    }
    return !part;
}

/* Whether the PATTERN, which starts with a star, could fit NAME, a single one,
   by their last bytes. */
static bool may_end(struct str name, struct str pattern)
{
    char last = lower(pattern.p[pattern.n - 1]);

    return last == '*' || last == name.p[name.n - 1];
}

/* Whether PATH, folded, starts with the names of one of our patterns; with PART
   as above. Most patterns differ in the first byte or the last, which costs
   little to see in a folder with thousands of names. */
static bool starts_ours(struct str path, bool part)
{
    bool single = !part && !memchr(path.p, '/', path.n);

    for (size_t i = 0; secrets_patterns[i]; i++) {
        struct str pattern = {secrets_patterns[i], 0};

        if (pattern.p[0] == '.' && path.p[0] != '.')
            break; // so do all that follow
        if (pattern.p[0] != '*' && lower(pattern.p[0]) != path.p[0])
            continue;
        pattern = str_from(pattern.p);
        if (single && pattern.p[0] == '*' && !may_end(path, pattern))
            continue;
        if (starts_here(path, pattern, part))
            return true;
    }
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
    char folded_path[FOLDNAME_PATH];
    char folded[FOLDNAME_PATH];
    struct str rest;

    path = foldname(path, folded_path);
    for (rest = path; rest.n > 0; (void)take_name(&rest))
        if (starts_ours(rest, false))
            return true;
    for (size_t i = 0; more && more[i]; i++) {
        struct str pattern = foldname(str_from(more[i]), folded);

        for (rest = path; rest.n > 0; (void)take_name(&rest))
            if (starts_here(rest, pattern, false))
                return true;
    }
    return false;
}

bool secrets_lie_in(struct str folder, const char *const *more)
{
    char folded_folder[FOLDNAME_PATH];
    char folded[FOLDNAME_PATH];

    folder = foldname(folder, folded_folder);
    if (folder.n == 0 || starts_ours(folder, true))
        return folder.n > 0;
    for (size_t i = 0; more && more[i]; i++)
        if (starts_here(folder, foldname(str_from(more[i]), folded), true))
            return true;
    return false;
}

bool secrets_name_fits(struct str name, struct str pattern)
{
    char folded_name[FOLDNAME_PATH];
    char folded[FOLDNAME_PATH];

    return starts_here(foldname(name, folded_name), foldname(pattern, folded),
                       false);
}
