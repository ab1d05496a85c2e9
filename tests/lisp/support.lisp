;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; support.lisp: a session in this process, and a vocabulary for its answers.

(defpackage #:ecl-mcp-tests
  (:use #:cl)
  (:import-from #:fiveam #:def-suite #:in-suite #:test #:is #:is-true #:fail
                #:pass #:signals))

(in-package #:ecl-mcp-tests)

(def-suite ecl-mcp :description "The Lisp library of ecl-mcp.")
(in-suite ecl-mcp)

(defvar *scratch* nil
  "A directory for the files of the tests.")

(defvar *tools* nil
  "The file with the table of tools that tests/lisp/print_tools.c prints.")

(defvar *output* (make-string-output-stream)
  "The standard output of the session.")

(defvar *error-output-sink* (make-string-output-stream)
  "The error output of the session.")

(defparameter *heap* (* 256 1024 1024)
  "The heap limit of the session, in bytes.")

;;; Asking

(defun repair-streams ()
  "Replaces streams that were closed, as image/live.c does before a call."
  (unless (and (open-stream-p *output*) (open-stream-p *error-output-sink*))
    (setf *output* (make-string-output-stream)
          *error-output-sink* (make-string-output-stream))
    (ecl-mcp:start-session *output* *error-output-sink* *heap*)))

(defun arguments (code rest)
  "Returns the alist of arguments for CODE and the plist REST."
  (list* (cons "code" code)
         (loop for (name value) on rest by #'cddr
               collect (cons (string-downcase name) value))))

(defun answer (code &rest rest)
  "Evaluates CODE in the session; REST are further arguments as a plist. Returns
the text of the answer, and whether it reports a failure."
  (repair-streams)
  (ecl-mcp:dispatch "evaluate" (arguments code rest)))

(defun call (operation &rest rest)
  "Runs OPERATION in the session with the arguments REST, a plist."
  (repair-streams)
  (ecl-mcp:dispatch operation
                    (loop for (name value) on rest by #'cddr
                          collect (cons (string-downcase name) value))))

(defun output ()
  "Returns what the session has written to standard output since the last call
of this function."
  (get-output-stream-string *output*))

(defun error-output ()
  "Returns what the session has written to error output since the last call of
this function."
  (get-output-stream-string *error-output-sink*))

(defun lines (&rest lines)
  "Returns LINES as one text."
  (format nil "~{~a~^~%~}" lines))

;;; Judging

(defun matches-p (pattern text)
  "True when TEXT matches PATTERN, in which … stands for any text."
  (let ((start 0)
        (at 0))
    (loop
      (let* ((wild (position #\… pattern :start start))
             (part (subseq pattern start wild)))
        (cond ((and (zerop start) wild)
               (unless (and (<= (length part) (length text))
                            (string= part text :end2 (length part)))
                 (return nil))
               (setf at (length part)))
              ((zerop start) (return (string= part text)))
              ((null wild)
               (let ((rest (- (length text) (length part))))
                 (return (and (>= rest at)
                              (string= part text :start2 rest)))))
              (t
               (let ((found (search part text :start2 at)))
                 (unless found (return nil))
                 (setf at (+ found (length part))))))
        (setf start (1+ wild))))))

(defun expect (failed pattern code &rest rest)
  "Evaluates CODE. The answer must match PATTERN, and be a failure if FAILED is
true. Afterwards the session must be able to add."
  (multiple-value-bind (text error-p) (apply #'answer code rest)
    (is (matches-p pattern text)
        "~s gave~%~a~%instead of~%~a" code text pattern)
    (is (eq failed (and error-p t)) "~s: failure is ~s" code error-p))
  (is (string= "=> 2" (answer "(cl:+ 1 1)")) "after ~s" code))

(defmacro values-of (&body table)
  "Each entry of TABLE is (CODE PATTERN . ARGUMENTS): evaluating CODE must
succeed."
  `(progn ,@(loop for (code pattern . rest) in table
                  collect `(expect nil ,pattern ,code ,@rest))))

(defmacro failures-of (&body table)
  "Each entry of TABLE is (CODE PATTERN . ARGUMENTS): evaluating CODE must
fail."
  `(progn ,@(loop for (code pattern . rest) in table
                  collect `(expect t ,pattern ,code ,@rest))))

(defun expect-call (pattern operation &rest arguments)
  "Runs OPERATION with ARGUMENTS, a plist. Its answer must match PATTERN and
must not be a failure."
  (multiple-value-bind (text failed) (apply #'call operation arguments)
    (is (matches-p pattern text)
        "~a ~s gave~%~a~%instead of~%~a" operation arguments text pattern)
    (is-true (not failed) "~a ~s failed" operation arguments)))

(defmacro answers-of (operation key &body table)
  "Each entry of TABLE is (ARGUMENT PATTERN . ARGUMENTS): the answer of
OPERATION with ARGUMENT as KEY must match PATTERN."
  `(progn ,@(loop for (argument pattern . rest) in table
                  collect `(expect-call ,pattern ,operation
                                        ,key ,argument ,@rest))))

(defmacro refusals-of (operation key &body table)
  "Does the same for answers that must be failures."
  `(progn
     ,@(loop for (argument pattern . rest) in table
             collect `(multiple-value-bind (text failed)
                          (call ,operation ,key ,argument ,@rest)
                        (is (matches-p ,pattern text)
                            "~a ~s gave~%~a~%instead of~%~a"
                            ,operation ,argument text ,pattern)
                        (is-true failed "~a ~s did not fail"
                                 ,operation ,argument)))))

