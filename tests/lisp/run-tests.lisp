;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; run-tests.lisp: tests of run-tests. The framework is FiveAM, with which this
;;;; file is written, so the tests that are run are in a suite of their own.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(test reasons-of-fiveam-are-split
  (flet ((split (reason)
           (multiple-value-list (ecl-mcp::split-reason reason))))
    (is (equal '("7" nil "6")
               (split (format nil "~%(F)~%~% evaluated to ~%~%7~%~% which is not ~
                                   ~%~%=~%~% to ~%~%6~%~%"))))
    (is (equal '("7" "<" "6")
               (split (format nil "(F)~% evaluated to ~%7~% which is not ~%<~% ~
                                   to ~%6~%"))))
    (is (equal '("(1 2)" "satisfies" "EVENP")
               (split (format nil "(F)~% evaluated to ~%(1~%2)~% which does not ~
                                   satisfy ~%EVENP~%"))))
    (is (equal '(nil) (split "the author's words")))
    (is (equal '(nil) (split "")))))

(test lines-that-define-tests
  (loop for (line name)
          in '(("(test one" "ONE") ("(fiveam:test (two :suite s)" "TWO")
               ("  (5am:def-test three ()" "THREE") ("(deftest \"four\" 1" "FOUR")
               ("(rt:deftest :five" "FIVE") ("(define-test pkg::six" "SIX")
               ("(def-my-test seven" "SEVEN") ("(defun eight ()" "EIGHT")
               ("(print 9)" nil) ("; (test ten" nil) ("" nil) ("(" nil)
               ("(test" nil) ("(test)" nil))
        do (is (equal name (ecl-mcp::line-test-name line)) "~s" line)))

(test texts-are-squeezed
  (is (string= "a b c" (ecl-mcp::squeeze (format nil "  a~%~%b ~a c" #\Tab))))
  (is (string= "" (ecl-mcp::squeeze (format nil " ~%")))))

(test values-that-say-that-tests-failed
  (flet ((failure (value &optional (system "fiveam"))
           (ecl-mcp::failure-in-value
            value (ecl-mcp::call-library "FIND-SYSTEM" "ASDF" system))))
    (is-true (failure nil))
    (is (not (failure nil "asdf"))      ; does without a framework
        "NIL says so only when a framework is in use")
    (is (not (failure t)))
    (is (not (failure '(1 . 2))))
    (is (not (failure 0)))
    (is-true (failure (list (make-instance 'fiveam::test-passed)
                            (make-instance 'fiveam::test-failure))))
    (is (not (failure (list (make-instance 'fiveam::test-passed)))))))

(session-test tests-run-in-a-copy
  (answer "(defpackage :run-tests-here (:use :cl :fiveam))")
  (answer "(def-suite run-tests-here) (defvar *n* 0)
           (test (one :suite run-tests-here) (incf *n*) (is (= 1 *n*)))
           (test (two :suite run-tests-here) (is (= 3 *n*)) (car 1))
           (test (three :suite run-tests-here) (ecl-mcp::end-process 7))
           (test (four :suite run-tests-here) (ecl-mcp::kill-child (ext:getpid)))
           (test (five :suite run-tests-here) (is (= 0 *n*)))"
          :package "RUN-TESTS-HERE")
  (unwind-protect
       (progn
         (expect-call "FAILED: 3 of 5 tests, 4 of 6 checks, in … s (FiveAM; package RUN-TESTS-HERE)

FAIL RUN-TESTS-HERE::FOUR (… ms)
  reason: The process of the test was killed by signal 9.

FAIL RUN-TESTS-HERE::THREE (… ms)
  reason: The test ended its process with exit code 7.

FAIL RUN-TESTS-HERE::TWO (… ms)
  form: (= 3 RUN-TESTS-HERE::*N*)
  expected: 3
  got: …
  --
  condition: SIMPLE-TYPE-ERROR: …
  backtrace:
    0: (CAR 1)
…" "run-tests" :package "run-tests-here")
         (expect-call "=> 0" "evaluate" :code "run-tests-here::*n*")
         (expect-call "PASSED: 1 test, 1 check, in … s (FiveAM)"
                      "run-tests" :name "run-tests-here::one")
         (expect-call "FAILED: 3 of 3 tests, …" "run-tests" :failed t))
    (dolist (name '("ONE" "TWO" "THREE" "FOUR" "FIVE"))
      (fiveam:rem-test (find-symbol name "RUN-TESTS-HERE")))
    (fiveam:rem-test (find-symbol "RUN-TESTS-HERE" "RUN-TESTS-HERE"))))
