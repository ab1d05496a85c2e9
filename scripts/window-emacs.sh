#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Unpacks an Emacs with windows, and xdotool, below build/x11 without installing
# them: Debian has no such Emacs beside emacs-nox. 7 MB are fetched, 38 MB are
# unpacked, with the libraries that nothing else needs; the rest is in emacs-common,
# xvfb and the libraries of X.
# Usage: scripts/window-emacs.sh
set -eu
folder=$(cd "$(dirname "$0")/.." && pwd)/build/x11
rm -rf "$folder"
mkdir -p "$folder"
cd "$folder"
apt-get download -q emacs-lucid xdotool libxdo3 xaw3dg libotf1 libm17n-0
for package in *.deb; do
    dpkg -x "$package" .
done
rm ./*.deb
# Emacs looks for its dumped state beside itself before it takes that of another.
cp "$(find usr -name emacs.pdmp)" usr/bin/emacs-lucid.pdmp
# Where tests/window looks for libraries, too.
missing=$(LD_LIBRARY_PATH=$(dirname usr/lib/*/libxdo.so.3) ldd usr/bin/emacs-lucid |
    awk '/not found/ { printf " %s", $1 }')
[ -z "$missing" ] || echo "window-emacs: libraries are missing:$missing"
