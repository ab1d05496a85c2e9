#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs cmocka programs one after the other, prints the output of those that fail,
# and closes with the sum:
#   scripts/cmocka.sh NAME 'PROGRAM ARGUMENT…'…
# A program that fails without naming a failed test counts as one failed test.
set -u
name=$1
shift
passed=0
failed=0
for program in "$@"; do
    output=$($program 2>&1)
    status=$?
    set -- $(printf '%s\n' "$output" | awk '
        /^\[  PASSED  \] [0-9]+ test/ { passed += $4 }
        /^\[  FAILED  \] [0-9]+ test/ { failed += $4 }
        END { print passed + 0, failed + 0 }')
    [ $status -eq 0 ] || [ "$2" -gt 0 ] || set -- "$1" 1
    [ $status -ne 0 ] || [ "$1" -gt 0 ] || set -- 0 1
    [ "$2" -eq 0 ] ||
        printf '%s\nFAIL %s (exit status %s)\n' "$output" "$program" $status
    passed=$((passed + $1))
    failed=$((failed + $2))
done
echo "$name: $passed passed, $failed failed"
[ $failed -eq 0 ] && [ $passed -gt 0 ]
