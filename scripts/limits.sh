#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every limit of core/base/limits*.h has a test: its name stands in a file below
# tests/. Usage: scripts/limits.sh
set -eu
headers="core/base/limits.h core/base/limits_images.h"
named=$(grep -rhow 'LIMIT_[A-Z0-9_]*' tests | sort -u)
bad=0

for name in $(sed -n 's/^#define \(LIMIT_[A-Z0-9_]*\) .*/\1/p' $headers); do
    echo "$named" | grep -qx "$name" && continue
    echo "limits: no test names $name; test the limit and one above it"
    bad=1
done
exit $bad
