;;; test-trace.el --- Calls as a tree  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'live)
(require 'ecl-mcp-trace)

(defmacro test-trace--with (functions &rest body)
  "Do BODY in an empty buffer of calls, with FUNCTIONS followed."
  (declare (indent 1) (debug t))
  `(unwind-protect
       (progn
         (dolist (name ,functions)
           (ecl-mcp-trace-toggle name nil))
         (with-current-buffer (ecl-mcp-trace--buffer)
           (ecl-mcp-trace-clear)
           ,@body))
     (ecl-mcp-trace--follow nil)))

(defun test-trace--visible ()
  "The visible text of this buffer."
  (mapconcat (lambda (position)
               (if (invisible-p position) ""
                 (buffer-substring-no-properties position (1+ position))))
             (number-sequence (point-min) (1- (point-max))) ""))

(ert-deftest ecl-mcp-trace-shows-a-tree-that-folds ()
  (live-eval "(defun test-fact (n) (if (< n 2) 1 (* n (test-fact (1- n)))))")
  (live-eval "(defun test-twice (n) (list (test-fact n) (test-fact 1)))")
  (test-trace--with '("test-fact" "test-twice")
    (ecl-mcp-trace-evaluate "(test-twice 2)")
    (live-idle)
    (should (equal (test-trace--visible)
                   "; (test-twice 2)\n- (TEST-TWICE 2)\n  - (TEST-FACT 2)\n    \
- (TEST-FACT 1)\n      => 1\n    => 2\n  - (TEST-FACT 1)\n    => 1\n  => (2 1)\n\n"))
    (goto-char (point-min))
    (ecl-mcp-trace-next)
    (ecl-mcp-trace-next)
    (should (looking-at-p "  - (TEST-FACT 2)"))
    (ecl-mcp-trace-fold)
    (should (equal (test-trace--visible)
                   "; (test-twice 2)\n- (TEST-TWICE 2)\n  - (TEST-FACT 2)\n  \
- (TEST-FACT 1)\n    => 1\n  => (2 1)\n\n"))
    (ecl-mcp-trace-next)
    (should (looking-at-p "  - (TEST-FACT 1)"))
    (ecl-mcp-trace-previous)
    (ecl-mcp-trace-fold)
    (should (string-match-p "^      => 1$" (test-trace--visible)))
    ;; from the last line of a call, its call is folded
    (search-forward "=> (2 1)")
    (ecl-mcp-trace-fold)
    (should (equal (test-trace--visible) "; (test-twice 2)\n- (TEST-TWICE 2)\n\n"))
    (should-error (ecl-mcp-trace-next) :type 'user-error)))

(ert-deftest ecl-mcp-trace-follows-evaluations-from-buffers ()
  (live-eval "(defun test-fails (n) (if (= n 0) (error \"No.\") (test-fails (1- n))))")
  (test-trace--with '("test-fails")
    (should (string-prefix-p "=> NIL\n=> #<"
                             (live-message-of #'ecl-mcp-eval-last-sexp
                                              "(ignore-errors (test-fails 1))@@")))
    (should (string-match-p "^- (TEST-FAILS 1)\n  - (TEST-FAILS 0)\n    left by"
                            (buffer-string)))
    ;; also when the evaluation fails
    (ecl-mcp-trace-clear)
    (live-message-of #'ecl-mcp-eval-last-sexp "(test-fails 0)@@")
    (should (string-match-p "^- (TEST-FAILS 0)\n  left by" (buffer-string)))
    (ecl-mcp-trace-toggle "test-fails" nil)
    (ecl-mcp-trace-clear)
    (should (equal (live-message-of #'ecl-mcp-eval-last-sexp "(list 1)@@")
                   "=> (1)"))
    (should (= 0 (buffer-size)))
    (should-error (ecl-mcp-trace-evaluate "1") :type 'user-error)))

(ert-deftest ecl-mcp-trace-is-bounded ()
  (live-eval "(defun test-many (n) n)")
  (live-eval "(defun test-deep (n) (if (= n 0) 0 (test-deep (1- n))))")
  (test-trace--with '("test-many" "test-deep")
    (ecl-mcp-trace-evaluate "(dotimes (i 5000) (test-many i))")
    (live-idle)
    (should (< (count-lines (point-min) (point-max)) 1010))
    (should (string-match-p "^… [0-9,]+ more lines" (buffer-string)))
    (ecl-mcp-trace-clear)
    (ecl-mcp-trace-evaluate "(test-deep 100)")
    (live-idle)
    (should (string-match-p "^- (TEST-DEEP 100)$" (buffer-string)))
    (goto-char (point-min))
    (ecl-mcp-trace-next)
    (ecl-mcp-trace-fold)
    (should (equal 3 (length (split-string (test-trace--visible) "\n" t))))))

(ert-deftest ecl-mcp-trace-names-are-seen-from-a-package ()
  (should (equal (ecl-mcp-trace--name "f" "P") "P::f"))
  (should (equal (ecl-mcp-trace--name "q:f" "P") "q:f"))
  (should (equal (ecl-mcp-trace--name "(setf f)" "P") "(setf f)"))
  (should (equal (ecl-mcp-trace--name "f" nil) "f")))

(ert-deftest ecl-mcp-replay-reads-names-in-the-package ()
  (live-eval "(defpackage :test-replayed (:use :cl))")
  (live-eval "(progn (defvar test-replayed::*total* 0)
 (defun test-replayed::add (n) (incf test-replayed::*total* n)))")
  (live-call "checkpoint-session" '((name . "before")) :session ecl-mcp-eval-session)
  (live-eval "(test-replayed::add 2)")
  (ecl-mcp-replay "(add 3)" "*total*" "TEST-REPLAYED")
  (live-idle)
  (should (string-match-p "^\\*total\\*: 0 -> 3, by (.*ADD 3)"
                          (with-current-buffer (ecl-mcp-trace--buffer)
                            (buffer-string))))
  (ecl-mcp-replay "(add 4)" "" "TEST-REPLAYED" :stop "add")
  (live-idle)
  (should (string-match-p "Stopped before call 1: (.*ADD 4)"
                          (live-text "*ecl-mcp error*")))
  ;; a package that does not exist yet
  (live-with-messages
    (ecl-mcp-replay "(+ 1 1)" "" "TEST-NOT-YET")
    (live-idle)
    (should (string-match-p "TEST-NOT-YET does not exist yet[^z]*=> 2"
                            (car live-messages)))))

(ert-deftest ecl-mcp-replay-asks-where-it-stops-and-begins ()
  "With a prefix argument; the number of a call, and that of an evaluation."
  (live-eval "(progn (defvar *test-sum* 0) (defun test-sum (n) (incf *test-sum* n)))")
  (live-call "checkpoint-session" '((name . "sum")) :session ecl-mcp-eval-session)
  (live-eval "(test-sum 100)")
  (let (asked)
    (cl-flet ((replay (&rest answers)
                (cl-letf (((symbol-function 'read-string)
                           (lambda (prompt &rest _)
                             (push prompt asked)
                             (pop answers))))
                  (let ((current-prefix-arg '(4)))
                    (call-interactively #'ecl-mcp-replay)))
                (live-idle)))
      (replay "(dotimes (i 5) (test-sum i))" "*test-sum*" "test-sum" "3" "")
      (should (equal (length asked) 5))
      (should (equal (cadr asked) "Which call of test-sum (1): "))
      (let ((text (live-text "*ecl-mcp error*")))
        (should (string-match-p "Stopped before call 3: (TEST-SUM 2)" text))
        (should (string-match "copy of the state before evaluation \\([0-9]+\\)" text))
        (let ((evaluation (match-string 1 text)))
          ;; the same by its number, without a stop; the tree knows what it is about
          (setq asked nil)
          (with-current-buffer (ecl-mcp-trace--buffer)
            (should (equal (car ecl-mcp-trace--last) "(dotimes (i 5) (test-sum i))"))
            (ecl-mcp-trace-clear)
            (replay (car ecl-mcp-trace--last) "*test-sum*" "" evaluation)
            (should (string-match-p "dotimes (i 5)" (car (last asked))))
            (should (equal (length asked) 4))
            (should (string-match-p "^\\*test-sum\\*: 6 -> 10, by (TEST-SUM 4)"
                                    (buffer-string))))))
      (replay "(test-sum 1)" "" "" "1000000")
      (should (string-match-p "Evaluation 1000000 cannot be replayed"
                              (live-text "*ecl-mcp error*")))
      (should-error (replay "(test-sum 1)" "" "" "0") :type 'user-error)
      (should-error (replay "(test-sum 1)" "" "f" "2x") :type 'user-error))))

(provide 'test-trace)
;;; test-trace.el ends here
