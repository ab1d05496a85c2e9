/* SPDX-License-Identifier: GPL-3.0-or-later */
/* covered.c: see covered.h. */
#include "image/covered.h"

#include <stddef.h>
#include <string.h>

/* What runs only when the user says so by name is not here, such as a Makefile:
   who works in the workspace expects that code writes it. */
const char *const covered_patterns[] = {
    // agents, and the servers and hooks that they start
    ".mcp.json",
    ".claude",
    ".codex",
    ".gemini",
    ".qwen",
    ".copilot",
    ".github/hooks",
    ".opencode",
    "opencode.json",
    "opencode.jsonc",
    ".crush.json",
    "crush.json",
    ".aider.conf.yml",
    ".kiro",
    ".roo",
    ".windsurf",
    ".amazonq",
    ".continue",
    ".cline",
    ".goose",
    ".augment",
    ".factory",
    ".trae",
    ".kilocode",
    ".junie",
    ".ecl-mcp",
    // editors
    ".vscode",
    ".cursor",
    ".zed",
    ".helix",
    ".idea",
    ".fleet",
    ".theia",
    ".devcontainer",
    ".devcontainer.json",
    "*.code-workspace",
    ".dir-locals.el",
    ".dir-locals-2.el",
    ".emacs.desktop",
    ".exrc",
    "_exrc",
    ".vimrc",
    "_vimrc",
    ".lvimrc",
    ".nvimrc",
    ".nvim.lua",
    ".lazy.lua",
    ".ycm_extra_conf.py",
    // debuggers
    ".gdbinit",
    ".lldbinit",
    // shells
    ".envrc",
    ".direnv",
    ".mise.toml",
    "mise.toml",
    ".mise.local.toml",
    "mise.local.toml",
    ".mise",
    "mise/config.toml",
    ".config/mise",
    ".config/mise.toml",
    ".tool-versions",
    // hooks
    ".husky",
    ".githooks",
    ".git-hooks",
    ".overcommit.yml",
    ".pre-commit-config.yaml",
    "prek.toml",
    "lefthook.yml",
    ".lefthook.yml",
    "lefthook.yaml",
    ".lefthook.yaml",
    "lefthook.toml",
    ".lefthook.toml",
    "lefthook.json",
    ".lefthook.json",
    "lefthook-local.yml",
    ".lefthook-local.yml",
    // Mercurial: what it runs, and what tells it where to look
    ".hg/hgrc",
    ".hg/hgrc-not-shared",
    ".hg/hooks",
    ".hg/requires",
    ".hg/sharedpath",
    // Jujutsu, and the repository of git in it
    ".jj/repo/config.toml",
    ".jj/repo/config-id",
    ".jj/workspace-config.toml",
    ".jj/workspace-config-id",
    ".jj/repo/store/git_target",
    ".jj/repo/store/git/config",
    ".jj/repo/store/git/hooks",
    NULL,
};

const char *const covered_of_git[] = {
    "hooks",
    "config",
    "config.worktree",
    "commondir",
    "info/attributes",
    "worktrees/*/commondir",
    "worktrees/*/gitdir",
    "worktrees/*/config.worktree",
    NULL,
};

bool covered_is_repository(const char *name)
{
    return strcmp(name, COVERED_GIT) == 0 || strcmp(name, ".hg") == 0 ||
           strcmp(name, ".jj") == 0;
}
