;;; test-test.el --- Running tests of Lisp  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'live)
(require 'ecl-mcp-test)
(require 'ecl-mcp-system)

(defun test-test-file (name text)
  "Write TEXT into the file NAME of the workspace; return its whole name."
  (let ((file (expand-file-name name live-folder)))
    (with-temp-file file
      (insert text))
    file))

(defun test-test-results (&rest arguments)
  "The results of `ecl-mcp-run-tests' with ARGUMENTS."
  (apply #'ecl-mcp-run-tests arguments)
  ;; the first time, the framework is compiled
  (let ((live-deadline 150))
    (live-idle))
  (live-text "*ecl-mcp tests*"))

(ert-deftest ecl-mcp-run-tests-shows-results-with-places ()
  (test-test-file "probe.asd" "(defsystem \"probe\" :depends-on (\"fiveam\")
  :components ((:file \"probe\"))
  :perform (test-op (o c) (symbol-call :fiveam :run! :probe)))")
  (let ((file (test-test-file "probe.lisp" "(defpackage :probe (:use :cl :fiveam))
(in-package :probe)
(def-suite :probe)
(in-suite :probe)
(test good (is (= 1 1)))
(test bad
  (format t \"printed~%\")
  (is (= 1 2)))
"))
        (default-directory live-folder))
    (should (equal (ecl-mcp-system-here) '("probe")))
    (should (string-match-p "\\`FAILED: 1 of 2 tests" (test-test-results "probe")))
    (should (string-match-p "^FAIL PROBE::BAD probe\\.lisp:6 "
                            (live-text "*ecl-mcp tests*")))
    (save-window-excursion
      (next-error)
      (with-current-buffer (window-buffer)
        (should (equal buffer-file-name (file-truename file)))
        (should (looking-at-p "(test bad"))))
    (should (string-match-p "\\`FAILED: 1 of 1 test" (test-test-results "probe" t)))
    (should (string-match-p "\\`FAILED: 1 of 2 tests" (test-test-results ":probe")))
    (with-current-buffer "*ecl-mcp tests*"
      (should (eq (get-text-property (point-min) 'face) 'error))
      (should (eq (key-binding "g") #'ecl-mcp-test-again))
      (ecl-mcp-test-failed))
    (live-idle)
    (should (string-match-p "\\`FAILED: 1 of 1 test" (live-text "*ecl-mcp tests*")))
    (should (string-match-p "\\`\\[ERROR\\]" (test-test-results "no-such-system")))))

(ert-deftest ecl-mcp-list-systems-describes-and-loads ()
  (live-with-messages (test-test--systems)))

(defun test-test--systems ()
  "List, describe and load systems."
  (make-directory (expand-file-name "tiny" live-folder) t)
  (test-test-file "tiny/tiny.asd" "(defsystem \"tiny\" :description \"Very small.\"
  :components ((:file \"tiny\")))")
  (test-test-file "tiny/tiny.lisp" "(defvar cl-user::*tiny* :loaded)")
  (ecl-mcp-list-systems)
  (live-idle)
  (with-current-buffer "*ecl-mcp systems*"
    (goto-char (point-min))
    (search-forward "- tiny")
    (push-button (1- (point)))
    (live-idle)
    (should (string-match-p "Very small\\." (live-text "*ecl-mcp system*")))
    (goto-char (point-min))
    (search-forward "- tiny")
    (ecl-mcp-system-load-here)
    (live-idle))
  (should (equal (live-eval "*tiny*") "=> :LOADED"))
  ;; Of one that is loaded, too, the name is the name.
  (ecl-mcp-list-systems)
  (live-idle)
  (with-current-buffer "*ecl-mcp systems*"
    (goto-char (point-min))
    (search-forward "- tiny, loaded")
    (beginning-of-line)
    (should (equal (button-label (next-button (point))) "tiny"))
    (ecl-mcp-system-load-here)
    (live-idle))
  (should-not (string-match-p "not found" (car live-messages)))
  ;; Names are completed; the system of this folder is the default.
  (let ((default-directory (expand-file-name "tiny/" live-folder)) asked)
    (cl-letf (((symbol-function 'completing-read)
               (lambda (prompt table &rest rest)
                 (push (list prompt (car (member "tiny" (all-completions "ti" table)))
                             (car (last rest)))
                       asked)
                 "tiny")))
      (call-interactively #'ecl-mcp-load-system)
      (live-idle)
      (should (equal asked '(("Load system (default tiny): " "tiny" "tiny"))))
      (setq default-directory temporary-file-directory)
      (call-interactively #'ecl-mcp-describe-system)
      (live-idle)
      (should (equal (cdar asked) '("tiny" ""))))
    (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) "")))
      (should-error (call-interactively #'ecl-mcp-load-system) :type 'user-error))))

(defmacro test-test-with-table (table &rest body)
  "Do BODY, with TABLE bound to what `ecl-mcp-load-system' completes.
Return the value of BODY; nothing is loaded."
  (declare (indent 1) (debug (symbolp body)))
  `(let (value)
     (cl-letf (((symbol-function 'completing-read)
                (lambda (_prompt ,table &rest _)
                  (setq value (progn ,@body))
                  "")))
       (should-error (call-interactively #'ecl-mcp-load-system) :type 'user-error))
     value))

(ert-deftest ecl-mcp-systems-are-completed-while-lisp-is-busy ()
  "Emacs neither waits for what runs in the session nor leaves its question there."
  (make-directory (expand-file-name "near" live-folder) t)
  (test-test-file "near/near.asd" "(defsystem \"near\")")
  (let* ((default-directory (expand-file-name "near/" live-folder))
         (ecl-mcp-eval-session "busy")
         (said "ecl-mcp: Lisp is busy; only systems of this folder are completed")
         (ended nil)
         (id (ecl-mcp-call "evaluate-lisp" '((code . "(loop)") (timeout . 600))
                           (lambda (answer) (setq ended answer))
                           :session "busy" :client "agent 7"))
         ;; So that the test fails, and does not stand still.
         (guard (run-at-time live-deadline nil #'ecl-mcp-cancel id)))
    (unwind-protect
        (live-with-messages
          ;; another's evaluation, of which Emacs does not know
          (test-test-with-table table
            (should (equal (all-completions "" table) '("near")))
            (should-not ended)
            ;; it has waited once
            (let ((ecl-mcp-system--patience 1000))
              (should (equal (all-completions "ne" table) '("near"))))
            (live-wait "a word about it" (lambda () (member said live-messages)))
            (should (= 2 (length (ecl-mcp-client-calls)))))
          (should (= 1 (length (ecl-mcp-client-calls))))
          ;; one's own: no wait, and what comes later is used
          (let ((ecl-mcp-system--patience 1000)
                (job (ecl-mcp-eval--start "looping" "evaluate-lisp"
                                          '((code . "(loop)") (timeout . 600))
                                          #'ignore)))
            (test-test-with-table table
              (should (equal (all-completions "" table) '("near")))
              (should-not ended)
              (ecl-mcp-cancel id)
              (ecl-mcp-eval-cancel job)
              (live-wait "the names that Lisp knows"
                         (lambda () (member "asdf" (all-completions "" table))))
              (should (member "near" (all-completions "" table))))))
      (cancel-timer guard)
      (ecl-mcp-cancel id))))

(provide 'test-test)
;;; test-test.el ends here
