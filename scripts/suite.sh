#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs one test suite and keeps what it printed:
#   scripts/suite.sh FOLDER NAME COMMAND…
# FOLDER/NAME.log gets all of it, FOLDER/NAME.total its closing line
# "NAME: N passed, N failed", which is also printed, after the lines that say what
# was skipped and why ("skip: …"); the log is printed when the suite fails. A suite
# that takes longer than SUITE_SECONDS (300) is stopped and has failed, as has one
# without a closing line or without a passed test.
set -u
folder=$1
name=$2
shift 2
mkdir -p "$folder"
log=$folder/$name.log
rm -f "$folder/$name.total"
timeout -k 10 "${SUITE_SECONDS:-300}" "$@" >"$log" 2>&1 </dev/null
status=$?
[ $status -ne 124 ] && [ $status -ne 137 ] || echo "it hung and was stopped" >>"$log"

total=$(sed -n "s/^[a-z-]*: \([0-9][0-9]* passed, [0-9][0-9]* failed\).*/\1/p" \
    "$log" | tail -n 1)
case $total in
'')
    total='0 passed, 1 failed'
    [ $status -ne 0 ] || status=1
    ;;
'0 passed'*)
    [ $status -ne 0 ] || status=1
    ;;
*' 0 failed') ;;
*)
    [ $status -ne 0 ] || status=1
    ;;
esac
# A bad status that the count does not show is one more failure.
case $status:$total in
0:* | *:*' passed, '[1-9]*) ;;
*) total="${total% passed*} passed, 1 failed" ;;
esac

if [ $status -ne 0 ]; then
    echo "--- $name (exit status $status):"
    grep -vE '^ok |^[a-z-]+: [0-9]+ passed, ' "$log" | tail -n 100
fi
grep '^skip: ' "$log" | sort -u | sed "s/^/$name: /"
echo "$name: $total" | tee "$folder/$name.total"
exit $status