(defun reset ()
  "Resets the session to its start."
  (call "reset-session")
  (setf ecl-mcp::*loaded-systems* '())
  (output)
  (error-output))

(defmacro session-test (name &body body)
  "Defines the test NAME, for whose BODY the session is new."
  `(test ,name
     (ecl-mcp-run::call-collector "GC_invoke_finalizers" :int)
     (reset)
     ;; FiveAM runs tests in any order: no file that another test has loaded and
     ;; written again is an edited one here.
     (let ((ecl-mcp::*loaded-versions* (make-hash-table :test #'equal))
           (ecl-mcp::*loaded-sources* (make-hash-table :test #'equal)))
       (unwind-protect (progn ,@body)
         (reset)))))

(defun wait-until (function what)
  "Waits until FUNCTION returns true, and returns that value. Fails after ten
seconds, and names WHAT."
  (loop with deadline = (+ (get-universal-time) 10)
        for value = (funcall function)
        when value return value
        when (> (get-universal-time) deadline)
          do (fail "no ~a within ten seconds" what)
             (return nil)
        do (sleep 0.005)))

;;; Running

(defun ordered-tests ()
  "Returns the names of all tests: in alphabetical order, or in one drawn by the
text ECL_MCP_TEST_ORDER of the environment. FiveAM's own order differs from run
to run, and so would what fails."
  (let ((drawn-by (ext:getenv "ECL_MCP_TEST_ORDER"))
        (names (loop for name being the hash-keys
                       of (fiveam::tests (fiveam:get-test 'ecl-mcp))
                     collect name)))
    (if drawn-by
        (sort names #'< :key (lambda (name)
                               (sxhash (format nil "~a ~a" drawn-by name))))
        (sort names #'string<))))

(defun run-tests (scratch tools)
  "Runs all tests with the directory SCRATCH and the file TOOLS, then ends the
process."
  (setf *scratch* scratch
        *tools* tools)
  (let ((console *standard-output*)
        (exit (fdefinition 'ext:exit)))
    (ecl-mcp:prepare)
    ;; The workspace: the systems of another run are not in it.
    (ext:chdir scratch)
    (ecl-mcp:start-session *output* *error-output-sink* *heap*)
    (let* ((results (let ((*standard-output* (make-broadcast-stream)))
                      (fiveam:run 'ecl-mcp)))
           (failures (remove-if-not #'fiveam::test-failure-p results)))
      (dolist (failure failures)
        (format console "~&FAIL ~(~a~): ~a~%"
                (fiveam::name (fiveam::test-case failure))
                (fiveam::reason failure)))
      (format console "~&lisp: ~d passed, ~d failed~%"
              (- (length results) (length failures)) (length failures))
      (finish-output console)
      (funcall exit (if (and results (null failures)) 0 1)))))
