#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Checks that programs were built with all that the compiler can do against
# their own errors: scripts/hardened.sh OBJECT PROGRAM…
# OBJECT is one of their object files: linkers drop its note about branches
# when the C library has none.
set -u
object=$1
shift
bad=0

# must WHAT COMMAND…: complains unless COMMAND succeeds.
must()
{
    what=$1
    shift
    "$@" || {
        echo "$what"
        bad=1
    }
}

has()
{
    echo "$1" | grep -qE "$2"
}

has_not()
{
    ! has "$1" "$2"
}

for file in "$@"; do
    head=$(readelf -hlW "$file")
    dynamic=$(readelf -dW "$file")
    symbols=$(readelf --dyn-syms -W "$file")
    must "$file: not position-independent" has "$head" 'Type: +DYN'
    must "$file: its stack can be executed" has "$head" 'GNU_STACK.* RW '
    must "$file: a segment can be written and executed" \
        has_not "$head" 'LOAD.* RWE '
    must "$file: relocations stay writable" has "$head" GNU_RELRO
    must "$file: symbols are bound late" has "$dynamic" 'BIND_NOW|Flags: .*NOW'
    must "$file: code is relocated" has_not "$dynamic" TEXTREL
    must "$file: stacks are not protected" has "$symbols" __stack_chk_fail
    must "$file: calls are not fortified" has "$symbols" '__[a-z]+_chk(@|$)'
done
case $(uname -m) in
x86_64) must "$object: branches are not protected" \
    has "$(readelf -nW "$object")" 'IBT.*SHSTK' ;;
aarch64) must "$object: branches are not protected" \
    has "$(readelf -nW "$object")" 'BTI.*PAC' ;;
esac
exit $bad
