#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Runs a target of make (check) in a Debian 13 below FOLDER, which debootstrap
# makes the first time. Root only: for pivot_root(2). What is mounted and started
# there goes when this ends. Usage: scripts/trixie.sh FOLDER [TARGET]
set -eu

folder=$1
target=${2:-check}
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null |
    grep -v '^ *#' | grep -o -m 1 'https\{0,1\}://[^ ]*/debian/*\( \|$\)' || true)

if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || {
        echo "trixie: only root can enter another system, and there is no sudo" >&2
        exit 1
    }
    exec sudo --preserve-env=NODE_EXTRA_CA_CERTS,http_proxy,https_proxy \
        sh "$0" "$@"
fi

if [ ! -e "$folder/.complete" ]; then
    command -v debootstrap >/dev/null || {
        apt-get update -qq || true
        apt-get install -y -qq --no-install-recommends debootstrap >/dev/null
    }
    echo "trixie: making $folder"
    rm -rf "$folder"
    mkdir -p "$folder"
    debootstrap --variant=minbase --include=make,git,ca-certificates \
        trixie "$folder" ${mirror:+"$mirror"} >"$folder.log" 2>&1 || {
        tail -n 20 "$folder.log" >&2
        exit 1
    }
    touch "$folder/.complete"
fi

# The sources as they are here; what was built there stays.
mkdir -p "$folder/src"
find "$folder/src" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
git -c safe.directory="$PWD" ls-files -z --cached --others --exclude-standard |
    tar --create --null --files-from=- --ignore-failed-read 2>/dev/null |
    tar --extract --no-same-owner --directory="$folder/src"
cp /etc/resolv.conf "$folder/etc/resolv.conf"
cp /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/"

# A root of its own, not only a chroot: in a chroot, programs may not make user
# namespaces. Some tests examine the history of the sources.
# shellcheck disable=SC2016
exec unshare --mount --pid --fork --kill-child sh -c '
    mount --bind "$1" "$1" && cd "$1" &&
    mount -t proc proc proc && mount --rbind /dev dev && mkdir -p old &&
    pivot_root . old && cd / && umount -l old &&
    exec env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        LC_ALL=C.UTF-8 CI="${CI-}" http_proxy="${http_proxy-}" \
        https_proxy="${https_proxy-}" \
        NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt sh -c "
            cd /src && git init -q . && git add -A &&
            git -c user.name=- -c user.email=- commit -qm - --allow-empty
            make deps && make $2"' sh "$folder" "$target"
