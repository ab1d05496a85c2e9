#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Installs the Debian packages that are missing; when none is, it only asks dpkg. Usage: scripts/deps.sh [build] [demo] [check]
set -eu

build='gcc make libc6-dev ecl libecl-dev libgc-dev libgmp-dev libjsmn-dev
nettle-dev libseccomp-dev'
demo='cl-ppcre'
check='libcmocka-dev cl-fiveam cl-rt cl-ptester cl-alexandria cl-flexi-streams
cl-anaphora cl-base64 cl-split-sequence cl-global-vars cl-iterate
cl-named-readtables cl-parse-number cl-puri cl-trivial-garbage patch
clang clang-tidy clang-format libclang-rt-dev git tmux texinfo
elpa-package-lint elpa-relint dbus-daemon procps'
# Tests skip what needs these where they are missing.
may='elpa-company elpa-evil elpa-magit slime xvfb xdotool imagemagick fonts-dejavu-core'

wanted=''
for set in "$@"; do
    case $set in
    build) wanted="$wanted $build" ;;
    demo) wanted="$wanted $build $demo" ;;
    check) wanted="$wanted $build $demo $check $may" ;;
    *)
        echo "deps: no set $set; the sets are build, demo, check" >&2
        exit 2
        ;;
    esac
done

# A Node.js from elsewhere will do, too.
case $* in
*demo* | *check*)
    command -v node >/dev/null || wanted="$wanted nodejs"
    ;;
esac
case $* in
*check*)
    command -v npm >/dev/null || wanted="$wanted npm"
    command -v emacs >/dev/null || wanted="$wanted emacs-nox"
    ;;
esac

if ! command -v dpkg-query >/dev/null; then
    echo "deps: this system has no dpkg; install these packages, by their Debian names:" >&2
    echo "$wanted" | fmt >&2
    exit 0
fi

present=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' $wanted \
    2>/dev/null | sed -n 's/ installed$//p')
missing=''
for package in $wanted; do
    case "
$present
" in
    *"
$package
"*) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -n "$missing" ] || exit 0

as_root=''
if [ "$(id -u)" != 0 ]; then
    if ! command -v sudo >/dev/null; then
        needed=''
        for package in $missing; do
            case " $(echo $may) " in
            *" $package "*) ;;
            *) needed="$needed $package" ;;
            esac
        done
        if [ -z "$needed" ]; then
            echo "deps: tests that need$missing are skipped" >&2
            exit 0
        fi
        echo "deps: not root and no sudo; as root run: apt-get install$missing" >&2
        exit 1
    fi
    as_root='sudo'
fi
echo "deps: installing$missing"
# A source that cannot be reached is no reason to stop: apt-get install says
# what it could not find.
$as_root apt-get update -qq || true
for package in $may; do
    case " $missing " in
    *" $package "*) apt-cache show "$package" >/dev/null 2>&1 ||
        missing=$(echo " $missing " | sed "s/ $package / /") ;;
    esac
done
$as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends $missing >/dev/null
