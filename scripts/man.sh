#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Writes the man page of PROGRAM to standard output, from what its --help and
# --version say: scripts/man.sh PROGRAM
set -eu
version=$("$1" --version)
"$1" --help | awk -v version="$version" '
function roff(text) {
    gsub(/\\/, "\\e", text)
    gsub(/-/, "\\-", text)
    gsub(/~/, "\\(ti", text)
    return text ~ /^[.\047]/ ? "\\&" text : text
}
function section(name) { print ".SH " name }
NR == 1 {
    print ".\\\" Made from ecl-mcp --help by scripts/man.sh."
    print ".TH ECL\\-MCP 1 \"\" \"" roff(version) "\" \"User Commands\""
    section("NAME")
    print "ecl\\-mcp \\- a live Common Lisp for coding agents"
    section("SYNOPSIS")
    sub(/^Usage: /, "")
    print roff($0)
    next
}
NR == 2 {
    section("DESCRIPTION")
    print roff($0)
    section("OPTIONS")
    next
}
# "  -w, --workspace DIR        the workspace ...": two columns
/^ +-/ {
    sub(/^ +/, "")
    match($0, /  +/)
    print ".TP"
    print ".B " roff(substr($0, 1, RSTART - 1))
    print roff(substr($0, RSTART + RLENGTH))
    next
}
NF {
    print ".PP"
    print roff($0)
}
END {
    section("FILES")
    n = split("~/.config/ecl-mcp/ the rules of the user|" \
              "~/.local/state/ecl-mcp/ the log of calls, and sockets|" \
              "~/.cache/ecl-mcp/ compiled Lisp files", files, "|")
    for (i = 1; i <= n; i++) {
        space = index(files[i], " ")
        print ".TP"
        print ".I " roff(substr(files[i], 1, space - 1))
        print roff(substr(files[i], space + 1))
    }
    section("SEE ALSO")
    print "README.md and docs/ in share/doc/ecl\\-mcp; in Emacs the manual,"
    print ".BR \"info ecl\\-mcp\" ."
}'
