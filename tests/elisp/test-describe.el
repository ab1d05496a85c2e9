;;; test-describe.el --- Looking into the Lisp session  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'live)
(require 'ecl-mcp-describe)
(require 'ecl-mcp-expand)

(ert-deftest ecl-mcp-describe-shows-what-a-name-means ()
  (live-eval "(defun test-described (a) \"It is described.\" a)")
  (ecl-mcp-describe-symbol "test-described")
  (live-idle)
  (should (string-match-p "It is described\\."
                          (live-text "*ecl-mcp description*")))
  (ecl-mcp-describe-symbol "no-such-name-at-all")
  (live-idle)
  (should (string-match-p "not found" (live-text "*ecl-mcp description*")))
  (ecl-mcp-apropos "test-descr")
  (live-idle)
  (with-current-buffer "*ecl-mcp apropos*"
    (goto-char (point-min))
    (search-forward "TEST-DESCR")
    (push-button))
  (live-idle)
  (should (string-match-p "It is described\\."
                          (live-text "*ecl-mcp description*")))
  (ecl-mcp-list-definitions)
  (live-idle)
  (should (string-match-p "^- TEST-DESCRIBED (A)"
                          (live-text "*ecl-mcp definitions*"))))

(ert-deftest ecl-mcp-describe-takes-the-name-at-point ()
  (live-in-lisp "(mapcar #'ca@@r x)"
    (should (equal (ecl-mcp-describe--name-at-point) "car")))
  (live-in-lisp "(alexandria:when-@@let x)"
    (should (equal (ecl-mcp-describe--name-at-point) "alexandria:when-let"))))

(ert-deftest ecl-mcp-macroexpand-expands ()
  (live-in-lisp "(when @@(when a b) c)"
    (ecl-mcp-macroexpand)
    (live-idle)
    (should (equal (live-text "*ecl-mcp macroexpansion*")
                   "(if a (progn b))\n"))
    (goto-char (point-max))
    (ecl-mcp-macroexpand t)
    (live-idle)
    (should (equal (replace-regexp-in-string
                    "[ \n]+" " " (live-text "*ecl-mcp macroexpansion*"))
                   "(if (if a (progn b)) (progn c)) "))))

(ert-deftest ecl-mcp-functions-are-traced-disassembled-and-undefined ()
  (live-eval "(defpackage :test-t (:use :cl)) (defun test-t::fine (x) (1+ x))")
  (live-with-messages
    (live-in-lisp "(in-package :test-t)\n(fi@@ne 1)"
      (ecl-mcp-toggle-trace "fine")
      (live-idle)
      (should (equal (car live-messages) "ecl-mcp: Calls of fine are traced"))
      (should (string-match-p "1> (TEST-T::FINE 1)" (live-eval "(test-t::fine 1)")))
      (ecl-mcp-toggle-trace "fine")
      (live-idle)
      (should (equal (car live-messages) "ecl-mcp: fine is no longer traced"))
      (should (equal "=> 2" (live-eval "(test-t::fine 1)")))
      (ecl-mcp-toggle-trace "fine")
      (ecl-mcp-untrace-all)
      (live-idle)
      (should (equal "=> 2" (live-eval "(test-t::fine 1)")))
      (ecl-mcp-toggle-trace "no-such-function")
      (live-idle)
      (should (string-match-p "UNDEFINED-FUNCTION" (car live-messages)))
      (ecl-mcp-disassemble "fine")
      (live-idle)
      (should (> (length (live-text "*ecl-mcp disassembly*")) 40))
      (should-not (string-match-p "No values\\|\\[stdout\\]"
                                  (live-text "*ecl-mcp disassembly*")))
      (ecl-mcp-undefine-function "fine")
      (live-idle)
      (should (equal (car live-messages) "ecl-mcp: fine is no longer defined"))
      (should (equal "=> NIL" (live-eval "(fboundp 'test-t::fine)")))
      (ecl-mcp-undefine-function "fine")
      (live-idle)
      (should (equal (car live-messages) "ecl-mcp: fine was not a function")))))

(ert-deftest ecl-mcp-describe-package-and-hyperspec ()
  (ecl-mcp-describe-package "ext")
  (live-idle)
  (should (string-match-p "GETCWD" (live-text "*ecl-mcp package*")))
  (let (shown)
    (cl-letf (((symbol-function 'common-lisp-hyperspec)
               (lambda (name) (setq shown name))))
      (ecl-mcp-hyperspec "cl:mapcar"))
    (should (equal shown "mapcar")))
  (unless (or (fboundp 'common-lisp-hyperspec) (locate-library "hyperspec"))
    (should-error (ecl-mcp-hyperspec "car") :type 'user-error)))

(ert-deftest ecl-mcp-checkpoints-are-restored ()
  (live-eval "(defvar *test-state* :before)")
  (live-with-messages
    (ecl-mcp-checkpoint "test-one")
    (live-idle)
    (if (string-match-p "ERROR" (car live-messages))
        (ert-fail (car live-messages))))
  (live-eval "(setf *test-state* :after)")
  (ecl-mcp-describe--fetch-checkpoints)
  (live-wait "the list" (lambda () (assoc "test-one" ecl-mcp-describe--checkpoints)))
  (should (member "test-one"
                  (all-completions "tes" #'ecl-mcp-describe--checkpoint-table)))
  (ecl-mcp-restore "test-one")
  (live-idle)
  (should (equal (live-eval "*test-state*") "=> :BEFORE"))
  (live-eval "(setf *test-state* :after)")
  (ecl-mcp-restore nil 1)
  (live-idle)
  (should (equal (live-eval "*test-state*") "=> :BEFORE"))
  (live-with-messages
    (ecl-mcp-restore "no-such-checkpoint")
    (live-idle)
    (should (string-match-p "NO-CHECKPOINT" (car live-messages))))
  (should-error (ecl-mcp-restore " ") :type 'user-error)
  (should-error (ecl-mcp-checkpoint "") :type 'user-error))

(provide 'test-describe)
;;; test-describe.el ends here
