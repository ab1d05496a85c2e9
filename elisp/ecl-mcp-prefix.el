;;; ecl-mcp-prefix.el --- All commands under one key  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; A keymap with the commands that work in every buffer, to be bound to a key of
;; your choice:
;;
;;   (global-set-key (kbd "C-c m") 'ecl-mcp-prefix-map)
;;
;; Its keys are those of the status buffer.  Each has a few words, which
;; which-key shows.  Loading this file loads nothing else of ecl-mcp but its
;; base.

;;; Code:

(require 'ecl-mcp-base)

;;;###autoload (autoload 'ecl-mcp-prefix-map "ecl-mcp-prefix" nil nil 'keymap)
(defvar ecl-mcp-prefix-map
  (ecl-mcp-keymap
   '(("m" . ("next request" . ecl-mcp-review))
     ("a" . ("accept edits, or ask again" . ecl-mcp-accept-edits))
     ("s" . ("start, status" . ecl-mcp))
     ("l" . ("log of calls" . ecl-mcp-log))
     ("p" . ("permissions" . ecl-mcp-permissions))
     ("u" . ("undo edits" . ecl-mcp-undo-edits))
     ("z" . ("REPL" . ecl-mcp-repl))
     ("c" . ("call a tool" . ecl-mcp-call-tool))
     ("e" . ("newest error" . ecl-mcp-debug))
     ("x" . ("step through" . ecl-mcp-step))
     ("r" . ("replay" . ecl-mcp-replay))
     ("t" . ("threads" . ecl-mcp-list-threads))
     ("i" . ("interrupt" . ecl-mcp-interrupt))
     ("R" . ("restart Lisp" . ecl-mcp-restart-lisp))
     ("S" . ("stop" . ecl-mcp-stop))))
  "Keymap of the commands of ecl-mcp; bind it to a key.")

(defalias 'ecl-mcp-prefix-map ecl-mcp-prefix-map)

(provide 'ecl-mcp-prefix)
;;; ecl-mcp-prefix.el ends here
