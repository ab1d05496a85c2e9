;;; test-eval.el --- Commands on the live image  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; With the real Lisp.

;;; Code:

(require 'ert)
(require 'live)
(require 'ecl-mcp)
(require 'ecl-mcp-eval)

;;;; Packages

(ert-deftest ecl-mcp-package-is-that-of-in-package ()
  (dolist (case '(("(in-package :foo)\n@@" "FOO")
                  ("(in-package #:foo)\n@@" "FOO")
                  ("(in-package foo)\n@@" "FOO")
                  ("(in-package \"foo\")\n@@" "foo")
                  ("(in-package \"Foo Bar\")\n@@" "Foo Bar")
                  ("(in-package #:|Foo|)\n@@" "Foo")
                  ("(CL:IN-PACKAGE\n  :foo.bar/baz)\n@@" "FOO.BAR/BAZ")
                  ("  (common-lisp:in-package :foo)\n@@" "FOO")
                  ("(in-package :a)\n@@\n(in-package :b)" "A")
                  ("(in-package :a)\n(in-package :b)\n@@" "B")
                  ("(in-package :a)\n;; (in-package :b)\n@@" "A")
                  ("(in-package :a)\n#|\n(in-package :b)\n|#\n@@" "A")
                  ("(in-package :a)\n\"\n(in-package :b)\n\"\n@@" "A")
                  ("(in-packages :a)\n@@" nil)
                  ("@@(in-package :a)" nil)
                  ("" nil)))
    (live-in-lisp (car case)
      (should (equal (ecl-mcp-package) (cadr case)))
      (narrow-to-region (point) (point))
      (should (equal (ecl-mcp-package) (cadr case)))
      (setq ecl-mcp-buffer-package "MINE")
      (should (equal (ecl-mcp-package) "MINE")))))

;;;; Evaluating

(ert-deftest ecl-mcp-eval-shows-short-results ()
  (should (equal (live-message-of #'ecl-mcp-eval-last-sexp "(+ 1 2)@@ (error \"\")")
                 "=> 3"))
  (should (equal (live-message-of #'ecl-mcp-eval-last-sexp "(list '(a) #\\a)@@")
                 "=> ((A) #\\a)"))
  (should (equal (live-message-of #'ecl-mcp-eval-last-sexp "(quote b) 'a\n ;; c\n @@")
                 "=> A"))
  (should (equal (live-message-of #'ecl-mcp-eval-last-sexp "\"grün\"@@")
                 "=> \"grün\""))
  (should (equal (live-message-of #'ecl-mcp-eval-last-sexp "(values)@@")
                 "; No values"))
  (should (equal (live-message-of #'ecl-mcp-eval-last-sexp "(values 1 2)@@")
                 "=> 1\n=> 2"))
  (should (equal (live-message-of #'ecl-mcp-eval-last-sexp "(format t \"%s %d\")@@")
                 "[stdout]\n%s %d\n\n=> NIL")))

(ert-deftest ecl-mcp-eval-defun-takes-the-form-around-point ()
  (should (equal (live-message-of #'ecl-mcp-eval-defun
                            "(list 1)\n\n(list 2\n  @@(list 3))\n\n(list 4)\n")
                 "=> (2 (3))"))
  (should (equal (live-message-of #'ecl-mcp-eval-defun "(list 1)\n(list 2)\n@@")
                 "=> (2)"))
  (live-in-lisp ";; nothing\n"
    (should-error (ecl-mcp-eval-defun) :type 'user-error)
    (should-error (ecl-mcp-eval-last-sexp) :type 'user-error)
    (should-error (ecl-mcp-eval-region 1 1) :type 'user-error))
  (live-in-lisp "(a @@"
    (should-error (ecl-mcp-eval-region (point-min) (point-min))
                  :type 'user-error)))

(ert-deftest ecl-mcp-eval-works-before-the-package-exists ()
  (let ((text "(in-package :test-later)\n(+ 1 1)@@"))
    (should (equal (live-message-of #'ecl-mcp-eval-last-sexp text)
                   "; TEST-LATER does not exist yet (C-c C-k loads the file): \
this is CL-USER\n=> 2"))
    ;; an error of the code itself is not hidden, and nothing runs twice
    (live-eval "(defparameter *test-times* 0)")
    (should (string-match-p
             "^\\[ERROR\\] PACKAGE-ERROR "
             (live-message-of
              #'ecl-mcp-eval-last-sexp
              "(progn (incf *test-times*) (intern \"X\" \"TEST-LATER\"))@@")))
    (should (equal (live-eval "*test-times*") "=> 1"))
    (live-eval "(defpackage :test-later (:use :cl))")
    (should (equal (live-message-of #'ecl-mcp-eval-last-sexp text) "=> 2"))))

(ert-deftest ecl-mcp-eval-uses-the-package-before-point ()
  (live-eval "(defpackage :test-a (:use :cl)) (defpackage :test-b (:use :cl))")
  (let ((text (concat "(in-package :test-a)\n(list 'x *package*)%s\n"
                      "(in-package :test-b)\n(list 'x *package*)%s\n")))
    (should (equal (live-message-of #'ecl-mcp-eval-last-sexp (format text "@@" ""))
                   "=> (X #<\"TEST-A\" package>)"))
    (should (equal (live-message-of #'ecl-mcp-eval-defun (format text "" "@@"))
                   "=> (X #<\"TEST-B\" package>)"))
    (should (equal (live-message-of #'ecl-mcp-eval-last-sexp
                              (format (concat "(list :x)@@\n" text) "" ""))
                   "=> (:X)")))
  ;; and the session's own package stays what it was
  (should (equal (live-eval "(package-name *package*)")
                 "=> \"COMMON-LISP-USER\"")))

(ert-deftest ecl-mcp-eval-buffer-begins-in-cl-user ()
  (should (equal (live-message-of
                  #'ecl-mcp-eval-buffer
                  (concat "(defpackage :test-c (:use :cl))\n(in-package :test-c)\n"
                          "(defun f () *package*)\n(f)\n"))
                 "=> #<\"TEST-C\" package>"))
  (should (equal (live-eval "(package-name *package*)")
                 "=> \"COMMON-LISP-USER\""))
  (live-in-lisp "(in-package :test-c)\n(list 1)\n(list 2)\n"
    (narrow-to-region (point-max) (point-max))
    (live-with-messages
      (ecl-mcp-eval-buffer)
      (live-idle)
      (should (equal (car live-messages) "=> (2)")))))

(ert-deftest ecl-mcp-eval-region-evaluates-the-region ()
  (live-with-messages
    (live-in-lisp "(list 1) (list 2)@@ (list 3)"
      (ecl-mcp-eval-region (point-min) (point))
      (live-idle))
    (should (equal (car live-messages) "=> (2)"))))

(ert-deftest ecl-mcp-eval-works-in-other-modes ()
  (with-temp-buffer
    (text-mode)
    (insert "See (list 1 ; one\n 2)")
    (live-with-messages
      (ecl-mcp-eval-last-sexp)
      (live-idle)
      (should (equal (car live-messages) "=> (1 2)")))))

(ert-deftest ecl-mcp-eval-shows-long-results-in-a-buffer ()
  (let ((shown (live-message-of #'ecl-mcp-eval-last-sexp
                          "(progn (dotimes (i 20) (print i)) :done)@@")))
    (should (equal shown "=> :DONE (in *ecl-mcp result*)")))
  (with-current-buffer "*ecl-mcp result*"
    (should (derived-mode-p 'ecl-mcp-output-mode))
    (should buffer-read-only)
    (should (string-match-p "^19" (buffer-string))))
  (live-message-of #'ecl-mcp-eval-last-sexp "(make-string 3000 :initial-element #\\x)@@")
  (should (string-match-p "xxxx" (live-text "*ecl-mcp result*")))
  (should-not (string-match-p "^19" (live-text "*ecl-mcp result*")))
  ;; an invisible character, in the output and in the value
  (live-message-of #'ecl-mcp-eval-last-sexp
                   "(progn (princ (code-char 27)) (string (code-char 27)))@@")
  (should (string-match-p "^\\^\\[" (live-text "*ecl-mcp result*")))
  (should (string-match-p "\e" (live-text "*ecl-mcp result*"))))

(ert-deftest ecl-mcp-eval-shows-errors-with-the-backtrace ()
  (when (get-buffer "*ecl-mcp error*")
    (kill-buffer "*ecl-mcp error*"))
  (live-eval "(defun test-fails (x) (error \"No ~a.\" x))")
  (should (string-match-p
           "\\`\\[ERROR\\] SIMPLE-ERROR No 1\\."
           (live-message-of #'ecl-mcp-eval-last-sexp "(test-fails 1)@@")))
  (live-message-of #'ecl-mcp-eval-last-sexp "(test-fails 2)@@")
  (let ((text (live-text "*ecl-mcp error*")))
    (should (string-match-p "evaluating (test-fails 1)" text))
    (should (string-match-p "^\\[Backtrace\\]\n0: (TEST-FAILS 1)" text))
    (should (string-match-p "No 2\\." text))))

(ert-deftest ecl-mcp-eval-keeps-the-order ()
  (live-with-messages
    (live-in-lisp "(progn (sleep 0.2) 1) 2 (error \"3\") 4"
      (dolist (end '("1)" "2" "\"3\")" "4"))
        (search-forward end)
        (ecl-mcp-eval-last-sexp))
      (should (= 4 (length ecl-mcp-eval--jobs)))
      (should (null live-messages))
      (live-idle))
    (should (equal (mapcar (lambda (text) (substring text 0 (min 7 (length text))))
                           (reverse live-messages))
                   '("=> 1" "=> 2" "[ERROR]" "=> 4")))))

(ert-deftest ecl-mcp-eval-waits-for-a-definition-that-is-compiled ()
  "Compiling and defining are two calls; later commands come after both."
  (live-with-messages
    (dotimes (round 10)
      (live-in-lisp (format "(defun test-order () %d)\n(test-order)\n" round)
        (goto-char (point-min))
        (ecl-mcp-compile-defun)
        (goto-char (point-max))
        (ecl-mcp-eval-last-sexp)
        (ecl-mcp-eval-expression "(list (test-order))")
        (should (= 3 (length ecl-mcp-eval--jobs)))
        (live-idle)
        (should (equal (list (format "=> (%d)" round) (format "=> %d" round)
                             "=> TEST-ORDER")
                       (seq-take live-messages 3)))
        (should-not ecl-mcp-eval--leading)
        (should-not ecl-mcp-eval--held)))))

(ert-deftest ecl-mcp-eval-keeps-the-order-without-a-package ()
  "A call that is made again, in CL-USER, comes before those of later commands."
  (live-eval "(defparameter *test-order* nil)")
  (live-with-messages
    (live-in-lisp "(in-package :test-nowhere)\n(setf *test-order* (list 1))@@"
      (ecl-mcp-eval-last-sexp))
    (live-in-lisp "(push 2 *test-order*)@@"
      (ecl-mcp-eval-last-sexp))
    (live-idle)
    (should (equal (car live-messages) "=> (2 1)"))
    (should (string-match-p "TEST-NOWHERE does not exist yet.*\n=> (1)"
                            (cadr live-messages)))))

(ert-deftest ecl-mcp-eval-held-calls-end ()
  "They end by an interrupt, with the Lisp, and are not in the way of an undo."
  (let ((held (lambda ()
                (live-in-lisp "(macrolet ((test-endless () (loop))) (test-endless))"
                  (ecl-mcp-compile-defun))
                (live-in-lisp "(+ 1 1)@@"
                  (ecl-mcp-eval-last-sexp))
                (should (= 1 (length ecl-mcp-eval--held))))))
    (live-with-messages
      (funcall held)
      (ecl-mcp-interrupt)
      (should (equal (car live-messages) "ecl-mcp: Stopped 2"))
      (should-not ecl-mcp-eval--jobs)
      (should-not ecl-mcp-eval--held)
      (funcall held)
      (ecl-mcp-restore nil 1)
      (live-idle)
      (should (member "=> 2" live-messages))
      (funcall held)
      (ecl-mcp-lisp-stop)
      (should-not ecl-mcp-lisp)
      (should-not ecl-mcp-eval--jobs)
      (should-not ecl-mcp-eval--held)
      (should-not ecl-mcp-eval--leading))))

(ert-deftest ecl-mcp-eval-survives-the-end-of-its-buffer ()
  (live-with-messages
    (live-in-lisp "(progn (sleep 0.1) :later)@@"
      (ecl-mcp-eval-last-sexp))
    (live-idle)
    (should (equal (car live-messages) "=> :LATER"))))

(ert-deftest ecl-mcp-eval-keeps-windows-and-point ()
  (live-in-lisp "(error \"x\")@@"
    (switch-to-buffer (current-buffer))
    (let ((window (selected-window))
          (buffer (current-buffer))
          (point (point)))
      (ecl-mcp-eval-last-sexp)
      (live-idle)
      (should (eq window (selected-window)))
      (should (eq buffer (window-buffer window)))
      (should (= point (point)))
      ;; q deletes the new window
      (let ((shown (get-buffer-window "*ecl-mcp error*")))
        (should shown)
        (select-window shown)
        (quit-window)
        (should (one-window-p))))))

(ert-deftest ecl-mcp-eval-errors-of-handlers-are-reported ()
  (live-with-messages
    (ecl-mcp-eval--start "testing" "evaluate-lisp" '((code . "1"))
                         (lambda (_) (error "Broken handler")))
    (live-idle)
    (should (cl-find-if (lambda (text)
                          (string-match-p "testing: Broken handler" text))
                        live-messages))))

(ert-deftest ecl-mcp-load-file-loads ()
  (let ((file (make-temp-file (expand-file-name "test" live-folder) nil ".lisp"
                              "(defvar *test-loaded* :once)\n")))
    (unwind-protect
        (with-current-buffer (find-file-noselect file)
          (goto-char (point-max))
          (insert "(setf *test-loaded* :twice)\n")
          (cl-letf (((symbol-function 'y-or-n-p) (lambda (_) t)))
            (ecl-mcp-load-file file))
          (should-not (buffer-modified-p))
          (live-idle)
          (should (equal (live-eval "*test-loaded*") "=> :TWICE"))
          (insert "(car 1)\n")
          (cl-letf (((symbol-function 'y-or-n-p) (lambda (_) nil)))
            (ecl-mcp-load-file file))
          (should (buffer-modified-p))
          (live-idle)
          (set-buffer-modified-p nil)
          (kill-buffer))
      (delete-file file)))
  (should-error (ecl-mcp-load-file "/ssh:nowhere:/x.lisp") :type 'user-error))

(provide 'test-eval)

;;; test-eval.el ends here
