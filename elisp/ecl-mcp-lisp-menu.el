;;; ecl-mcp-lisp-menu.el --- Menus of Lisp buffers and of the REPL  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; The menus of `ecl-mcp-mode' and of the REPL.

;;; Code:

(require 'ecl-mcp-menu)

(defun ecl-mcp-lisp-menu-define ()
  "Define the menu of `ecl-mcp-mode', whose keymap must exist."
  (ecl-mcp-menu-define
   'ecl-mcp-mode "ECL-MCP"
   '("Evaluate"
     ("Definition" ecl-mcp-eval-defun)
     ("Form Before Point" ecl-mcp-eval-last-sexp)
     ("Region" ecl-mcp-eval-region :active mark-active)
     ("Buffer" ecl-mcp-eval-buffer)
     ("Load a File..." ecl-mcp-load-file)
     ("Interrupt" ecl-mcp-interrupt))
   '("Look Up"
     ("Describe..." ecl-mcp-describe-symbol)
     ("Expand the Macro" ecl-mcp-macroexpand)
     ("Apropos..." ecl-mcp-apropos)
     ("Definitions of the Session" ecl-mcp-list-definitions))
   '("Session"
     ("REPL" ecl-mcp-repl)
     ("Checkpoint..." ecl-mcp-checkpoint)
     ("Restore..." ecl-mcp-restore))))

(defun ecl-mcp-lisp-menu-define-repl ()
  "Define the menu of `ecl-mcp-repl-mode', whose keymap must exist."
  (ecl-mcp-menu-define
   'ecl-mcp-repl-mode "REPL"
   '("Input"
     ("Evaluate" ecl-mcp-repl-send)
     ("Complete" completion-at-point)
     ("Interrupt" ecl-mcp-repl-interrupt)
     ("Earlier Input" comint-previous-input)
     ("Later Input" comint-next-input))
   '("Look Up"
     ("Describe..." ecl-mcp-describe-symbol)
     ("Expand the Macro" ecl-mcp-macroexpand))))

(provide 'ecl-mcp-lisp-menu)
;;; ecl-mcp-lisp-menu.el ends here
