;;;; SPDX-License-Identifier: GPL-3.0-or-later
(in-package #:ecl-mcp)
(defun note-system-state ())
(defun note-session-state ())
