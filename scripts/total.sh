#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Adds up the closing lines that scripts/suite.sh left:
#   scripts/total.sh FOLDER NAME…
# A suite NAME without such a line counts as one failed test.
set -u
folder=$1
shift
for name in "$@"; do
    cat "$folder/$name.total" 2>/dev/null || echo "$name: 0 passed, 1 failed"
done | awk '
    { passed += $2; failed += $4 }
    END {
        print passed " passed, " failed " failed"
        exit failed > 0 || passed == 0
    }'
