#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Checks every file that is under version control, or not ignored by it: the
# licence line, no path of somebody's machine, no tabs or blanks at line ends,
# and at most 600 lines of code. Usage: scripts/plain.sh
set -eu
bad=$(mktemp)
trap 'rm -f "$bad"' EXIT

# Data whose bytes are the point, or that others generate.
files=$(git ls-files --cached --others --exclude-standard | grep -Ev \
    '^LICENSE$|\.png$|/corpus/|^tests/schemas/|/package-lock\.json$|\.golden$' |
    while read -r file; do [ ! -f "$file" ] || echo "$file"; done)

for file in $files; do
    case $file in
    *.json | *.md) ;;
    *)
        head -n 2 "$file" | grep -q 'SPDX-License-Identifier: GPL-3.0-or-later' ||
            echo "$file: no SPDX line at its start"
        ;;
    esac
    case $file in
    *.c | *.h | *.lisp | *.mjs | *.el)
        lines=$(wc -l <"$file")
        [ "$lines" -le 600 ] || echo "$file: $lines lines, more than 600"
        ;;
    esac
done >"$bad"

# The brackets keep these patterns from finding themselves.
grep -nE '(^|[^[:alnum:]_./-])/(wor[k]|tm[p]/[a-z0-9]+|hom[e]|roo[t]|User[s])/' $files |
    sed 's/$/ (a path of one machine)/' >>"$bad" || true
grep -nE '[[:blank:]]$' $files | sed 's/$/ (blanks at the line end)/' \
    >>"$bad" || true
grep -nP '\t' $(echo "$files" | grep -vE 'Makefile$|\.mcp$|\.mk$') |
    sed 's/$/ (a tab)/' >>"$bad" || true

cat "$bad"
[ ! -s "$bad" ]
