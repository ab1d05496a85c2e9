;;; test-expand.el --- Macroexpansion  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'live)
(require 'ecl-mcp-expand)

(ert-deftest ecl-mcp-expansions-are-in-lower-case-and-indented ()
  (should (equal (ecl-mcp-expand--downcase
                  "(FOO |Bar| \"A \\\"B\\\"\" #\\A #\\Space :KEY 'C)")
                 "(foo |Bar| \"A \\\"B\\\"\" #\\A #\\Space :key 'c)"))
  (should (equal (ecl-mcp-expand--indent
                  "(LET ((X 1))\n      (WHEN X\n (PRINT X)))")
                 "(let ((x 1))\n  (when x\n    (print x)))")))

(ert-deftest ecl-mcp-expansions-expand-in-place ()
  (live-eval "(defpackage :test-m (:use :cl))
(defmacro test-m::twice (form) `(progn ,form ,form))")
  (live-in-lisp "(in-package :test-m)\n@@(twice (when a b))"
    (ecl-mcp-macroexpand)
    (live-idle))
  (should (equal (live-text "*ecl-mcp macroexpansion*")
                 "(progn (when a b) (when a b))\n"))
  (with-current-buffer "*ecl-mcp macroexpansion*"
    (should (equal ecl-mcp-buffer-package "TEST-M"))
    (should buffer-read-only)
    (search-forward "(progn ")
    (should (eq (key-binding (kbd "C-c RET")) #'ecl-mcp-macroexpand-in-place))
    (ecl-mcp-macroexpand-in-place)
    (live-idle)
    (should (equal (buffer-string) "(progn (if a (progn b)) (when a b))\n"))
    (ecl-mcp-expand-undo)
    (should (equal (buffer-string) "(progn (when a b) (when a b))\n"))))

(ert-deftest ecl-mcp-macroexpand-in-place-changes-the-code ()
  (live-in-lisp "(defun f ()\n  @@(when a b))"
    (buffer-enable-undo)
    (ecl-mcp-macroexpand-in-place)
    (live-idle)
    (should (equal (buffer-string) "(defun f ()\n  (if a (progn b)))"))
    ;; not a macro: nothing changes, and the user is told
    (goto-char (point-min))
    (search-forward "(progn ")
    (backward-up-list)
    (live-with-messages
      (ecl-mcp-macroexpand-in-place)
      (live-idle)
      (should (string-match-p "is not a macro form" (car live-messages))))
    (should (equal (buffer-string) "(defun f ()\n  (if a (progn b)))"))))

(provide 'test-expand)
;;; test-expand.el ends here
