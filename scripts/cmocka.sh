#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs cmocka programs one after the other, shows what those that fail print, and
# closes with the sum:
#   scripts/cmocka.sh NAME 'PROGRAM ARGUMENT…'…
# where PROGRAM may have arguments behind blanks.
# A program that ends badly without saying which test failed counts as one
# failed test.
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
