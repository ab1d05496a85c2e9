;;; ecl-mcp-lisp-menu.el --- Menus of Lisp buffers and of the REPL  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; The menus of `ecl-mcp-mode' and of the REPL.

;;; Code:

(require 'ecl-mcp-menu)

(defconst ecl-mcp-lisp-menu--look-up
  '(("Describe..." ecl-mcp-describe-symbol)
    ("Describe Package..." ecl-mcp-describe-package)
    ("Apropos..." ecl-mcp-apropos)
    ("HyperSpec..." ecl-mcp-hyperspec)
    ("HyperSpec: Directive of Format..." ecl-mcp-hyperspec-format)
    ("HyperSpec: Macro Character..." ecl-mcp-hyperspec-reader-macro)
    ("HyperSpec: Glossary..." ecl-mcp-hyperspec-glossary)
    ("Inspect..." ecl-mcp-inspect)
    ("Who Calls..." ecl-mcp-who-calls)
    ("What It Calls..." ecl-mcp-callees)
    ("Who References..." ecl-mcp-who-references))
  "What both menus have to look things up.")

(defconst ecl-mcp-lisp-menu--functions
  '(("Expand the Macro" ecl-mcp-macroexpand)
    ("Expand All Macros" ecl-mcp-macroexpand-all)
    ("Disassemble..." ecl-mcp-disassemble)
    ("Trace or Untrace..." ecl-mcp-toggle-trace)
    ("Follow Calls, or No Longer..." ecl-mcp-trace-toggle)
    ("Tree of Calls" ecl-mcp-trace-dialog)
    ("Newest Error" ecl-mcp-debug)
    ("Step Through..." ecl-mcp-step)
    ("Replay..." ecl-mcp-replay))
  "What both menus have about functions.")

(defun ecl-mcp-lisp-menu-define ()
  "Define the menu of `ecl-mcp-mode', whose keymap must exist."
  (ecl-mcp-menu-define
   'ecl-mcp-mode "ECL-MCP"
   '("Evaluate"
     ("Definition" ecl-mcp-eval-defun)
     ("Form Before Point" ecl-mcp-eval-last-sexp)
     ("Form Before Point, Pretty-Printed" ecl-mcp-eval-pprint-last-sexp)
     ("Region" ecl-mcp-eval-region :active mark-active)
     ("An Expression..." ecl-mcp-eval-expression)
     ("Answer What It Reads..." ecl-mcp-supply-line
      :active (bound-and-true-p ecl-mcp-eval--readers))
     ("Interrupt" ecl-mcp-interrupt))
   '("Compile"
     ("Compile Definition" ecl-mcp-compile-defun)
     ("Compile and Load File" ecl-mcp-compile-and-load-file)
     ("Compile File" ecl-mcp-compile-file)
     ("Load a File..." ecl-mcp-load-file)
     ("Next Note" ecl-mcp-next-note)
     ("Previous Note" ecl-mcp-previous-note)
     ("Remove Notes" ecl-mcp-remove-notes)
     ("Run Tests..." ecl-mcp-run-tests))
   `("Look Up"
     ,@ecl-mcp-lisp-menu--look-up
     ("Uses..." xref-find-references)
     ("Methods on a Class..." ecl-mcp-who-specializes)
     ("Complete" completion-at-point)
     ("Definitions of the Session" ecl-mcp-list-definitions))
   `("Functions"
     ,@ecl-mcp-lisp-menu--functions
     ("Undefine..." ecl-mcp-undefine-function))
   '("Session"
     ("REPL" ecl-mcp-repl)
     ("Call This Function in the REPL" ecl-mcp-repl-call-defun)
     ("REPL in This Package" ecl-mcp-repl-sync-package)
     ("Package of the REPL..." ecl-mcp-repl-set-package)
     ("Threads" ecl-mcp-list-threads)
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
   `("Look Up"
     ,@ecl-mcp-lisp-menu--look-up
     ("Methods on a Class..." ecl-mcp-who-specializes))
   `("Functions"
     ,@ecl-mcp-lisp-menu--functions)
   '("Value"
     ("Copy to the Input" ecl-mcp-value-copy :active (ecl-mcp-values-at-point))
     ("Inspect It" ecl-mcp-value-inspect :active (ecl-mcp-values-at-point))
     ("Describe It" ecl-mcp-value-describe :active (ecl-mcp-values-at-point))
     ("Next Value" ecl-mcp-value-next)
     ("Previous Value" ecl-mcp-value-previous))
   '("Session"
     ("Package..." ecl-mcp-repl-set-package)
     ("Shortcut..." ecl-mcp-repl-shortcut)
     ("Threads" ecl-mcp-list-threads)
     ("Clear" comint-clear-buffer))))

(provide 'ecl-mcp-lisp-menu)
;;; ecl-mcp-lisp-menu.el ends here
