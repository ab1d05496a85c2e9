#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Replays the kept inputs of every fuzz harness and closes with the sum:
#   scripts/corpus.sh NAME CORPUS PROGRAM…
# CORPUS/x holds the inputs of the program fuzz_x.
set -u
name=$1
corpus=$2
shift 2
passed=0
failed=0
for program in "$@"; do
    set -- "$corpus/${program##*/fuzz_}"/*
    if [ ! -f "$1" ]; then
        echo "FAIL $program: no inputs in ${1%/*}"
        failed=$((failed + 1))
        continue
    fi
    output=$("$program" "$@" 2>&1)
    if [ $? -eq 0 ]; then
        passed=$((passed + $#))
    else
        printf 'FAIL %s\n%s\n' "$program" "$output"
        failed=$((failed + 1))
    fi
done
echo "$name: $passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
