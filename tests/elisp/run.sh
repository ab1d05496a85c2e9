#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs each tests/elisp/test-*.el in an Emacs of its own, with a home of its own,
# a few at a time:
#   tests/elisp/run.sh BUILD [FILE…]
# BUILD is the folder with the programs and the module; with FILE… it runs only
# these. ELISP_TESTS is a selector of ERT, such as a regexp of test names.
set -u
here=$(cd "$(dirname "$0")" && pwd)

# Runs FILE and leaves its output and counts in FOLDER.
run_one()
{
    name=$(basename "$file" .el)
    home=$folder/$name
    mkdir -m 700 "$home"
    HOME=$home XDG_CONFIG_HOME= XDG_CACHE_HOME= XDG_STATE_HOME= LC_ALL=C.UTF-8 \
        ECL_MCP_BUILD=$build ECL_MCP_EMACS=off \
        timeout -k 5 "${FILE_SECONDS:-200}" emacs -Q --batch \
        -l "$here/../support/quiet.el" \
        -L "$here/../../elisp" -L "$here" -l support -l "$file" \
        -f ecl-mcp-test-run >"$home.log" 2>&1 </dev/null
    status=$?
    total=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p' \
        "$home.log" | tail -n 1)
    case $status:$total in
    0:*' 0') rm "$home.log" ;;
    *:*' '[1-9]*) ;;
    *)
        echo "Emacs ended with status $status" >>"$home.log"
        passed=${total%% *}
        total="${passed:-0} 1"
        ;;
    esac
    echo "${total:-0 1}" >"$home.total"
}

if [ "$1" = --one ]; then
    build=$2
    folder=$3
    file=$4
    run_one
    exit 0
fi

build=$(cd "$1" && pwd)
shift
[ $# -gt 0 ] || set -- "$here"/test-*.el
folder=$(mktemp -d "${TMPDIR:-/tmp}/ecl-mcp-elisp.XXXXXX")
trap 'rm -rf "$folder"' EXIT
trap 'exit 1' HUP INT TERM
printf '%s\n' "$@" |
    xargs -P "${ELISP_JOBS:-$(nproc)}" -n 1 sh "$0" --one "$build" "$folder"
for log in "$folder"/*.log; do
    [ ! -e "$log" ] || sed "s/^/$(basename "$log" .log): /" "$log"
done
cat "$folder"/*.total | awk -v files=$# '
    { passed += $1; failed += $2 }
    END {
        failed += files - NR
        printf "elisp: %d passed, %d failed\n", passed, failed
        exit failed > 0 || passed == 0
    }'
