;;; test-eval.el --- Commands on the live image  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Tests of ecl-mcp-eval.el, ecl-mcp-output.el, ecl-mcp-describe.el,
;; ecl-mcp-names.el and ecl-mcp-mode.el, with the real Lisp.

;;; Code:

(require 'ert)
(require 'live)
(require 'ecl-mcp-mode)

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

(defun test-eval (command text)
  "What the echo area shows after COMMAND in a buffer of Lisp with TEXT."
  (live-with-messages
    (live-in-lisp text
      (let ((before (buffer-string)))
        (call-interactively command)
        (should (equal before (buffer-string))))
      (live-idle))
    (car live-messages)))

(ert-deftest ecl-mcp-eval-shows-short-results ()
  (should (equal (test-eval #'ecl-mcp-eval-last-sexp "(+ 1 2)@@ (error \"\")")
                 "=> 3"))
  (should (equal (test-eval #'ecl-mcp-eval-last-sexp "(list '(a) #\\a)@@")
                 "=> ((A) #\\a)"))
  (should (equal (test-eval #'ecl-mcp-eval-last-sexp "(quote b) 'a\n ;; c\n @@")
                 "=> A"))
  (should (equal (test-eval #'ecl-mcp-eval-last-sexp "\"grün\"@@")
                 "=> \"grün\""))
  (should (equal (test-eval #'ecl-mcp-eval-last-sexp "(values)@@")
                 "; No values"))
  (should (equal (test-eval #'ecl-mcp-eval-last-sexp "(values 1 2)@@")
                 "=> 1\n=> 2"))
  (should (equal (test-eval #'ecl-mcp-eval-last-sexp "(format t \"%s %d\")@@")
                 "[stdout]\n%s %d\n\n=> NIL")))

(ert-deftest ecl-mcp-eval-defun-is-the-form-around ()
  (should (equal (test-eval #'ecl-mcp-eval-defun
                            "(list 1)\n\n(list 2\n  @@(list 3))\n\n(list 4)\n")
                 "=> (2 (3))"))
  (should (equal (test-eval #'ecl-mcp-eval-defun "(list 1)\n(list 2)\n@@")
                 "=> (2)"))
  (live-in-lisp ";; nothing\n"
    (should-error (ecl-mcp-eval-defun) :type 'user-error)
    (should-error (ecl-mcp-eval-last-sexp) :type 'user-error)
    (should-error (ecl-mcp-eval-region 1 1) :type 'user-error))
  (live-in-lisp "(a @@"
    (should-error (ecl-mcp-eval-region (point-min) (point-min))
                  :type 'user-error)))

(ert-deftest ecl-mcp-eval-uses-the-package-before-point ()
  (live-eval "(defpackage :test-a (:use :cl)) (defpackage :test-b (:use :cl))")
  (let ((text (concat "(in-package :test-a)\n(list 'x *package*)%s\n"
                      "(in-package :test-b)\n(list 'x *package*)%s\n")))
    (should (equal (test-eval #'ecl-mcp-eval-last-sexp (format text "@@" ""))
                   "=> (X #<\"TEST-A\" package>)"))
    (should (equal (test-eval #'ecl-mcp-eval-defun (format text "" "@@"))
                   "=> (X #<\"TEST-B\" package>)"))
    (should (equal (test-eval #'ecl-mcp-eval-last-sexp
                              (format (concat "(list :x)@@\n" text) "" ""))
                   "=> (:X)")))
  ;; and the session's own package stays what it was
  (should (equal (live-eval "(package-name *package*)")
                 "=> \"COMMON-LISP-USER\"")))

(ert-deftest ecl-mcp-eval-buffer-begins-in-cl-user ()
  (should (equal (test-eval
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

(ert-deftest ecl-mcp-eval-region-evaluates-what-is-marked ()
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
  (let ((shown (test-eval #'ecl-mcp-eval-last-sexp
                          "(progn (dotimes (i 20) (print i)) :done)@@")))
    (should (equal shown "=> :DONE (in *ecl-mcp result*)")))
  (with-current-buffer "*ecl-mcp result*"
    (should (derived-mode-p 'ecl-mcp-output-mode))
    (should buffer-read-only)
    (should (string-match-p "^19" (buffer-string))))
  (test-eval #'ecl-mcp-eval-last-sexp "(make-string 3000 :initial-element #\\x)@@")
  (should (string-match-p "xxxx" (live-text "*ecl-mcp result*")))
  (should-not (string-match-p "^19" (live-text "*ecl-mcp result*")))
  ;; a character that would not be seen
  (test-eval #'ecl-mcp-eval-last-sexp "(princ (code-char 27))@@")
  (should (string-match-p "\e" (live-text "*ecl-mcp result*"))))

(ert-deftest ecl-mcp-eval-shows-errors-with-the-backtrace ()
  (when (get-buffer "*ecl-mcp error*")
    (kill-buffer "*ecl-mcp error*"))
  (live-eval "(defun test-fails (x) (error \"No ~a.\" x))")
  (should (string-match-p
           "\\`\\[ERROR\\] SIMPLE-ERROR No 1\\."
           (test-eval #'ecl-mcp-eval-last-sexp "(test-fails 1)@@")))
  (test-eval #'ecl-mcp-eval-last-sexp "(test-fails 2)@@")
  (let ((text (live-text "*ecl-mcp error*")))
    (should (string-match-p "evaluating (test-fails 1)" text))
    (should (string-match-p "^\\[Backtrace\\]\n0: (TEST-FAILS 1)" text))
    (should (string-match-p "No 2\\." text)))
  (should (string-match-p
           "\\`\\[ERROR\\] PACKAGE-ERROR"
           (test-eval #'ecl-mcp-eval-last-sexp "(in-package :test-no)\n1@@"))))

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
      ;; q takes the new window away
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

;;;; Looking

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

(ert-deftest ecl-mcp-output-buttons-lead-to-places ()
  (let ((file (make-temp-file "ecl-mcp-test" nil ".lisp" "1\n2\n3\n")))
    (unwind-protect
        (with-current-buffer
            (ecl-mcp-output--show "*ecl-mcp test*"
                                  (format "Defined in: %s:2 (defun)" file))
          (goto-char (point-min))
          (search-forward file)
          (push-button (match-beginning 0))
          (with-current-buffer (window-buffer)
            (should (equal buffer-file-name file))
            (should (= 2 (line-number-at-pos)))
            (kill-buffer)))
      (delete-file file)
      (kill-buffer "*ecl-mcp test*"))))

(ert-deftest ecl-mcp-output-buttons-know-the-workspace ()
  (let ((file (expand-file-name "placed.lisp" live-folder)))
    (write-region "\n\n(defun test-placed () 1)\n" nil file nil 'quiet)
    (ecl-mcp-load-file file)
    (live-idle)
    (ecl-mcp-describe-symbol "test-placed")
    (live-idle)
    (with-current-buffer "*ecl-mcp description*"
      (goto-char (point-min))
      (re-search-forward "Defined in: .")
      (push-button (match-end 0))
      (with-current-buffer (window-buffer)
        (should (equal buffer-file-name file))
        (should (= 3 (line-number-at-pos)))
        (kill-buffer))))
  ;; what a program prints is no name
  (test-eval #'ecl-mcp-eval-last-sexp
             "(dotimes (i 9) (format t \"car = ~d~%\" i))@@")
  (with-current-buffer "*ecl-mcp result*"
    (goto-char (point-min))
    (search-forward "car")
    (should-not (button-at (match-beginning 0)))))

(ert-deftest ecl-mcp-output-that-was-shortened-can-be-read ()
  (test-eval #'ecl-mcp-eval-last-sexp
             "(dotimes (i 40000) (format t \"line ~d~%\" i))@@")
  (with-current-buffer "*ecl-mcp result*"
    (should (< (buffer-size) 12000))
    (goto-char (point-min))
    (re-search-forward "read-output id \\([0-9]+\\)")
    (let ((name (format "*ecl-mcp output %s*" (match-string 1))))
      (push-button (match-beginning 0))
      (live-idle)
      (with-current-buffer name
        (should (string-match-p "^line 0$" (buffer-string)))
        (should (string-match-p "^line 9000$" (buffer-string)))
        (goto-char (point-max))
        (search-backward "Show more")
        (push-button)
        (live-idle)
        (should (string-match-p "^line 15000$" (buffer-string)))
        (should (<= (buffer-size) (+ ecl-mcp-output--limit 1000)))
        (kill-buffer)))))

(ert-deftest ecl-mcp-output-buffers-are-bounded ()
  (dotimes (i 10)
    (ecl-mcp-output--show "*ecl-mcp test*"
                          (format "%d %s" i (make-string 50000 ?x)) t))
  (with-current-buffer "*ecl-mcp test*"
    (should (<= (buffer-size) ecl-mcp-output--limit))
    (should (looking-at-p "9 x"))
    (kill-buffer))
  (ecl-mcp-output--show "*ecl-mcp test*" (make-string 500000 ?x) t)
  (with-current-buffer "*ecl-mcp test*"
    (should (> (buffer-size) 499999))
    (kill-buffer)))

(ert-deftest ecl-mcp-output-takes-long-lines-as-they-come ()
  (dolist (text (list (make-string 200000 ?x) (make-string 200000 ?:)
                      (make-string 200000 ?/) (make-string 200000 ?.)
                      (apply #'concat (make-list 50000 ":1.a"))
                      (apply #'concat (make-list 50000 "- a "))))
    (should (< (live-seconds (ecl-mcp-output--show "*ecl-mcp test*" text nil t))
               2)))
  (kill-buffer "*ecl-mcp test*"))

(ert-deftest ecl-mcp-macroexpand-expands ()
  (live-in-lisp "(when @@(when a b) c)"
    (ecl-mcp-macroexpand)
    (live-idle)
    (should (equal (live-text "*ecl-mcp macroexpansion*")
                   "(IF A (PROGN B))\n"))
    (goto-char (point-max))
    (ecl-mcp-macroexpand t)
    (live-idle)
    (should (equal (replace-regexp-in-string
                    "[ \n]+" " " (live-text "*ecl-mcp macroexpansion*"))
                   "(IF (IF A (PROGN B)) (PROGN C)) "))))

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

;;;; Eldoc and completion

(defun test-eval-eldoc ()
  "What eldoc shows here, after waiting when it has to be asked for."
  (let* (shown
         (value (ecl-mcp-eldoc-function (lambda (&rest all) (setq shown all)))))
    (when (and value (not shown))
      (live-wait "a lambda list" (lambda () (null ecl-mcp-names--waiting))))
    (and shown (concat (plist-get (cdr shown) :thing) " " (car shown)))))

(ert-deftest ecl-mcp-eldoc-shows-lambda-lists ()
  (live-eval "(defun test-arglist (a &optional (b 2)) (list a b))")
  (ecl-mcp-names--forget)
  (live-in-lisp "(test-arglist @@1)"
    (switch-to-buffer (current-buffer))
    (should (equal (test-eval-eldoc) "test-arglist (A &OPTIONAL (B 2))"))
    ;; the second time it is known
    (let (shown)
      (should (ecl-mcp-eldoc-function (lambda (text &rest _) (setq shown text))))
      (should (equal shown "(A &OPTIONAL (B 2))"))))
  (dolist (text '("@@(test-arglist)" ";; (test-arglist @@" "(no-such-thing @@"
                  "(:key @@" "((lambda (x)) @@" "\"@@\"" ""))
    (live-in-lisp text
      (switch-to-buffer (current-buffer))
      (should-not (test-eval-eldoc))))
  ;; what is evaluated is noticed
  (live-in-lisp "(defun test-arglist (new) new)\n(test-arglist @@)"
    (switch-to-buffer (current-buffer))
    (save-excursion
      (goto-char 5)
      (ecl-mcp-eval-defun)
      (live-idle))
    (should (equal (test-eval-eldoc) "test-arglist (NEW)"))))

(defun test-eval-completions ()
  "The completions here, after waiting when they have to be asked for."
  (let ((value (ecl-mcp-completion-at-point)))
    (when ecl-mcp-names--waiting
      (live-wait "names" (lambda () (null ecl-mcp-names--waiting)))
      (setq value (ecl-mcp-completion-at-point)))
    (mapcar #'substring-no-properties (nth 2 value))))

(ert-deftest ecl-mcp-completion-offers-names-of-the-image ()
  (live-eval "(defpackage :test-d (:use :cl) (:export #:test-out #:test-other))
              (defun test-d:test-out ()) (defun test-d::test-in ())
              (defmacro test-d:test-other () 1)")
  (ecl-mcp-names--forget)
  (live-in-lisp "(multiple-value-@@"
    (should (equal (test-eval-completions)
                   '("multiple-value-bind" "multiple-value-call"
                     "multiple-value-list" "multiple-value-prog1"
                     "multiple-value-setq")))
    ;; longer beginnings need no other question
    (insert "pr")
    (should (equal (mapcar #'substring-no-properties
                           (nth 2 (ecl-mcp-completion-at-point)))
                   '("multiple-value-prog1")))
    (should-not ecl-mcp-names--waiting))
  (live-in-lisp "(MULTIPLE-VALUE-P@@"
    (should (equal (test-eval-completions) '("MULTIPLE-VALUE-PROG1"))))
  (live-in-lisp "(test-d:t@@"
    (should (equal (sort (test-eval-completions) #'string<)
                   '("test-d:test-other" "test-d:test-out"))))
  (live-in-lisp "(test-d::test-i@@"
    (should (equal (test-eval-completions) '("test-d::test-in"))))
  (live-in-lisp "(in-package :test-d)\n(test-i@@"
    (should (equal (test-eval-completions) '("test-in"))))
  (live-in-lisp "(test-i@@"
    (should-not (test-eval-completions)))
  (dolist (text '("\"mapc@@\"" ":mapc@@" "(@@" "(no-such-name-@@" "no-pkg:x@@"))
    (live-in-lisp text
      (should-not (test-eval-completions))))
  (live-in-lisp "(test-d:t@@"
    (let ((value (ecl-mcp-completion-at-point)))
      (should (eq 'no (plist-get (nthcdr 3 value) :exclusive)))
      (should (string-match-p
               "functions\\|macros"
               (funcall (plist-get (nthcdr 3 value) :annotation-function)
                        (car (nth 2 value))))))))

(ert-deftest ecl-mcp-names-never-wait-for-a-busy-image ()
  (ecl-mcp-names--forget)
  (live-with-watch
    (let ((id (ecl-mcp-call "evaluate-lisp" '((code . "(sleep 20)")) #'ignore
                            :session ecl-mcp-eval-session)))
      (live-in-lisp "(multiple-value-@@"
        (dotimes (i 20)
          (should-not (ecl-mcp-completion-at-point))
          (insert (format "%d" i))
          (accept-process-output nil 0.02))
        ;; one question waits, not twenty
        (should (= 1 (length ecl-mcp-names--waiting)))
        ;; and is taken back when it has waited too long
        (setcdr (alist-get 'names ecl-mcp-names--waiting) 0)
        (ecl-mcp-names--may-ask-p 'names)
        (should-not ecl-mcp-names--waiting))
      (ecl-mcp-cancel id)))
  (should (equal (live-eval "(+ 1 1)") "=> 2")))

(ert-deftest ecl-mcp-names-kept-are-bounded ()
  (ecl-mcp-names--forget)
  (dotimes (i (* 2 ecl-mcp-names--kept))
    (let ((waiting (list nil)))
      (setf (alist-get 'names ecl-mcp-names--waiting) waiting)
      (ecl-mcp-names--note (list 'names i) waiting '(:success t :content "x")
                           #'identity nil)))
  (should (<= (hash-table-count ecl-mcp-names--cache) ecl-mcp-names--kept))
  (ecl-mcp-names--forget))

(ert-deftest ecl-mcp-mode-has-keys-of-its-own-only ()
  (let ((global (copy-tree global-map)))
    (live-in-lisp "(list 1)@@"
      (ecl-mcp-mode)
      (should (eq (key-binding (kbd "C-x C-e")) #'ecl-mcp-eval-last-sexp))
      (should (memq #'ecl-mcp-completion-at-point completion-at-point-functions))
      (should (memq #'ecl-mcp-eldoc-function eldoc-documentation-functions))
      (ecl-mcp-mode -1)
      (should-not (memq #'ecl-mcp-completion-at-point
                        completion-at-point-functions))
      (should-not (memq #'ecl-mcp-eldoc-function eldoc-documentation-functions))
      (should (eq (key-binding (kbd "C-x C-e")) #'eval-last-sexp)))
    (should (equal global global-map))))

(provide 'test-eval)

;;; test-eval.el ends here
