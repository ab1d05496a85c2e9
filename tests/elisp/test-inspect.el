;;; test-inspect.el --- The inspector  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'live)
(require 'ecl-mcp-inspect)
(require 'ecl-mcp-repl)

(defun test-inspect-text ()
  "The text of the inspector, when nothing runs."
  (live-idle)
  (live-text "*ecl-mcp inspector*"))

(defmacro test-inspect-in (&rest body)
  "Do BODY in the inspector, then wait."
  (declare (indent 0) (debug t))
  `(progn (with-current-buffer "*ecl-mcp inspector*" ,@body)
          (live-idle)))

(defun test-inspect-push (text)
  "Push the button on the line with TEXT."
  (test-inspect-in
    (goto-char (point-min))
    (search-forward text)
    (push-button (line-beginning-position)))
  (test-inspect-text))

(ert-deftest ecl-mcp-inspect-walks-through-a-value ()
  (when (get-buffer "*ecl-mcp inspector*")
    (kill-buffer "*ecl-mcp inspector*"))
  (live-eval "(defpackage :test-i (:use :cl))
(defun test-i::value () (list 10 (vector 'a (list \"x/y\" 'b)) (make-hash-table)))")
  (ecl-mcp-inspect "(value)" "TEST-I")
  (should (string-match-p "\\`(value)\n(10 .*\n\\[list of 3\\]\n0: 10\n1: "
                          (test-inspect-text)))
  ;; what is evaluated meanwhile changes nothing
  (live-eval "(setf * 3)")
  (should (string-match-p "\\`(value) / 1\n.*\n\\[.*\\]\n0: .*A\n1: (\"x/y\""
                          (test-inspect-push "1: ")))
  (should (string-match-p "0: \"x/y\"\n" (test-inspect-push "1: ")))
  (test-inspect-in (ecl-mcp-inspect-back))
  (should (string-match-p "\\`(value) / 1\n" (test-inspect-text)))
  (test-inspect-in (ecl-mcp-inspect-back))
  (should (string-match-p "\\`(value)\n" (test-inspect-text)))
  (test-inspect-in (should-error (ecl-mcp-inspect-back) :type 'user-error))
  (test-inspect-in (ecl-mcp-inspect-forward))
  (should (string-match-p "\\`(value) / 1\n" (test-inspect-text)))
  ;; another expression, and back to this one
  (ecl-mcp-inspect "'(new one)")
  (should (string-match-p "\\`'(new one)\n" (test-inspect-text)))
  (test-inspect-in (ecl-mcp-inspect-back))
  (should (string-match-p "\\`(value) / 1\n" (test-inspect-text))))

(ert-deftest ecl-mcp-inspect-shows-more-and-again ()
  (live-eval "(defvar *test-many* (make-array 250 :initial-element 0))")
  (ecl-mcp-inspect "*test-many*")
  (should (string-match-p "^99: 0\n… 150 more" (test-inspect-text)))
  (should (string-match-p "^249: 0" (test-inspect-push "more")))
  (live-eval "(setf (aref *test-many* 1) :changed)")
  (test-inspect-in (revert-buffer))
  (should (string-match-p "^1: :CHANGED" (test-inspect-text)))
  (ecl-mcp-inspect "(error \"No value.\")")
  (live-idle)
  (should (string-match-p "No value\\." (live-text "*ecl-mcp error*")))
  (should-error (ecl-mcp-inspect " ") :type 'user-error))

(ert-deftest ecl-mcp-inspect-acts-on-values ()
  (live-eval "(defstruct inspected-box (in 1))
(defvar *test-box* (list (make-inspected-box) (make-hash-table) (vector 1 2)
  (make-array 1 :initial-element 7) '(a . b)))
(setf (gethash :k (second *test-box*)) 5)")
  (ecl-mcp-inspect "*test-box*")
  (test-inspect-text)
  (live-with-messages
    (test-inspect-in (ecl-mcp-inspect-evaluate "(length *)"))
    (should (equal (car live-messages) "=> 5")))
  ;; each kind of part is set, and shown
  (pcase-dolist (`(,part ,label ,code ,shown)
                 '(("0: " "IN: " "(list 2 (length (list *)))" "^IN: (2 1)$")
                   ("1: " ":K: " "6" "^:K: 6$")
                   ("2: " "1: " "(aref * 0)" "^1: 1$")
                   ("4: " "tail: " "'c" "^tail: C$")))
    (test-inspect-push part)
    (test-inspect-in
      (goto-char (point-min))
      (search-forward (concat "\n" label))
      (beginning-of-line)
      (should (ecl-mcp-inspect--part-at-point))
      (cl-letf (((symbol-function 'read-string) (lambda (&rest _) code)))
        (call-interactively #'ecl-mcp-inspect-set)))
    (should (string-match-p shown (test-inspect-text)))
    (test-inspect-in (ecl-mcp-inspect-back)))
  (should (equal (live-eval "(list (inspected-box-in (first *test-box*))
 (gethash :k (second *test-box*)) (third *test-box*) (fifth *test-box*))")
                 "=> ((2 1) 6 #(1 1) (A . C))"))
  ;; what has no parts to set says so
  (ecl-mcp-inspect "'car")
  (test-inspect-text)
  (test-inspect-in
    (goto-char (point-max))
    (backward-button 1)
    (ecl-mcp-inspect-set "1"))
  (should (string-match-p "The parts of CAR cannot be set"
                          (live-text "*ecl-mcp error*")))
  (test-inspect-in (ecl-mcp-inspect-describe))
  (should (string-match-p "\\`'car\n[^z]*CAR" (live-text "*ecl-mcp description*")))
  ;; to the REPL
  (ecl-mcp-inspect "(list :to :repl)")
  (test-inspect-text)
  (test-inspect-push "1: ")
  (save-window-excursion
    (test-inspect-in (ecl-mcp-inspect-to-repl))
    (with-current-buffer (get-buffer "*ecl-mcp repl*")
      (ecl-mcp-repl-return)
      (live-idle)
      (should (string-match-p "=> :REPL" (buffer-string))))))

(ert-deftest ecl-mcp-inspect-refuses-what-was-typed-for-another-value ()
  "While the minibuffer reads, another value may be drawn, or the buffer killed."
  (live-eval "(defvar *test-old* (list 1))")
  (live-eval "(defvar *test-new* (list 2))")
  (dolist (meanwhile (list (lambda () (ecl-mcp-inspect "*test-new*") (live-idle))
                           (lambda () (kill-buffer "*ecl-mcp inspector*"))))
    (dolist (command '(ecl-mcp-inspect-set ecl-mcp-inspect-evaluate))
      (ecl-mcp-inspect "*test-old*")
      (test-inspect-text)
      (with-current-buffer "*ecl-mcp inspector*"
        (goto-char (point-min))
        (search-forward "\n0: ")
        (beginning-of-line)
        (cl-letf (((symbol-function 'read-string)
                   (lambda (&rest _) (funcall meanwhile) "(setf (car *) 3)")))
          (should (equal (should-error (call-interactively command) :type 'user-error)
                         '(user-error "The inspector no longer shows *test-old*, \
so nothing was done")))))
      (live-idle)))
  (should (equal (live-eval "(list *test-old* *test-new*)") "=> ((1) (2))")))

(ert-deftest ecl-mcp-inspect-stays-in-the-session-of-the-repl ()
  (live-eval "(defvar *test-which* '(:main))")
  (let ((ecl-mcp-eval-session "inspected"))
    (live-eval "(defvar *test-which* (list :of (list :another)))"))
  (save-window-excursion
    (ecl-mcp-repl "inspected")
    (ecl-mcp-inspect "*test-which*")
    (live-idle))
  (should (string-match-p "^1: (:ANOTHER)$" (test-inspect-text)))
  (should (string-match-p "^0: :ANOTHER$" (test-inspect-push "1: ")))
  (test-inspect-in (ecl-mcp-inspect-evaluate "(setf (car *) :new)"))
  (test-inspect-in (ecl-mcp-inspect-again))
  (should (string-match-p "^0: :NEW$" (test-inspect-text)))
  (should (equal (live-eval "*test-which*") "=> (:MAIN)"))
  (save-window-excursion
    (test-inspect-in (ecl-mcp-inspect-to-repl)
                     (should (equal (buffer-name) "*ecl-mcp repl: inspected*")))))

(provide 'test-inspect)
;;; test-inspect.el ends here
