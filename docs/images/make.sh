#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Makes the pictures of this folder from the real thing: an Emacs with windows
# (EMACS, say emacs-lucid) on a screen of its own, a running ecl-mcp, two calls.
# Needs Xvfb and ImageMagick (Debian: xvfb imagemagick fonts-dejavu-core).
# Usage: docs/images/make.sh [BUILD]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:-$here/../../build/release}" && pwd)
folder=$(mktemp -d)
display=:$((200 + $$ % 500))
Xvfb "$display" -screen 0 900x560x24 >/dev/null 2>&1 &
screen=$!
trap 'kill "$screen"; rm -rf "$folder"' EXIT
mkdir -p "$folder/geometry" "$folder/.config/ecl-mcp"
echo '{"ask": ["evaluate-lisp"]}' >"$folder/.config/ecl-mcp/policy.json"
cat >"$folder/geometry/circle.lisp" <<'LISP'
(defpackage :geometry (:use :cl))
(in-package :geometry)

(defun area (radius)
  "The area of a circle."
  (* 3.14 radius radius))

(defun perimeter (radius)
  "The perimeter of a circle."
  (* 2 3.14 radius))
LISP
(cd "$folder/geometry" && HOME=$folder DISPLAY=$display LC_ALL=C.UTF-8 \
    timeout 120 ${EMACS:-emacs} -Q -L "$here/../../elisp" \
    --eval "(setq ecl-mcp-picture-program \"$build/ecl-mcp\"
                  ecl-mcp-picture-folder \"$here/\")" \
    -l "$here/make.el" circle.lisp)
