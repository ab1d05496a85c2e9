# SPDX-License-Identifier: GPL-3.0-or-later
# docs/image-protocol.md must have a row "| number | NAME |" for every kind of
# frame and control message, and the version of the frames in its title. Usage:
#   awk -f scripts/protocol-doc.awk core/wire/wire.h image/control.h \
#       docs/image-protocol.md

# The kinds: enumerators of enum wire_kind and enum control_kind.
/^enum (wire|control)_kind/ { counting = 1; value = -1 }
/^};/ { counting = 0 }
counting && /^    (WIRE|CONTROL)_[A-Z]+/ {
    name = $1
    sub(/^(WIRE|CONTROL)_/, "", name)
    sub(/,.*/, "", name)
    value = match($0, /= [0-9]+/) ? substr($0, RSTART + 2, RLENGTH - 2) + 0 : value + 1
    kinds[FILENAME, name] = value
}

/^#define WIRE_VERSION / { version = $3 }

FILENAME ~ /\.md$/ && /^# / && $NF != version {
    print FILENAME ": the title does not say version " version
    bad = 1
}
FILENAME ~ /\.md$/ && /^\| [0-9]+ \| [A-Z]+ \|/ { rows[$2, $4] = 1 }

END {
    for (key in kinds) {
        split(key, part, SUBSEP)
        if (!((kinds[key], part[2]) in rows)) {
            print "docs/image-protocol.md: no row | " kinds[key] " | " part[2] " | of " part[1]
            bad = 1
        }
    }
    exit bad
}
