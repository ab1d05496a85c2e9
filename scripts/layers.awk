# SPDX-License-Identifier: GPL-3.0-or-later
# Checks who may include whom. Usage:
#   awk -f scripts/layers.awk scripts/LAYERS core/core.h FILE...
# An include names its folder: that of the file itself, or one that LAYERS
# allows. Within a folder, no files include each other in a circle; NAME.c and
# NAME.h count as one. The table `door` says which place may include the header of
# a library. tests/docs/layers.mjs tests this script.

function wrong(text)
{
    print FILENAME ":" FNR ": " text
    bad = 1
}

# "core/gate/policy.h" is included as "gate/policy.h".
function as_included(path)
{
    if (path ~ /^core\/.*\//)
        sub(/^core\//, "", path)
    return path
}

function folder_of(path)
{
    sub(/\/[^\/]*$/, "", path)
    return path
}

function stem(path)
{
    sub(/\.[ch]$/, "", path)
    return path
}

function read_layer(    side, folders, below, i, j, n, m)
{
    split($0, side, ":")
    n = split(side[1], folders, " ")
    m = split(side[2], below, " ")
    for (j = 1; j <= m; j++)
        if (below[j] != "core.h" && !(below[j] in layer))
            wrong(below[j] " has no line above this one")
    for (i = 1; i <= n; i++)
        for (j = 1; j <= m; j++)
            allowed[folders[i], below[j]] = 1
    for (i = 1; i <= n; i++)
        layer[folders[i]] = FNR
}

# Follows what NODE includes in its folder; state 1: begun, 2: done.
function follow(node, trail,    next_one, pair)
{
    if (state[node] == 2)
        return
    if (state[node] == 1) {
        print "in a circle: " substr(trail, index(trail, node)) " -> " node
        bad = 1
        return
    }
    state[node] = 1
    for (pair in edge) {
        split(pair, next_one, SUBSEP)
        if (next_one[1] == node)
            follow(next_one[2], trail == "" ? node : trail " -> " node)
    }
    state[node] = 2
}

BEGIN {
    door["jsmn.h"] = "^core/json/json\\.c$"
    door["ecl/ecl.h"] = "^image/(collector|conses|constants|fault|format|format_text|interlude|live|live_frozen|lisp_text|middle|modules|stack|subtypes|thread_env|tier|writing)\\.[ch]$"
    door["emacs-module.h"] = "^module/"
    in_core_h["core/core.h"] = 1
}

FILENAME ~ /LAYERS$/ {
    if ($0 !~ /^#/)
        read_layer()
    next
}

FNR == 1 {
    me = as_included(FILENAME)
    floor = folder_of(me)
    if (!(floor in layer))
        wrong("the folder " floor " is not in LAYERS")
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, part, "\"")
    dep = part[2]
    to = folder_of(dep)
    if (dep !~ /\//)
        wrong("the include does not name its folder: " dep)
    else if (to == floor) {
        if (stem(dep) != stem(me))
            edge[stem(me), stem(dep)] = 1
        nodes[stem(me)] = 1
    } else if (!((floor, to) in allowed) &&
               !(((floor, "core.h") in allowed) && (dep in in_core_h)))
        wrong(floor " may not include " dep)
    if (FILENAME == "core/core.h")
        in_core_h[dep] = 1
}

/^[ \t]*#[ \t]*include[ \t]*</ {
    split($0, part, /[<>]/)
    if ((part[2] in door) && FILENAME !~ door[part[2]])
        wrong(part[2] " may not be included here")
}

END {
    for (node in nodes)
        follow(node, "")
    exit bad
}
