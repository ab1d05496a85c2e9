# SPDX-License-Identifier: GPL-3.0-or-later
# Checks who may include whom. Usage:
#   awk -f scripts/layers.awk core/LAYERS core/session.h FILE...
# core/: own header and lower layers of core/LAYERS. Hosts (server/, module/):
# own folder, session.h and what it names, core/host/; server/ also
# front.h, supervisor.h and sandbox.h, module/ also diff.h, arena.h and
# utf8.h. image/: own folder and core/ up to the layer of
# wire. The headers of libraries that must stay behind one door have their one
# place.

function module(path)
{
    sub(/.*\//, "", path)
    sub(/\.[ch]$/, "", path)
    return path
}

function wrong(text)
{
    print FILENAME ":" FNR ": " text
    bad = 1
}

function core_may(dep)
{
    return (dep in rank) && (me in rank) && rank[dep] < rank[me]
}

function host_may(dep)
{
    if ((dep in own) && own[dep] == folder)
        return 1
    return (dep in hosts) ||
        (folder == "server" && dep ~ /^(front|supervisor|sandbox)$/) ||
        (folder == "module" && dep ~ /^(diff|arena|utf8)$/)
}

function image_may(dep)
{
    if ((dep in own) && own[dep] == folder)
        return 1
    return (dep in rank) && rank[dep] <= rank["wire"]
}

function may(dep)
{
    if (dep == me && folder != "server")
        return 1
    if (folder == "core")
        return core_may(dep)
    if (folder == "image")
        return image_may(dep)
    return host_may(dep)
}

BEGIN {
    door["jsmn.h"] = "^core/protocol/json\\.c$"
    door["ecl/ecl.h"] = "^image/"
    door["emacs-module.h"] = "^module/"
    for (i = 1; i < ARGC; i++) {
        top = ARGV[i]
        sub(/\/.*/, "", top)
        own[module(ARGV[i])] = top
    }
    hosts["session"] = 1
    hosts["workspace"] = 1
    hosts["policyfile"] = 1
    hosts["auditfile"] = 1
    hosts["reach"] = 1
    hosts["host"] = 1
}

FILENAME ~ /LAYERS$/ {
    if ($1 !~ /^#/ && NF) {
        layers++
        for (i = 1; i <= NF; i++)
            rank[$i] = layers
    }
    next
}

FNR == 1 {
    me = module(FILENAME)
    folder = FILENAME
    sub(/\/.*/, "", folder)
    if (folder == "core" && !(me in rank))
        wrong("not in core/LAYERS")
}

/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, part, "\"")
    dep = module(part[2])
    if (part[2] ~ /\//)
        wrong("headers are included by their bare name: " part[2])
    if (FILENAME == "core/session.h")
        hosts[dep] = 1
    if (!may(dep))
        wrong(me " may not include " part[2])
}

/^[ \t]*#[ \t]*include[ \t]*</ {
    split($0, part, /[<>]/)
    if ((part[2] in door) && FILENAME !~ door[part[2]])
        wrong(part[2] " may not be included here")
}

END { exit bad }
