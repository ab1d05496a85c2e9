#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# The core makes no system call, reads no clock and never ends the process: all
# that it imports from the C library is in a list. Usage:
#   scripts/imports.sh ARCHIVE LIST
set -eu
wanted=$(nm "$1" | awk '
    NF == 2 && $1 == "U" { used[$2] = 1 }
    NF == 3 && $2 ~ /^[A-Z]$/ { defined[$3] = 1 }
    END { for (name in used) if (!(name in defined)) print name }' | sort)
extra=$(echo "$wanted" | grep -vxF -f "$2" || true)
[ -z "$extra" ] || {
    echo "core imports what is not in $2:" $extra
    exit 1
}
