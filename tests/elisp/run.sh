#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs each tests/elisp/test-*.el in an Emacs of its own, with a home of its own:
#   tests/elisp/run.sh BUILD [FILE…]
# BUILD is the folder with the programs and the module; FILE… are the only files
# to run. ELISP_TESTS names a selector of ERT: a regexp of test names.
set -u
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- "$here"/test-*.el
passed=0
failed=0
folder=$(mktemp -d "${TMPDIR:-/tmp}/ecl-mcp-elisp.XXXXXX")
trap 'rm -rf "$folder"' EXIT
for file in "$@"; do
    name=$(basename "$file" .el)
    home=$folder/$name
    mkdir -m 700 "$home"
    HOME=$home XDG_CONFIG_HOME= XDG_CACHE_HOME= XDG_STATE_HOME= LC_ALL=C.UTF-8 \
        ECL_MCP_BUILD=$build ECL_MCP_EMACS=off \
        timeout -k 5 "${FILE_SECONDS:-200}" emacs -Q --batch \
        -l "$here/../support/quiet.el" \
        -L "$here/../../elisp" -L "$here" -l support -l "$file" \
        -f ecl-mcp-test-run >"$folder/log" 2>&1 </dev/null
    status=$?
    total=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' \
        "$folder/log" | tail -n 1)
    case $status:$total in
    0:*' 0') ;;
    *:*' '[1-9]*) ;;
    *)
        echo "$name: Emacs ended with status $status"
        total="${total%% *} 1"
        ;;
    esac
    case $status:$total in
    0:*) ;;
    *) sed "s/^/$name: /" "$folder/log" ;;
    esac
    passed=$((passed + ${total%% *} + 0))
    failed=$((failed + ${total##* }))
done
echo "elisp: $passed passed, $failed failed"
[ $failed -eq 0 ]
