#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Every limit of core/base/limits.h has a test: its name stands in a file below
# tests/, or in the list scripts/limits.txt with the test that knows it by its
# number, or with "-": those still lack one, and nothing may be added to them. A
# line of the list that is no longer needed must go. Usage: scripts/limits.sh
set -eu
header=core/base/limits.h
list=scripts/limits.txt
bad=0

wrong() {
    echo "limits: $*"
    bad=1
}

names=$(sed -n 's/^#define \(LIMIT_[A-Z0-9_]*\) .*/\1/p' "$header")
named=$(grep -rhow 'LIMIT_[A-Z0-9_]*' tests | sort -u)

for name in $names; do
    line=$(grep "^$name " "$list" || true)
    if echo "$named" | grep -qx "$name"; then
        [ -z "$line" ] || wrong "$list: a test names $name: take its line out"
    elif [ -z "$line" ]; then
        wrong "$header: $name has no test at the limit and one past it"
    fi
done

while read -r name test; do
    case $name in '#'*) continue ;; esac
    echo "$names" | grep -qx "$name" || wrong "$list: there is no $name"
    [ "$test" = - ] || [ -f "tests/$test" ] || wrong "$list: no tests/$test"
done <"$list"

# The number of those without a test, which only falls.
most=$(sed -n 's/^# At most \([0-9]*\) .*/\1/p' "$list")
open=$(grep -c ' -$' "$list" || true)
[ "$open" -eq "$most" ] || wrong "$list: $open limits without a test, not $most"
exit $bad
